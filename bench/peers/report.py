#!/usr/bin/env python3
"""Tables of what compare.py measured: report.py RESULTS.jsonl …"""

import argparse
import json
import statistics


def spread(values):
    if len(values) == 1:
        return {"median": values[0], "quarter": values[0], "three_quarters": values[0]}
    quarter, median, three_quarters = statistics.quantiles(values, n=4, method="inclusive")
    return {"median": median, "quarter": quarter, "three_quarters": three_quarters}


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def interval(values, scale=1):
    return f"{number(scale * values['quarter'])} … {number(scale * values['three_quarters'])}"


def cell(candidate):
    share = candidate["share"]["median"]
    return f"{number(candidate['milliseconds']['median'])} ({interval(candidate['milliseconds'])}), {100 * share:.0f} %"


def ratio(result, weights="f32"):
    found = result["ratios"].get(weights)
    return f"**{found['median']:.2f}** ({found['quarter']:.2f} … {found['three_quarters']:.2f}) {found['peer']}" if found else "–"


def sentence(result):
    parts = [f"{name} {number(c['milliseconds']['median'])} ms {100 * c['share']['median']:.0f} %"
             for name, c in result["candidates"].items()]
    return f"  {result['case']}: " + ", ".join(parts) + "; " + ", ".join(ratio(result, w) for w in result["ratios"])


def table(results):
    """A row for each case and number of threads; the last column is how far Hexad is ahead."""
    names = list(dict.fromkeys(name for r in results for name in (*r["candidates"], *r["failed"])))
    lines = ["| case | threads | " + " | ".join(names) + " | best peer / Hexad |", "| --- " * (len(names) + 3) + "|"]
    for result in results:
        cells = [cell(result["candidates"][n]) if n in result["candidates"] else "–" for n in names]
        ratios = "; ".join(ratio(result, weights) for weights in result["ratios"])
        lines.append(f"| {result['case']} | {result['threads']} | " + " | ".join(cells) + f" | {ratios or '–'} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="Tables of what compare.py --json printed.")
    parser.add_argument("results", nargs="+", type=argparse.FileType(), metavar="RESULTS.jsonl")
    results = []
    for file in parser.parse_args().results:
        for number, line in enumerate(file, 1):
            try:
                results.append(json.loads(line))
            except json.JSONDecodeError as error:
                parser.error(f"{file.name}:{number}: expected a line of JSON, as compare.py --json prints: {error}")
    print(table(results))


if __name__ == "__main__":
    main()
