#!/usr/bin/env python3
"""Hexad beside others on the same checkpoints, in turns: see README.md."""

import argparse
import contextlib
import fcntl
import json
import os
import statistics
import sys
import time
from pathlib import Path

import cases
import report
from candidates import PEERS, Candidate, Maker, Unavailable, Worker

WORST_DIFFERENCE = 0.05  # of the greatest value; weights of 16 bits differ by 0.01
WEIGHTS_TYPES = ("f32", "bf16", "f16")
LOCK_SECONDS = 15  # then others get their turn


@contextlib.contextmanager
def locked(path):
    with open(path, "a") if path else contextlib.nullcontext() as file:
        if file:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def say(text):
    print(text, file=sys.stderr, flush=True)


class Comparison:
    """One case: all candidates are loaded, then each round measures each of them once."""

    def __init__(self, case, maker, names, arguments):
        self.case, self.arguments = case, arguments
        self.workers, self.ready, self.failed = {}, {}, {}
        maker.prepare(case, names)
        self.machine = Worker(maker, Candidate("machine", "machine"), case, arguments.threads)
        for name in names:
            with self.noting_failure(name):
                candidate = maker.make(name, case)
                self.workers[name] = candidate, Worker(maker, candidate, case, arguments.threads)
        for name, (_, worker) in list(self.workers.items()):
            with self.noting_failure(name):
                self.ready[name] = worker.answer()
                self.check(**self.ready[name])
        self.machine.answer()
        self.rounds = {name: [] for name in self.workers}

    @staticmethod
    def check(difference, scale, **_):
        if not difference <= WORST_DIFFERENCE * scale:  # nor is NaN
            raise Unavailable(f"differs from PyTorch by {difference:.2g} where values reach {scale:.2g}")

    @contextlib.contextmanager
    def noting_failure(self, name):
        try:
            yield
        except Unavailable as error:
            _, worker = self.workers.pop(name, (None, None))
            if worker:
                worker.end()
            self.failed[name] = str(error)
            say(f"  {self.case.name}: {name}: {error}")

    def measure(self, name):
        candidate, worker = self.workers[name]
        time.sleep(0.1)  # threads of the one before may still wait actively
        rates = self.machine.ask()
        sample = statistics.median(worker.ask(seconds=self.arguments.burst, count=3)["milliseconds"])
        work, rate = self.case.operations(), rates["fma"]
        if self.case.bound_by_memory:
            work, rate = candidate.bytes_read(self.case), rates["read"]
        self.rounds[name].append({"milliseconds": sample, "share": work / (1e-3 * sample) / rate, **rates})

    def far_behind(self, name):
        """Three rounds are enough of what takes seconds where others do not."""
        first = {other: rounds[0]["milliseconds"] for other, rounds in self.rounds.items()}
        return first[name] > 1000 and first[name] > 4 * min(first.values()) and len(self.rounds[name]) >= 3

    def round(self, number):
        names = list(self.workers)
        for at in range(len(names)):
            name = names[(number + at) % len(names)]
            if number == 0 or not self.far_behind(name):
                self.measure(name)

    def run(self):
        number = 0
        while number < self.arguments.rounds:
            with locked(self.arguments.lock):
                begin = time.monotonic()
                while number < self.arguments.rounds and time.monotonic() - begin < LOCK_SECONDS:
                    self.round(number)
                    number += 1
        return self.result()

    def result(self):
        result = {"case": self.case.name, "threads": self.arguments.threads, "failed": self.failed, "candidates": {}}
        for name, (candidate, _) in self.workers.items():
            rounds = self.rounds[name]
            result["candidates"][name] = {
                "weights": candidate.weights, "peer": candidate.is_peer, "rounds": len(rounds),
                **self.ready[name],
                **{key: report.spread([one[key] for one in rounds]) for key in rounds[0]},
            }
        result["ratios"] = self.ratios()
        return result

    def ratios(self):
        """For each type of weights, how many times Hexad's time the fastest peer takes, round by round."""
        ratios = {}
        for name, (candidate, _) in self.workers.items():
            if candidate.is_peer:
                continue
            peers = [other for other, (peer, _) in self.workers.items() if peer.is_peer and peer.weights == candidate.weights]
            if not peers:
                continue
            best = min(peers, key=lambda peer: statistics.median(one["milliseconds"] for one in self.rounds[peer]))
            pairs = zip(self.rounds[best], self.rounds[name])
            ratios[candidate.weights] = {"peer": best, **report.spread([a["milliseconds"] / b["milliseconds"] for a, b in pairs])}
        return ratios

    def end(self):
        for worker in [self.machine] + [worker for _, worker in self.workers.values()]:
            worker.end()


def add_options(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--hexad", type=Path, required=True, help="the program, e.g. build/release/bin/hexad")
    parser.add_argument("--models", type=Path, required=True, help="folder for checkpoints and all that is made of them")
    parser.add_argument("--environments", type=Path, help="what install.sh wrote (default: MODELS/environments)")
    parser.add_argument("--cases", default="*", help="names or patterns of cases.py, with commas between")
    parser.add_argument("--peers", default=",".join(PEERS), help="with commas between (default: %(default)s)")
    parser.add_argument("--weights", default="f32", help="f32,bf16,f16: types of Hexad's and llama.cpp's weights")
    parser.add_argument("--threads", type=int, default=1, help="of each candidate, on as many CPUs (default: 1)")
    parser.add_argument("--rounds", type=int, default=9, help="measurements of each candidate (default: %(default)s)")
    parser.add_argument("--lock", help="file to lock while measuring, where others measure too")
    return parser


def read_options(parser):
    """What the command line says; what no case could be measured with is an error before the first one."""
    arguments = parser.parse_args()
    for option, known in (("peers", PEERS), ("weights", WEIGHTS_TYPES)):
        for name in filter(None, getattr(arguments, option).split(",")):
            if name not in known:
                parser.error(f"--{option}: expected some of {', '.join(known)}, found '{name}'")
    if not arguments.weights:
        parser.error(f"--weights: expected some of {', '.join(WEIGHTS_TYPES)}, found ''")
    for pattern in arguments.cases.split(","):
        if not cases.matching(pattern):
            parser.error(f"--cases: '{pattern}' is none of {', '.join(case.name for case in cases.CASES)}")
    if arguments.rounds < 1 or not 1 <= arguments.threads <= os.cpu_count():
        parser.error(f"--rounds must be positive, --threads 1 to {os.cpu_count()}")
    if not os.access(arguments.hexad, os.X_OK) or arguments.hexad.is_dir():
        parser.error(f"--hexad: '{arguments.hexad}' is no program")
    python = get_maker(arguments).python("torch")
    if not python.exists():
        parser.error(f"there is no '{python}', which all cases need: run install.sh, or name --environments")
    return arguments


def get_maker(arguments):
    models = arguments.models.resolve()
    environments = (arguments.environments or models / "environments").absolute()
    return Maker(arguments.hexad.resolve(), models, environments)


def candidate_names(arguments):
    names = []
    for kind in ["hexad"] + [peer for peer in arguments.peers.split(",") if peer]:
        typed = arguments.weights.split(",") if kind in ("hexad", "llama.cpp") else ["f32"]
        names += [kind if weights == "f32" else f"{kind}-{weights}" for weights in typed]
    return names


def main():
    parser = add_options(__doc__)
    parser.add_argument("--burst", type=float, default=0.3, help="seconds of a measurement, at least three calls")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each case instead of the table")
    arguments = read_options(parser)
    maker = get_maker(arguments)
    results = []
    for case in cases.matching(arguments.cases):
        say(f"{case.name}, {arguments.threads} thread{'s' * (arguments.threads > 1)}")
        comparison = Comparison(case, maker, candidate_names(arguments), arguments)
        result = comparison.run()
        comparison.end()
        results.append(result)
        if arguments.json:
            print(json.dumps(result), flush=True)
        else:
            say(report.sentence(result))
    if not arguments.json:
        print(report.table(results))


if __name__ == "__main__":
    main()
