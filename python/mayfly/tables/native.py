"""Tables that the compiled module makes."""

import json
from functools import cache

from mayfly import _native
from mayfly.tables.table import Column, Table


@cache
def _all() -> dict[str, Table]:
    return {
        table["name"]: Table(
            table["name"], tuple(Column(**column) for column in table["columns"]), version=table["version"]
        )
        for table in json.loads(_native.table_schema())
    }


def native(name: str) -> Table:
    """A table of the compiled module.

    Parameters
    ----------
    name : str
        As declared in Rust.

    Returns
    -------
    Table

    Examples
    --------
    >>> [column.name for column in native("timeouts").columns]
    ['flow_id', 'time_s']
    """
    return _all()[name]
