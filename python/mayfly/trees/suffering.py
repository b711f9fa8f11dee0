"""When the users of a circuit suffer."""

import math

import polars as pl

SUFFERS_MS = 50.0
"""A circuit suffers when 5 % of its pings take so much longer than the least one, or do not come back."""


def rise_ms() -> pl.Expr:
    """The ping of a circuit above its least, ms; infinite where too few came back."""
    return (pl.col("ping_p95_ms") - pl.col("ping_least_ms")).fill_null(math.inf)


def suffers() -> pl.Expr:
    """Whether a circuit suffers."""
    return (pl.col("pings") > 0) & ((rise_ms() > SUFFERS_MS) | (pl.col("ping_lost") > 0.05))
