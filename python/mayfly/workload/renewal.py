"""When transfers start: Poisson, Weibull times between arrivals, or the times of a file.

Weibull times between arrivals with a shape below 1 come in bursts; Chen 2012, 8.3, fits them to an enterprise. The
process is in equilibrium from the start (Cox 1962, Renewal Theory, 2.2 and 5.2): its mean number of arrivals is rate x
time in any window, so that a mean load is met by a run of any length.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.workload.arrivals import MAX_ARRIVALS, exponential, poisson, refuse_many, stream

LEAST_SHAPE, MOST_SHAPE = 0.2, 100
"""Bounds of the shape of Weibull gaps: coefficients of variation of 15.8 and 0.013."""


@dataclass(frozen=True)
class Poisson:
    """Exponential gaps, the stream ``arrivals``."""

    has_rate: ClassVar[bool] = True

    def starts(self, seed: int, rate: float, duration_s: float) -> Floats:
        """Ascending times in [0, duration_s), s, at ``rate`` per second on average."""
        return poisson(stream(seed, "arrivals"), rate, duration_s)

    def gaps(self, seed: int, n: int) -> Floats:
        """``n`` gaps of mean 1."""
        return exponential(stream(seed, "arrivals"), n)


@dataclass(frozen=True)
class WeibullGaps:
    """Independent Weibull gaps: P(gap > x) = exp(-(x / scale)^shape), the stream ``arrivals, weibull``.

    Parameters
    ----------
    shape : float
        From 0.2 to 100; 1 is exponential, below it bursts, above it regular.

    Examples
    --------
    >>> gaps = WeibullGaps(0.5).gaps(1, 100_000)
    >>> round(WeibullGaps(0.5).cov(), 3), bool(abs(gaps.mean() - 1) < 4 * 2.236 / 100_000**0.5)
    (2.236, True)
    """

    has_rate: ClassVar[bool] = True

    shape: float

    def __post_init__(self) -> None:
        if not LEAST_SHAPE <= self.shape <= MOST_SHAPE:
            raise MayflyError(f"arrival_shape = {self.shape}: must be from {LEAST_SHAPE} to {MOST_SHAPE}")

    def cov(self) -> float:
        """Coefficient of variation of the gaps: sqrt(Gamma(1 + 2/shape) / Gamma(1 + 1/shape)^2 - 1)."""
        return math.sqrt(math.expm1(math.lgamma(1 + 2 / self.shape) - 2 * math.lgamma(1 + 1 / self.shape)))

    def _weibull(self, uniform: Floats) -> Floats:
        return (-np.log1p(-uniform)) ** (1 / self.shape) / math.gamma(1 + 1 / self.shape)

    def gaps(self, seed: int, n: int) -> Floats:
        """``n`` gaps of mean 1."""
        return self._weibull(stream(seed, "arrivals", "weibull").random(n))

    def starts(self, seed: int, rate: float, duration_s: float) -> Floats:
        """Ascending times in [0, duration_s), s, at ``rate`` per second on average.

        Raises
        ------
        MayflyError
            More than 10^8 arrivals.
        """
        from scipy.special import gammaincinv

        rng, expected = stream(seed, "arrivals", "weibull"), rate * duration_s
        refuse_many(expected)
        # The time to the first arrival has the density P(gap > x) / mean.
        inverse = 1 / self.shape
        first = float(gammaincinv(inverse, rng.random())) ** inverse / math.gamma(1 + inverse)
        gaps = [np.array([first])]
        times = gaps[0]
        while times[-1] < expected:
            if len(times) > MAX_ARRIVALS:
                raise MayflyError(f"arrival_shape = {self.shape}: more than {MAX_ARRIVALS} arrivals: must be larger")
            gaps.append(self._weibull(rng.random(max(len(times), math.ceil(1.1 * expected), 16))))
            # All gaps are added up anew, so that a longer run begins with the shorter one to the last digit.
            times = np.cumsum(np.concatenate(gaps))
        times = times / rate
        return times[times < duration_s]


@dataclass(frozen=True)
class Recorded:
    """The times of a file, whatever the seed.

    Parameters
    ----------
    file : path
        CSV with the column ``start_s``, from 0 on, in any order.
    """

    has_rate: ClassVar[bool] = False

    file: str | os.PathLike[str]

    def starts(self, seed: int, rate: float | None, duration_s: float) -> Floats:
        """Ascending times in [0, duration_s), s."""
        import polars as pl

        try:
            times = pl.read_csv(os.fspath(self.file), schema_overrides={"start_s": pl.Float64})["start_s"]
        except (OSError, pl.exceptions.PolarsError) as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:120]
            raise MayflyError(f"{self.file}: not a table with the column start_s: {reason}") from None
        wrong = ~times.is_between(0, 1e9).fill_null(False) | times.is_nan().fill_null(True)
        if times.is_empty() or wrong.any():
            row = int(wrong.arg_max() or 0)
            shown = "nothing" if times.is_empty() else times[row]
            raise MayflyError(f"{self.file}: row {row + 1}: start_s = {shown}: must be from 0 to 1e9 s")
        return times.filter(times < duration_s).sort().to_numpy()


Arrivals = Poisson | WeibullGaps | Recorded
