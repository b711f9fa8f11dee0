"""The ready scenarios as they are once checked, for :mod:`mayfly.comparison.plain`.

``python -m mayfly.comparison.checked`` writes them; a test holds them to what a check gives.
"""

import json
from typing import Any

from mayfly.comparison import plain_draw
from mayfly.comparison.plain import CHECKED, TABLES
from mayfly.discipline_registry import parse
from mayfly.scenario.presets import PRESETS
from mayfly.scenario.scenario import Scenario, load_scenario, ready_names
from mayfly.simulate.network.shaping import native_shaping
from mayfly.simulate.run import native_settings
from mayfly.simulate.tables import FLOWS, SAMPLES


def is_plain(scenario: Scenario) -> bool:
    """Whether runs of a list of plain transfers are plain: one link without anything that comes beside the list."""
    network = scenario.network
    beside = (
        network.topology != "dumbbell",
        network.wlan is not None,
        network.symmetric,
        any(trace is not None for trace in network.traces),
        native_shaping(network, scenario.tcp.mss + scenario.tcp.headers_bytes, None) is not None,
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


def documents() -> dict[str, dict[str, Any]]:
    """Every plain scenario, by name, and what the files of a run say of themselves.

    Returns
    -------
    dict of dict
        By name of the file without its ending: ``scenario``, with one replication, and ``native``, its settings under
        ``fifo``; ``drawn``, what a draw of its transfers takes where they are plain; ``header_bytes`` of a packet;
        ``replications`` of its own; and ``presets``, what each preset of TCP changes. ``tables`` has the metadata of
        ``flows`` and ``samples``.
    """
    found: dict[str, dict[str, Any]] = {}
    for name in ready_names():
        scenario = load_scenario(name, {"replications": 1})
        if is_plain(scenario):
            found[name] = {
                "scenario": scenario.model_dump(mode="json"),
                "native": native_settings(scenario, parse("fifo"), scenario.seed),
                "drawn": plain_draw.told_of(scenario),
                "header_bytes": scenario.tcp.headers_bytes,
                "replications": load_scenario(name).replications,
            }
            found[name]["presets"] = _presets(name, found[name])
    told = {"flows": FLOWS.metadata(), "samples": SAMPLES.metadata()}
    return found | {TABLES.removesuffix(".json"): told}


def _presets(name: str, plain: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By name of each preset that leaves the scenario plain: what it changes in ``tcp``, and ``header_bytes``."""
    found: dict[str, dict[str, Any]] = {}
    for preset in PRESETS:
        scenario = load_scenario(name, {"replications": 1, "tcp.preset": preset})
        document = scenario.model_dump(mode="json")
        native = native_settings(scenario, parse("fifo"), scenario.seed)
        if not is_plain(scenario) or document | {"tcp": None} != plain["scenario"] | {"tcp": None}:
            continue
        found[preset] = {
            "scenario": _changed(plain["scenario"]["tcp"], document["tcp"]),
            "native": _changed(plain["native"]["tcp"], native["tcp"]),
            "header_bytes": scenario.tcp.headers_bytes,
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
