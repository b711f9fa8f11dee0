"""The result in words: each discipline against the baseline, over the same flows.

The uncertainty is a bootstrap over flows, paired: a resampled flow brings its response time under both disciplines
(Efron and Tibshirani 1993, ch. 8). Flows of one run share a queue and are not independent: an interval says how far the
figure depends on which flows were seen, not how far another run would differ. That is what resampled hours say
(:mod:`mayfly.metrics.resampling`), which the recommendation goes by.
"""

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.metrics.curves import ENDLESS_BYTES
from mayfly.metrics.size_classes import completed_tcp

LARGEST_SHARE = 0.01
LEAST_FLOWS = 10
_DRAWS = 5_000
_PAIR = ("flow_id", "replication")


@dataclass(frozen=True)
class Estimate:
    """A ratio, and its 95 % interval when there are at least `LEAST_FLOWS` flows."""

    value: float
    low: float | None
    high: float | None
    flows: int

    def excludes_one(self) -> bool:
        """Whether the interval says that the ratio is not 1."""
        return self.low is not None and self.high is not None and not self.low <= 1 <= self.high

    def inverse(self) -> "Estimate":
        """Turn the ratio round."""
        if self.low is None or self.high is None:
            return Estimate(1 / self.value, None, None, self.flows)
        return Estimate(1 / self.value, 1 / self.high, 1 / self.low, self.flows)


def answer(records: pl.DataFrame, baseline: str | None = None, resamples: int = 1000, seed: int = 1) -> list[str]:
    """Say what each discipline does to the transfers, one sentence per discipline other than the baseline.

    Parameters
    ----------
    records : polars.DataFrame
        Flow records of all disciplines and replications, on the same workload.
    baseline : str, optional
        Label to compare with; fifo when there is one, else the first label of the records, when None.
    resamples : int
        Bootstrap resamples, >= 100.
    seed : int
        Seed of the bootstrap, >= 0: the same seed gives the same sentences.

    Returns
    -------
    list of str
        Empty when there is no other discipline than the baseline.

    Raises
    ------
    MayflyError
        Unknown baseline, fewer than 100 resamples, negative seed, or a response time that is not above 0.

    Notes
    -----
    Over the TCP flows completed under both disciplines: the ratio of the median response times, and the change of the
    mean response time of the largest 1 %. Above 5000 flows, each resample draws 5000 and the deviations are scaled by
    ``sqrt(5000 / n)`` (Bickel, Goetze and van Zwet 1997), which bounds time and memory.
    """
    if resamples < 100:
        raise MayflyError(f"resamples = {resamples}: must be at least 100")
    if seed < 0:
        raise MayflyError(f"seed = {seed}: must be at least 0")
    labels = records["discipline"].unique(maintain_order=True).to_list()
    baseline = _baseline(labels, baseline)
    if baseline is None:
        return []
    runs = {label: records.filter(pl.col("discipline") == label) for label in labels}
    return [
        _sentence(label, runs[label], baseline, runs[baseline], resamples, _native.NumpyStream(seed))
        for label in labels
        if label != baseline
    ]


def _baseline(labels: list[str], asked: str | None) -> str:
    if asked is not None and asked not in labels:
        raise MayflyError(f"baseline '{asked}': must be one of {', '.join(labels) or 'no discipline'}")
    fifos = [label for label in labels if label == "fifo"] + [label for label in labels if label.startswith("fifo(")]
    return asked or next(iter(fifos + labels), "")


def _sentence(
    label: str, run: pl.DataFrame, baseline: str, base: pl.DataFrame, resamples: int, stream: _native.NumpyStream
) -> str:
    clauses = _response_clauses(label, run, baseline, base, resamples, stream)
    clauses += _unfinished_clause(run, baseline, base)
    udp = _udp_clause(run, baseline, base)
    if not udp and not clauses:
        udp = [f"there is no measurable difference from {baseline}"]
    return f"with {label} " + "; ".join(clauses + udp)


def _response_clauses(
    label: str, run: pl.DataFrame, baseline: str, base: pl.DataFrame, resamples: int, stream: _native.NumpyStream
) -> list[str]:
    if not any((part["protocol"] == "tcp").any() for part in (run, base)):
        return []
    here_s, base_s = paired_response_times(run, base)
    if here_s.size == 0:
        return [f"no transfer finishes both here and with {baseline}"]
    medians = bootstrap_ratio(base_s, here_s, "median", resamples, stream)
    top = math.ceil(LARGEST_SHARE * here_s.size)
    means = bootstrap_ratio(here_s[:top], base_s[:top], "mean", resamples, stream)
    return [_median_clause(medians, baseline)] + ([_largest_clause(means, baseline)] if here_s.size > 1 else [])


def paired_response_times(run: pl.DataFrame, base: pl.DataFrame) -> tuple[Floats, Floats]:
    """Response times of the TCP flows completed under both disciplines, s, largest flow first.

    Parameters
    ----------
    run, base : polars.DataFrame
        Flow records of one discipline each.

    Returns
    -------
    tuple of two numpy.ndarray, shape ``(n_pairs,)``

    Raises
    ------
    MayflyError
        A response time that is not above 0.
    """
    columns = [*_PAIR, "size_bytes", "response_time_s"]
    pairs = (
        run.filter(completed_tcp())
        .select(columns)
        .join(base.filter(completed_tcp()).select(*_PAIR, pl.col("response_time_s").alias("base_s")), on=_PAIR)
        .sort(["size_bytes", *_PAIR], descending=[True, False, False])
    )
    times = pairs["response_time_s"].to_numpy(), pairs["base_s"].to_numpy()
    for values in times:
        if values.size and not values.min() > 0:
            raise MayflyError(f"response_time_s = {values.min()}: must be above 0 s")
    return times


def bootstrap_ratio(
    above: Floats, below: Floats, statistic: str, resamples: int, stream: _native.NumpyStream
) -> Estimate:
    """``statistic(above) / statistic(below)`` with a paired bootstrap interval, on the logarithm.

    Parameters
    ----------
    above, below : numpy.ndarray, shape ``(n,)``
        Positive values of the same flows.
    statistic : str
        ``median`` or ``mean``.
    resamples : int
    stream : NumpyStream
        Where the draws come from.

    Returns
    -------
    Estimate
        Without interval below `LEAST_FLOWS` flows.
    """
    whole = [float(np.median(side) if statistic == "median" else np.mean(side)) for side in (above, below)]
    value = whole[0] / whole[1]
    flows = above.size
    if flows < LEAST_FLOWS:
        return Estimate(value, None, None, flows)
    draws = min(flows, _DRAWS)
    columns = np.ascontiguousarray(above), np.ascontiguousarray(below)
    logs = stream.log_ratios(*columns, statistic == "median", resamples, draws)
    deviations = np.quantile(logs, [0.025, 0.975]) - math.log(value)
    low, high = np.exp(math.log(value) + deviations * math.sqrt(draws / flows))
    return Estimate(value, float(low), float(high), flows)


def _median_clause(ratio: Estimate, baseline: str) -> str:
    transfer = "the only transfer finished under both" if ratio.flows == 1 else "the median transfer"
    if ratio.low is None and math.isclose(ratio.value, 1, rel_tol=1e-9):
        return f"{transfer} finishes as soon as with {baseline}{_few(ratio)}"
    if ratio.low is not None and not ratio.excludes_one():
        return (
            f"there is no measurable difference from {baseline} in the median transfer "
            f"(ratio {ratio.value:.{_factor_digits(ratio)}f}, 95 % CI {_interval(ratio)})"
        )
    word, factor = ("sooner", ratio) if ratio.value > 1 else ("later", ratio.inverse())
    interval = f" (95 % CI {_interval(factor)})" if factor.low is not None else _few(ratio)
    return f"{transfer} finishes {_times(factor)} {word} than with {baseline}{interval}"


def _largest_clause(ratio: Estimate, baseline: str) -> str:
    which = "the largest transfer" if ratio.flows == 1 else "the largest 1 %"
    be, take = ("is", "takes") if ratio.flows == 1 else ("are", "take")
    if ratio.low is None and math.isclose(ratio.value, 1, rel_tol=1e-9):
        return f"{which} {take} as long as with {baseline}{_few(ratio)}"
    change = 100 * (ratio.value - 1)
    ends = None if ratio.low is None or ratio.high is None else (ratio.low, ratio.high)
    interval = "" if ends is None else "95 % CI {} to {}".format(*(_signed(100 * (end - 1)) for end in ends))
    if ratio.low is not None and not ratio.excludes_one():
        return f"the largest 1 % show no measurable difference ({_signed(change)}, {interval})"
    amount = f"{take} {_percent(change)} longer" if change > 0 else f"{be} {_percent(-change)} faster"
    return f"{which} {amount}" + (f" ({interval})" if interval else _few(ratio))


def _unfinished_clause(run: pl.DataFrame, baseline: str, base: pl.DataFrame) -> list[str]:
    # Those without an end are not late.
    ends = [part.filter(pl.col("size_bytes") < ENDLESS_BYTES)["finish_s"] for part in (run, base)]
    here, there = (own.null_count() for own in ends)
    count = len(ends[0])
    if here == there:
        return []
    if here == 0:
        return [f"all {count:,} transfers finish ({_so_many(there)} not under {baseline})"]
    than = "all do" if there == 0 else f"{_so_many(there)} not"
    return [f"{_so_many(here, count)} not finish ({than} under {baseline})"]


def _so_many(count: int, of: int | None = None) -> str:
    number = "one" if count == 1 else f"{count:,}"
    return f"{number}{'' if of is None else f' of {of:,} transfers'} {'does' if count == 1 else 'do'}"


def _udp_clause(run: pl.DataFrame, baseline: str, base: pl.DataFrame) -> list[str]:
    here, there = (_udp_loss(part) for part in (run, base))
    if here is None or there is None or _percent(100 * here) == _percent(100 * there):
        return []
    return [f"UDP loses {_percent(100 * here)} of its packets ({_percent(100 * there)} with {baseline})"]


def _udp_loss(run: pl.DataFrame) -> float | None:
    udp = run.filter(pl.col("protocol") == "udp")
    sent = udp["packets_sent"].sum()
    return int(udp["drops"].sum()) / int(sent) if sent else None


def _few(ratio: Estimate) -> str:
    return f" ({ratio.flows} transfer{'s' if ratio.flows > 1 else ''}: too few for an interval)"


def _factor_digits(ratio: Estimate) -> int:
    """Decimals: one, or as many as tell the figures from 1 and the bounds from each other, at most 4."""
    figures = [value for value in (ratio.low, ratio.value, ratio.high) if value is not None]
    gaps = [abs(value - 1) for value in figures] if ratio.low is None or ratio.excludes_one() else []
    gaps += [ratio.high - ratio.low] if ratio.low is not None and ratio.high is not None else []
    least = min((gap for gap in gaps if gap > 0), default=1.0)
    if least >= 1 and min(figures) >= 20:
        return 0
    return min(4, -math.floor(math.log10(least))) if least < 1 else 1


def _times(ratio: Estimate) -> str:
    return f"{ratio.value:,.{_factor_digits(ratio)}f} times"


def _interval(ratio: Estimate) -> str:
    digits = _factor_digits(ratio)
    if ratio.low is None or ratio.high is None:
        return ""
    return f"{ratio.low:,.{digits}f} to {ratio.high:,.{digits}f}"


def _percent(value: float) -> str:
    if value == 0 or abs(value) >= 10:
        return f"{value:,.0f} %"
    return f"{value:#.2g} %" if abs(value) >= 0.001 else f"{value:.0e} %"


def _signed(value: float) -> str:
    """A change: to a tenth of a percent, finer than any interval here."""
    return f"{value:+,.0f} %" if abs(value) >= 10 else f"{value:+.1f} %"
