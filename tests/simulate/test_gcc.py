"""Google congestion control by the delay, packet by packet as aiortc has it.

What aiortc 1.16.0 says of the arrivals here is kept in `tests/data/gcc_aiortc.json`. Where aiortc is installed
(`pip install --no-deps aiortc==1.16.0`; nothing but `rate.py` is loaded) it is asked again, and for the packets of a
whole run too.
`python tests/simulate/test_gcc.py` writes the file anew.
"""

import importlib
import importlib.metadata
import json
import sys
import types
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from mayfly import _native

KEPT = Path(__file__).parents[1] / "data" / "gcc_aiortc.json"
VERSION = "1.16.0"
WORDS = {"NORMAL": "normal", "OVERUSING": "overuse", "UNDERUSING": "underuse"}


def _paced(seconds, gap_ms, size=1200, begin_ms=5_000.0):
    sent = begin_ms + np.arange(0, 1000 * seconds, gap_ms)
    return sent, np.full(sent.size, size)


def _through(sent_ms, size, mbps, way_ms=20.0):
    """Arrivals behind a queue that is served at a rate."""
    free, arrivals = 0.0, []
    for at, length in zip(sent_ms, size, strict=True):
        free = max(free, at) + length * 8e-3 / mbps
        arrivals.append(free + way_ms)
    return np.array(arrivals)


def _patterns():
    """Sent and arrival times, ms, and sizes, bytes, by name; in order of arrival."""
    rng = np.random.default_rng(25)
    found = {}
    sent, size = _paced(15, 10)
    found["idle"] = sent, sent + 20, size
    found["jitter"] = sent, np.maximum.accumulate(sent + 20 + rng.exponential(4, sent.size)), size
    found["queue grows and drains"] = sent, sent + 20 + 200 * np.sin((sent - 5000) / 2000).clip(0), size
    sent, size = _paced(20, 4)
    found["rate above the link"] = sent, _through(sent, size, 2.0), size
    # 30 frames a second that grow from 1 to 12 packets: the link is full from the middle on.
    frames = 5000 + np.repeat(np.arange(600), 1 + np.arange(600) // 50) * 1000 / 30
    within = np.concatenate([np.arange(1 + n // 50) for n in range(600)]) * 1.5
    size = rng.integers(900, 1201, frames.size)
    found["frames"] = frames + within, _through(frames + within, size, 1.5), size
    sent, size = _paced(25, 10)
    kept = (sent < 13_000) | (sent > 17_000)
    found["silence"] = sent[kept], sent[kept] + 30, size[kept]
    cross = 20 + 60 * (((sent - 5000) // 3000) % 2) * np.minimum(((sent - 5000) % 3000) / 500, 1)
    found["cross traffic"] = sent, sent + cross, size
    # Times of packets turn round each 64 s.
    sent, size = _paced(70, 25)
    found["wrap"] = sent, sent + 20 + (sent > 60_000) * 40, size
    sent, size = _paced(15, 10)
    late = sent + 20 + (np.arange(sent.size) % 37 == 0) * 25
    order = np.argsort(late, kind="stable")
    found["reordered"] = sent[order], late[order], size[order]
    lost = rng.random(sent.size) < 0.1
    found["lost"] = sent[~lost], (sent + 20)[~lost], size[~lost]
    return {
        name: ((1e6 * at).astype(np.uint64), (1e6 * came).astype(np.uint64), size.astype(np.uint32))
        for name, (at, came, size) in found.items()
    }


PATTERNS = _patterns()


def ours(sent_ns, arrival_ns, size):
    table = pl.DataFrame(_native.gcc_estimates(sent_ns, arrival_ns, size))
    return table["bps"].to_list(), table["usage"].to_list(), table["offset_ms"], table["threshold_ms"]


def reference():
    """The module `rate` of aiortc, without what the rest of it needs; skips where it is not installed."""
    try:
        files = importlib.metadata.files("aiortc")
        version = importlib.metadata.version("aiortc")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"aiortc is not installed: pip install --no-deps aiortc=={VERSION}")
    assert version == VERSION, version
    rate = next(file for file in files or [] if file.name == "rate.py")
    if "aiortc" not in sys.modules:
        package = types.ModuleType("aiortc")
        package.__path__ = [str(Path(rate.locate()).parent)]
        sys.modules["aiortc"] = package
    return importlib.import_module("aiortc.rate")


def theirs(rate, sent_ns, arrival_ns, size):
    estimator = rate.RemoteBitrateEstimator()
    rows = []
    for sent, arrival, length in zip(sent_ns.tolist(), arrival_ns.tolist(), size.tolist(), strict=True):
        stamp = ((sent << 18) // 10**9) & 0xFFFFFF
        told = estimator.add(arrival_time_ms=arrival // 10**6, abs_send_time=stamp, payload_size=length, ssrc=1)
        usage = WORDS[estimator.detector.state().name]
        rows.append((told and told[0], usage, estimator.estimator.offset(), estimator.detector.threshold))
    return tuple(map(list, zip(*rows, strict=True)))


def in_short(bps, usage):
    """Estimates by packet, and the packets at which the usage changes."""
    changes = [(at, word) for at, word in enumerate(usage) if at == 0 or word != usage[at - 1]]
    return {"bps": [[at, rate] for at, rate in enumerate(bps) if rate is not None], "usage": list(map(list, changes))}


@pytest.mark.parametrize("name", PATTERNS)
def test_the_rates_are_those_that_aiortc_said(name):
    kept = json.loads(KEPT.read_text())
    assert kept["version"] == VERSION
    bps, usage, _, _ = ours(*PATTERNS[name])
    assert in_short(bps, usage) == kept["patterns"][name]


def test_the_patterns_show_every_usage_and_every_kind_of_step():
    said = [ours(*pattern)[:2] for pattern in PATTERNS.values()]
    assert {word for _, usage in said for word in usage} == set(WORDS.values())
    rates = [[rate for rate in bps if rate is not None] for bps, _ in said]
    assert any(after < before for own in rates for before, after in pairwise(own))
    assert sum(map(len, rates)) > 500


@pytest.mark.parametrize("name", PATTERNS)
def test_aiortc_says_the_same_now(name):
    rate = reference()
    bps, usage, offsets, thresholds = ours(*PATTERNS[name])
    their_bps, their_usage, their_offsets, their_thresholds = theirs(rate, *PATTERNS[name])
    assert (bps, usage) == (their_bps, their_usage)
    # The same operations in the same order: what is left is the last bit of `pow`.
    np.testing.assert_allclose(offsets, their_offsets, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(thresholds, their_thresholds, rtol=1e-9)


@pytest.mark.parametrize("rate_mbit", [1, 4])
def test_aiortc_says_the_same_of_the_packets_of_a_run(rate_mbit):
    module = reference()
    from mayfly.scenario.scenario import Scenario
    from mayfly.simulate.run import named, run_many

    scenario = Scenario.model_validate(
        {
            "duration": "40s",
            "trace": ["calls"],
            "network": {"rate": f"{rate_mbit}mbit", "buffer": 60},
            "workload": {"call": [{"group": "calls"}], "permanent": [{"group": "bulk"}]},
        }
    )
    (run,) = run_many(scenario, named("fq_codel"))
    down = run.records.filter(direction="down", group="calls")["flow_id"]
    came = run.packets.filter(pl.col("flow_id").is_in(down.to_list()), pl.col("received_s").is_not_null())
    ordered = came.sort("received_s", maintain_order=True)
    sent, arrival = ((ordered[name] * 1e9).round().cast(pl.UInt64).to_numpy() for name in ("sent_s", "received_s"))
    size = (ordered["wire_bytes"] - 28).cast(pl.UInt32).to_numpy()
    assert size.size > 1000
    assert ours(sent, arrival, size)[:2] == theirs(module, sent, arrival, size)[:2]


if __name__ == "__main__":
    module = reference()
    kept = {name: in_short(*theirs(module, *pattern)[:2]) for name, pattern in PATTERNS.items()}
    KEPT.write_text(json.dumps({"version": VERSION, "patterns": kept}, separators=(",", ":")) + "\n")
