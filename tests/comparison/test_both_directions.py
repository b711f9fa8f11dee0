"""A link has two queues: both are told, and what is called down and up changes names only."""

import json

import numpy as np
import polars as pl
import pytest

import mayfly
from mayfly.comparison.comparison import compare
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import load_scenario
from mayfly.workload.lists import flow_list

PROBES = {"probes.ping": True, "probes.call": True}
OTHER = {"down": "up", "up": "down"}
SWAPPED = ("links", "users", "short", "long", "udp", "throughput_mbps", "flows_completed", "flows_unfinished")


def swapped(value):
    """The same with what is down called up."""
    if isinstance(value, dict):
        return {OTHER.get(key, {"downloads": "uploads", "uploads": "downloads"}.get(key, key)): swapped(one)
                for key, one in value.items()}  # fmt: skip
    return value


def told(row):
    return json.loads(json.dumps({key: row[key] for key in SWAPPED if key in row}))


def mixed(seed, flows=60):
    """Transfers and datagrams in both directions, most of them down, between hosts that are on one side each."""
    rng = np.random.default_rng(seed)
    udp = rng.random(flows) < 0.15
    up = rng.random(flows) < 0.3
    inside, outside = rng.integers(0, 5, flows), rng.integers(5, 12, flows)
    size = np.exp(rng.normal(9.5, 1.6, flows)).astype(int) + 1
    # Times and round trips without equal ones: which of two packets is first at one instant is nobody's direction.
    return pl.DataFrame(
        {
            "start_s": np.sort(rng.random(flows) * 6),
            "src": [f"h{host}" for host in np.where(up, inside, outside)],
            "dst": [f"h{host}" for host in np.where(up, outside, inside)],
            "direction": np.where(up, "up", "down").tolist(),
            "protocol": np.where(udp, "udp", "tcp").tolist(),
            "size_bytes": size,
            "packet_bytes": [1200 if one else None for one in udp],
            "rate_bps": [9e5 if one else None for one in udp],
            "rtt_s": [None if at % 7 == 0 else rtt for at, rtt in enumerate(0.005 + 0.06 * rng.random(flows))],
            "opened_by": np.where(rng.random(flows) < 0.5, "sender", "receiver").tolist(),
        }
    )


def turned(flows):
    return flows.with_columns(direction=pl.col("direction").replace_strict(OTHER))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_flow_list_turned_round_gives_the_run_turned_round(seed):
    disciplines = "fifo,red,codel,fq_codel,cake,pie,sfq,efd,las,drr,choke"
    fields = PROBES | {"network.rate": "3mbit", "network.buffer": 25, "duration": "40s"}
    there = compare(load_scenario("whatif", fields), disciplines, mixed(seed)).summary
    back = compare(load_scenario("whatif", fields), disciplines, turned(mixed(seed))).summary
    assert back["links"]["busier"] == OTHER[there["links"]["busier"]]
    assert [back["links"][way] for way in OTHER] == [there["links"][way] for way in OTHER.values()]
    drops = set()
    for row, other in zip(there["disciplines"], back["disciplines"], strict=True):
        assert swapped(told(row)) == told(other), row["label"]
        drops.add(row["links"]["down"]["drops"])
    assert len(drops) > 3, "the disciplines hardly had anything to do"


def test_rates_and_buffers_of_both_directions_are_their_own():
    fields = {"network.rate": "6mbit", "network.reverse_rate": "2mbit", "network.buffer": 40,
              "network.reverse_buffer": "15kB", "duration": "40s"}  # fmt: skip
    other = {"network.rate": "2mbit", "network.reverse_rate": "6mbit", "network.buffer": "15kB",
             "network.reverse_buffer": 40, "duration": "40s"}  # fmt: skip
    there = compare(load_scenario("whatif", PROBES | fields), "fifo,cake", mixed(4)).summary
    back = compare(load_scenario("whatif", PROBES | other), "fifo,cake", turned(mixed(4))).summary
    assert (there["links"]["down"]["rate_bps"], there["links"]["down"]["buffer"]) == (6_000_000, [40, "packets"])
    assert (there["links"]["up"]["rate_bps"], there["links"]["up"]["buffer"]) == (2_000_000, [15_000, "bytes"])
    for way in ("down", "up"):
        own = there["links"][way]
        assert own["load"] == pytest.approx(own["offered_mbps"] * 1e6 / own["rate_bps"], rel=1e-12)
    for row, counterpart in zip(there["disciplines"], back["disciplines"], strict=True):
        assert swapped(told(row)) == told(counterpart), row["label"]


def test_scripts_turned_round_are_the_run_turned_round():
    script = "up 900 | wait 20ms | down 60000 | up 400 | wait 5ms | down 150000"
    rows = [
        {"start_s": 0.31 * at, "script": script if at % 2 else None, "size_bytes": None if at % 2 else 40_000 + at,
         "src": f"h{at % 3}", "dst": f"h{5 + at % 4}", "rtt_s": 0.013 + 0.0021 * at}
        for at in range(24)
    ]  # fmt: skip
    flows = flow_list(pl.DataFrame(rows, schema_overrides={"script": pl.String}))
    swap = pl.col("script").list.eval(pl.element().struct.with_fields(~pl.field("up")))
    fields = PROBES | {"network.rate": "3mbit", "network.buffer": 15, "duration": "60s"}
    there = compare(load_scenario("whatif", fields), "fifo,red,fq_codel", flows).summary
    back = compare(load_scenario("whatif", fields), "fifo,red,fq_codel", turned(flows).with_columns(swap)).summary
    assert there["links"]["busier"] == "down" and back["links"]["busier"] == "up"
    for row, other in zip(there["disciplines"], back["disciplines"], strict=True):
        assert swapped(told(row)) == told(other), row["label"]


@pytest.mark.slow
def test_the_office_capture_mirrored_is_the_office_capture():
    disciplines = ["fifo", "fq_codel", "cake", "efd"]
    networks = (["10.10.0.0/24"], ["203.0.113.0/24", "198.51.100.0/24"])
    there, back = (
        mayfly.whatif("captures/office.pcap.gz", "10mbit", 300, internal=own, disciplines=disciplines).summary
        for own in networks
    )
    assert there["transport"] == back["transport"]
    assert there["links"]["up"] == back["links"]["down"] and there["links"]["down"] == back["links"]["up"]
    for row, other in zip(there["disciplines"], back["disciplines"], strict=True):
        assert swapped(told(row)) == told(other), row["label"]


def upload(rate_bps, seconds):
    packets = round(rate_bps * seconds / 8 / 1500)
    row = {"start_s": [0.0], "size_bytes": [packets * 1472], "protocol": ["udp"], "direction": ["up"]}
    return pl.DataFrame(row | {"packet_bytes": [1500], "rate_bps": [float(rate_bps)]})


def test_an_upload_by_udp_fills_the_uplink():
    fields = {"network.rate": "20mbit", "network.reverse_rate": "2mbit", "duration": "20s", "stop_when_idle": False}
    fields |= {"network.reverse_buffer": 10, "probes.ping": True}
    summary = compare(load_scenario("whatif", fields), "fifo", upload(3e6, 20)).summary
    (row,) = summary["disciplines"]
    up, down = row["links"]["up"], row["links"]["down"]
    assert summary["links"]["busier"] == "up" and summary["links"]["up"]["load"] == pytest.approx(1.5, rel=0.01)
    # Of each 3 packets one is too many, but for a buffer full and the ping.
    assert up["drops"] == pytest.approx(5000 / 3, abs=30) and up["drops"] == row["udp"]["lost"]
    assert up["utilisation"] == pytest.approx(1.0, abs=0.005) and up["peak_utilisation"] == pytest.approx(1.0, abs=1e-9)
    assert up["throughput_mbps"] == pytest.approx(2.0, abs=0.01)
    # A buffer of ten packets, nearly always full.
    assert up["queue_mean_packets"] == pytest.approx(10, abs=0.7)
    # Whoever is let in finds nine waiting and one in transmission.
    assert 9 * 1500 * 8 / 2e6 <= up["queue_delay_mean_s"] <= 10 * 1500 * 8 / 2e6
    assert (down["drops"], down["utilisation"]) == (0, 0.0) and down["peak_utilisation"] < 0.001
    assert down["queue_delay_mean_s"] is None


def test_the_peak_is_that_of_the_busiest_second():
    # Half of the link for 2 s, nothing for 8 s.
    flows = upload(5e6, 2).with_columns(direction=pl.lit("down"))
    fields = {"network.rate": "10mbit", "duration": "10s", "stop_when_idle": False}
    (row,) = compare(load_scenario("whatif", fields), "fifo", flows).summary["disciplines"]
    assert row["links"]["down"]["peak_utilisation"] == pytest.approx(0.5, abs=0.002)
    assert row["links"]["down"]["utilisation"] == pytest.approx(0.1, abs=0.001)


def test_a_cell_and_several_links_have_no_two_queues_to_tell():
    flows = pl.DataFrame({"start_s": [0.0], "size_bytes": [1000]})
    summary = compare(load_scenario("parking-lot", {"duration": "2s"}), "fifo").summary
    assert summary["links"] is None and summary["disciplines"][0]["links"] is None
    assert compare(load_scenario("wired", {"duration": "2s"}), "fifo", flows).summary["transport"] == {
        "preset": "qualnet-4.5-like",
        "kernel": None,
        "other": None,
    }


def test_rates_and_buffers_of_whatif(tmp_path):
    capture = "captures/office.pcap.gz"
    given = {"disciplines": "fifo", "overrides": {"duration": "1s", "replications": 1}}
    summary = mayfly.whatif(capture, "100mbit/20Mbit/s", "20ms/10ms", **given).summary
    ways = summary["links"]
    assert (ways["down"]["rate_bps"], ways["up"]["rate_bps"]) == (100_000_000, 20_000_000)
    assert (ways["down"]["buffer"], ways["up"]["buffer"]) == ([250_000, "bytes"], [25_000, "bytes"])
    one = mayfly.whatif(capture, "40M/8M", "20ms", **given).summary["links"]
    assert (one["down"]["buffer"], one["up"]["buffer"]) == ([100_000, "bytes"], [20_000, "bytes"])
    assert (summary["transport"]["preset"], summary["transport"]["kernel"]) == ("linux", "linux-7.3")
    assert summary["transport"]["other"] is None
    for rate, buffer, message in (
        ("10mbit/5mbit/1mbit", 300, "two for down and up"),
        ("10MB/s", 300, "write 80mbit"),
        ("10mbit", "20 apples", "or a time such as 20ms"),
    ):
        with pytest.raises(MayflyError, match=message):
            mayfly.whatif(capture, rate, buffer, **given)


def test_the_answer_says_how_much_the_hosts_matter():
    given = {"disciplines": "fifo,fq_codel", "overrides": {"replications": 1}}
    summary = mayfly.whatif("captures/office.pcap.gz", "10mbit", 300, **given).summary
    other = summary["transport"]["other"]
    assert other["preset"] == "qualnet-4.5-like"
    assert "under fifo" in other["sentence"] and "under fq_codel" in other["sentence"]
    assert other["sentence"].endswith("depend on the hosts") or other["sentence"].endswith("depends on the hosts")
