"""The ready scenarios as they are once checked, for :mod:`mayfly.comparison.plain`.

``python -m mayfly.comparison.checked`` writes them; a test holds them to what a check gives.
"""

import json
from typing import Any

from mayfly.comparison import plain_draw
from mayfly.comparison.plain import CHECKED, TABLES
from mayfly.discipline_registry import parse
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
        ``fifo``, and ``drawn``, what a draw of its transfers takes where they are plain; ``tables`` has the metadata of
        ``flows`` and ``samples``.
    """
    found: dict[str, dict[str, Any]] = {}
    for name in ready_names():
        scenario = load_scenario(name, {"replications": 1})
        if is_plain(scenario):
            native = native_settings(scenario, parse("fifo"), scenario.seed)
            found[name] = {
                "scenario": scenario.model_dump(mode="json"),
                "native": native,
                "drawn": plain_draw.told_of(scenario),
            }
    told = {"flows": FLOWS.metadata(), "samples": SAMPLES.metadata()}
    return found | {TABLES.removesuffix(".json"): told}


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
