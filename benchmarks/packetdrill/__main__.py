"""Scripts of packetdrill on the simulator's TCP.

    python benchmarks/packetdrill [SCRIPT...] [--tcp FIELD=VALUE...] [--record] [--page FILE]

Without a script: all that are in scope, of packetdrill's own and of the kernel. `--tcp` sets fields of `[tcp]` over
preset = "linux", for example `--tcp recovery=sack --tcp preset=linux`. Exit status 2: something is not as it must be.
"""

import argparse
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from packetdrill import results
from packetdrill.results import Case, UnavailableError, Verdict
from packetdrill.simulated import simulated

CACHE = Path(os.environ.get("MAYFLY_KERNEL_CACHE") or Path.home() / ".cache" / "mayfly")


def field(text: str) -> tuple[str, Any]:
    """``recovery=sack`` as name and value, as TOML would read it, or a bare word."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text}: must be FIELD=VALUE")
    try:
        return name, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name, value


def all_cases() -> list[Case]:
    """The scripts of both collections; what is missing is told."""
    found: list[Case] = []
    for collection in ("gtests", "selftests"):
        try:
            found += results.cases(collection, results.GTESTS if collection == "gtests" else results.selftests(CACHE))
        except UnavailableError as why:
            print(why, file=sys.stderr)
    return found


def named(text: str) -> Case:
    path = Path(text)
    if not path.is_file():
        sys.exit(f"error: {text}: no such file")
    return Case("given", path.stem, path, path.parent.name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT")
    parser.add_argument("--tcp", action="append", default=[], type=field, metavar="FIELD=VALUE")
    parser.add_argument("--group", action="append", metavar="NAME", help="of all, those of this group alone")
    parser.add_argument("--record", action="store_true", help="write verdicts.toml anew")
    parser.add_argument("--out-of-scope", action="store_true", help="those out of scope too")
    given = parser.parse_args()
    scope = results.scope()
    cases = [named(text) for text in given.scripts] or [
        case
        for case in all_cases()
        if (given.out_of_scope or "out" not in scope.get(case.group, {}))
        and (not given.group or case.group in given.group)
    ]
    backend = simulated({"preset": "linux", **dict(given.tcp)})
    verdicts = []
    for case in cases:
        verdict = results.judge(case, backend)
        verdicts.append(verdict)
        print(f"{case.collection} {case.name}: {verdict.failure or 'pass'}", flush=True)
    counts(verdicts)
    if given.record:
        results.VERDICTS.write_text(results.record(verdicts), encoding="utf-8")
    return 0


def counts(verdicts: list[Verdict]) -> None:
    """Passes of each group."""
    groups = sorted({(v.case.collection, v.case.group) for v in verdicts})
    for collection, group in groups:
        own = [v.word for v in verdicts if (v.case.collection, v.case.group) == (collection, group)]
        print(f"{own.count('pass'):4} of {len(own):3}  {collection} {group}")
    words = [v.word for v in verdicts]
    print(f"{words.count('pass'):4} of {len(words):3}  all")


if __name__ == "__main__":
    sys.exit(main())
