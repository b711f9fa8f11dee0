"""The figures on the page about gaming: blocks between marks, filled from a run of the pack."""

import re
from textwrap import fill
from typing import Any

from mayfly.errors import MayflyError
from mayfly.packs.gaming import Gaming
from mayfly.packs.gaming_report import gaming_tables
from mayfly.packs.gaming_verdicts import RULES
from mayfly.scenario.attacks import PARTS
from mayfly.show.table import markdown

_BLOCK = re.compile(r"(<!-- pack: (\w+) -->\n).*?(<!-- pack end -->)", re.DOTALL)

_WIDTH = 140


VARIANTS = (
    "efd(threshold=3000)",
    "efd(threshold=10000)",
    "efd",
    "efd(threshold=100000)",
    "efd(low=las)",
    "efd(high=las)",
    "efd(high=las, low=las)",
)
"""What the page compares to say what can be done about the weaknesses of EFD."""


def filled_page(text: str, result: Gaming, variants: Gaming | None = None) -> str:
    """A page with its blocks filled anew.

    Parameters
    ----------
    text : str
        Markdown. A block begins with ``<!-- pack: NAME -->`` and ends with ``<!-- pack end -->``, each on a line.
    result : Gaming
        Of all parts of the pack.
    variants : Gaming, optional
        Of `VARIANTS`, parts ``spaced`` and ``split``, for the block of that name.

    Returns
    -------
    str
        The page; what stands outside the blocks is kept.

    Raises
    ------
    MayflyError
        A block of another name, or no block at all.
    """
    made = page_blocks(result, variants)
    names = [match[2] for match in _BLOCK.finditer(text)]
    if not names:
        raise MayflyError("the page has no block: must hold <!-- pack: NAME --> and <!-- pack end -->")
    for name in names:
        if name not in made:
            raise MayflyError(f"block {name!r} of the page: must be one of {', '.join(made)}")
    return _BLOCK.sub(lambda match: f"{match[1]}\n{made[match[2]]}\n\n{match[3]}", text)


def page_blocks(result: Gaming, variants: Gaming | None = None) -> dict[str, str]:
    """Markdown of every block.

    Parameters
    ----------
    result : Gaming
        Of all parts of the pack.
    variants : Gaming, optional
        Of `VARIANTS`.

    Returns
    -------
    dict of str
        ``overview``, ``verdicts``, ``figures`` (all other tables), ``made`` (how), and ``variants`` when they ran.
    """
    grids = gaming_tables(result)
    figures = []
    for id, part in PARTS.items():
        figures.append(f"### {part.title}")
        figures += [f"**{grid.title}**\n\n{markdown(grid)}" for grid in grids[id]]
    summary = result.summary
    blocks = {} if variants is None else {"variants": markdown(gaming_tables(variants)["overview"][0])}
    return blocks | {
        "overview": markdown(grids["overview"][0]),
        "verdicts": "\n".join(fill(f"- {line}", _WIDTH, subsequent_indent="  ") for line in verdicts(result.overview)),
        "figures": "\n\n".join(figures),
        "made": f"{len(result.overview)} disciplines, seed {summary['seed']}, {summary['replications']} replications.",
    }


def verdicts(rows: list[dict[str, Any]]) -> list[str]:
    """Who resists what, by the rules of the page.

    Parameters
    ----------
    rows : list of dict
        The overview of a pack.

    Returns
    -------
    list of str
        One sentence in Markdown per attack.
    """
    sentences = []
    for rule in RULES:
        names = [f"`{label}`" for label in rule.kept_by(rows)]
        sentences.append(f"**{rule.what}** ({rule.bound}): {', '.join(names) or 'none'}.")
    return sentences
