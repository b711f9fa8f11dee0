"""Runs whose ``summary.json`` has every part that there is, small ones; written to ``tests/data/summaries.json``.

``python tests/helpers/summaries.py`` writes the file, which the tests of crate ``summary`` read.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from invocation import mayfly_here

ROOT = Path(__file__).parents[2]
FILE = ROOT / "tests" / "data" / "summaries.json"

OFFICE = "whatif captures/office.pcap.gz --rate 10mbit --buffer 300 --internal 10.10.0.0/24 --set duration=20s -d "
COMMANDS = {
    "plain": "compare wired --duration 10s -d fifo,efd(threshold=30kB)",
    "settings": "compare wired --duration 10s -d fifo,efd --set network.buffer=450kB --set tcp.preset=linux",
    "warm-up": "compare wired --duration 10s -d fifo --set warm_up=1s",
    "replications": "compare wired --duration 10s -d fifo,las -n 3",
    "traced": "compare wired --duration 10s -d las --trace-flow 3 --set subflows=true --set trace_limit=10",
    "models": "compare wired --duration 10s -d fifo,las,red --models",
    "no models": "compare household --duration 10s -d fifo --models",
    "graph": "compare parking-lot --duration 10s -d fifo",
    "estimator": "compare wired --duration 10s -d estmred",
    "permanent": "compare permanent --duration 10s -d fifo",
    "pages": "compare pages --duration 20s -d fifo",
    "home": "compare home --duration 30s -d fifo,cake",
    "game": "compare wired --duration 5s -d fifo --set workload.gaming=[{}]",
    "attack": "compare attack --duration 20s -d efd",
    "varying": f"compare wired --duration 10s -d fifo --set network.link_trace={ROOT}/tests/data/steps.csv "
    "--set network.shaper={share=0.9,ways='down'}",
    "cell": "compare wlan --duration 5s -d fifo",
    "groups in a cell": "compare wlan-enterprise --duration 5s -d fifo",
    "simulate": "simulate wired --duration 10s --discipline las --trace-drops",
    "stream": "simulate wired --duration 10s --discipline las --stream",
    "fluid": "simulate wired --duration 10s --discipline las --engine fluid",
    "both": "simulate wired --duration 10s --discipline las --engine both",
    "windows": "simulate wired --duration 40s --discipline las --windows 4",
    "users": OFFICE + "fifo,fq_codel -n 1",
    "guess": "whatif captures/office.pcap.gz --set duration=20s -d fifo -n 1",
    "trains": OFFICE + "fifo -n 1 --replay trains",
    "packets": OFFICE + "fifo -n 1 --replay packets",
    "transfers": OFFICE + "fifo -n 1 --replay transfers",
    "load": OFFICE + "fifo -n 1 --load 0.8",
    "round trip": OFFICE + "fifo -n 1 --rtt 40ms",
    "hours": OFFICE + "fifo,fq_codel -n 2",
}
"""Command lines of Mayfly by what their summary is for."""

STORED = [
    *("plain", "replications", "models", "no models", "graph", "estimator", "home", "game", "attack", "varying"),
    *("groups in a cell", "both", "windows", "packets", "guess", "hours"),
]
"""Those of which the file has the document."""


def document(name: str, folder: Path) -> tuple[Any, Any]:
    """What a command wrote to ``summary.json``, and what it printed with ``--json``."""
    command = [str(ROOT / word) if word.startswith("captures/") else word for word in COMMANDS[name].split()]
    ended = mayfly_here(*command, "--json", "--quiet", "--out", folder)
    assert ended.status == 0, (name, ended.err)
    return json.loads((folder / "summary.json").read_text(encoding="utf-8")), ended.document


def definition(summary: Any) -> str:
    """Name of the type that a document is of."""
    return "WindowsSummary" if "windows" in summary else "StreamSummary" if "stream" in summary else "Summary"


if __name__ == "__main__":
    found = {}
    for one in STORED:
        with tempfile.TemporaryDirectory() as place:
            found[one], _ = document(one, Path(place) / "out")
        # Names alone: the folder is gone.
        found[one]["files"] = {key: Path(path).name for key, path in found[one].get("files", {}).items()}
        # Of the model's curve a few points will do.
        for model in found[one].get("models", {}).values():
            model["curve"] = {key: values[:3] for key, values in model["curve"].items()}
        found[one]["scenario"] = {"name": found[one]["scenario"].get("name")}
    lines = (f"{json.dumps(name)}: {json.dumps(own)}" for name, own in found.items())
    # No name of a machine's folders.
    text = "{" + ",\n".join(lines) + "}\n"
    FILE.write_text(text.replace(f"{ROOT}/", ""), encoding="utf-8")
