"""Tables of the comparison: patterns that are equal by clause, congestion control and options, and the others."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from mayfly.engines.segments.compared import Comparison
from mayfly.engines.segments.patterns import BASE


def options_of(found: Comparison) -> str:
    """What the hosts negotiated, as in the id."""
    return found.trace.id.split("/")[1]


def clause_of(found: Comparison) -> str:
    """Kind of the pattern."""
    return str(found.trace.pattern["clause"])


def congestion_of(found: Comparison) -> str:
    """Congestion control."""
    return str(found.trace.pattern["congestion"])


def cell(found: Sequence[Comparison]) -> str:
    """Patterns that are equal and those of them that are in time, of how many."""
    if not found:
        return ""
    equal, in_time = sum(one.equal for one in found), sum(one.in_time for one in found)
    return f"{equal}, {in_time} / {len(found)}"


def crossed(found: Iterable[Comparison], row_of: Callable[[Comparison], str], label: str) -> list[str]:
    """A table with a row for each value of `row_of`, and a column for each congestion control."""
    cells: dict[str, dict[str, list[Comparison]]] = defaultdict(lambda: defaultdict(list))
    for one in found:
        for row in (row_of(one), "all"):
            for column in (congestion_of(one), "all"):
                cells[row][column].append(one)
    columns = [name for name in cells["all"] if name != "all"] + ["all"]
    lines = [f"| {label} | {' | '.join(columns)} |", "|---|" + "---:|" * len(columns)]
    for row in [name for name in cells if name != "all"] + ["all"]:
        lines.append(f"| {row} | {' | '.join(cell(cells[row][column]) for column in columns)} |")
    return lines


def differing(found: Iterable[Comparison]) -> list[str]:
    """Those that differ, by the first difference: how many, and which."""
    groups: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for one in found:
        if not one.in_time:
            whose, name = one.trace.id.rsplit("/", 1)
            groups[one.kind()][whose].append(name)
    lines = ["| first difference | patterns | which |", "|---|---:|---|"]
    counts = {kind: sum(map(len, whose.values())) for kind, whose in groups.items()}
    for kind in sorted(groups, key=lambda kind: -counts[kind]):
        which = "; ".join(f"{whose}: {', '.join(names)}" for whose, names in groups[kind].items())
        lines.append(f"| {kind} | {counts[kind]} | {which} |")
    return lines


def markdown(found: Sequence[Comparison]) -> str:
    """All of it.

    Parameters
    ----------
    found : sequence of Comparison
        Of all patterns.

    Returns
    -------
    str
        Markdown: a table by clause, one by options, one of the patterns that differ.
    """
    equal, in_time = sum(one.equal for one in found), sum(one.in_time for one in found)
    base = [one for one in found if options_of(one) == BASE.name]
    releases = sorted({f"Linux {one.trace.kernel}, HZ = {one.trace.hz}" for one in found})
    parts = [
        f"{len(found)} patterns ({'; '.join(releases)}): **{equal} equal** ({equal / max(len(found), 1):.0%}), "
        f"{in_time} of them in time. In each cell: equal, in time / patterns.",
        "",
        f"With {BASE.name}, by clause:",
        "",
        *crossed(base, clause_of, "clause"),
        "",
        "By what the hosts negotiate:",
        "",
        *crossed(found, options_of, "options"),
        "",
        "Patterns that differ, by the first difference. Before the colon the kernel's state (`ca_state`), then what "
        "the kernel sends and what the simulator sends in its place: new data, the n-th repair of a segment, or "
        "nothing; `ack`: all segments are the same, and the acknowledgements are not; `times`: all is the same, but "
        "not in time.",
        "",
        *differing(found),
    ]
    return "\n".join(parts)
