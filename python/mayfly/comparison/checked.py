"""Jobs of checked scenarios, for :mod:`mayfly.comparison.plain`; those of the ready scenarios are files of the package.

``python -m mayfly.comparison.checked`` writes the files; a test holds them to what a check gives.
"""

import json
import os
from dataclasses import fields as fields_of
from dataclasses import replace
from typing import Any

from mayfly.comparison.plain import CHECKED, TABLES, Job
from mayfly.discipline_registry import parse
from mayfly.errors import MayflyError
from mayfly.scenario.presets import PRESETS
from mayfly.scenario.scenario import Scenario, load_scenario, ready_names
from mayfly.simulate.network.registry import network_of
from mayfly.simulate.settings import native_settings
from mayfly.workload.sources.registry import SOURCES


def job_of(scenario: Scenario, *, draws: bool = True) -> Job | None:
    """The job of a scenario.

    Parameters
    ----------
    scenario : Scenario
        What runs.
    draws : bool
        Whether its workload is drawn; a run of a given list takes none, and needs no law.

    Returns
    -------
    Job or None
        None where runs of a list of plain transfers are not plain under the scenario: a network that is not one link
        of a constant rate, several replications, traces, whatever comes with the list.

    Examples
    --------
    >>> job_of(load_scenario("wired", {"network.delay": "21ms"})).native["delay_ns"]
    21000000
    >>> job_of(load_scenario("wlan"))
    """
    if not _is_plain(scenario):
        return None
    job = _without_draw(scenario)
    try:
        return replace(job, drawn=_ready_draw(job.document) or _draw_of(scenario)) if draws else job
    except MayflyError:
        # The usual way says what is refused of the law.
        return job


def _without_draw(scenario: Scenario) -> Job:
    native = native_settings(scenario, parse("fifo"), scenario.seed)
    return Job(scenario.model_dump(mode="json"), native, None, scenario.tcp.headers_bytes)


def _is_plain(scenario: Scenario) -> bool:
    """Whether runs of a list of plain transfers are plain: one link without anything that comes beside the list."""
    network = scenario.network
    beside = (
        network.topology != "dumbbell",
        network.wlan,
        network.tree,
        network.symmetric,
        any(trace is not None for trace in network.traces),
        network.shaper,
        scenario.replications > 1,
        scenario.probes.any,
        scenario.nonresponsive,
        scenario.mark_of,
        scenario.trace,
        scenario.subflows,
        scenario.stop_when_idle,
        scenario.sample_interval is not None,
        scenario.tcp.congestion_of,
    )
    return not any(beside)


def _ready_draw(document: dict[str, Any]) -> dict[str, Any] | None:
    """The draw of the ready scenario of that name, where its workload is the same: its law is solved already."""
    name = document["name"]
    path = CHECKED / f"{name}.json"
    # The name is any text: no path, and maybe too long for a file.
    if not name.replace("-", "").isalnum() or not os.path.isfile(path):
        return None
    ready = json.loads(path.read_text(encoding="utf-8"))
    same: bool = ready["scenario"]["workload"] == document["workload"]
    return ready["drawn"] if same else None


def _draw_of(scenario: Scenario) -> dict[str, Any] | None:
    """What a draw takes besides the scenario's document (:class:`Job`); None where it draws other than transfers."""
    from mayfly.laws import sizes
    from mayfly.workload.renewal import Poisson

    given = scenario.workload
    network = network_of(scenario)
    if not given.has_transfers or any(getattr(given, kind) for kind in SOURCES):
        return None
    transfers = given.drawn(network.ends(given.from_, given.to))
    law = transfers.law
    more = (
        transfers.load_bps is None,
        transfers.up_share,
        transfers.users,
        transfers.group,
        transfers.transport,
        transfers.ends,
        transfers.parts,
        not isinstance(transfers.arrivals, Poisson),
        type(law).__module__ != sizes.__name__,
    )
    hosts = [[int(host) for host in side] for side in network.workload_hosts(given)]
    if any(more) or any(side != [*range(side[0], side[0] + len(side))] for side in hosts):
        return None
    senders, receivers = ([side[0], len(side)] for side in hosts)
    of_law: Any = law
    values = {field.name: getattr(law, field.name) for field in fields_of(of_law)}
    fields = {name: value if isinstance(value, int) else float(value) for name, value in values.items()}
    return {"law": type(law).__name__, "fields": fields, "senders": senders, "receivers": receivers}


def documents() -> dict[str, dict[str, Any]]:
    """The jobs of the ready scenarios, by name, and what the files of a run say of themselves.

    Returns
    -------
    dict of dict
        By name of the file without its ending: ``scenario``, ``native``, ``drawn`` and ``header_bytes`` of the
        :class:`Job`, with one replication; ``replications`` of its own; and ``presets``, what each preset of TCP
        changes. ``tables`` has the metadata of ``flows`` and ``samples``.
    """
    from mayfly.simulate.tables import FLOWS, SAMPLES

    found: dict[str, dict[str, Any]] = {}
    for name in ready_names():
        scenario = load_scenario(name, {"replications": 1})
        if _is_plain(scenario):
            job = _without_draw(scenario)
            found[name] = {
                "scenario": job.document,
                "native": job.native,
                "drawn": _draw_of(scenario),
                "header_bytes": job.header_bytes,
                "replications": load_scenario(name).replications,
                "presets": _presets(name, job),
            }
    told = {"flows": FLOWS.metadata(), "samples": SAMPLES.metadata()}
    return found | {TABLES.removesuffix(".json"): told}


def _presets(name: str, plain: Job) -> dict[str, dict[str, Any]]:
    """By name of each preset that leaves the scenario plain: what it changes in ``tcp``, and ``header_bytes``."""
    found: dict[str, dict[str, Any]] = {}
    for preset in PRESETS:
        scenario = load_scenario(name, {"replications": 1, "tcp.preset": preset})
        job = _without_draw(scenario)
        if not _is_plain(scenario) or job.document | {"tcp": None} != plain.document | {"tcp": None}:
            continue
        found[preset] = {
            "scenario": _changed(plain.document["tcp"], job.document["tcp"]),
            "native": _changed(plain.native["tcp"], job.native["tcp"]),
            "header_bytes": job.header_bytes,
        }
    return found


def _changed(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in after.items() if before[name] != value}


def text_of(document: dict[str, Any]) -> str:
    """A document as its file has it."""
    return json.dumps(document, separators=(",", ":"), allow_nan=False) + "\n"


def write() -> list[str]:
    """Writes all files anew.

    Returns
    -------
    list of str
        Their names.
    """
    CHECKED.mkdir(exist_ok=True)
    for path in CHECKED.glob("*.json"):
        path.unlink()
    names = []
    for name, document in documents().items():
        names.append(f"{name}.json")
        (CHECKED / names[-1]).write_text(text_of(document), encoding="utf-8")
    return names


if __name__ == "__main__":
    print(" ".join(write()))
