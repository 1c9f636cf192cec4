"""The whole sweep: `make sweep`, or `python -m tests.sweep [--times N] [--only CASE] [--jobs N] [--keep FOLDER]`.

Prints how the runs ended, a row for each point or tenth of the time and a column for each volley; then what was wrong,
each with the command that does it again. Exit status 1 when anything was.
"""

import argparse
import os
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from tests.sweep.cases import POINTS, VOLLEYS, Case, everything, parse
from tests.sweep.run import Outcome
from tests.sweep.worker import begin, one

_BUCKETS = 10


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.sweep")
    parser.add_argument("--times", type=int, default=200, help="even times over the run (200)")
    parser.add_argument(
        "--only", action="append", metavar="CASE", help="this case alone, as a report names it; again: more"
    )
    parser.add_argument("--match", default="", metavar="REGEX", help="only cases whose name has this")
    parser.add_argument("--repeat", type=int, default=1, help="each case so often")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at once")
    options = parser.parse_args()
    began = time.monotonic()
    root = tempfile.mkdtemp(prefix="jp-sweep-")
    try:
        with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn"), initializer=begin) as pool:
            undisturbed = pool.submit(one, None, root).result()
            if undisturbed.status != "exited 0" or undisturbed.wrong:
                print("an undisturbed run fails:", undisturbed.status, *undisturbed.wrong, undisturbed.screen, sep="\n")
                return 1
            try:
                cases = [parse(each) for each in options.only or ()]
            except ValueError as error:
                parser.error(str(error))
            cases = cases or list(everything(options.times, undisturbed.secs))
            cases = [case for case in cases if re.search(options.match, str(case))] * options.repeat
            print(f"{len(cases)} runs; an undisturbed one takes {undisturbed.secs:.2f} s from the armed router")
            waiting = [pool.submit(one, case, root) for case in cases]
            outcomes = list(_as_they_come(future.result() for future in as_completed(waiting)))
    finally:
        shutil.rmtree(root, ignore_errors=True)
    for line in table(outcomes, undisturbed.secs):
        print(line)
    wrong = [outcome for outcome in outcomes if outcome.wrong]
    for outcome in wrong:
        print(f"\npython -m tests.sweep --only '{outcome.case}'   # {outcome.status}")
        for each in outcome.wrong:
            print(f"  - {each}")
        print("    " + outcome.screen.replace("\n", "\n    "))
    menus = sorted(outcome.menu_secs for outcome in outcomes if outcome.menu_secs is not None)
    if menus:
        print(
            f"\nmenus: {len(menus)}, median {menus[len(menus) // 2] * 1000:.0f} ms, slowest {menus[-1] * 1000:.0f} ms"
        )
    print(f"\n{len(outcomes)} runs in {time.monotonic() - began:.0f} s, {len(wrong)} wrong")
    return 1 if wrong else 0


def _as_they_come(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    for number, outcome in enumerate(outcomes, 1):
        if outcome.wrong:
            print(f"wrong: {outcome.case}: {outcome.wrong[0]}", file=sys.stderr, flush=True)
        if number % 100 == 0:
            print(f"… {number}", file=sys.stderr, flush=True)
        yield outcome


def table(outcomes: list[Outcome], span: float) -> Iterator[str]:
    """Counts of the ends: `INT`, `TERM`, … death by that signal, a number the exit status, `cq→` behind that menu."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for outcome in outcomes:
        counts.setdefault((_row(outcome.case, span), outcome.case.volley), Counter())[outcome.kind] += 1
    rows = [*POINTS, *(f"time {number}/{_BUCKETS}" for number in range(_BUCKETS + 1))]
    for row in rows:
        cells = [(volley, counts[row, volley]) for volley in VOLLEYS if (row, volley) in counts]
        if cells:
            yield row
            for volley, found in cells:
                yield f"    {volley:8} " + ", ".join(f"{kind} ×{count}" for kind, count in found.most_common())


def _row(case: Case, span: float) -> str:
    return case.point or f"time {min(_BUCKETS, int(case.secs / span * _BUCKETS))}/{_BUCKETS}"


if __name__ == "__main__":
    sys.exit(main())
