"""The page of the arena in the documentation, made from a board."""

import datetime
import os
from pathlib import Path
from typing import TYPE_CHECKING

from mayfly.arena.bounds import bounds_table
from mayfly.arena.reasons import REASONS
from mayfly.arena.rows import TIE
from mayfly.arena.sentences import (
    board_table,
    cost_text,
    goals_table,
    leader,
    ordered_rows,
    pairs_table,
    value_text,
    worse_text,
)
from mayfly.arena.trial import BY_ID
from mayfly.arena.verdicts import best_of
from mayfly.errors import MayflyError
from mayfly.show.table import Table, markdown
from mayfly.text.files import complete

if TYPE_CHECKING:
    from mayfly.arena.arena import Arena

_HEAD = """\
# The arena

Every discipline on one board of criteria, with today's hosts (`tcp.preset=linux`). A row is one figure of one
experiment. Nothing is summed up in one number: a discipline *leads* a row, *ties* with the best, or *trails* it.

```sh
mayfly arena {options}--page docs/arena.md
```

Made on {date}: {seeds} seeds, {cost}.
`--quick` runs a part of it in some minutes. What has run is kept in the folder `--out` and does not run again, so that
a board that was interrupted goes on, and another discipline costs its own runs only. How much each default of `lfq`
matters is [a page of its own](arena-sensitivity.md), and so is [the board of the Linux kernel](arena-kernel.md).
`--bounds fq_codel,cake` adds what a clairvoyant could have, where the times of transfers are told. `--disciplines`
takes any of the registry, `dqfq` and `passport` among them: simpler rivals that no system has.
"""

_HOW = """\
## How a row is judged

All disciplines meet the same workload with the same seed. Two are *alike* in a row when their mean difference over the
seeds is less than {tie:.0f} % of the figure or less than the tie of the row (a millisecond for times of short
transfers, 128 kB for memory), or when Student's 95 % interval of the paired differences holds none. The best leads when
all others trail it. A transfer that does not finish counts with the time it had, so that nobody gains by starving it.
An attacker's fair shares below one count as one; of a congestion control half a fair share is as bad as two.

What is not on the board: HTTP/3, and time per packet ([](performance.md)). BBR is version 1. In cells `lfq` runs with
`medium=cell`, whatever other options it has; everything else has its defaults. Defaults of `lfq` were chosen on seeds
101 to 108; the board has seeds from 1. In `video` the stream has drawn end points, as transfers have: those between the
same two hosts are one user with it, and a share of the link is the user's limit; in `video-own` it is a user of its
own. Some rows are noisy, such as stalls and what an attacker with new addresses does: look at the intervals in
`arena.json`.
"""


def page_text(result: "Arena", options: str = "") -> str:
    """The page as Markdown.

    Parameters
    ----------
    result : Arena
    options : str
        Of the command that made it, with a space behind.

    Returns
    -------
    str
    """
    head = _HEAD.format(
        options=options, date=datetime.date.today().isoformat(), seeds=len(result.seeds), cost=cost_text(result)
    )
    parts = [head, *trailing(result)]
    if result.goals():
        goals = goals_table(result)
        parts += [f"\n## {goals.title}\n", markdown(goals, code=False), *(f"\n{note}" for note in goals.notes)]
    parts += ["\n## The board\n", markdown(board_table(result), code=False), f"\n{board_table(result).notes[0]}\n"]
    if result.bounds:
        bounds = bounds_table(result)
        parts += [f"## {bounds.title}\n", markdown(bounds, code=False), f"\n{bounds.notes[0]}\n"]
    parts += ["## Pair by pair\n", f"{pairs_table(result).notes[0]}\n", markdown(pairs_table(result)), ""]
    parts.append(_HOW.format(tie=100 * TIE))
    parts += ["## The experiments\n", experiments_table(result), ""]
    return "\n".join(parts)


def trailing(result: "Arena") -> list[str]:
    """The section that says where the best discipline trails, and why."""
    first = leader(result)
    parts = [
        f"## Where {first} trails\n",
        *(f"{sentence[:1].upper()}{sentence[1:]}.\n" for sentence in result.sentences()[:-1]),
    ]
    behind = [row for row in ordered_rows(result) if result.board[row.id][first].verdict == "trails"]
    if behind:
        lines = []
        for row in behind:
            own = result.board[row.id]
            best = best_of(row, own)
            figures = (value_text(row, own[first].mean), best, value_text(row, own[best].mean))
            why = REASONS.get(first, {}).get(row.id, "not known")
            lines.append((row.title, *figures, worse_text(row, own[first].by, own[best].mean), why))
        heads = ("row", first, "best", "its figure", "by", "why")
        parts.append(markdown(Table("", heads, tuple(lines)), code=False))
    return parts


def experiments_table(result: "Arena") -> str:
    """What each experiment is, as Markdown."""
    names = dict.fromkeys(row.experiment for row in result.rows)
    experiments = tuple((name, BY_ID[name].says, f"`{BY_ID[name].scenario}`") for name in names)
    return markdown(Table("", ("experiment", "what it is", "scenario"), experiments))


def written(path: str | os.PathLike[str], text: str) -> Path:
    """Writes a page, which appears when it is complete.

    Raises
    ------
    MayflyError
        It cannot be written.
    """
    try:
        with complete(Path(path)) as part:
            part.write_text(text, encoding="utf-8")
    except OSError as error:
        raise MayflyError(f"{path}: cannot be written: {error.strerror or error}") from None
    return Path(path)
