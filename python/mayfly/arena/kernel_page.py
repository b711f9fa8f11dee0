"""The page of the arena in the Linux kernel: the board, what the simulator says otherwise, what does not run."""

import datetime
import os
import re
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

from mayfly.arena.markdown import experiments_table, trailing
from mayfly.arena.rows import TIE, Row
from mayfly.arena.sentences import board_table, cost_text, goals_table, ordered_rows, pairs_table, value_text
from mayfly.arena.trial import BY_ID
from mayfly.errors import MayflyError
from mayfly.show.table import Table, markdown
from mayfly.text.files import bounded_text, first_line
from mayfly.text.readable import digits, printable

if TYPE_CHECKING:
    from mayfly.arena.arena import Arena
    from mayfly.arena.verdicts import Place

_HEAD = """\
# The arena in the Linux kernel

The wired rows of [the arena](arena.md), with the gaming and overload suite, through TCP and queue disciplines of a real
kernel: Linux {kernel} as User Mode Linux in virtual time ([](kernel/engine.md)). Rows, ties and verdicts are those of
the arena, and so are the workloads: each seed draws the same transfers in both engines. `cake` and `lfq` shape by
themselves; the others are leaves of htb.

```sh
mayfly arena {options}--page docs/arena-kernel.md
```

Made on {date}: Linux {kernel}, seeds 1 to {seeds}, {cost}. The same runs in the simulator took {beside} s.
"""

_HOW = """\
## How it is measured

Response times, slowdowns and shares are taken as in the simulator. What the kernel tells otherwise: the mean
round-trip time of a transfer without end is that of its smoothed estimate (`tcpi_rtt`), looked at every 100 ms; the
wait of a datagram in the queue is the time from `send()` to `recv()` less that of the links; memory of flows is not
told, see the cost below. Where a side has more than 250 hosts those that only send or receive UDP share a namespace
and its access link, and have their addresses. A buffer that is given as a time is as many full packets. Two are alike
within {tie:.0f} % or the tie of the row, or when Student's 95 % interval of the paired differences holds none. Times
alone, of which slowdowns are multiples, are the simulator's.
"""

_KEPT = re.compile(r"<!-- (benchmarks/[\w.]+)( [\w-]+)?: begin -->.*?<!-- \1\2?: end -->", re.DOTALL)


def kept(path: str | os.PathLike[str]) -> str:
    """Parts of a page that benchmarks write, to stay when the page is made again.

    Parameters
    ----------
    path : path
        May be absent.

    Returns
    -------
    str
        The text between their comments, with these; empty when there is none.

    Raises
    ------
    MayflyError
        The page is no text of UTF-8, or longer than 10 MiB.
    """
    try:
        text = bounded_text(Path(path))
    except OSError:
        return ""
    except ValueError as error:
        raise MayflyError(f"{printable(path)}: no page of Markdown: {first_line(error)}") from None
    return "".join(f"\n{found.group(0)}\n" for found in _KEPT.finditer(text))


def page_text(result: "Arena", options: str = "") -> str:
    """The page as Markdown.

    Parameters
    ----------
    result : Arena
        Of the engine ``linux``.
    options : str
        Of the command that made it, with a space behind.

    Returns
    -------
    str
    """
    assert result.beside is not None
    head = _HEAD.format(
        kernel=result.kernel,
        options=options,
        date=datetime.date.today().isoformat(),
        seeds=len(result.seeds),
        cost=cost_text(result),
        beside=f"{result.beside.process_s:,.0f}",
    )
    parts = [head]
    if len(result.seeds) == 1:
        parts.append(
            "**With one seed chance is not judged**: two are alike within the tie of the row alone. The command with "
            "more seeds goes on from what has run.\n"
        )
    parts += trailing(result)
    if result.goals():
        goals = goals_table(result)
        parts += [f"\n## {goals.title}\n", markdown(goals, code=False), f"\n{goals.notes[0]}"]
    parts += ["\n## The board\n", markdown(board_table(result), code=False), f"\n{board_table(result).notes[0]}\n"]
    parts += ["## Simulator and kernel\n", *_engines(result, result.beside)]
    parts += ["\n## What the kernel does not run\n", _absent(result)]
    parts += ["\n## Pair by pair\n", f"{pairs_table(result).notes[0]}\n", markdown(pairs_table(result)), ""]
    parts += [_HOW.format(tie=100 * TIE), "## The experiments\n", experiments_table(result), ""]
    return "\n".join(parts)


def _engines(kernel: "Arena", here: "Arena") -> list[str]:
    """Where a discipline is judged otherwise, and how far the figures are apart."""
    ratios, lines, count = [], [], 0
    for row in ordered_rows(kernel):
        for label in kernel.disciplines:
            one, other = kernel.board[row.id].get(label), here.board.get(row.id, {}).get(label)
            if one is None or other is None:
                continue
            count += 1
            if other.mean > 0 and one.mean > 0:
                ratios.append(one.mean / other.mean)
            if (one.verdict == "trails") != (other.verdict == "trails"):
                lines.append((row.title, label, *_judged(row, other), *_judged(row, one), _apart(row, one, other)))
    low, high = (statistics.quantiles(ratios, n=20)[k] for k in (0, 18)) if len(ratios) > 1 else (1.0, 1.0)
    middle = statistics.median(ratios) if ratios else 1.0
    told = (
        f"Of {count:,} figures (a discipline in a row) {len(lines):,} are judged otherwise: one leads or ties in one "
        f"engine and trails in the other. Over all figures the kernel's is {digits(middle)} times the simulator's in "
        f"the median, and nine in ten are within {digits(low)} and {digits(high)} times.\n"
    )
    heads = ("row", "discipline", "simulator", "there it", "kernel", "there it", "kernel over simulator")
    return [told, markdown(Table("", heads, tuple(lines)), code=False)] if lines else [told]


def _judged(row: Row, place: "Place") -> tuple[str, str]:
    return value_text(row, place.mean), place.verdict


def _apart(row: Row, one: "Place", other: "Place") -> str:
    if other.mean > 0:
        return digits(one.mean / other.mean)
    return "alike" if abs(one.mean - other.mean) <= row.tie else value_text(row, one.mean - other.mean)


def _absent(result: "Arena") -> str:
    """Experiments with the reason, and rows of which the kernel tells no figure."""
    rows = [(name, BY_ID[name].says, reason) for name, reason in result.absent.items()]
    assert result.beside is not None
    had = {row.id for row in result.rows}
    rows += [
        (row.experiment, row.title, f"the kernel tells no `{row.figure}`")
        for row in result.beside.rows
        if row.id not in had
    ]
    return markdown(Table("", ("experiment", "what it is", "why"), tuple(rows)), code=False)
