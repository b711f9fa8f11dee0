"""Sizes by a measured distribution function."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.laws.sizes import fraction
from mayfly.laws.solving import MAX_PACKETS


@dataclass(frozen=True)
class Empirical:
    """Whole sizes by a distribution function given in steps.

    Parameters
    ----------
    steps : sequence of (float, float)
        Size, whole packets from 1 to 10^7, ascending, and the share of the flows up to it, ascending to 1.

    Examples
    --------
    >>> law = Empirical(((1, 0.5), (10, 0.9), (100, 1.0)))
    >>> round(law.mean(), 9), law.sample(np.random.default_rng(1), 4).tolist()
    (14.5, [10, 100, 1, 100])
    """

    steps: Sequence[tuple[float, float]]

    def __post_init__(self) -> None:
        if not self.steps:
            raise MayflyError("steps = []: must be at least one pair of size and share")
        before, share = 0.0, 0.0
        for size, up_to in self.steps:
            if not (before < size <= MAX_PACKETS and size == math.floor(size)):
                raise MayflyError(f"size = {size}: must be whole packets, ascending from 1 to {MAX_PACKETS}")
            if not share <= up_to <= 1:
                raise MayflyError(f"share = {up_to}: must ascend from 0 to 1")
            before, share = size, up_to
        if abs(share - 1) > 1e-9:
            raise MayflyError(f"share = {share}: the last one must be 1")

    @classmethod
    def of_sample(cls, sizes: Sequence[float]) -> Empirical:
        """The law of measured sizes, whole packets, each as likely as any other.

        Examples
        --------
        >>> Empirical.of_sample([10, 1, 1, 4]).steps
        ((1.0, 0.5), (4.0, 0.75), (10.0, 1.0))
        """
        values, counts = np.unique(np.asarray(sizes, dtype=float), return_counts=True)
        return cls(tuple(zip(values.tolist(), (np.cumsum(counts) / counts.sum()).tolist(), strict=True)))

    @classmethod
    def read(cls, file: str | os.PathLike[str]) -> Empirical:
        """The law of a CSV file: ``size_packets`` with ``cdf``, steps of the law, or without, a measured size a row."""
        try:
            table = pl.read_csv(os.fspath(file), schema_overrides={"size_packets": pl.Float64, "cdf": pl.Float64})
            columns = ["size_packets", "cdf"] if "cdf" in table.columns else ["size_packets"]
            table = table.select(columns)
        except (OSError, pl.exceptions.PolarsError) as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:120]
            raise MayflyError(f"{file}: not a table of size_packets, with cdf or without: {reason}") from None
        if table.height == 0 or any(column.has_nulls() for column in table.iter_columns()):
            raise MayflyError(f"{file}: must hold {' and '.join(columns)} in every row, and at least one row")
        try:
            return (
                cls(tuple(table.iter_rows())) if len(columns) == 2 else cls.of_sample(table["size_packets"].to_list())
            )
        except MayflyError as error:
            raise MayflyError(f"{file}: {error}") from None

    @cached_property
    def sizes(self) -> Integers:
        """Sizes of the steps, packets, shape (n_steps,)."""
        return np.array([size for size, _ in self.steps], dtype=np.int64)

    @cached_property
    def shares(self) -> Floats:
        """Share of the flows up to each size, shape (n_steps,)."""
        return np.array([share for _, share in self.steps[:-1]] + [1.0])

    def mean(self) -> float:
        """Mean size, packets."""
        return float(self.sizes @ np.diff(self.shares, prepend=0.0))

    def mean_packets(self) -> float:
        """Mean size, packets: sizes are whole."""
        return self.mean()

    def cov(self) -> float:
        """Coefficient of variation."""
        chances = np.diff(self.shares, prepend=0.0)
        return math.sqrt(float((self.sizes - self.mean()) ** 2 @ chances)) / self.mean()

    def cdf(self, size: Floats | float) -> Floats:
        """P(X <= size), ``size`` in packets."""
        below = np.searchsorted(self.sizes, np.asarray(size, dtype=float), side="right")
        return np.concatenate([[0.0], self.shares])[below]

    def quantile(self, p: Floats | float) -> Integers:
        """Smallest size, packets, whose distribution function reaches ``p``, 0 <= p <= 1."""
        return self.sizes[np.searchsorted(self.shares, fraction(p), side="left")]

    def sample(self, rng: np.random.Generator, n: int) -> Integers:
        """``n`` independent sizes, packets, shape (n,), int64: by inversion, one uniform number each."""
        return self.sizes[np.searchsorted(self.shares, rng.random(n), side="right")]
