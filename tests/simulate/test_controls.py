"""Controllers that count marks, and what they ask of the rest of the transport, from the scenario on."""

import polars as pl
import pytest

import mayfly
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import Scenario, scenario_of
from mayfly.scenario.transport import ECN, RULES
from mayfly.workload.lists import flow_list


def scenario(rate: str = "40mbit", **transports: dict[str, object]) -> Scenario:
    """An endless flow of each transport, over 20 ms."""
    flows = [{"flows": 1, "users": 1, "transport": name, "group": name} for name in transports]
    document = {
        "duration": "20s",
        "network": {"rate": rate, "delay": "8ms", "buffer": 400},
        "tcp": {"preset": "linux"},
        "transports": transports,
        "workload": {"permanent": flows},
    }
    return scenario_of(document, "controls")


def test_prague_beside_cubic_fills_the_low_delay_queue_of_a_dual_one():
    given = scenario(prague={"congestion": "prague", "ecn": "l4s"}, cubic={})
    records = mayfly.compare(given, ["dualpi2", "codel"]).records
    rows = {(row["discipline"], row["transport"]): row for row in records.iter_rows(named=True)}
    dual = [rows["dualpi2", name] for name in ("prague", "cubic")]
    assert dual[0]["queue_delay_mean_s"] < 1e-3 < 5e-3 < dual[1]["queue_delay_mean_s"]
    assert dual[0]["marks"] > 0 and dual[0]["drops"] == 0
    # One queue for both: the scalable one takes what it does not take behind a dual queue.
    ratio = [
        rows[one, "prague"]["delivered_bytes"] / rows[one, "cubic"]["delivered_bytes"] for one in ("dualpi2", "codel")
    ]
    assert 0.5 < ratio[0] < 2 < 4 < ratio[1], ratio


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("ecn", ECN)
def test_every_rule_runs_with_every_kind_of_ecn_or_is_refused_in_one_line(rule, ecn):
    own = {"congestion": rule, "ecn": ecn, "recovery": "sack", "tick": "1ns"}
    given = scenario(rate="5mbit", own=own).override(duration="3s")
    if rule == "prague" and ecn in ("dctcp", "accurate"):
        with pytest.raises(MayflyError, match=r"congestion.*prague.*used with tcp\.ecn = l4s") as refused:
            mayfly.compare(given, ["codel"])
        assert "\n" not in str(refused.value)
        return
    record = mayfly.compare(given, ["codel"]).records.row(0, named=True)
    assert record["delivered_bytes"] > 1_000_000
    # The buffer fills in slow start, and codel marks what may be marked.
    assert (record["marks"] > 0) == (ecn != "off")


def test_hystart_leaves_slow_start_before_the_buffer_overflows():
    """A bandwidth-delay product of some 70 packets, and a buffer of 268.

    HyStart++ sees the queue in the round in which 160 segments become 320; five rounds at a quarter of the speed then
    are threefold, and overflow it by less.
    """
    own = {name: {"hystart": name, "recovery": "sack"} for name in ("off", "linux", "rfc9406")}
    losses, sent = {}, {}
    for name, settings in own.items():
        given = scenario(rate="20mbit", **{name: settings}).override(
            duration="2s", network={"rate": "20mbit", "delay": "20ms", "buffer": 268}
        )
        record = mayfly.compare(given, ["fifo"]).records.row(0, named=True)
        losses[name] = record["drops"]
        sent[name] = record["delivered_bytes"]
    assert sent["rfc9406"] > sent["off"], sent
    assert losses["linux"] < losses["rfc9406"] < losses["off"] / 4, losses


def test_hystart_of_the_rfc_is_refused_where_the_sender_is_that_of_linux():
    given = scenario(own={"hystart": "rfc9406", "recovery": "linux", "tick": "4ms"})
    with pytest.raises(MayflyError, match=r"hystart.*rfc9406.*off or linux with tcp\.recovery = linux"):
        mayfly.compare(given, ["fifo"])


def test_a_path_that_is_known_ends_slow_start_where_it_ended_before():
    """Transfers of one host, one after the other: each fills a short buffer, unless it knows the one before."""
    flows = pl.DataFrame(
        {"start_s": [0.0, 20.0, 40.0], "size_bytes": [8_000_000] * 3, "src": [1] * 3, "dst": [2] * 3},
        schema_overrides={"src": pl.UInt32, "dst": pl.UInt32},
    )
    drops = {}
    for kept in ("off", "linux", "threshold"):
        own = {"congestion": "aimd", "recovery": "linux", "tick": "4ms", "cached_metrics": kept}
        given = scenario_of(
            {
                "duration": "60s",
                "network": {"rate": "20mbit", "delay": "20ms", "buffer": 40},
                "tcp": {"preset": "linux", **own},
            },
            "paths",
        )
        records = mayfly.compare(given, ["fifo"], flows=flow_list(flows)).records.sort("start_s")
        drops[kept] = records["drops"].to_list()
    assert drops["off"][0] == drops["threshold"][0] > 20
    assert drops["threshold"][1] < drops["off"][1] / 4, drops
    # The time and reordering alone move no threshold.
    assert drops["linux"] == drops["off"], drops


def test_metrics_are_kept_by_the_sender_of_linux_only():
    given = scenario(own={"cached_metrics": "linux", "recovery": "sack"})
    with pytest.raises(MayflyError, match=r"cached_metrics.*linux.*off unless tcp\.recovery = linux"):
        mayfly.compare(given, ["fifo"])


@pytest.mark.parametrize("rule", RULES)
def test_the_transport_of_linux_takes_every_rule_and_marks(rule):
    ecn = "l4s" if rule == "prague" else "accurate"
    fields = {"congestion": rule, "ecn": ecn, "recovery": "linux", "tick": "1ms"}
    given = scenario(rate="5mbit", own=fields).override(duration="3s")
    record = mayfly.compare(given, ["codel"]).records.row(0, named=True)
    # Data that may be marked is not dropped; a model of the path leaves hardly a queue to mark.
    assert record["delivered_bytes"] > 1_500_000 and record["drops"] == 0
    assert record["marks"] > 0 or rule == "bbr"


def test_without_selective_acknowledgements_linux_has_its_own_bbr_and_no_other():
    own = {"recovery": "linux-without-sack", "tick": "1ms"}
    given = scenario(rate="5mbit", own={"congestion": "bbr3", **own}).override(duration="3s")
    with pytest.raises(MayflyError, match=r"congestion.*bbr3.*used with tcp\.recovery = sack or linux") as refused:
        mayfly.compare(given, ["codel"])
    assert "\n" not in str(refused.value)
    given = scenario(rate="5mbit", own={"congestion": "bbr", **own}).override(duration="3s")
    # Of 1.9 MB that the link carries.
    assert mayfly.compare(given, ["codel"]).records.row(0, named=True)["delivered_bytes"] > 1_000_000
