"""What `mayfly model gaps` answers: laws fitted to the times between arrivals."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mayfly.arrays import Floats
from mayfly.laws.interarrival import Fit, fits, quantile_pairs
from mayfly.show.notebook import Result

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, eq=False, repr=False)
class GapsAnswer(Result):
    """Laws fitted to gaps.

    Parameters
    ----------
    gaps : numpy.ndarray, shape (n,)
        Above 0, s.
    together : int
        Gaps of 0, left out.
    fits : tuple of Fit
        All laws.
    """

    gaps: Floats
    together: int
    fits: tuple[Fit, ...]

    def document(self) -> dict[str, Any]:
        """All of it for JSON, with the points of the QQ plots.

        Returns
        -------
        dict
            ``gaps, together, mean_s, cov, fits``; each fit with ``law, by, parameters, log_likelihood, aic, ks`` and
            ``qq``, quantiles of law and gaps in s.
        """
        rows = []
        for fit in self.fits:
            law, measured = quantile_pairs(fit, self.gaps)
            row = {name: getattr(fit, name) for name in ("law", "by", "parameters", "log_likelihood", "aic", "ks")}
            rows.append(row | {"qq": {"law_s": law.tolist(), "measured_s": measured.tolist()}})
        mean = float(self.gaps.mean())
        return {
            "gaps": len(self.gaps),
            "together": self.together,
            "mean_s": mean,
            "cov": float(self.gaps.std()) / mean,
            "fits": rows,
        }

    def table(self) -> Table:
        """The laws as a rich table, the nearest first."""
        from rich import box
        from rich.table import Table

        found = Table(title="times between arrivals", box=box.SIMPLE_HEAD, title_justify="left")
        for header in ("law", "fitted by", "parameters", "KS distance", "AIC per gap"):
            found.add_column(header, justify="right" if header in ("KS distance", "AIC per gap") else "left")
        for fit in sorted(self.fits, key=lambda fit: fit.ks):
            parameters = ", ".join(f"{name} {value:.5g}" for name, value in fit.parameters.items())
            found.add_row(fit.law, fit.by, parameters, f"{fit.ks:.4f}", f"{fit.aic / len(self.gaps):.5g}")
        return found

    def sentences(self) -> list[str]:
        """Number, mean and variability in words."""
        mean = float(self.gaps.mean())
        told = f"{len(self.gaps)} gaps of {mean:.5g} s in the mean, CoV {float(self.gaps.std()) / mean:.4g}"
        if self.together:
            told += f"; {self.together} arrivals at the instant of another are left out"
        return [told]


def gaps_answer(file: str | os.PathLike[str], discipline: str | None = None, since_s: float = 0.0) -> GapsAnswer:
    """Laws of the times between the arrivals of sub-flows.

    Parameters
    ----------
    file : path
        Table of sub-flows of a run.
    discipline, since_s
        As :func:`mayfly.models.efd.subflow_table.read_subflows`.

    Returns
    -------
    GapsAnswer

    Raises
    ------
    MayflyError
        The table cannot be read, or has too few arrivals.
    """
    from mayfly.models.efd.subflow_table import arrival_gaps, read_subflows

    gaps, together = arrival_gaps(read_subflows(file, discipline, since_s))
    return GapsAnswer(gaps, together, tuple(fits(gaps)))
