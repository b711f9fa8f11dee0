"""Traces of chosen flows: which rows of a flow list they are."""

from collections.abc import Iterable

import polars as pl

from mayfly.errors import MayflyError


def chosen_rows(flows: pl.DataFrame, names: Iterable[str]) -> list[int]:
    """Rows of the flows that are named.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        A normalised flow list.
    names : iterable of str
        A `flow_id`, or else the name of a group.

    Returns
    -------
    list of int
        Ascending row numbers.

    Raises
    ------
    MayflyError
        No flow has that id, nor that group.
    """
    chosen: set[int] = set()
    for name in names:
        found = _with_id(flows, name) or (flows["group"] == name).fill_null(False).arg_true().to_list()
        if not found:
            groups = sorted(flows["group"].drop_nulls().unique())
            known = f"; groups are {', '.join(groups[:10])}" if groups else "; no flow has a group"
            raise MayflyError(f"trace = '{name}': must be the flow_id of a flow, or a group{known}")
        chosen.update(found)
    return sorted(chosen)


def _with_id(flows: pl.DataFrame, name: str) -> list[int]:
    # 18 digits fit int64.
    if not (name.isascii() and name.isdecimal() and len(name) <= 18):
        return []
    return (flows["flow_id"] == int(name)).arg_true().to_list()
