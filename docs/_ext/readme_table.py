"""The table of disciplines in the README, made from the registry: ``python docs/_ext/readme_table.py`` writes it."""

from pathlib import Path

from reference_tables import table

from mayfly.discipline_registry import PLACES, by_family

README = Path(__file__).parents[2] / "README.md"

BEGIN, END = "<!-- disciplines: made by `make readme` -->", "<!-- end of disciplines -->"
"""Around the table in the README."""


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
        (family, *(" ".join(f"`{id}`" for id, at in ids.items() if at == place) for place in columns))
        for family, ids in placed.items()
    )
    return table(("family", *(PLACES[place] for place in columns)), rows)


def with_families(readme: str) -> str:
    """Put the table between its marks.

    Parameters
    ----------
    readme : str
        Text with `BEGIN` and `END`, once each.

    Returns
    -------
    str
        The text with the table of today.

    Raises
    ------
    ValueError
        A mark is missing, or there more than once.
    """
    if readme.count(BEGIN) != 1 or readme.count(END) != 1:
        raise ValueError(f"README.md: must have {BEGIN!r} and {END!r} once each")
    before, _, rest = readme.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n\n{families()}\n\n{END}{after}"


if __name__ == "__main__":
    README.write_text(with_families(README.read_text(encoding="utf-8")), encoding="utf-8")
