"""Controllers that count marks, and what they ask of the rest of the transport, from the scenario on."""

import pytest

import mayfly
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import Scenario, scenario_of
from mayfly.scenario.transport import ECN, RULES


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
    given = scenario(rate="5mbit", own={"congestion": rule, "ecn": ecn}).override(duration="3s")
    if rule == "prague" and ecn in ("dctcp", "accurate"):
        with pytest.raises(MayflyError, match=r"congestion.*prague.*used with tcp\.ecn = l4s") as refused:
            mayfly.compare(given, ["codel"])
        assert "\n" not in str(refused.value)
        return
    record = mayfly.compare(given, ["codel"]).records.row(0, named=True)
    assert record["delivered_bytes"] > 1_000_000
    # The buffer fills in slow start, and codel marks what may be marked.
    assert (record["marks"] > 0) == (ecn != "off")


@pytest.mark.parametrize("rule", RULES)
def test_the_transport_of_linux_takes_rules_and_marks_or_refuses_in_one_line(rule):
    ecn = "l4s" if rule == "prague" else "accurate"
    fields = {"congestion": rule, "ecn": ecn, "recovery": "linux", "tick": "1ms"}
    given = scenario(rate="5mbit", own=fields).override(duration="3s")
    if rule in ("iiad", "sqrt", "bbr3"):
        with pytest.raises(
            MayflyError, match=r"congestion.*used with|congestion.*with tcp\.recovery = linux"
        ) as refused:
            mayfly.compare(given, ["codel"])
        assert "\n" not in str(refused.value)
        return
    record = mayfly.compare(given, ["codel"]).records.row(0, named=True)
    # Data that may be marked is not dropped; a model of the path leaves hardly a queue to mark.
    assert record["delivered_bytes"] > 1_500_000 and record["drops"] == 0
    assert record["marks"] > 0 or rule == "bbr"
