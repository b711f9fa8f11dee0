"""The page docs/kernel/packetdrill.md, from what is recorded."""

from collections import Counter
from typing import Any

from packetdrill.results import HERE, Case, recorded, scope

HEAD = HERE / "head.md"
KERNELS = {"kernel": "Linux 6.1", "newest": "Linux 7.3"}
"""What the page calls the kernels (`results.KERNELS`)."""


def text(cases: list[Case]) -> str:
    """The page.

    Parameters
    ----------
    cases : list of Case
        The scripts of both collections, in scope or not.
    """
    known, groups = recorded(), scope()
    inside = [case for case in cases if "out" not in groups.get(case.group, {"out": ""})]
    parts = [HEAD.read_text(encoding="utf-8"), "## Passes\n", passes(inside, known, groups)]
    parts += ["## What fails in the simulator, by cause\n", causes(inside, known, "ours")]
    for whose, title in played(known).items():
        parts += [f"## What fails in {title}\n", causes(inside, known, whose)]
    parts += ["## Out of scope\n", beyond(cases, groups)]
    return "\n".join(parts)


def played(known: dict[str, Any]) -> dict[str, str]:
    """Those of `KERNELS` of which something is recorded."""
    whose = {name for own in known.values() for one in own.values() for name in one}
    return {name: title for name, title in KERNELS.items() if name in whose}


def verdict(case: Case, known: dict[str, Any], whose: str) -> dict[str, Any]:
    found: dict[str, Any] = known.get(case.collection, {}).get(case.name, {}).get(whose, {})
    return found


def passes(cases: list[Case], known: dict[str, Any], groups: dict[str, dict[str, str]]) -> str:
    """Passes of each group, then of all."""
    kernels = played(known)
    lines = [
        f"| group | source | scripts | simulator | {' | '.join(kernels.values())} |",
        f"|---|---|---:|---:|{'---:|' * len(kernels)}",
    ]

    def row(name: str, source: str, own: list[Case]) -> str:
        counted = []
        for whose in ("ours", *kernels):
            words = [verdict(case, known, whose).get("verdict") for case in own]
            of = f" of {len(own) - words.count(None)}" if None in words else ""
            counted.append(f"{words.count('pass')}{of}")
        return f"| {name} | {source} | {len(own)} | {' | '.join(counted)} |"

    for collection in ("gtests", "selftests"):
        own = [case for case in cases if case.collection == collection]
        for name in [name for name in groups if any(case.group == name for case in own)]:
            lines.append(row(name, groups[name]["rfc"], [case for case in own if case.group == name]))
        lines.append(row(f"**all of {collection}**", TITLES[collection], own))
    lines.append(row("**all**", "", cases))
    without = [case for case in cases if case.group != "accecn"]
    lines.append(row("**all but AccECN**", "", without))
    return "\n".join(lines) + "\n"


TITLES = {"gtests": "packetdrill's own", "selftests": "of the kernel"}


def causes(cases: list[Case], known: dict[str, Any], whose: str) -> str:
    """Scripts that fail, with lines, by cause; the cause of most scripts first."""
    failing: dict[str, list[str]] = {}
    for case in cases:
        one = verdict(case, known, whose)
        if one.get("verdict") == "fail":
            failing.setdefault(one["cause"], []).append(f"`{case.name}`:{one['line']}")
    counted = Counter({cause: len(names) for cause, names in failing.items()})
    lines = ["| cause | scripts | which, and in which line |", "|---|---:|---|"]
    for cause, count in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])):
        names = failing[cause]
        shown = ", ".join(names) if count <= MOST_NAMED else f"{', '.join(names[:3])} and {count - 3} more"
        lines.append(f"| {cause} | {count} | {shown} |")
    return "\n".join(lines) + "\n"


MOST_NAMED = 12


def beyond(cases: list[Case], groups: dict[str, dict[str, str]]) -> str:
    """Groups out of scope with the number of their scripts and the reason."""
    lines = ["| group | scripts | what they test |", "|---|---:|---|"]
    for name, told in groups.items():
        count = sum(case.group == name for case in cases)
        if "out" in told and count:
            lines.append(f"| {name} | {count} | {told['out']} |")
    return "\n".join(lines) + "\n"
