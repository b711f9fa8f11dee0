"""A model fitted to a trace, and how well it fits what it has not seen.

The model: in intervals of 100 ms the rate is what the quantiles of the trace give for a Gaussian process, whose
autocorrelation is a sum of a fast and a slow exponential. Outages either are the lowest of these rates, as on radio
where they come from a rate that falls, or come whatever the rate is, as handovers do: a Markov chain of two states. Of
these two the one is taken whose draws are nearer to what it was fitted to. Its judge is the half of the trace that it
was not fitted to.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, stats

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.link_trace.trace import LinkTrace, of_steps

BIN_S = 0.1
FEWEST = 200
"""Intervals of a trace that a model is fitted to, at least: 100 in either half."""

LAGS_S = (0.1, 1.0, 5.0)
_MOST_LAGS = 100


@dataclass(frozen=True)
class Model:
    """A fitted model.

    Parameters
    ----------
    quantiles_bps : ndarray, shape (101,)
        Of the rate in service, at the shares 0, 0.01, ..., 1.
    weight : float
        Of the fast exponential, 0 to 1.
    memories_s : tuple of float
        Memory of the fast and of the slow one, s.
    breaks : float
        Chance that an interval in service is followed by one without.
    returns : float
        Chance that one without is followed by one in service.
    """

    quantiles_bps: Floats
    weight: float
    memories_s: tuple[float, float]
    breaks: float
    returns: float

    @property
    def document(self) -> dict[str, Any]:
        """Its parameters."""
        return {
            "median_bps": float(self.quantiles_bps[50]),
            "p5_bps": float(self.quantiles_bps[5]),
            "p95_bps": float(self.quantiles_bps[95]),
            "fast_weight": self.weight,
            "fast_memory_s": self.memories_s[0],
            "slow_memory_s": self.memories_s[1],
            "outage_every_s": None if self.breaks == 0 else BIN_S / self.breaks,
            "outage_mean_s": None if self.breaks == 0 else BIN_S / self.returns,
        }

    def drawn(self, duration_s: float, seed: int, name: str = "model") -> LinkTrace:
        """A trace of the model.

        Parameters
        ----------
        duration_s : float
            Its length, s.
        seed : int
            Of the draw.
        name : str
            Of the trace.

        Returns
        -------
        LinkTrace
        """
        random = np.random.default_rng([seed, 0])
        count = max(int(duration_s / BIN_S + 1e-9), 1)
        score = np.zeros(count)
        for share, memory in zip((self.weight, 1 - self.weight), self.memories_s, strict=True):
            keep = float(np.exp(-BIN_S / memory))
            part = np.empty(count)
            noise = random.standard_normal(count)
            part[0] = noise[0]
            for row in range(1, count):
                part[row] = keep * part[row - 1] + np.sqrt(1 - keep * keep) * noise[row]
            score += np.sqrt(share) * part
        rates: Floats = np.interp(stats.norm.cdf(score), np.linspace(0, 1, 101), self.quantiles_bps)
        draws = random.random(count)
        serves = True
        for row in range(count):
            serves = draws[row] >= self.breaks if serves else draws[row] < self.returns
            if not serves:
                rates[row] = 0.0
        return of_steps(name, np.arange(count, dtype=np.float64) * BIN_S, rates, count * BIN_S)


def fit(trace: LinkTrace) -> Model:
    """Fits the model to a whole trace.

    Parameters
    ----------
    trace : LinkTrace
        Of 20 s or more.

    Returns
    -------
    Model

    Raises
    ------
    MayflyError
        It is shorter, or without service nearly always.
    """
    rates = trace.rates(BIN_S)
    if len(rates) < FEWEST:
        raise MayflyError(
            f"{trace.name}: lasts {trace.period_s:g} s: must be at least {FEWEST * BIN_S:g} s to be fitted"
        )
    return of_rates(rates, trace.name)


def of_rates(rates: Floats, name: str = "trace") -> Model:
    """Fits the model to the mean rates of consecutive intervals of 100 ms, bit/s."""
    serves = rates > 0
    if serves.sum() < FEWEST / 4:
        raise MayflyError(
            f"{name}: {int(serves.sum())} intervals of 100 ms with service: must be at least {FEWEST // 4}"
        )
    apart = _process(rates[serves], *_chain(serves))
    if serves.all():
        return apart
    return min((apart, _process(rates, 0.0, 1.0)), key=lambda model: _misses(model, rates))


def _chain(serves: "np.ndarray[Any, Any]") -> tuple[float, float]:
    """Chances that an interval with service is followed by one without, and the other way round."""
    now, then = serves[:-1], serves[1:]
    breaks = float((now & ~then).sum() / max(int(now.sum()), 1))
    silent = int((~now).sum())
    returns = float((~now & then).sum() / silent) if silent else 1.0
    # A state that no draw would ever leave is left once in the length of the trace.
    return breaks, max(returns, 1 / (len(serves) + 1))


def _process(rates: Floats, breaks: float, returns: float) -> Model:
    # Scores of the ranks: the process behind the rates is Gaussian whatever their law.
    score = stats.norm.ppf((stats.rankdata(rates) - 0.5) / len(rates))
    lags = np.arange(1, min(_MOST_LAGS, len(rates) // 4) + 1)
    found = autocorrelation(score, lags)

    def misfit(values: Floats) -> Floats:
        weight, fast, slow = values
        sum_of: Floats = weight * np.exp(-lags * BIN_S / fast) + (1 - weight) * np.exp(-lags * BIN_S / slow)
        return sum_of - found

    best = optimize.least_squares(misfit, (0.5, 0.3, 5.0), bounds=([0.0, 0.01, 0.5], [1.0, 2.0, 600.0]))
    weight, fast, slow = (float(value) for value in best.x)
    return Model(np.quantile(rates, np.linspace(0, 1, 101)), weight, (fast, slow), breaks, returns)


def _misses(model: Model, rates: Floats) -> float:
    """How far a draw is from what the model was fitted to: autocorrelations, and lengths of outages."""
    drawn = model.drawn(len(rates) * BIN_S, seed=1).rates(BIN_S)
    lags = [round(lag / BIN_S) for lag in LAGS_S if round(lag / BIN_S) < len(rates) // 4]
    apart = autocorrelation(drawn, lags) - autocorrelation(rates, lags)
    lengths = [1 / _chain(side > 0)[1] for side in (drawn, rates)]
    return float((apart * apart).sum() + np.log(lengths[0] / lengths[1]) ** 2)


def autocorrelation(values: Floats, lags: "np.ndarray[Any, Any] | list[int]") -> Floats:
    """Autocorrelation of a sequence at each lag; 0 of one that is constant."""
    centred = values - values.mean()
    power = float((centred * centred).mean())
    if power == 0:
        return np.zeros(len(lags))
    return np.array([float((centred[:-lag] * centred[lag:]).mean()) / power for lag in lags])


@dataclass(frozen=True)
class Judgement:
    """How near a model fitted to the first half of a trace is to the second half, beside how near that first half is.

    Parameters
    ----------
    rows : list of dict
        ``figure``, ``first``, ``model``, ``second``: of rates and autocorrelations the values; of distances
        (Kolmogorov-Smirnov, from the second half) ``second`` is 0.
    """

    rows: list[dict[str, Any]]


def judge(trace: LinkTrace, seed: int = 1) -> Judgement:
    """Fits the first half of a trace, and compares draws of the model with the second.

    Parameters
    ----------
    trace : LinkTrace
        Of 20 s or more.
    seed : int
        Of the draw, which is ten times as long as the half.

    Returns
    -------
    Judgement

    Raises
    ------
    MayflyError
        As :func:`fit`.
    """
    fit(trace)
    rates = trace.rates(BIN_S)
    half = len(rates) // 2
    first, second = rates[:half], rates[half : 2 * half]
    drawn = of_rates(first, trace.name).drawn(10 * half * BIN_S, seed).rates(BIN_S)
    rows: list[dict[str, Any]] = []

    def row(figure: str, unit: str, first: float, model: float, second: float) -> None:
        rows.append({"figure": figure, "unit": unit, "first": first, "model": model, "second": second})

    for name, count in (("100 ms", 1), ("1 s", 10)):
        sides = [means_of(side, count) for side in (first, drawn, second)]
        for share in (0.05, 0.5, 0.95):
            row(
                f"p{share * 100:g} of the rate over {name}",
                "bit/s",
                *(float(np.quantile(side, share)) for side in sides),
            )
        near, far = (float(stats.ks_2samp(side, sides[2]).statistic) for side in sides[:2])
        row(f"distance of the rates over {name}", "KS", near, far, 0.0)
    for lag in LAGS_S:
        if round(lag / BIN_S) < half // 4:
            lags = [round(lag / BIN_S)]
            row(
                f"autocorrelation at {lag:g} s",
                "",
                *(float(autocorrelation(side, lags)[0]) for side in (first, drawn, second)),
            )
    row("share without service", "", *(float((side == 0).mean()) for side in (first, drawn, second)))
    return Judgement(rows)


def means_of(rates: Floats, count: int) -> Floats:
    """Means of so many intervals each."""
    whole = len(rates) // count * count
    return rates[:whole].reshape(-1, count).mean(axis=1) if whole else rates[:1]
