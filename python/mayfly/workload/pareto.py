"""Unbounded Pareto laws of flow sizes. The bounded one is in :mod:`mayfly.workload.sizes`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mayfly.errors import MayflyError
from mayfly.workload.continuous import LARGEST_SCALE, ContinuousLaw, check_between, two_of
from mayfly.workload.sizes import fraction

STEEPEST = 1000.0
"""Largest tail exponent."""


@dataclass(frozen=True)
class ParetoII(ContinuousLaw):
    """Pareto law shifted to 0 (Lomax): P(X > x) = (1 + x / scale)^-shape.

    Parameters
    ----------
    shape : float
        Tail exponent, above 0, at most 1000; the mean is finite above 1, the variance above 2.
    scale : float
        Packets, above 0, at most 10^7.

    Notes
    -----
    Rai 2003, Table 1, writes P(1, 1.2, 12) for the object sizes of a web page: minimum 1, shape 1.2 and mean 12 cannot
    all hold for an ordinary Pareto law. This one with shape 1.2 and mean 12, rounded up to whole packets, can (shared
    errata); it is the ``ParetoII`` of ns-2's web workload.

    Examples
    --------
    >>> law = ParetoII.solve(shape=1.2, mean=12)
    >>> round(law.scale, 9), round(law.mean_packets(), 2)
    (2.4, 12.54)
    """

    shape: float
    scale: float

    def __post_init__(self) -> None:
        check_between("shape", self.shape, 0, STEEPEST)
        check_between("scale", self.scale, 0, LARGEST_SCALE, "packets")

    @classmethod
    def solve(
        cls,
        *,
        shape: float | None = None,
        scale: float | None = None,
        mean: float | None = None,
        cov: float | None = None,
    ) -> ParetoII:
        """Find the law from two of its parameters and moments.

        Parameters
        ----------
        shape, scale : float, optional
            As of the law.
        mean : float, optional
            Packets, > 0.
        cov : float, optional
            Coefficient of variation, > 1.

        Returns
        -------
        ParetoII
            With the two values given.

        Raises
        ------
        MayflyError
            Not two values, or no law has them.

        Notes
        -----
        Mean scale / (shape - 1); squared coefficient of variation shape / (shape - 2).

        Examples
        --------
        >>> ParetoII.solve(mean=10, cov=2)
        ParetoII(shape=2.6666666666666665, scale=16.666666666666664)
        """
        known = two_of({"shape": shape, "scale": scale, "mean": mean, "cov": cov})
        if cov is not None:
            if cov <= 1 or shape is not None:
                bound = "left out where shape is given" if shape is not None else "above 1 for this law"
                raise MayflyError(f"cov = {cov}: must be {bound}")
            known["shape"] = shape = 2 * cov * cov / (cov * cov - 1)
        if mean is not None:
            if shape is None:
                known["shape"] = shape = 1 + scale / mean
            if shape <= 1:
                raise MayflyError(f"shape = {shape}: must be above 1 for a finite mean")
            known["scale"] = mean * (shape - 1)
        return cls(known["shape"], known["scale"])

    def mean(self) -> float:
        """Mean size, packets; infinite for a shape of at most 1."""
        return self.scale / (self.shape - 1) if self.shape > 1 else math.inf

    def cov(self) -> float:
        """Coefficient of variation; infinite for a shape of at most 2."""
        return math.sqrt(self.shape / (self.shape - 2)) if self.shape > 2 else math.inf

    def pdf(self, size: np.ndarray | float) -> np.ndarray:
        """Density at ``size``, packets; 1/packet."""
        size = np.asarray(size, dtype=float)
        inside = self.shape / self.scale * np.exp(-(self.shape + 1) * np.log1p(np.maximum(size, 0) / self.scale))
        return np.where(size < 0, 0.0, inside)

    def survival(self, size: np.ndarray | float) -> np.ndarray:
        """P(X > size), ``size`` in packets."""
        return np.exp(-self.shape * np.log1p(np.maximum(size, 0.0) / self.scale))

    def quantile(self, p: np.ndarray | float) -> np.ndarray:
        """Size, packets, whose distribution function is ``p``, 0 <= p <= 1."""
        with np.errstate(divide="ignore"):
            return self.scale * np.expm1(-np.log1p(-fraction(p)) / self.shape)

    def excess(self, size: float) -> float:
        """E[max(X - size, 0)], packets."""
        return float(self.survival(size)) * (self.scale + size) / (self.shape - 1) if self.shape > 1 else math.inf
