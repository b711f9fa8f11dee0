"""A verification in tables and sentences: for the terminal, and for its page of the documentation."""

from pathlib import Path

from mayfly.errors import MayflyError
from mayfly.show.table import Cell, Table
from mayfly.text.files import bounded_text, first_line
from mayfly.text.readable import printable, share_text, time_text
from mayfly.verify.figures import BOUNDS, KINDS, Figure
from mayfly.verify.verification import Verification, errors, worst
from mayfly.verify.workloads import BY_ID, WORKLOADS

BEGIN, END = "<!-- mayfly verify: begin -->", "<!-- mayfly verify: end -->"
WORST = 25
"""Figures that are furthest off, in the table of those."""

SETS = (("mended with", False), ("kept aside", True))
"""Halves of the workloads."""


def sentences(found: Verification) -> list[str]:
    """The answer: how often predictions hold.

    Parameters
    ----------
    found : Verification

    Returns
    -------
    list of str
    """
    lines = []
    for engine in engines_of(found):
        who = "" if engine == "simulator" else " by the kernel's replay"
        pairs = [pair for pair in found.pairs if pair.engine == engine and pair.source != pair.target]
        choices = [choice for choice in found.choices if choice.engine == engine]
        right, took = sum(pair.is_right for pair in pairs), sum(choice.is_right for choice in choices)
        lines.append(
            f"The better of two{who}: right or as good in {right} of {len(pairs)} predictions "
            f"({_percent(right, len(pairs))}); the best of all: {took} of {len(choices)}."
        )
        own = [pair for pair in found.pairs if pair.engine == engine]
        for kind, row in errors(own).items():
            if row["figures"]:
                lines.append(
                    f"{KINDS[kind][:1].upper()}{KINDS[kind][1:]}{who}: {row['in']} of {row['figures']} within "
                    f"{_bound(kind)}, {row['chance']} within reach of chance, {row['out']} out; median error "
                    f"{share_text(row['median'] or 0.0)}."
                )
    return lines


def engines_of(found: Verification) -> list[str]:
    """What ran replays."""
    return list(dict.fromkeys(pair.engine for pair in found.pairs))


def error_table(found: Verification, engine: str) -> Table:
    """Errors by kind of figure and half of the workloads."""
    rows = []
    for kind in KINDS:
        for name, aside in SETS:
            pairs = [pair for pair in found.pairs if pair.engine == engine and BY_ID[pair.workload].kept_aside == aside]
            row = errors(pairs)[kind]
            if not row["figures"]:
                continue
            cells = (str(row[state]) for state in ("figures", "in", "chance", "out"))
            off = (share_text(row[name]) if row[name] is not None else "" for name in ("median", "p90"))
            rows.append((KINDS[kind], _bound(kind), name, *cells, *off))
    heads = ("figure", "asked for", "workloads", "figures", "in", "chance", "out", "median\nerror", "90 %\nerror")
    return Table(f"Errors of the predictions, replay by {_engine(engine)}", heads, tuple(rows), names=3)


def workload_table(found: Verification, engine: str) -> Table:
    """A row for each workload and source: figures in, and whether the choice was right."""
    rows = []
    for workload in WORKLOADS:
        for choice in found.choices:
            if choice.workload != workload.id or choice.engine != engine:
                continue
            pairs = [
                pair
                for pair in found.pairs
                if (pair.workload, pair.source, pair.engine) == (workload.id, choice.source, engine)
            ]
            states = [one.state for pair in pairs for one in pair.figures]
            others = [pair for pair in pairs if pair.source != pair.target]
            right = sum(pair.is_right for pair in others)
            rows.append(
                (
                    workload.id + (" (aside)" if workload.kept_aside else ""),
                    choice.source,
                    f"{states.count('in')} / {states.count('?')} / {states.count('out')}",
                    Cell(f"{right} of {len(others)}", right == len(others)),
                    Cell(choice.recommended[0], choice.is_right),
                    ", ".join(choice.best),
                )
            )
    heads = ("workload", "captured\nunder", "figures in /\nchance / out", "better of\ntwo right", "recommended", "best")
    return Table(f"By workload, replay by {_engine(engine)}", heads, tuple(rows), names=2)


def worst_table(found: Verification, engine: str, count: int = WORST) -> Table:
    """The figures that are furthest off."""
    pairs = [pair for pair in found.pairs if pair.engine == engine]
    rows = [
        (
            pair.workload + (" (aside)" if BY_ID[pair.workload].kept_aside else ""),
            f"{pair.source} -> {pair.target}",
            one.name,
            _value(one, one.real),
            _value(one, one.predicted),
            _error(one),
        )
        for pair, one in worst(pairs, count)
    ]
    heads = ("workload", "captured ->\npredicted", "figure", "real", "predicted", "off by")
    return Table(f"Furthest off, replay by {_engine(engine)}", heads, tuple(rows), names=3)


def tables(found: Verification) -> list[Table]:
    """All tables, those of each engine after another."""
    return [
        table
        for engine in engines_of(found)
        for table in (error_table(found, engine), workload_table(found, engine), worst_table(found, engine))
    ]


def write_page(found: Verification, path: Path) -> Path:
    """Puts the tables between the marks of a page of Markdown.

    Raises
    ------
    MayflyError
        The page has no marks, or cannot be read.
    """
    try:
        text = bounded_text(path)
    except (OSError, ValueError) as error:
        raise MayflyError(f"{printable(path)}: cannot be read: {first_line(error)}") from None
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise MayflyError(f"{path}: must have the lines {BEGIN} and {END}")
    ran = f"Linux {found.kernel}, users of seed {found.seed}, {found.seeds} seeds of the simulator's replay."
    said = "\n".join(f"- {line}" for line in sentences(found))
    body = "\n\n".join([ran, said, *map(_markdown, tables(found))])
    part = path.with_suffix(".part")
    part.write_text(f"{before}{BEGIN}\n\n{body}\n\n{END}{after}", encoding="utf-8")
    part.rename(path)
    return path


def _markdown(table: Table) -> str:
    heads = [head.replace("\n", " ") for head in table.heads]
    lines = [f"{table.title}:", "", "| " + " | ".join(heads) + " |"]
    lines.append("|" + "|".join("---" if place < table.names else "---:" for place in range(len(heads))) + "|")
    for row in table.cells():
        if isinstance(row, str):
            continue
        lines.append("| " + " | ".join(f"**{cell.text}**" if cell.good is False else cell.text for cell in row) + " |")
    return "\n".join(lines)


def _bound(kind: str) -> str:
    share, least = BOUNDS[kind]
    parts = [f"{share:.0%}".replace("%", " %")] if share else []
    unit = {"felt": "1 ms", "share": "half a per cent", "mos": f"{least:g}", "count": f"{least:.0f} packets"}
    return " or ".join(parts + ([unit[kind]] if least else []))


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "none"


def _engine(name: str) -> str:
    return "the kernel" if name == "linux" else "the simulator"


def _value(one: Figure, value: float) -> str:
    if one.kind in ("p50", "p95", "p99", "felt"):
        return time_text(value)
    if one.kind == "share":
        return share_text(value)
    return f"{value:.1f}" if one.kind == "mos" else f"{value:,.0f}"


def _error(one: Figure) -> str:
    if one.kind == "mos":
        return f"{one.predicted - one.real:+.1f}"
    return f"{100 * one.error:+.0f} %" if one.real else "from none"
