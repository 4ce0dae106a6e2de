"""The rows of measure.py, and how they are printed."""

import sys
import unicodedata
from dataclasses import asdict, dataclass, field

import targets


@dataclass
class Row:
    """One line: `figure` of its yardstick `of`, with quartiles, or one number in `unit`."""

    group: str
    name: str
    figure: dict  # median, quarter, three_quarters
    of: str
    milliseconds: float = None
    openblas: dict = None
    two_threads: dict = None
    target: tuple = None
    unit: str = "%"  # "%": share, "×": ratio, else as it is
    more: dict = field(default_factory=dict)  # other medians, for JSON

    def __post_init__(self):
        self.target = self.target or targets.target(self.name)


def number(value, unit):
    if unit == "%":
        return f"{100 * value:.1f} %"
    return f"{value:.2f} ×" if unit == "×" else f"{value:.2f} {unit}"


def spread(figure, unit):
    if figure["quarter"] == figure["three_quarters"]:
        return ""
    low, high = (number(figure[key], unit) for key in ("quarter", "three_quarters"))
    return f"{low.split()[0]} … {high.split()[0]}"


def judged(value, sign, target, unit):
    mark = "" if targets.is_reached(value, sign, target) else "  ✗"
    return f"{sign} {number(target, unit)}{mark}"


def times_faster(figure, target):
    if not figure:
        return ""
    text = number(figure["median"], "×")
    return f"{text} ({judged(figure['median'], '≥', target, '×')})" if target else text


def _cells(row):
    return [
        row.name,
        f"{row.milliseconds:.2f} ms" if row.milliseconds is not None else "",
        number(row.figure["median"], row.unit),
        spread(row.figure, row.unit),
        row.of,
        judged(row.figure["median"], *row.target, row.unit) if row.target else "",
        times_faster(row.openblas, targets.openblas_target(row.name)),
        times_faster(row.two_threads, targets.threads_target(row.name)),
    ]


def _width(text):
    return sum(not unicodedata.combining(char) for char in text)


class Printer:
    """Prints rows as they come, in columns; all at the end as JSON."""

    HEADER = ["", "median", "share", "quartiles", "of", "target", "OpenBLAS", "two threads"]
    WIDTHS = [38, 12, 10, 16, 28, 14, 20, 11]

    def __init__(self, as_json):
        self.as_json = as_json
        self.rows = []
        if not as_json:
            self._print(self.HEADER)

    def _print(self, cells):
        line = "  ".join(cell + " " * (width - _width(cell))
                         for cell, width in zip(cells, self.WIDTHS))
        print(line.rstrip(), flush=True)

    def add(self, row):
        self.rows.append(row)
        if not self.as_json:
            self._print(_cells(row))

    def as_objects(self):
        return [asdict(row) for row in self.rows]

    def summary(self):
        judged_rows = [row for row in self.rows if row.target]
        missed = [row.name for row in judged_rows
                  if not targets.is_reached(row.figure["median"], *row.target)]
        print(f"{len(judged_rows) - len(missed)} of {len(judged_rows)} targets reached"
              + (f"; not: {', '.join(missed)}" if missed else ""), file=sys.stderr)
