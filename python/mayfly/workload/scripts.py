"""Scripted connections: the column ``script`` of a flow list.

A script lists the trains of a connection in turn, separated by ``|``: a direction and a payload in bytes, where wanted
with the parts in it whose arrival is recorded, by the bytes up to the end of each, and with the time between the
packets of the train. A ``wait`` is the think time before the train that follows::

    up 400 | wait 20ms | down 14600 pace 1ms | wait 2s | up 400 | down 90000 parts 30000,90000

Over QUIC a train may be made of streams, each so many bytes long, which do not wait for each other; where a train of as
many requests comes before, each stream follows its own request by the think time (HTTP/3)::

    up 800 streams 400,400 | wait 20ms | down 90000 streams 30000,60000

What waits for the flow (its ``stage``) waits until the connection is closed; with ``done`` as the last part, until
the last train has come in, as a user waits who does not see how a connection ends::

    up 400 | wait 20ms | down 14600 | done

A wait counts from the last byte of the train before at the end that answers; between two trains of one end, from the
last acknowledgement of the first; before the first train, from the connection being set up. Source: Chen 2012, 9.2,
which takes connections apart into trains, warm-up (waits), theoretical times and pacing.

This is the text, which files have. In memory the column is a list of trains (`SCRIPT`); ``crates/workload`` reads,
checks and writes both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

from mayfly import _native
from mayfly.errors import MayflyError

EXPECTED = "trains and waits such as `up 400 | wait 20ms | down 14600 pace 1ms`"

MOST_BYTES = 2**40
"""Largest payload of a train and of a script, bytes."""

LONGEST_S = 86_400.0
"""Longest wait or time between two packets, s: a day."""

SCRIPT = pl.List(
    pl.Struct(
        {
            "up": pl.Boolean,
            "size_bytes": pl.Int64,
            "wait_ns": pl.Int64,
            "pace_ns": pl.Int64,
            "parts": pl.List(pl.Int64),
            "streams": pl.Boolean,
            "done": pl.Boolean,
        }
    )
)
"""Type of the column in memory: the trains of each flow in turn, with the fields of :class:`Train`."""


@dataclass(frozen=True)
class Train:
    """One train of a script.

    Parameters
    ----------
    up : bool
        Whether it goes up, as a direction of a flow list.
    size_bytes : int
        Payload, bytes.
    wait_ns : int
        Think time before it, ns.
    pace_ns : int
        Time between its packets, ns; 0 sends what the window allows.
    parts : sequence of int
        Bytes up to the end of each part, 1 to `size_bytes`, in any order.
    streams : bool
        Whether each part is a stream of its own; then they are in order, and the last one ends the train.
    done : bool
        Of the last train: the flow counts as over for others when it has come in.
    """

    up: bool
    size_bytes: int
    wait_ns: int = 0
    pace_ns: int = 0
    parts: tuple[int, ...] = ()
    streams: bool = False
    done: bool = False


def column(scripts: Iterable[Iterable[Train] | None]) -> pl.Series:
    """Scripts as a column of a flow list.

    Parameters
    ----------
    scripts : iterable of iterable of Train, shape (n_flows,)
        None for a flow without one.

    Returns
    -------
    polars.Series of SCRIPT, shape (n_flows,)

    Examples
    --------
    >>> column([None, [Train(True, 400), Train(False, 9000, wait_ns=20_000_000)]]).list.len().to_list()
    [None, 2]
    """
    rows = [None if trains is None else [vars(train) for train in trains] for trains in scripts]
    return pl.Series("script", rows, dtype=SCRIPT)


def trains(row: Iterable[dict[str, Any]]) -> list[Train]:
    """The trains of a cell of such a column, which polars gives as a list of mappings."""
    return [Train(**train | {"parts": tuple(train["parts"])}) for train in row]


def checked(scripts: pl.Series) -> pl.DataFrame:
    """Read or check scripts.

    Parameters
    ----------
    scripts : polars.Series of str or SCRIPT, shape (n_flows,)
        Null for a flow without one.

    Returns
    -------
    polars.DataFrame, shape (n_flows, 3)
        ``script``, of type `SCRIPT`; ``size_bytes``, payload of all trains; ``up``, whether the first one goes up; null
        without script.

    Raises
    ------
    MayflyError
        The first script that is none, with its row, from 1: a part of another form, a value out of its bounds, a wait
        that no train follows, or structs of other fields.

    Examples
    --------
    >>> checked(pl.Series(["up 400 | wait 20ms | down 14600 pace 1ms"]))["size_bytes"].item()
    15000
    >>> checked(pl.Series(["up 400 | pause 1s"]))
    Traceback (most recent call last):
    mayfly.errors.MayflyError: row 1: script: 'pause 1s': must be `up BYTES [parts BYTES,...] [pace TIME]`, `up BYTES...
    """
    scripts = typed(scripts, SCRIPT)
    read = _native.parse_scripts if scripts.dtype == pl.String else _native.check_scripts
    try:
        return pl.DataFrame(read(scripts.to_frame()))
    except ValueError as error:
        row, part, bound = error.args
        raise MayflyError(f"row {row + 1}: script: {_short(part)}: {bound}") from None
    except TypeError as error:
        raise MayflyError(f"script: {error}") from None


def typed(lists: pl.Series, declared: pl.List) -> pl.Series:
    """Lists of structs whose empty fields have the declared types: polars gives them none."""
    if not isinstance(lists.dtype, pl.List) or lists.dtype == declared:
        return lists
    inner, wanted = lists.dtype.inner, declared.inner
    if inner == pl.Null:
        return lists.cast(declared)
    if not isinstance(inner, pl.Struct) or not isinstance(wanted, pl.Struct):
        return lists
    types = {field.name: field.dtype for field in wanted.fields}
    empty = {field.name for field in inner.fields if field.dtype in (pl.Null, pl.List(pl.Null))}
    fields = {field.name: types[field.name] for field in inner.fields if field.name in empty & types.keys()}
    return (
        lists.cast(pl.List(pl.Struct({field.name: field.dtype for field in inner.fields} | fields)))
        if fields
        else lists
    )


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def written(scripts: pl.Series) -> pl.Series:
    """Scripts as text.

    Parameters
    ----------
    scripts : polars.Series of SCRIPT, shape (n_flows,)
        Null for a flow without one.

    Returns
    -------
    polars.Series of str, shape (n_flows,)
        As :func:`checked` reads it.

    Examples
    --------
    >>> written(column([[Train(True, 400), Train(False, 9000, wait_ns=20_000_000)]])).item()
    'up 400 | wait 20ms | down 9000'
    >>> written(column([[Train(False, 9000, parts=(3000, 9000), streams=True)]])).item()
    'down 9000 streams 3000,6000'
    """
    return pl.DataFrame(_native.write_scripts(scripts.to_frame())).to_series().cast(pl.String).alias(scripts.name)


def trains_frame(trains: pl.DataFrame, flows: pl.DataFrame) -> pl.DataFrame:
    """When the trains of scripted flows were under way.

    Parameters
    ----------
    trains : polars.DataFrame, shape (n_trains, 6)
        Native table ``trains``.
    flows : polars.DataFrame
        The list that was run.

    Returns
    -------
    polars.DataFrame, shape (n_trains, 7)
        ``flow_id``, ``train``, ``part`` (null for all of the train), ``direction``, ``size_bytes`` (of a part: up to
        its end), ``start_s``, ``end_s``.
    """
    rows = trains["flow_id"]
    listed = flows["script"].drop_nulls().explode().struct.unnest()
    lengths = flows["script"].list.len().fill_null(0).cast(pl.Int64)
    places = (lengths.cum_sum() - lengths).gather(rows) + trains["train"]
    sizes = listed["size_bytes"].gather(places)
    parts = trains["part"]
    if parts.null_count() < len(parts):
        # Of every train the places of its parts among all parts.
        counts = listed["parts"].list.len().cast(pl.Int64)
        ends = listed["parts"].explode(empty_as_null=False)
        own = (counts.cum_sum() - counts).gather(places) + parts - 1
        sizes = sizes.zip_with(parts.is_null(), ends.gather(own))
    down = (flows["direction"].gather(rows) == "down") == trains["forward"]
    return trains.select(
        flows["flow_id"].gather(rows),
        "train",
        "part",
        pl.when(down).then(pl.lit("down")).otherwise(pl.lit("up")).alias("direction"),
        sizes.alias("size_bytes"),
        "start_s",
        "end_s",
    )
