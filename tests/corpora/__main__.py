"""Print one line per corpus: ``name passed N of M``; with ``-v`` the failures too."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.corpora.runner import Judge, Score, judges, run
from tests.support.corpora import corpora_directory


def main(arguments: list[str]) -> int:
    """Run every judge whose corpus is present. 1 if the program itself failed on a case, else 0."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpora", description=__doc__)
    parser.add_argument("directory", nargs="?", type=Path, default=corpora_directory(), help="the folder of corpora")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the failures")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="name",
        help="judge this corpus only (its name, what stands before the colon in it, or its folder)",
    )
    options = parser.parse_args(arguments)
    if not options.directory.is_dir():
        sys.stderr.write(f"there is no folder {options.directory}\n")
        return 2
    crashed = False
    chosen = [judge for judge in judges() if not options.only or _is_meant(judge, options.only)]
    if not chosen:
        sys.stderr.write(f"there is no corpus {' or '.join(options.only)}; there are: {_names()}\n")
        return 2
    for judge in chosen:
        folder = options.directory / judge.folder
        if not folder.is_dir():
            continue
        score = run(judge, folder)
        crashed = crashed or score.crashed > 0
        report(score, verbose=options.verbose)
    return 1 if crashed else 0


def _is_meant(judge: Judge, names: list[str]) -> bool:
    """By its name, the part of it before the colon, or its folder."""
    return any(name in (judge.name, judge.name.partition(":")[0], judge.folder) for name in names)


def _names() -> str:
    return ", ".join(judge.name for judge in judges())


def report(score: Score, *, verbose: bool) -> None:
    """One line, and the failures below it."""
    lines = [f"{score.name} passed {score.passed} of {score.total}"]
    if verbose:
        lines += [f"  {verdict.case}: {verdict.detail}" for verdict in score.failures]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
