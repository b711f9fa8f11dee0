"""Two tools on one capture, metric by metric, and the connections on which they differ most."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import polars as pl
from rich.table import Table

from mayfly.arrays import number_or_none
from mayfly.errors import MayflyError
from mayfly.profile.agreement.registry import read
from mayfly.profile.agreement.table import KEY, METRICS, Seen, columns_of
from mayfly.show.notebook import Result
from mayfly.summary_types import Accounted
from mayfly.workload.account import leading


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """How far two tools agree.

    Parameters
    ----------
    a, b : Seen
        What they say.
    matched : polars.DataFrame, shape (n_connections, n_columns)
        Connections that both have: :data:`~mayfly.profile.agreement.table.KEY`, ``number`` among those of one
        five-tuple, ``apart`` where one tool has more of them than the other, and every column of a metric that both
        have, with ``_1`` and ``_2`` behind.
    only : tuple of polars.DataFrame
        Connections that one alone has.
    tolerance : float
        Share by which two values may differ and agree.
    worst : int
        Connections that are listed.
    """

    a: Seen
    b: Seen
    matched: pl.DataFrame
    only: tuple[pl.DataFrame, pl.DataFrame]
    tolerance: float
    worst: int

    @property
    def metrics(self) -> list[str]:
        """What both have."""
        return [name for name in self.a.metrics if name in self.b.metrics]

    def _slack(self, name: str) -> float:
        """Rounding of both: each is wrong by half its unit, and what was cut off rather than rounded by one."""
        return self.a.resolution.get(name, 0.0) + self.b.resolution.get(name, 0.0) + 1e-9 * (METRICS[name].unit == "s")

    def differs(self, name: str, column: str) -> pl.Expr:
        """Whether the two values of a column differ by more than tolerance and rounding, or only one has any."""
        one, two = pl.col(f"{column}_1"), pl.col(f"{column}_2")
        most = self.tolerance * pl.max_horizontal(one.abs(), two.abs()) + self._slack(name)
        known = (one - two).abs() > most
        return pl.when(one.is_null() & two.is_null()).then(False).otherwise(known.fill_null(True))

    def row(self, name: str) -> dict[str, Any]:
        """One metric over the matched connections."""
        metric, columns = METRICS[name], columns_of(name)
        frame = self.matched if metric.sums else self.matched.filter(~pl.col("apart"))
        parts = [
            frame.select(
                pl.col(f"{column}_1").cast(pl.Float64).alias("one"),
                pl.col(f"{column}_2").cast(pl.Float64).alias("two"),
                self.differs(name, column).alias("differs"),
            )
            for column in columns
        ]
        values = pl.concat(parts)
        told = values.drop_nulls(["one", "two"])
        found = {"metric": name, "title": metric.title, "unit": metric.unit, "compared": told.height}
        found |= {
            "equal": told.height - int(told["differs"].sum()),
            "only_a": int((values["one"].is_not_null() & values["two"].is_null()).sum()),
            "only_b": int((values["one"].is_null() & values["two"].is_not_null()).sum()),
            "largest": _finite(number_or_none((told["one"] - told["two"]).abs().max())),
        }
        of = pl.Series.sum if metric.sums else pl.Series.mean
        return found | {side: _finite(number_or_none(of(told[name]))) for side, name in (("a", "one"), ("b", "two"))}

    def connections(self) -> list[dict[str, Any]]:
        """The connections that differ most: by the sum of relative differences over the metrics."""
        shares = []
        for name in self.metrics:
            for column in columns_of(name):
                one, two = pl.col(f"{column}_1"), pl.col(f"{column}_2")
                share = (one - two).abs() / pl.max_horizontal(one.abs(), two.abs())
                usable = self.differs(name, column) & (METRICS[name].sums | ~pl.col("apart"))
                shares.append(pl.when(usable).then(share.fill_null(1.0).fill_nan(0.0)).otherwise(0.0))
        if not shares or self.matched.height == 0:
            return []
        ranked = self.matched.with_columns(pl.sum_horizontal(shares).alias("score")).filter(pl.col("score") > 0)
        ranked = ranked.sort("score", *KEY, "number", descending=[True, *[False] * (len(KEY) + 1)]).head(self.worst)
        return [self._connection(row) for row in ranked.iter_rows(named=True)]

    def _connection(self, row: dict[str, Any]) -> dict[str, Any]:
        found = {name: row[name] for name in (*KEY, "number")} | {"score": round(row["score"], 6), "differences": []}
        for name in self.metrics:
            if row["apart"] and not METRICS[name].sums:
                continue
            for column in columns_of(name):
                one, two = row[f"{column}_1"], row[f"{column}_2"]
                most = self.tolerance * max(abs(one or 0), abs(two or 0)) + self._slack(name)
                if one is None and two is None:
                    continue
                if one is None or two is None or abs(one - two) > most:
                    way = {"ab": "a to b", "ba": "b to a"}.get(column[:2]) if METRICS[name].per_direction else None
                    found["differences"].append({"metric": name, "direction": way, "a": one, "b": two})
        return found

    def document(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "schema": 1,
            "command": "profile compare",
            "a": {"tool": self.a.tool, "file": self.a.source, "connections": self.a.frame.height},
            "b": {"tool": self.b.tool, "file": self.b.source, "connections": self.b.frame.height},
            "tolerance": self.tolerance,
            "matched": self.matched.height,
            "split_apart": int(self.matched["apart"].sum()),
            "only_a": self.only[0].height,
            "only_b": self.only[1].height,
            "metrics": [self.row(name) for name in self.metrics],
            "not_compared": {
                "a": [name for name in self.a.metrics if name not in self.metrics],
                "b": [name for name in self.b.metrics if name not in self.metrics],
            },
            "worst": self.connections(),
            **({"account": accounts} if (accounts := self.accounts()) else {}),
        }

    def accounts(self) -> list[Accounted]:
        """Of those of the two that are captures."""
        return [side.account for side in (self.a, self.b) if side.account is not None]

    def leading(self) -> list[str]:
        """What of the captures is missing, and what they cannot answer."""
        return leading(self.accounts())

    def tables(self) -> list[Table]:
        """What the terminal shows."""
        from mayfly.profile.agreement.terminal import agreement_tables

        return agreement_tables(self.document())

    def sentences(self) -> list[str]:
        """How many connections there are, in words."""
        one, two = self.a.tool, self.b.tool
        if one == two:
            one, two = "the first", "the second"
        said = [f"{self.matched.height} connections in both"]
        said += [f"{part.height} only in {who}" for part, who in zip(self.only, (one, two), strict=True) if part.height]
        first = ", ".join(said)
        apart = int(self.matched["apart"].sum())
        more = [f"{apart} five-tuples are split differently: their sums are compared, not their times"] if apart else []
        return [first, *more]


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value


def agreement(
    a: str | os.PathLike[str], b: str | os.PathLike[str], *, tolerance: float = 0.0, worst: int = 10
) -> Agreement:
    """Compare what two tools say of one capture.

    Parameters
    ----------
    a, b : path
        A capture or table of connections (ours), or output of another tool; told by content.
    tolerance : float
        Share of the larger value by which two may differ and agree, 0 to 1. What a tool rounds is allowed for anyway.
    worst : int
        Connections to list, 0 to 10000.

    Returns
    -------
    Agreement

    Raises
    ------
    MayflyError
        A value is out of its bounds, or a file cannot be read; one line.
    """
    if not 0 <= tolerance <= 1:
        raise MayflyError(f"tolerance = {tolerance}: must be from 0 to 1")
    if not 0 <= worst <= 10_000:
        raise MayflyError(f"worst = {worst}: must be from 0 to 10000")
    return compared(read(a), read(b), tolerance, worst)


def compared(a: Seen, b: Seen, tolerance: float = 0.0, worst: int = 10) -> Agreement:
    """Match the connections of two tools by their five-tuple, those of one five-tuple in turn.

    Parameters
    ----------
    a, b : Seen
        What they say.
    tolerance, worst
        As for :func:`agreement`.

    Returns
    -------
    Agreement
        Where one has more connections of a five-tuple than the other, all of them count as one.
    """
    metrics = [name for name in a.metrics if name in b.metrics]
    protocols = list(set(a.frame["protocol"].unique()) & set(b.frame["protocol"].unique()))
    frames = [seen.frame.filter(pl.col("protocol").is_in(protocols)) for seen in (a, b)]
    sizes = [frame.group_by(KEY).agg(pl.len().alias("n")) for frame in frames]
    both = sizes[0].join(sizes[1], on=KEY, how="inner", suffix="_2", nulls_equal=True)
    apart = both.filter(pl.col("n") != pl.col("n_2")).select(KEY)
    one, two = (_numbered(frame, metrics, apart) for frame in frames)
    on = [*KEY, "number"]
    columns = [column for name in metrics for column in columns_of(name)]
    first = one.select(*on, "apart", *(pl.col(column).alias(f"{column}_1") for column in columns))
    second = two.select(*on, *(pl.col(column).alias(f"{column}_2") for column in columns))
    matched = first.join(second, on=on, how="inner", maintain_order="left")
    alone = (first.join(second, on=on, how="anti"), second.join(first, on=on, how="anti"))
    return Agreement(a, b, matched, alone, tolerance, worst)


def _numbered(frame: pl.DataFrame, metrics: list[str], apart: pl.DataFrame) -> pl.DataFrame:
    """Rows with their place among those of the five-tuple; those split apart summed to one."""
    columns = [column for name in metrics for column in columns_of(name)]
    split = frame.join(apart, on=KEY, how="semi")
    sums = [
        pl.col(column).sum() if METRICS[name].sums else pl.lit(None, dtype=pl.Float64).alias(column)
        for name in metrics
        for column in columns_of(name)
    ]
    summed = split.group_by(KEY, maintain_order=True).agg(pl.col("start_s").min(), *sums)
    types = [pl.col(column).cast(pl.Float64) for column in columns]
    parts = [
        part.select(*KEY, "start_s", *columns, pl.lit(joined).alias("apart")).with_columns(types)
        for part, joined in ((frame.join(apart, on=KEY, how="anti"), False), (summed, True))
    ]
    return pl.concat(parts).sort("start_s", *KEY).with_columns(pl.int_range(pl.len()).over(KEY).alias("number"))
