"""The policy that stands for a discipline, and its response times beside those that were simulated.

Principle: the model is given what the simulation was given, the flows that were drawn: their bytes on the wire are the
sizes, what they offered in their time the load. It does not model TCP, round trips, losses or packets.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.arrays import number
from mayfly.errors import MayflyError
from mayfly.models.queue.answer import finite
from mayfly.models.queue.policies import POLICIES, Policy

if TYPE_CHECKING:
    import polars as pl

    from mayfly.models.queue.flow_records import Link
    from mayfly.models.queue.mg1 import MG1
    from mayfly.scenario.network import Network

STANDS_FOR = {"fifo": "ps"}
"""Policies of disciplines that do to flows what another does to jobs: TCP flows in one queue share the link."""

OF_FAMILY = {"fair queueing": "ps"}
"""Policies of families."""

SIZES = ("bytes", "packets")
"""Units of options that are sizes of flows."""

POINTS = 120
"""Sizes of a curve."""

UDP_SHARE = 0.001
"""Share of the link that UDP may take before it is told that the model leaves it out."""


@dataclass(frozen=True)
class Standing:
    """A policy that stands for a discipline.

    Parameters
    ----------
    policy : Policy
        Row of the registry.
    parameters : dict
        Of the policy, in bytes on the wire.
    """

    policy: Policy
    parameters: dict[str, Any]


def refuse_several_links(network: Network) -> None:
    """Refuses a network that is no single queue.

    Parameters
    ----------
    network : Network
        Of a scenario.

    Raises
    ------
    MayflyError
        It is a wireless cell, a parking lot or a graph.
    """
    if network.wlan is not None:
        raise MayflyError("models: the network must be a single link, not a wireless cell; see `mayfly model wlan`")
    if network.topology != "dumbbell":
        raise MayflyError(f"models: network.topology = {network.topology}: must be dumbbell, a single link")


def standing_for(row: Mapping[str, Any], link: Link, workload: Mapping[str, float] | None = None) -> Standing | None:
    """The policy of a discipline.

    Parameters
    ----------
    row : mapping
        ``id``, ``family`` and ``options``, as in ``disciplines`` of the summary.
    link : Link
        Turns thresholds into bytes on the wire.
    workload : mapping, optional
        Parameters of policies that are not options of the discipline: ``uploads`` and ``ack`` of ``lasack``, and for
        ``lfq`` the number of users by what makes one (``pair``, ``src``, ``dst``, ``flow``).

    Returns
    -------
    Standing or None
        None for a discipline without a model.

    Raises
    ------
    MayflyError
        An option is none that the policy takes.

    Notes
    -----
    A threshold lets through whole packets, the last of which begins below it, and the packets of set-up and tear-down:
    a flow that ends with these counts as one below the threshold.

    Examples
    --------
    >>> from mayfly.models.queue.flow_records import Link
    >>> standing_for({"id": "drr", "family": "fair queueing", "options": {}}, Link(10e6, 1.0)).policy.id
    'ps'
    """
    found = _policy_of(row)
    if found is None:
        return None
    options, units = _options(row)
    measured = dict(workload or {})
    if found.id == "lfq":
        options, measured = _of_users(row, options, measured, link)
    given: dict[str, Any] = {p.name: measured[p.name] for p in found.parameters if p.name in measured}
    for parameter in found.parameters:
        name = next((name for name in (parameter.name, f"{parameter.name}s") if name in options), None)
        value = None if name is None else options[name]
        if name is not None and value is not None and units[name] not in SIZES:
            given[parameter.name] = value
        elif value is not None:
            # Run2C counts payload by its sequence numbers; the others count what enters the queue.
            packet = link.mss if row["id"] == "run2c" else link.mss + link.header_bytes
            sizes = [link.wire_bytes(math.ceil(one / packet)) for one in np.atleast_1d(value)]
            given[parameter.name] = sizes if parameter.several else sizes[0]
    return Standing(found, found.checked(given))


def _policy_of(row: Mapping[str, Any]) -> Policy | None:
    """The policy of a discipline, before one of its family."""
    of_itself = (p.id for p in POLICIES.values() if p.discipline == row["id"])
    name = STANDS_FOR.get(row["id"]) or next(of_itself, OF_FAMILY.get(row.get("family", ""), ""))
    return POLICIES.get(name)


def _of_users(
    row: Mapping[str, Any], options: Mapping[str, Any], measured: Mapping[str, float], link: Link
) -> tuple[dict[str, Any], dict[str, float]]:
    """Options of ``lfq`` that its policy takes, lags as they are on this link; and how many users it has."""
    from mayfly.models.queue.lfq import within_time

    lags = within_time(options["user_lag"], options["flow_lag"], options["lag_time"] / link.byte_s)
    users = measured.get(str(row.get("options", {}).get("user", "pair")))
    taken = dict(zip(("user_lag", "flow_lag"), lags, strict=True)) | {"pace": options["pace"]}
    return taken, {} if users is None else {"users": users}


def _options(row: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Numbers of a discipline's options, defaults included, and the units of all its options."""
    from mayfly.discipline_registry import disciplines

    params = next((known["params"] for known in disciplines() if known["id"] == row["id"]), [])
    found = {}
    for param in params:
        written: str | float | list[float] | None
        written = str(row.get("options", {}).get(param["name"], "")) or param["default"]
        if isinstance(written, str):
            parts = written.split(":")
            written = [float(part) for part in parts] if all(_is_number(part) for part in parts) else None
        found[param["name"]] = written
    return found, {param["name"]: param["unit"] for param in params}


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def models_of(summary: Mapping[str, Any], records: pl.DataFrame, path: bool = False) -> dict[str, Any]:
    """What the models expect of each discipline that has one.

    Parameters
    ----------
    summary : mapping
        Of a comparison.
    records : polars.DataFrame
        Flow records of all disciplines.
    path : bool
        Add to the model what each flow takes alone on its path beyond the time of its bytes on the link: handshake,
        round trips, slow start and tear-down.

    Returns
    -------
    dict
        ``models``, by label, and ``model_queue`` (docs/tables.md), with ``notes`` on what has no model.
    """
    try:
        models, told = _models(summary, records, path)
    except MayflyError as error:
        # The run is over, and of use without them.
        models, told = {}, {"with_path": path, "notes": [f"no models: {str(error).removeprefix('models: ')}"]}
    return {"models": models, "model_queue": told}


def _models(summary: Mapping[str, Any], every: pl.DataFrame, path: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Models by label, and the queue they have in common with notes."""
    import polars as pl

    from mayfly.scenario.network import Network

    refuse_several_links(Network.model_validate(summary["scenario"]["network"]))
    rows = summary["disciplines"]
    records = {row["label"]: every.filter(pl.col("discipline") == row["label"]) for row in rows}
    first = records[rows[0]["label"]]
    link = _link(summary["scenario"], first)
    if "script" in first.columns and not link.jobs(first)["script"].is_null().any():
        why = "every flow that ends waits for its user (script)"
        raise MayflyError(f"{why}: whatif --replay transfers has flows that do not")
    queue = link.queue(first)
    told: dict[str, Any] = {
        "with_path": path,
        "rho": queue.rho,
        "flows": link.jobs(first).height,
        "mean_bytes": queue.law.mean,
        "cov": queue.law.cov,
        "direction": link.direction,
    }
    workload = _workload(summary["scenario"]["tcp"], first, link)
    models, refused = {}, []
    told["no_model"] = []
    for row in rows:
        label = row["label"]
        try:
            if standing := standing_for(row, link, workload):
                models[label] = _beside(records[label], standing, link, queue, path)
            else:
                told["no_model"].append(label)
        except MayflyError as error:
            told["no_model"].append(label)
            refused.append(f"{label}: {error}")
    told["notes"] = [*_notes(first, link, models, told), *refused]
    return models, told


def _workload(tcp: Mapping[str, Any], records: pl.DataFrame, link: Link) -> dict[str, float]:
    """What the flows of the other direction add, in the terms of Urvoy-Keller 2007, 5.3.1; users by what makes one."""
    from mayfly.models.queue.flow_sizes import ended

    others = ended(records, "down" if link.direction == "up" else "up").height
    packets = 2 if tcp["delayed_ack"] else 1
    flows = ended(records, link.direction)
    # A flow that is a user of its own never comes back.
    users: dict[str, float] = {"flow": 0.0}
    if {"src", "dst"} <= set(flows.columns):
        users |= {"src": flows["src"].n_unique(), "dst": flows["dst"].n_unique()}
        users["pair"] = flows.select("src", "dst").n_unique()
    return {"uploads": others / flows.height, "ack": link.header_bytes / (packets * link.mss), **users}


def _link(scenario: Mapping[str, Any], records: pl.DataFrame) -> Link:
    """The link of a scenario, with the direction and the time of the flows of some records."""
    import polars as pl

    from mayfly.models.queue.flow_records import Link
    from mayfly.models.queue.flow_sizes import ended
    from mayfly.scenario.presets import TIMESTAMPS_BYTES

    tcp, network = scenario["tcp"], scenario["network"]
    down, up = (ended(records, direction) for direction in ("down", "up"))
    direction = "up" if up["size_bytes"].sum() > down["size_bytes"].sum() else "down"
    flows = up if direction == "up" else down
    runs = flows.group_by("replication").agg(pl.col("start_s").max(), pl.len())
    if flows.is_empty() or number(runs["len"].min()) < 2 or not number(runs["start_s"].min()) > 0:
        raise MayflyError("models: the workload must have two TCP flows in one direction that end, at different times")
    # The last of n Poisson arrivals comes n / (n + 1) of the way.
    span_s = float(number((runs["start_s"] * (runs["len"] + 1) / runs["len"]).mean()))
    rate = network["reverse_rate"] or network["rate"] if direction == "up" else network["rate"]
    return Link(
        rate,
        span_s,
        mss=tcp["mss"],
        header_bytes=tcp["header"] + (TIMESTAMPS_BYTES if tcp["timestamps"] else 0),
        direction=direction,
    )


def _beside(records: pl.DataFrame, standing: Standing, link: Link, queue: MG1, path: bool) -> dict[str, Any]:
    """What a model expects of the flows of one discipline, for JSON."""
    import polars as pl

    from mayfly.metrics.size_classes import classes
    from mayfly.models.queue.flow_records import beside, by_class, errors

    row = standing.policy
    timed = records.with_columns(classes(records))
    timed = timed.filter(pl.col("script").is_null()) if "script" in timed.columns else timed
    flows = beside(timed, row, link, queue=queue, path=path, **standing.parameters)
    flows = flows.filter(pl.col("model_s").is_not_null())
    table = by_class(flows, link)
    off = errors(table)
    both = {name: _means(flows.filter(pl.col("class") == name), link) for name in ("short", "long")}
    whole = _means(flows, link)
    return {
        "policy": row.id,
        "title": row.title,
        "source": row.source,
        **{name: np.asarray(value).tolist() for name, value in standing.parameters.items()},
        "mean_s": whole["model_s"],
        "simulated_mean_s": whole["simulated_s"],
        **both,
        "error_median": _known(off["median"]),
        "error_p90": _known(off["p90"]),
        "by_size": [{name: _known(value) for name, value in one.items()} for one in table.to_dicts()],
        "curve": _curve(flows, standing, link, queue, path),
    }


def _known(value: float | None) -> float | None:
    return None if value is None else finite(value)


def _means(flows: pl.DataFrame, link: Link) -> dict[str, Any]:
    """Means of both over some flows, with half the interval of the simulated one."""
    from mayfly.models.queue.flow_records import by_class

    if flows.is_empty():
        return {"flows": 0, "simulated_s": None, "ci95_s": None, "model_s": None, "error": None}
    [row] = by_class(flows, link, [1]).to_dicts()
    names = {"flows": "flows", "simulated_s": "simulated_mean_s", "ci95_s": "ci95_s", "model_s": "model_mean_s"}
    return {name: _known(row[of]) for name, of in (names | {"error": "error"}).items()}


def _curve(flows: pl.DataFrame, standing: Standing, link: Link, queue: MG1, path: bool) -> dict[str, list[float]]:
    """Sizes in packets and response times, s, up to the largest that ends."""
    import polars as pl

    if flows.is_empty():
        return {"size_packets": [], "mean_s": []}
    largest = int(number(flows["size_packets"].max()))
    sizes = np.unique(np.geomspace(number(flows["size_packets"].min()), largest, POINTS).round())
    for cut in (float(one) for value in standing.parameters.values() for one in np.atleast_1d(value)):
        # Both sides of a threshold, in packets.
        last = round((cut - link.wire_bytes(0)) / (link.mss + link.header_bytes))
        sizes = np.union1d(sizes, [size for size in (last, last + 1) if sizes[0] <= size <= largest])
    times = standing.policy.function(queue, link.wire_bytes(sizes), **standing.parameters) * link.byte_s
    if path:
        # Beside a model without the path, of the same flows.
        bare = link.byte_s * pl.col("wire_bytes")
        extra = flows.select("size_packets", more=pl.col("response_time_s") / pl.col("slowdown") - bare)
        means = extra.group_by("size_packets").mean().sort("size_packets")
        times = times + np.interp(np.log(sizes), np.log(means["size_packets"].to_numpy()), means["more"].to_numpy())
    ends = np.isfinite(times)
    return {"size_packets": sizes[ends].astype(int).tolist(), "mean_s": [float(f"{t:.6g}") for t in times[ends]]}


def _notes(records: pl.DataFrame, link: Link, models: dict[str, Any], told: dict[str, Any]) -> list[str]:
    """What has no model, what starves in it, and what the models leave out."""
    import polars as pl

    from mayfly.workload.mix import offered

    notes = []
    if told["no_model"]:
        notes.append(f"no model: {', '.join(told['no_model'])}")
    starving = [
        label for label, model in models.items() if any(row["model_mean_s"] is None for row in model["by_size"])
    ]
    if starving:
        notes.append(
            f"at load {told['rho']:.4g} flows starve in the model, and means are infinite: {', '.join(starving)}"
        )
    missing = []
    udp = records.filter(pl.col("protocol") == "udp")
    sent = offered(udp, span_s=link.duration_s)[link.direction]["mbps"] if udp.height else 0.0
    if (share := sent * 1e6 / link.rate_bps) > UDP_SHARE:
        missing.append(f"UDP, {share:.1%} of the link")
    if (endless := records.filter(pl.col("protocol") == "tcp").height - _ending(records)) > 0:
        missing.append(f"{endless} TCP flows that do not end")
    if other := records.filter((pl.col("protocol") == "tcp") & (pl.col("direction") != link.direction)).height:
        missing.append(f"{other} TCP flows the other way")
    if "after" in records.columns and records["after"].is_not_null().any():
        missing.append("that flows wait for others (they do not come at random)")
    if "script" in records.columns and records["script"].is_not_null().any():
        missing.append("the pauses of scripted flows")
    return notes + ([f"the models leave out: {'; '.join(missing)}"] if missing else [])


def _ending(records: pl.DataFrame) -> int:
    from mayfly.models.queue.flow_sizes import ended

    return sum(ended(records, direction).height for direction in ("down", "up"))
