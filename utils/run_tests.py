#!/usr/bin/env python3
"""Runs lit and closes with the counts of single tests, lit's and GoogleTest's
together: `N passed, N failed[, N skipped]`. Exits with 1 if a test failed or
none ran."""

import argparse
import os
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

def run_lit(lit, suites, lit_args):
    """The numbers of tests that (passed, failed, were skipped), and lit's exit
    code. Only the XUnit report has GoogleTest's skipped tests in it."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.xml")
        command = [lit, "-sv", "--xunit-xml-output", report, *lit_args, *suites]
        status = subprocess.run(command).returncode
        if not os.path.exists(report):
            return (0, 0, 0), status
        found = ElementTree.parse(report).getroot().findall("testsuite")
    tests, failed, skipped = (
        sum(int(suite.get(key)) for suite in found)
        for key in ("tests", "failures", "skipped")
    )
    return (tests - failed - skipped, failed, skipped), status


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lit", default="lit-22", help="the lit to run")
    parser.add_argument("--lit-arg", action="append", default=[], metavar="ARG")
    parser.add_argument("suites", nargs="+", help="test folders of build directories")
    args = parser.parse_args()

    sys.stdout.flush()
    (passed, failed, skipped), status = run_lit(args.lit, args.suites, args.lit_arg)
    if status != 0 and failed == 0:
        print(f"error: lit stopped with exit code {status}", file=sys.stderr)
        failed = 1
    line = f"{passed} passed, {failed} failed"
    print(line + (f", {skipped} skipped" if skipped else ""), flush=True)
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
