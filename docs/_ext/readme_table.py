"""The table of disciplines in the README, and that of kernels in ``docs/kernel/kernels.md``, made from the registry.

``python docs/_ext/readme_table.py`` writes both.
"""

from pathlib import Path

from reference_tables import table

from mayfly.discipline_registry import PLACES, by_family, disciplines, kernels

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
KERNELS = ROOT / "docs" / "kernel" / "kernels.md"

BEGIN, END = "<!-- disciplines: made by `make readme` -->", "<!-- end of disciplines -->"
"""Around the table in either."""


def families() -> str:
    """Lay out the registry: a row per family, a column per place where a discipline runs.

    Returns
    -------
    str
        Markdown. A discipline that runs in several places stands in the first of them, in the order of
        `mayfly.discipline_registry.PLACES`; a column in which none stands is left out.
    """
    order = list(PLACES)
    placed = {
        family: {row["id"]: min(row["runs_on"]["places"], key=order.index) for row in members}
        for family, members in by_family().items()
    }
    columns = [place for place in order if any(place in ids.values() for ids in placed.values())]
    rows = (
        (family, *(" ".join(_named(id) for id, at in ids.items() if at == place) for place in columns))
        for family, ids in placed.items()
    )
    return table(("family", *(PLACES[place] for place in columns)), rows)


def _named(id: str) -> str:
    qdisc = next(row["runs_on"]["qdisc"] for row in disciplines() if row["id"] == id)
    linux = "kernel" in next(row["runs_on"]["places"] for row in disciplines() if row["id"] == id)
    return f"`{id}` (in no kernel of Debian)" if linux and kernels.has_none(qdisc) else f"`{id}`"


def by_kernel() -> str:
    """Lay out the kernels: a row per queue discipline of Linux that the registry has.

    Returns
    -------
    str
        Markdown.
    """
    of_linux = (row["runs_on"]["qdisc"] for row in disciplines() if "kernel" in row["runs_on"]["places"])
    return table(*kernels.table(sorted(of_linux)))


def between(text: str, made: str) -> str:
    """Put a table between its marks.

    Parameters
    ----------
    text : str
        With `BEGIN` and `END`, once each.
    made : str
        Markdown of the table.

    Returns
    -------
    str
        The text with the table of today.

    Raises
    ------
    ValueError
        A mark is missing, or there more than once.
    """
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(f"the page must have {BEGIN!r} and {END!r} once each")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n\n{made}\n\n{END}{after}"


if __name__ == "__main__":
    for page, made in ((README, families()), (KERNELS, by_kernel())):
        page.write_text(between(page.read_text(encoding="utf-8"), made), encoding="utf-8")
