"""What `mayfly workload from` and `mayfly workload draw` answer."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mayfly.arrays import Floats
from mayfly.headers import UDP_HEADER_BYTES
from mayfly.profile.workload.draw import HEADER, MSS, expected_bps, expected_flows, mean_wire_bytes, scale
from mayfly.profile.workload.draw import draw as draw_flows
from mayfly.profile.workload.laws import Fitted, Measured, cov
from mayfly.profile.workload.schema import Class, Workload, read_workload, write_workload
from mayfly.show.notebook import Result
from mayfly.summary_types import Accounted
from mayfly.workload.account import cannot_answer

if TYPE_CHECKING:
    from rich.table import Table

Z95 = 1.96
"""Of 95 % of a normal law."""

NOTED = 0.05
"""Share by which the load of the laws may differ from that measured before it is said."""


def law_document(law: Measured | Fitted | None, unit: str) -> dict[str, Any] | None:
    """A law for JSON: what it is, its mean, cov and median in ``unit``."""
    if law is None:
        return None
    told = {"law": law.law, f"mean_{unit}": law.mean(), "cov": cov(law)}
    told[f"median_{unit}"] = float(law.quantile(np.array([0.5]))[0])
    if isinstance(law, Fitted):
        return told | {"parameters": law.parameters, "maximum": law.maximum, "ks": law.ks}
    return told | {"steps": len(law.values)}


def _size(one: Class) -> dict[str, Any]:
    if one.size is not None:
        return law_document(one.size, "bytes") or {}
    assert one.datagrams is not None, one.key  # as Class holds
    sizes, weights = np.asarray(one.datagrams.size_bytes, dtype=float), np.asarray(one.datagrams.weights)
    return law_document(Measured(**_steps(sizes, weights)), "bytes") or {}


def _steps(values: Floats, weights: Floats) -> dict[str, list[float]]:
    steps, which = np.unique(values, return_inverse=True)
    return {"values": steps.tolist(), "weights": np.bincount(which, weights=weights).tolist()}


@dataclass(frozen=True, repr=False)
class Made(Result):
    """A workload made of captures.

    Parameters
    ----------
    workload : Workload
        What was measured.
    account : list of dict
        Of the captures: how much of them was seen, used, and left out by reason.
    """

    workload: Workload
    account: list[Accounted] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """For JSON: sources, duration, periods, what is left out, and for each class its rate, load and laws."""
        workload = self.workload
        rows = [
            {
                **dict(zip(("class", "side", "direction", "protocol"), one.key, strict=True)),
                "flows": one.flows,
                "rate": one.rate,
                "measured_bps": one.mean_bps,
                "expected_bps": 8 * one.rate * mean_wire_bytes(one),
                "gap": law_document(one.gap, "s"),
                "size": _size(one),
                "rtt": law_document(one.rtt, "s"),
            }
            for one in workload.class_
        ]
        return {
            "sources": workload.sources,
            "duration_s": workload.duration_s,
            "left_out": workload.left_out,
            "account": self.account,
            "periods": [period.model_dump() for period in workload.period],
            "classes": rows,
            "expected_bps": expected_bps(workload),
        }

    def tables(self) -> list[Table]:
        """Classes with their laws."""
        from mayfly.profile.workload.terminal import classes_table

        return [classes_table(self.document())]

    def sentences(self) -> list[str]:
        """What is in no class."""
        left, told = self.workload.left_out, cannot_answer(self.account)
        if left.get("flows"):
            bytes_left = f"{left['bytes']} bytes of payload"
            told.append(f"left out: {left['flows']} flows of connections that began before the capture, {bytes_left}")
        if left.get("filtered"):
            told.append(f"left out: {left['filtered']:,} packets that do not pass the filter")
        if left.get("copies"):
            told.append(f"left out: {left['copies']:,} packets that are copies of packets that were seen before")
        offers = expected_bps(self.workload)
        for way, offer in offers.items():
            was = sum(one.mean_bps for one in self.workload.class_ if one.direction == way)
            if was > 0 and abs(offer / was - 1) > NOTED:
                told.append(
                    f"the laws offer {offer / 1e6:.3g} Mbit/s {way} where {was / 1e6:.3g} were measured: a fitted law "
                    "need not have the mean of the values"
                )
        return told

    def write(self, path: str | os.PathLike[str]) -> str:
        """Write the file of :func:`mayfly.profile.workload.schema.write_workload`."""
        return write_workload(self.workload, path)


@dataclass(frozen=True, eq=False, repr=False)
class Drawn(Result):
    """Flows drawn from a workload.

    Parameters
    ----------
    workload : Workload
        What from.
    flows : polars.DataFrame
        The flow list.
    duration_s : float
        As asked for.
    seed : int
        As asked for.
    factor : float
        On the rates of arrival.
    """

    workload: Workload
    flows: pl.DataFrame
    duration_s: float
    seed: int
    factor: float

    def document(self) -> dict[str, Any]:
        """For JSON: of each class the flows, mean size and load that its laws expect, and that were drawn.

        ``flows_sd`` is the deviation that the laws expect of the number of flows, ``size_ci95_bytes`` an interval for
        the mean of the law by the drawn sizes.
        """
        groups = self.flows.partition_by("group", "direction", "protocol", as_dict=True)
        rows = []
        for keys, classes in self._by_group().items():
            drawn = groups.get(keys, self.flows.clear())
            expected = [expected_flows(one, self.workload, self.duration_s, self.factor) for one in classes]
            count = sum(mean for mean, _ in expected)
            sizes = drawn["size_bytes"].to_numpy()
            weights = np.array([one.rate for one in classes])
            load = sum(8 * self.factor * one.rate * mean_wire_bytes(one) for one in classes)
            rows.append(
                dict(zip(("class", "direction", "protocol"), keys, strict=True))
                | {
                    "flows": drawn.height,
                    "flows_expected": count,
                    "flows_sd": math.sqrt(sum(sd**2 for _, sd in expected)),
                    "size_mean_bytes": float(sizes.mean()) if len(sizes) else None,
                    "size_ci95_bytes": interval(sizes),
                    "size_mean_expected_bytes": float(
                        np.average([_size(one)["mean_bytes"] for one in classes], weights=weights)
                    ),
                    "load_bps": 8 * wire_bytes(drawn) / self.duration_s,
                    "load_expected_bps": load,
                }
            )
        return {"seed": self.seed, "duration_s": self.duration_s, "rate_factor": self.factor, "classes": rows}

    def _by_group(self) -> Mapping[tuple[str, str, str], list[Class]]:
        found: dict[tuple[str, str, str], list[Class]] = {}
        for one in self.workload.class_:
            found.setdefault((one.name, one.direction, one.protocol), []).append(one)
        return found

    def tables(self) -> list[Table]:
        """What was drawn beside what the laws expect."""
        from mayfly.profile.workload.terminal import drawn_table

        return [drawn_table(self.document())]

    def sentences(self) -> list[str]:
        """Nothing beyond the table."""
        return []

    def write(self, path: str | os.PathLike[str]) -> list[str]:
        """Write the flow list in the format that its ending names; what that cannot hold, in sentences."""
        from mayfly.workload.formats.registry import write_flows_as

        return write_flows_as(self.flows, path)


def interval(sizes: Floats) -> list[float] | None:
    """95 % interval of a mean, by the normal law; None of fewer than two values."""
    if len(sizes) < 2:
        return None
    half = Z95 * float(sizes.std(ddof=1)) / math.sqrt(len(sizes))
    return [float(sizes.mean()) - half, float(sizes.mean()) + half]


def wire_bytes(flows: pl.DataFrame) -> int:
    """Bytes of flows on the wire, headers included."""
    udp = pl.col("protocol") == "udp"
    payload = pl.when(udp).then(pl.col("packet_bytes") - UDP_HEADER_BYTES).otherwise(MSS)
    packets = (pl.col("size_bytes") + payload - 1) // payload
    wire = pl.when(udp).then(packets * pl.col("packet_bytes")).otherwise(pl.col("size_bytes") + packets * HEADER)
    return int(flows.select(wire.sum()).item() or 0)


def drawn_from(
    path: str | os.PathLike[str], *, duration_s: float, seed: int = 1, load_bps: float | None = None
) -> Drawn:
    """Draw a flow list from a workload file.

    Parameters
    ----------
    path : path
        Of :func:`mayfly.profile.workload.schema.read_workload`.
    duration_s, seed, load_bps
        As for :func:`mayfly.profile.workload.draw.draw`.

    Returns
    -------
    Drawn

    Raises
    ------
    MayflyError
        As those.
    """
    workload = read_workload(path)
    flows = draw_flows(workload, duration_s=duration_s, seed=seed, load_bps=load_bps)
    return Drawn(workload, flows, duration_s, seed, scale(workload, load_bps))
