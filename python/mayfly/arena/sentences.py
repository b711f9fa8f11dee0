"""The board in words and as tables."""

from typing import TYPE_CHECKING

from mayfly.arena.goals import RIVALS
from mayfly.arena.rows import Row
from mayfly.arena.verdicts import badness, best_of
from mayfly.show.table import Cell, Table
from mayfly.show.table import Row as Line
from mayfly.text.readable import MISSING, bytes_text, digits, share_text, time_text

if TYPE_CHECKING:
    from mayfly.arena.arena import Arena
    from mayfly.arena.verdicts import Place


def value_text(row: Row, value: float) -> str:
    """A figure with its unit.

    Examples
    --------
    >>> from mayfly.arena.rows import ROWS
    >>> value_text(ROWS[0], 0.0465)
    '46.5 ms'
    """
    if row.unit == "s":
        return time_text(value)
    if row.unit == "bytes":
        return f"{digits(value / 1000)} kB"
    if row.unit == "share":
        return share_text(value)
    return f"{digits(value)} {row.unit}" if row.unit == "Mbit/s" else digits(value)


def leader(result: "Arena") -> str:
    """The discipline that trails in the fewest rows, then the one that leads in the most."""
    counts = result.counts()
    return min(result.disciplines, key=lambda label: (counts[label]["trails"], -counts[label]["leads"]))


def sentences(result: "Arena") -> list[str]:
    """Who leads or ties in most rows, where it trails most, who dominates whom, and what it cost.

    Parameters
    ----------
    result : Arena

    Returns
    -------
    list of str
        Without full stops.
    """
    first, counts = leader(result), result.counts()
    own, rows = counts[first], len(result.rows)
    told = [f"{first} leads or ties in {own['leads'] + own['ties']} of {rows} rows, and trails in {own['trails']}"]
    behind = [(result.board[row.id][first].by, row) for row in result.rows if _trails(result, row, first)]
    if behind:
        by, row = max(behind, key=lambda pair: pair[0])
        best = best_of(row, result.board[row.id])
        mean = result.board[row.id][best].mean
        told.append(
            f'it trails most in "{row.title}": {value_text(row, result.board[row.id][first].mean)} beside '
            f"{value_text(row, mean)} of {best} ({worse_text(row, by, mean)})"
        )
    dominated = [pair["other"] for pair in result.pairs() if pair["one"] == first and pair["dominates"]]
    told.append(
        f"{first} is nowhere worse than {', '.join(dominated)}, and better somewhere"
        if dominated
        else f"{first} dominates no other: each is better than it in some row"
    )
    if result.failed:
        told.append(f"{_so_many(len(result.failed), 'run')} failed, the first: {result.failed[0]['error']}")
    if goals := result.goals():
        missed = sum(not goal.met for goal in goals)
        told.append(f"of {_so_many(len(goals), 'goal')} {first} reaches {len(goals) - missed} and misses {missed}")
    times = f"{_so_many(len(result.seeds), 'seed')}, {cost_text(result)}"
    return [*told, f"{times}; {_so_many(result.ran, 'run')} done now"]


def cost_text(result: "Arena") -> str:
    """Processor time, in all and in what runs the scenarios, and the memory of the largest process."""
    where = "the simulator" if result.engine == "simulator" else "guests"
    return (
        f"{result.process_s:,.0f} s of processor time, {result.cpu_s:,.0f} s of it in {where}, "
        f"{bytes_text(result.peak_bytes)} in the largest process"
    )


def worse_text(row: Row, by: float, best: float) -> str:
    """How much worse than the best figure, as a factor from twice on; in the unit where the best is within a tie of 0.

    Examples
    --------
    >>> from mayfly.arena.rows import Row
    >>> stall = Row("stall", "longest stall", "load", "stall_s", "s", tie=0.2)
    >>> worse_text(stall, 3.0, 0.1), worse_text(stall, 3.0, 0.25), worse_text(stall, 0.5, 1.0)
    ('600 ms more', '4.00 times', '50.0 % worse')
    """
    if abs(badness(row, best)) < row.tie:
        return f"{value_text(row, by * row.tie)} {'more' if row.better == 'lower' else 'worse'}"
    return f"{digits(1 + by)} times" if by >= 1 else f"{share_text(by)} worse"


def _so_many(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _trails(result: "Arena", row: Row, label: str) -> bool:
    place = result.board[row.id].get(label)
    return place is not None and place.verdict == "trails"


def ordered_rows(result: "Arena") -> list[Row]:
    """Rows in which the best discipline trails come first, the most first."""
    first = leader(result)
    trailing = [row for row in result.rows if _trails(result, row, first)]
    trailing.sort(key=lambda row: -result.board[row.id][first].by)
    return trailing + [row for row in result.rows if row not in trailing]


def board_table(result: "Arena") -> Table:
    """Mean of each discipline in each row; the best and those that tie with it are marked good.

    Parameters
    ----------
    result : Arena

    Returns
    -------
    Table
    """
    rows: list[Line] = [
        (row.title, *(_cell(row, result.board[row.id].get(label)) for label in result.disciplines))
        for row in ordered_rows(result)
    ]
    counts = result.counts()
    for name in ("leads", "ties", "trails"):
        rows.append((f"rows: {name}", *(Cell(str(counts[label][name])) for label in result.disciplines)))
    notes = (
        "Means over the seeds; *: leads, or cannot be told from the best (paired differences over the seeds, Student's "
        "95 % interval, or less than the tie of the row). First the rows in which the best discipline trails.",
    )
    return Table("The arena", ("row", *result.disciplines), tuple(rows), notes=notes, narrow="fold")


def _cell(row: Row, place: "Place | None") -> Cell:
    if place is None:
        return Cell(MISSING)
    good = None if place.verdict == "trails" else True
    return Cell(value_text(row, place.mean) + ("*" if good else ""), good)


def pairs_table(result: "Arena") -> Table:
    """In how many rows the discipline of the line is better, and worse, than that of the column.

    Parameters
    ----------
    result : Arena

    Returns
    -------
    Table
    """
    found = {(pair["one"], pair["other"]): pair for pair in result.pairs()}
    rows: list[Line] = []
    for one in result.disciplines:
        cells = []
        for other in result.disciplines:
            pair = found.get((one, other))
            text = MISSING if pair is None else f"{pair['better']}:{pair['worse']}"
            cells.append(Cell(text, True if pair and pair["dominates"] else None))
        rows.append((one, *cells))
    note = "Rows in which the discipline of the line is better : worse than that of the column, beyond chance."
    return Table("Pair by pair", ("", *result.disciplines), tuple(rows), notes=(note,), narrow="fold")


def goals_table(result: "Arena") -> Table:
    """What the best discipline is to reach, its figure, and whether it does.

    Parameters
    ----------
    result : Arena

    Returns
    -------
    Table
        Missed ones first.
    """
    rows: list[Line] = []
    for one in sorted(result.goals(), key=lambda outcome: outcome.met):
        relation = "at least" if one.row.better == "higher" else "at most"
        beside = "the best rival" if one.goal.beside == RIVALS else one.goal.beside
        times = f" ({one.goal.bound:g} times that of {beside})" if beside else ""
        limit, figure = (
            f"{digits(100 * value)} %" if one.row.unit == "share" else value_text(one.row, value)
            for value in (one.limit, one.figure)
        )
        by = f"{digits(100 * abs(one.by))} % {'to spare' if one.met else 'short'}"
        verdict = f"{'reached' if one.met else 'missed'}{', within chance' if one.sure is False else ''}"
        rows.append(
            (
                one.row.title,
                f"{relation} {limit}{times}",
                figure,
                Cell(verdict, True if one.met else None),
                by,
                one.goal.source,
            )
        )
    first = leader(result)
    notes = (
        "Means over the seeds; within chance: the limit is inside the 95 % interval of the mean. The experiments are "
        "those of this board; who set the goals may have had other durations, sizes and neighbours in mind.",
        *(f"{one.row.title}: {one.goal.note}." for one in result.goals() if one.goal.note),
    )
    heads = ("row", "goal", first, "reached", "by", "source")
    return Table(f"What {first} is to reach", heads, tuple(rows), notes=notes, page_only=True)
