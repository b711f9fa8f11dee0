"""Scripts of packetdrill on the simulator's TCP.

    python benchmarks/packetdrill [SCRIPT...] [--tcp FIELD=VALUE...] [--kernel] [--record]
    python benchmarks/packetdrill --page docs/kernel/packetdrill.md

Without a script: all that are in scope, of packetdrill's own and of the kernel. `--tcp` sets fields of `[tcp]` over
preset = "linux" and recovery = "linux", for example `--tcp recovery=newreno`. With `--kernel` it is Linux 6.1, and with
MAYFLY_KERNEL=newest in the environment the newest (kernel/uml/build.sh).
"""

import argparse
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pydantic import ValidationError

from mayfly.engines import guest as guest_kernel
from mayfly.scenario.transport import Tcp
from mayfly.text.files import complete
from packetdrill import page, results
from packetdrill.results import Case, UnavailableError, Verdict
from packetdrill.simulated import LINUX, simulated

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
        raise argparse.ArgumentTypeError(f"{text}: no such file")
    return Case("given", path.stem, path, path.parent.name)


def transport(given: list[tuple[str, Any]]) -> dict[str, Any]:
    """Fields of ``[tcp]`` over those of Linux; the first that is not taken ends the command."""
    fields = {**LINUX, **dict(given)}
    try:
        Tcp.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        sys.stderr.write(f"error: --tcp {first['loc'][0]}: {first['msg']}\n")
        sys.exit(2)
    return fields


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", nargs="*", type=named, metavar="SCRIPT")
    parser.add_argument("--tcp", action="append", default=[], type=field, metavar="FIELD=VALUE")
    parser.add_argument("--kernel", action="store_true", help="on the kernel of the guest, not on the simulator")
    parser.add_argument("--group", action="append", metavar="NAME", help="of all, those of this group alone")
    parser.add_argument("--out-of-scope", action="store_true", help="those out of scope too")
    parser.add_argument("--record", action="store_true", help="verdicts.toml anew, of what is played")
    parser.add_argument("--page", type=Path, metavar="FILE", help="only write the page from what is recorded")
    given = parser.parse_args()
    if given.page:
        write_page(given.page)
        return 0
    scope = results.scope()
    if given.group and (unknown := set(given.group) - set(scope)):
        parser.error(f"--group {min(unknown)}: must be one of {', '.join(sorted(scope))}")
    cases = given.scripts or [
        case
        for case in all_cases()
        if (given.out_of_scope or "out" not in scope.get(case.group, {}))
        and (not given.group or case.group in given.group)
    ]
    if given.record and (given.scripts or given.tcp):
        parser.error("--record is for the scripts of the collections with the fields of simulated.LINUX")
    if given.kernel:
        verdicts = results.on_kernel(cases, results.selftests(CACHE), in_guest)
    else:
        backend = simulated(transport(given.tcp))
        verdicts = [results.judge(case, backend) for case in cases]
    for verdict in verdicts:
        print(f"{verdict.case.collection} {verdict.case.name}: {verdict.failure or 'pass'}")
    counts(verdicts)
    if given.record:
        whole = results.record(verdicts, column() if given.kernel else "ours", results.recorded())
        with complete(results.VERDICTS) as partial:
            partial.write_text(results.written(whole), encoding="utf-8")
    return 0


def column() -> str:
    """Of the kernel that the environment asks for."""
    asked = guest_kernel.series()
    return next(name for name, series in results.KERNELS.items() if series == asked)


def in_guest(module: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Runs a module of kernel/uml in the guest with the kernel that the scripts count on."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "kernel"))
    import guest  # type: ignore[import-not-found]

    told: dict[str, Any] = guest.run(module, settings, fragment="config.packetdrill")
    return told


def write_page(path: Path) -> None:
    found = all_cases()
    if len({case.collection for case in found}) < 2:
        sys.stderr.write("error: the page tells of both collections of scripts\n")
        sys.exit(2)
    with complete(path) as partial:
        partial.write_text(page.text(found), encoding="utf-8")


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
