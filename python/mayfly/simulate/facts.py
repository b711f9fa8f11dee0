"""What a run does not know of its flows, for the measures of their users: who belongs together, and whose they are."""

from typing import Any

import numpy as np
import polars as pl

from mayfly.simulate.columns import group_classes


def facts_of(flows: pl.DataFrame, probes: tuple[str, ...]) -> dict[str, Any]:
    """The facts of a flow list, as the native module takes them.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        A normalised flow list, without its probes.
    probes : tuple of str
        Names of the probes before it (:class:`mayfly.simulate.probes.Probing`).

    Returns
    -------
    dict
        ``probes``; arrays of a value per flow, empty where nothing is known of it: ``ids`` (int64), ``starts``
        (float64, s), ``groups`` (uint32) and ``stages`` (int64, -1 for none); ``capture`` of the flows of a
        capture, else None: ``clients`` and ``connections`` (uint32), and ``calls``, an empty list of rows.
    """
    captured = "connection_id" in flows.columns
    # Of a capture all flows are its own: UDP that lasts is a stream whatever its group.
    groups = np.empty(0, np.uint32) if captured else group_classes(flows)[1].astype(np.uint32)
    found: dict[str, Any] = {
        "probes": list(probes),
        "ids": flows["flow_id"].cast(pl.Int64).to_numpy(),
        "starts": flows["start_s"].cast(pl.Float64).to_numpy(),
        "groups": groups,
        "stages": _ranks(flows["stage"]).astype(np.int64) - 1 if "stage" in flows.columns else np.empty(0, np.int64),
        "capture": None,
    }
    if captured:
        opener = flows.select(pl.when(pl.col("opened_by") == "sender").then("src").otherwise("dst")).to_series()
        found["capture"] = {
            "clients": _ranks(opener),
            "connections": _ranks(flows["connection_id"]),
            "calls": [],
        }
    return found


def with_calls(facts: dict[str, Any], rows: list[int]) -> dict[str, Any]:
    """The same facts of a list whose `rows` are directions of calls of a capture."""
    return facts | {"capture": facts["capture"] | {"calls": rows}} if rows else facts


def _ranks(values: pl.Series) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """The number of each value among those that there are, from 1; 0 of null."""
    return values.rank("dense").fill_null(0).cast(pl.UInt32).to_numpy()
