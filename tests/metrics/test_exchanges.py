"""Exchanges: a request and its answer, as users wait for them, whatever is thought between."""

from importlib import import_module
from pathlib import Path

import polars as pl
import pytest

import mayfly
from mayfly.metrics import users
from mayfly.metrics.trains import exchange_records, object_loads, train_times
from mayfly.metrics.users import percentile, transfers_of
from mayfly.workload import lists
from mayfly.workload.lists import in_text

OFFICE = Path(__file__).parents[2] / "captures" / "office.pcap.gz"


def figures(*scripts, opened_by=None, **overrides):
    """What users feel of connections with these scripts, which begin 10 s apart on an idle link."""
    flows = pl.DataFrame(
        {
            "start_s": [10.0 * number for number in range(len(scripts))],
            "script": scripts,
        }
    ).with_columns(opened_by=pl.lit(opened_by, pl.String))
    scenario = mayfly.load_scenario(
        "wired", {"network.rate": "10mbit", "network.delay": "20ms", "duration": "90s"} | overrides
    )
    return mayfly.compare(scenario, "fifo", flows).summary["disciplines"][0]["users"]


def all_of(users):
    return {(row["from_kb"], way): row for way in ("down", "up") for row in users["transfers"][way] if row["flows"]}


def test_a_request_and_its_answer_are_one():
    """Before: two transfers, the request among them as the faster half of all that is short."""
    users = figures("up 300 | down 50000")
    assert users["short"]["flows"] == 1
    # The request is no transfer of the other direction.
    (((bin, way), row),) = all_of(users).items()
    assert (bin, way, row["flows"]) == (10, "down", 1)
    # Set-up, request and the first byte of the answer take two round trips, 50 kB more than one.
    assert row["p50_s"] > 2 * 0.04


@pytest.mark.parametrize(
    "script", ["up 300 | down 20000", "up 300 | down 20000 | up 300 | down 20000", "up 5000 | down 200"]
)
def test_think_times_are_in_no_response_time(script):
    """Neither those of the server before its answer nor those of the user before a request."""
    steps = script.split(" | ")
    slow = " | ".join(f"wait 3s | {step}" for step in steps)
    fast, thoughtful = (figures(one)["short"] for one in (script, slow))
    assert fast["flows"] == thoughtful["flows"] == len(steps) // 2
    for name in ("p50_s", "p95_s"):
        # An idle sender's window may be smaller after 3 s: what is thought itself would be 3 s and more.
        assert thoughtful[name] == pytest.approx(fast[name], abs=0.2)


def test_only_the_first_has_the_handshake():
    one, two = (
        figures(script)["short"] for script in ("up 300 | down 1000", "up 300 | down 1000 | up 300 | down 1000")
    )
    assert (one["flows"], two["flows"]) == (1, 2)
    # Of two the median is the faster one, without a round trip of 44 ms and more.
    assert one["p50_s"] - two["p50_s"] == pytest.approx(two["p95_s"] - two["p50_s"], abs=1e-6)
    assert two["p95_s"] - two["p50_s"] > 0.04


def test_an_upload_is_one_of_its_own_direction():
    down, up = figures("up 300 | down 400000"), figures("up 400000 | down 300")
    assert list(all_of(down)) == [(100, "down")] and list(all_of(up)) == [(100, "up")]


def test_a_second_train_in_a_row_stands_alone():
    assert figures("up 300 | down 3000 | wait 1s | down 4000")["short"]["flows"] == 2
    assert figures("up 300 | wait 1s | up 300 | down 3000")["short"]["flows"] == 2


def test_what_a_server_says_first_stands_alone():
    """Before, a greeting was the request of the first command, a reply that of the next."""
    greeted = figures("down 60 | wait 1s | up 30", opened_by="receiver")["short"]
    assert (greeted["flows"], greeted["unfinished"]) == (2, 0)
    mail = "down 60 | wait 1s | up 30 | down 40 | wait 2s | up 30"
    users = figures(f"{mail} | down 2000000", opened_by="receiver")
    assert (users["short"]["flows"], users["long"]["flows"]) == (2, 1)
    # What the server thinks is in no response time, so that the request belongs to the 2 MB that it brings.
    slow = figures(f"{mail} | wait 3s | down 2000000", opened_by="receiver")["long"]
    assert slow["p50_s"] == pytest.approx(users["long"]["p50_s"], abs=0.2)
    # The request is half a round trip under way before the first byte leaves.
    alone = figures(f"{mail} | down 30 | down 2000000", opened_by="receiver")["long"]
    assert users["long"]["p50_s"] > alone["p50_s"] + 0.015


def test_an_answer_that_does_not_come_is_unfinished():
    users = figures("up 300 | wait 100s | down 3000")
    assert (users["short"]["flows"], users["short"]["unfinished"], users["short"]["p50_s"]) == (1, 1, None)


def test_the_sentence_of_whatif_is_about_exchanges(monkeypatch):
    """Before, the median transfer of the answer was a train: 1,729 short ones in place of 884."""
    judged = []
    monkeypatch.setattr(
        import_module("mayfly.comparison.whatif"), "answer", lambda records: judged.append(records) or []
    )
    given = {"internal": "10.10.0.0/24", "disciplines": "fifo,fq_codel", "replications": 1}
    found = mayfly.whatif(OFFICE, "10mbit", 300, overrides={"duration": "60s"}, **given).summary
    for row in found["disciplines"]:
        own = judged[0].filter(discipline=row["label"], protocol="tcp").filter(pl.col("size_bytes") <= 100_000)
        times = own["response_time_s"].fill_null(float("inf")).sort().to_numpy()
        short = row["users"]["short"]
        assert len(times) == short["flows"] < row["trains"]["count"]
        assert percentile(times, 0.5) == pytest.approx(short["p50_s"], abs=1e-9)
        assert percentile(times, 0.95) == pytest.approx(short["p95_s"], abs=1e-9)


def test_an_exchange_has_the_same_number_in_every_run():
    """Also where one run did not come to it; what came to none is left out."""
    script = "up 300 | down 2000000 | up 300 | down 30000 | wait 60s | up 300 | down 40000"
    flows = pl.DataFrame({"start_s": [0.0, 0.1], "script": ["up 300 | down 1000", script], "size_bytes": None})
    flows = flows.with_columns(pl.col("size_bytes").cast(pl.Int64))
    scenario = mayfly.load_scenario("wired", {"network.rate": "10mbit", "duration": "30s"})
    fast = mayfly.compare(scenario, "fifo", flows)
    slow = mayfly.compare(scenario.override(duration="1s"), "pie", flows)
    tables = [pl.concat([getattr(one, name) for one in (fast, slow)], how="diagonal") for name in ("records", "trains")]
    rows = exchange_records(*tables)
    by_run = {label: own.select("flow_id", "size_bytes").rows() for (label,), own in rows.group_by("discipline")}
    assert by_run["fifo"] == by_run["pie"] == [(0, 1000), (1, 2_000_000), (2, 30_000)]
    assert rows.filter(discipline="pie")["response_time_s"].is_null().to_list() == [False, True, True]


def test_transfers_are_the_same_however_many_flows_are_taken_apart_at_once(monkeypatch):
    given = {"internal": "10.10.0.0/24", "disciplines": "fifo,fq_codel", "replications": 1}
    found = mayfly.whatif(OFFICE, "10mbit", 300, overrides={"duration": "60s"}, **given)
    whole = [transfers_of(found.records, found.trains, every=every) for every in (False, True)]
    text, judged = in_text(found.records), exchange_records(found.records, found.trains)
    assert whole[0].height > 500
    for module in (users, lists):
        monkeypatch.setattr(module, "_AT_ONCE", 7)
    parts = [transfers_of(found.records, found.trains, every=every) for every in (False, True)]
    assert all(one.equals(other) for one, other in zip(parts, whole, strict=True))
    assert in_text(found.records).equals(text)
    assert exchange_records(found.records, found.trains).equals(judged)


def test_times_of_trains_have_those_that_never_began():
    """A train that came up under one discipline alone is an unfinished one under the other."""
    script = "up 300 | down 2000000 | up 300 | down 30000"
    flows = pl.DataFrame({"start_s": [0.0, 0.1], "script": ["up 300 | down 1000", script], "size_bytes": None})
    flows = flows.with_columns(pl.col("size_bytes").cast(pl.Int64))
    scenario = mayfly.load_scenario("wired", {"network.rate": "10mbit", "duration": "30s"})
    fast = mayfly.compare(scenario, "fifo", flows)
    slow = mayfly.compare(scenario.override(duration="1s"), "pie", flows)
    tables = [pl.concat([getattr(one, name) for one in (fast, slow)], how="diagonal") for name in ("records", "trains")]
    times = train_times(*tables)
    assert {label: (len(own), own.null_count()) for label, own in times.items()} == {"fifo": (6, 0), "pie": (6, 3)}
    began = slow.trains.sort("flow_id", "train")
    assert times["pie"].drop_nulls().to_list() == (began["end_s"] - began["start_s"]).drop_nulls().to_list()


def test_objects_are_answers_of_the_end_that_did_not_open_the_connection() -> None:
    # The server greets before the client asks.
    records = pl.DataFrame(
        {"flow_id": [3], "stage": [1], "start_s": [1.0], "direction": "down", "opened_by": "receiver"}
    )
    trains = pl.DataFrame(
        {
            "flow_id": [3] * 3,
            "train": [0, 1, 2],
            "part": pl.Series([None] * 3, dtype=pl.Int64),
            "direction": ["down", "up", "down"],
            "end_s": [1.5, 1.75, 3.0],
        }
    )
    assert object_loads(records, trains)["load_s"].to_list() == [0.5, 2.0]
    by_sender = records.with_columns(opened_by=pl.lit("sender"))
    assert object_loads(by_sender, trains)["load_s"].to_list() == [0.75]
