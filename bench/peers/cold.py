#!/usr/bin/env python3
"""From the start of a process to its first output, files in the page cache: what it costs to run
a model once. Every candidate is called from Python, whose start and imports count, and finds its
files made: library, export, GGUF. Decoding begins behind a saved cache. See README.md."""

import os
import time

import cases
import report
from candidates import Unavailable, Worker
from compare import add_options, candidate_names, get_maker, locked, read_options, say
from scheduling import undisturbed


def start(maker, candidate, case, threads):
    """Seconds until the first output, and the most memory in MB."""
    undisturbed(True)  # the process inherits it
    begin = time.perf_counter()
    worker = Worker(maker, candidate, case, threads, only_first=True)
    worker.answer()
    seconds = time.perf_counter() - begin
    undisturbed(False)
    memory = os.wait4(worker.process.pid, 0)[2].ru_maxrss * 1024
    return seconds, memory


def measure(maker, case, names, arguments):
    maker.prepare(case, names)
    candidates, seconds, memory = {}, {}, {}
    for name in names:
        try:
            candidates[name] = maker.make(name, case)
            worker = Worker(maker, candidates[name], case, arguments.threads)
            worker.answer()  # its files are warm now, and its cache is saved
            worker.end()
            seconds[name], memory[name] = [], 0
        except Unavailable as error:
            candidates.pop(name, None)
            say(f"  {case.name}: {name}: {error}")
    for _ in range(arguments.rounds):
        with locked(arguments.lock):
            for name, candidate in candidates.items():
                taken, most = start(maker, candidate, case, arguments.threads)
                seconds[name].append(taken)
                memory[name] = max(memory[name], most)
    for name, candidate in candidates.items():
        taken = report.spread(seconds[name])
        files = sum(path.stat().st_size for path in maker.files(candidate, case))
        print(f"| {case.name} | {name} | {report.number(taken['median'])} ({report.interval(taken)}) | "
              f"{memory[name] / 1e6:.0f} | {files / 1e6:.0f} |", flush=True)


def main():
    parser = add_options(__doc__)
    parser.set_defaults(cases="bert-128,smollm2-decode-512", rounds=5)
    arguments = read_options(parser)
    maker = get_maker(arguments)
    print("| case | candidate | seconds | most memory, MB | files, MB |\n| --- | --- | --- | --- | --- |")
    for case in cases.matching(arguments.cases):
        measure(maker, case, candidate_names(arguments), arguments)


if __name__ == "__main__":
    main()
