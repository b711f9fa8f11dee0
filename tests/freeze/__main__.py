"""Keeps digests of what Mayfly produces, so that a refactoring can be shown to move no result.

    python tests/freeze --out before.json
    python tests/freeze --python-path TREE/python --python-path TREE/papers/src --out after.json
    python tests/freeze compare before.json after.json

Only the command line of Mayfly is used: this file runs unchanged on a tree before a refactoring and after it.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import differences
import parts
from running import Mayfly

SCHEMA = 1


def main(arguments: list[str]) -> int:
    """Freezes or compares; the exit status."""
    return compared(arguments[1:]) if arguments[:1] == ["compare"] else frozen(arguments)


def frozen(arguments: list[str]) -> int:
    """Runs the parts and writes their digests."""
    parser = argparse.ArgumentParser(prog="freeze", description="Keep digests of what Mayfly produces.")
    parser.add_argument("--parts", default=",".join(parts.PARTS), help="comma-separated; default: %(default)s")
    parser.add_argument("--jobs", type=int, default=1, help="processors to use; default: %(default)s")
    parser.add_argument("--out", type=Path, required=True, help="file the digests are written to (JSON)")
    parser.add_argument(
        "--python-path",
        type=Path,
        action="append",
        default=[],
        help="folder with the package mayfly, in place of the installed one; repeatable",
    )
    parser.add_argument(
        "--checkout", type=Path, help="tree with the kernel's cores; default: the one of the first --python-path"
    )
    parser.add_argument("--update", action="store_true", help="keep the other parts of --out")
    asked = parser.parse_args(arguments)
    unknown = [name for name in asked.parts.split(",") if name not in parts.PARTS]
    if unknown or asked.jobs < 1:
        parser.error(f"no such part: {', '.join(unknown)}" if unknown else "--jobs must be 1 or more")
    path = [entry.resolve() for entry in asked.python_path]
    checkout = asked.checkout or (path[0].parent if path else parts.ROOT)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0), reverse=True)[: asked.jobs])

    workers = [Mayfly(path, asked.jobs) for _ in range(asked.jobs)]
    document: dict[str, Any] = {"schema": SCHEMA, "cpu_s": {}, "parts": {}}
    if asked.update and asked.out.exists():
        document = json.loads(asked.out.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="freeze-") as folder:
        place = parts.Place(Path(folder).resolve(), checkout.resolve())
        for name in asked.parts.split(","):
            before, began = _cpu_s(), time.monotonic()
            jobs = parts.PARTS[name](place)
            left = [len(jobs)]

            def told(job: str, part: str = name, left: list[int] = left) -> None:
                left[0] -= 1
                print(f"{part}: {job} ({left[0]} left)", file=sys.stderr, flush=True)

            found = parts.freeze(jobs, workers, told)
            if found:
                document["parts"][name] = found
            else:
                document["parts"].pop(name, None)
            document["cpu_s"][name] = round(_cpu_s() - before, 1)
            took = f"{document['cpu_s'][name]} s of CPU, {time.monotonic() - began:.0f} s"
            print(f"{name}: {len(found)} items, {took}", file=sys.stderr)
            _write(document, asked.out)
    return 0


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in used)


def _write(document: dict[str, Any], out: Path) -> None:
    partial = out.with_name(f".{out.name}.part")
    partial.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    partial.replace(out)


def compared(arguments: list[str]) -> int:
    """Prints what differs between two freezes; 1 where something does that is not allowed."""
    parser = argparse.ArgumentParser(prog="freeze compare", description="Compare two freezes.")
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--allowed", type=Path, default=parts.HERE / "allowed.toml", help="default: %(default)s")
    asked = parser.parse_args(arguments)
    before, after = (json.loads(path.read_text(encoding="utf-8"))["parts"] for path in (asked.before, asked.after))
    found = list(differences.differences(before, after))
    allowed = differences.read_allowed(asked.allowed)
    other = [one for one in found if not any(entry.covers(one) for entry in allowed)]
    for name in sorted(before.keys() ^ after.keys()):
        print(f"{name}: in one of the two only, not compared")
    for entry in allowed:
        covered = sum(entry.covers(one) for one in found)
        print(f"allowed: {entry.part}/{entry.item} {entry.key}: {covered} differences: {entry.reason}")
    if other:
        print(differences.report(other))
    common = [name for name in before if name in after]
    print(f"{sum(len(before[name]) for name in common)} items of {', '.join(common)}: {len(other)} differences")
    return 1 if other or not common else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
