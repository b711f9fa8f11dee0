"""What another engine than the simulator makes of a capture."""

from pathlib import Path

import pytest

import mayfly
from mayfly.comparison.comparison import gather
from mayfly.errors import MayflyError
from mayfly.simulate.run import run_many

OFFICE = Path(__file__).resolve().parents[2] / "captures" / "office.pcap.gz"
INSIDE = ["10.10.0.0/24"]


class Stand:
    """An engine that has `fifo` alone, and runs the simulator."""

    def __init__(self):
        self.asked = None

    def able(self, chosen):
        return [one for one in chosen if one.id == "fifo"]

    def __call__(self, scenario, chosen, flows, progress, command, span_s=None):
        self.asked = [one.id for one in chosen], command, span_s
        return gather(scenario, run_many(scenario, chosen, flows), command, {"engine": "stand"}, span_s)


def test_an_engine_replays_the_capture_alone():
    engine = Stand()
    found = mayfly.whatif(OFFICE, "10mbit", 300, internal=INSIDE, engine=engine, overrides={"duration": "5s"})
    assert engine.asked == (["fifo"], "whatif", pytest.approx(5.0)) and found.summary["engine"] == "stand"
    assert found.summary["resampling"]["hours"] == 0 and found.summary["transport"]["other"] is None
    assert found.summary["resampling"]["why_none"] == "--engine replays the capture alone"
    with pytest.raises(MayflyError, match="replications = 8: must be 1 with --engine, which replays the capture alone"):
        mayfly.whatif(OFFICE, "10mbit", 300, internal=INSIDE, engine=engine, overrides={"replications": 8})
