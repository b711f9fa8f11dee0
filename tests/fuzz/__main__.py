"""Fuzzing of whole commands: ``python tests/fuzz --kinds captures,scenarios --cases 1000 --seed 1``.

Cases are drawn by hypothesis and run by `worker`. What a case does that none may is told once, made small, and kept as
a file of the corpus; the exit status is then 1. docs/fuzzing.md says what was run.
"""

import argparse
import signal
import sys
import time
from pathlib import Path

from explore import Explored, Finding, explore
from kinds import KINDS
from worker import Runner

CORPUS = Path(__file__).parent / "corpus"


def main() -> int:
    """Reads the command line, runs all kinds, tells what was found."""
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--kinds", default=",".join(KINDS), help=f"comma-separated: {', '.join(KINDS)}")
    parser.add_argument("--cases", type=int, default=100, help="of each kind, at most")
    parser.add_argument("--seconds", type=float, default=None, help="of each kind, at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="folder where findings are kept")
    given = parser.parse_args()
    kinds = given.kinds.split(",")
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        parser.error(f"--kinds {unknown[0]}: must be of {', '.join(KINDS)}")
    # Ended from outside, it still tells what was run so far.
    asked: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, _: asked.append(received))
    failed = False
    for kind in kinds:
        if asked:
            break
        began_s = time.monotonic()
        kept = _Kept(given.corpus, kind)
        with Runner() as runner:
            told = explore(
                KINDS[kind],
                runner,
                cases=given.cases,
                seconds=given.seconds,
                seed=given.seed,
                found=kept.keep,
                stopped=lambda: bool(asked),
            )
        failed |= bool(told.findings)
        print(_line(kind, told, time.monotonic() - began_s), flush=True)
        for signature, finding in told.findings.items():
            print(f"  {finding.times} x {signature}", flush=True)
    return 1 if failed else 0


class _Kept:
    """Files of findings: the small one takes the place of the first."""

    def __init__(self, folder: Path, kind: str):
        self._folder, self._kind = folder, kind
        self._of: dict[str, Path] = {}

    def keep(self, finding: Finding) -> None:
        signature = finding.failure.signature
        self._folder.mkdir(parents=True, exist_ok=True)
        if signature in self._of:
            self._of[signature].unlink(missing_ok=True)
        self._of[signature] = path = self._folder / f"{self._kind}-{finding.case.digest}.json"
        path.write_text(finding.case.text(), encoding="utf-8")
        print(f"  {signature}\n    {' '.join(finding.failure.command)}\n    {path}", flush=True)


def _line(kind: str, told: Explored, seconds: float) -> str:
    statuses = ", ".join(f"{count} x {status}" for status, count in sorted(told.statuses.items()))
    most = f"most {told.longest_s:.1f} s, {told.largest_bytes / 1e6:.0f} MB"
    return f"{kind}: {told.cases} cases in {seconds:.0f} s, exit {statuses}; {most}; {len(told.findings)} findings"


if __name__ == "__main__":
    sys.exit(main())
