"""What ``mayfly link-trace show`` and ``fit`` tell: tables and sentences."""

from dataclasses import dataclass
from typing import Any

from mayfly.link_trace.facts import trace_facts
from mayfly.link_trace.fitting import Judgement, Model, fit, judge
from mayfly.link_trace.trace import LinkTrace
from mayfly.show.notebook import Result
from mayfly.show.table import Table
from mayfly.text.readable import MISSING, digits, rate_text, share_text, time_text

_BINS_S = (0.1, 1.0)
_SHARES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True, repr=False)
class Shown(Result):
    """What is in a trace.

    Parameters
    ----------
    trace : LinkTrace
    """

    trace: LinkTrace

    def document(self) -> dict[str, Any]:
        """All of it for JSON."""
        bins = {f"{bin_s:g}": [self.trace.percentile_bps(share, bin_s) for share in _SHARES] for bin_s in _BINS_S}
        told = {"schema": 1, "command": "link-trace show", **self.trace.document}
        return told | {"shares": list(_SHARES), "rates_bps": bins, "outage_list_s": self.trace.outages}

    def table(self) -> Table:
        """Rates that shares of the intervals stay below."""
        heads = ("intervals", "least", "5 %", "25 %", "half", "75 %", "95 %", "most")
        rows = tuple(
            (time_text(bin_s), *(rate_text(self.trace.percentile_bps(share, bin_s)) for share in _SHARES))
            for bin_s in _BINS_S
        )
        return Table("Mean rates that this share of the intervals stays below", heads, rows)

    def sentences(self) -> list[str]:
        """Facts of the trace."""
        return [trace_facts(self.trace.document)]


@dataclass(frozen=True, repr=False)
class Fitted(Result):
    """A model of a trace, and its judgement.

    Parameters
    ----------
    trace : LinkTrace
    model : Model
        Fitted to all of it.
    judgement : Judgement
        Of the model of its first half.
    """

    trace: LinkTrace
    model: Model
    judgement: Judgement

    def document(self) -> dict[str, Any]:
        """All of it for JSON."""
        model = self.model.document
        told = {"schema": 1, "command": "link-trace fit", **self.trace.document}
        return told | {"model": model, "held_out": self.judgement.rows, "sentences": self.sentences()}

    def table(self) -> Table:
        """The second half beside the first half and the model of it."""
        rows = tuple(
            (row["figure"], *(_figure(row, side) for side in ("first", "model", "second")))
            for row in self.judgement.rows
        )
        note = "Distance: of Kolmogorov and Smirnov, from the second half."
        return Table(
            "Held out: the second half of the trace",
            ("", "first half", "model of it", "second half"),
            rows,
            notes=(note,),
        )

    def sentences(self) -> list[str]:
        """The model, and how it compares with the first half itself."""
        model = self.model.document
        if self.model.breaks > 0:
            lasts, every = time_text(model["outage_mean_s"]), time_text(model["outage_every_s"])
            silent = f"an outage of {lasts} every {every} on average"
        else:
            silent = "no outage" if self.model.quantiles_bps[0] > 0 else "outages are its lowest rates"
        weights = f"{share_text(model['fast_weight'])} of its variance lasts {time_text(model['fast_memory_s'])}"
        first = (
            f"{self.trace.name}: median {rate_text(model['median_bps'])}; {weights}, the rest "
            f"{time_text(model['slow_memory_s'])}; {silent}"
        )
        far = next(row for row in self.judgement.rows if row["figure"] == "distance of the rates over 1 s")
        verdict = "no further from" if far["model"] <= far["first"] else "further from"
        return [
            first,
            f"Fitted to the first half, the model is {verdict} the second half than the first half is: distance of the "
            f"rates over 1 s {digits(far['model'])} and {digits(far['first'])}",
        ]


def _figure(row: dict[str, Any], side: str) -> str:
    value = row[side]
    if row["unit"] == "bit/s":
        return rate_text(value)
    if row["unit"] == "KS":
        return MISSING if side == "second" else digits(value)
    return digits(value)


def fitted(trace: LinkTrace, seed: int = 1) -> Fitted:
    """Fits the model to a trace, and judges it.

    Parameters
    ----------
    trace : LinkTrace
        Of 20 s or more.
    seed : int
        Of the draw that is judged.

    Returns
    -------
    Fitted

    Raises
    ------
    MayflyError
        The trace is too short, or has nearly no service.
    """
    return Fitted(trace, fit(trace), judge(trace, seed))
