"""Who waits longest in a replayed capture, and the course of the link."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import mayfly
from mayfly.comparison.comparison import Comparison
from mayfly.metrics.users import transfers_of
from mayfly.workload.connections import connections

OFFICE = "captures/office.pcap.gz"
RATE_BPS = 10e6


@pytest.fixture(scope="module")
def office() -> Comparison:
    """The office capture under two disciplines."""
    options: dict[str, Any] = {"internal": "10.10.0.0/24", "disciplines": "fifo,fq_codel", "replications": 1}
    return mayfly.whatif(OFFICE, "10mbit", 300, **options)


def above_s(one: Any) -> float:
    """Time under the baseline less the time alone, s."""
    return float(one["before_s"] - one["idle_s"])


def test_the_ten_are_exchanges_of_the_capture_with_their_times_in_both_runs(office: Comparison) -> None:
    found = office.summary["worst"]
    assert (found["before"], found["after"], len(found["exchanges"])) == ("fifo", "fq_codel", 10)
    frame, _ = connections(OFFICE)
    tcp = frame.filter(protocol="tcp")
    names = ("opener", "opener_port", "responder", "responder_port")
    ends = set(tcp.select(names).iter_rows())
    transfers = transfers_of(office.records, office.trains)
    keys = ("size_bytes", "direction")
    for one in found["exchanges"]:
        assert (one["client"], one["client_port"], one["server"], one["server_port"]) in ends
        # Of the run of each discipline it is one of the exchanges that have its size, direction and time.
        for label, key in (("fifo", "before_s"), ("fq_codel", "after_s")):
            same = transfers.filter(discipline=label, **{name: one[name] for name in keys})
            assert same.filter((pl.col("response_time_s") - one[key]).abs() < 1e-6).height, (label, one)
        # No exchange is faster alone than the link, and none is slower alone.
        assert 8 * one["size_bytes"] / RATE_BPS <= one["idle_s"] <= one["before_s"] + 1e-9


def test_no_other_exchange_is_delayed_more(office: Comparison) -> None:
    found = office.summary["worst"]["exchanges"]
    delays = [above_s(one) for one in found]
    assert delays == sorted(delays, reverse=True)
    transfers = transfers_of(office.records, office.trains).filter(discipline="fifo")
    assert transfers["response_time_s"].null_count() == 0
    listed = {(one["size_bytes"], round(one["start_s"], 6)) for one in found}
    # Alone no exchange takes less than the round trip of the wire and its bytes.
    others = transfers.filter(
        pl.struct("size_bytes", pl.col("start_s").round(6)).map_elements(
            lambda one: (one["size_bytes"], one["start_s"]) not in listed, return_dtype=pl.Boolean
        )
    )
    assert others.height == transfers.height - 10
    # A bound from below of the time alone decides for most of them.
    surely = others.filter(pl.col("response_time_s") - 8 * pl.col("size_bytes") / RATE_BPS < delays[-1])
    assert surely.height > 0.98 * others.height


def test_the_course_of_the_link_adds_up_to_what_it_sent(office: Comparison) -> None:
    courses = office.summary["over_time"]
    assert [one["label"] for one in courses] == ["fifo", "fq_codel"]
    for one, row in zip(courses, office.summary["disciplines"], strict=True):
        course = one["course"]
        assert course["bin_s"] == 1.0 and len(course["down_mbps"]) == len(course["ping_ms"]) == 75
        assert all(0 <= rate <= 10 + 1e-9 for rate in course["down_mbps"])
        mean_ms = row["users"]["ping"]["mean_all_ms"]
        pings = [ping for ping in course["ping_ms"] if ping is not None]
        assert sum(pings) / len(pings) == pytest.approx(mean_ms, rel=0.02)
    fifo, fair = (one["course"] for one in courses)
    assert max(x for x in fifo["queue_ms"] if x is not None) > 3 * max(x for x in fair["queue_ms"] if x is not None) / 2


def test_the_report_has_the_table_and_the_plot(office: Comparison, tmp_path: Path) -> None:
    office.write(tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    first = office.summary["worst"]["exchanges"][0]
    assert "Who waits longest" in page and f"{first['client']}:{first['client_port']}" in page
    assert "Load, ping and queue over time" in page


def test_one_discipline_has_nobody_to_compare_with() -> None:
    found = mayfly.whatif(OFFICE, "10mbit", 300, disciplines="fifo", replications=1, filter="port 80")
    assert "worst" not in found.summary and "over_time" not in found.summary
