"""No claim of Urvoy-Keller 2007 differs without a reason; the measures, by hand."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from test_paper_figures import assert_drawn

from mayfly.discipline_registry import parse
from mayfly.simulate.run import run_one, workload
from mayfly_papers.declare.data import reasons
from mayfly_papers.declare.declaration import Claim, Runs
from mayfly_papers.pages import PAGES
from mayfly_papers.urvoykeller2007 import figures as urvoy_keller2007_figures
from mayfly_papers.urvoykeller2007 import measures as urvoy_keller2007_measures
from mayfly_papers.urvoykeller2007 import passage, windows
from mayfly_papers.urvoykeller2007 import transfers as urvoy_keller2007

DIFFERENCES = reasons("mayfly_papers.urvoykeller2007")

REPORT = next(item for item in PAGES if item.id == "urvoy-keller-2007")


@pytest.fixture(scope="session")
def report_runs() -> Runs:
    return Runs(REPORT.experiments)


@pytest.mark.papers
@pytest.mark.parametrize("claim", REPORT.claims, ids=lambda claim: claim.id)
def test_claim_stands_as_declared(claim: Claim, report_runs: Runs) -> None:
    finding = claim.check(report_runs)
    assert finding.expected, finding.account


def test_claims_and_experiments_have_names_of_their_own_and_every_reason_a_claim() -> None:
    for listed in (REPORT.claims, REPORT.experiments):
        ids = [one.id for one in listed]
        assert len(ids) == len(set(ids))
    assert set(DIFFERENCES) <= {claim.id for claim in REPORT.claims}


def test_table_1_is_declared_and_its_laws_have_the_means_it_prints() -> None:
    (table,) = [claim for claim in REPORT.claims if claim.id == "table-1"]
    assert len(table.rows) == 42
    for law in urvoy_keller2007.LAWS:
        experiment = next(one for one in REPORT.experiments if one.id == f"{law}-3")
        flows = experiment.prepare(workload(experiment.loaded()), 0)
        packets = flows["size_bytes"].to_numpy() / 1460
        assert packets.min() == 3
        offered = packets.sum() * 1500 * 8 / 1000
        assert offered == pytest.approx(3e6, rel=0.04)
        assert packets.mean() == pytest.approx(float(law.split("-")[1]), rel=0.06)


def sums_of_the_sample(sizes: np.ndarray, down_rate: float, up_rate: float, at: float) -> float:
    """Urvoy-Keller 2007, Eq. 4 to 8, with y^i in Eq. 5, written out over a sample of service times."""
    first, second = (np.minimum(sizes, at) ** power for power in (1, 2))
    ack = 40 / 3000
    left = 1 - down_rate * first.mean() - up_rate * ack * first.mean()
    waits = (down_rate * second.mean() + up_rate * ack**2 * second.mean()) / (2 * left**2)
    return waits + at / left if left > 0 else np.inf


@pytest.mark.parametrize(("name", "discipline"), [("bp-9.67-3", "las"), ("mix-bp-6.67-5", "lasack")])
def test_the_model_beside_a_run_is_that_of_the_report(name: str, discipline: str) -> None:
    experiment = next(one for one in REPORT.experiments if one.id == name)
    scenario = experiment.loaded().override(duration="60s")
    run = run_one(scenario, parse(discipline), experiment.prepare(workload(scenario), 0))
    run = urvoy_keller2007_measures.timed(run, window=3, reading="groups")
    capacity, queue, uploads = urvoy_keller2007_measures.fitted(run)
    down = run.records.filter(pl.col("direction") == "down")
    rate, up_rate = down.height / 60, (run.records.height - down.height) / 60
    service = down["size_packets"].to_numpy() * 12_000 / capacity
    assert (queue.rho, uploads) == pytest.approx((rate * service.mean(), up_rate / rate))
    told = urvoy_keller2007_measures.with_model(run, capacity, queue, uploads)
    for row in (0, 7, int(np.argmax(service))):
        expected = sums_of_the_sample(service, rate, up_rate, service[row])
        assert told["model_s"][row] == pytest.approx(expected, rel=1e-9)


def test_who_is_starved() -> None:
    own = pl.DataFrame({"model_s": [1.0, 1.0, 1.0, np.inf, np.inf], "finish_s": [1.0, 1.0, 1.0, 2.0, None]})
    found = urvoy_keller2007_measures.starved(own.with_columns(protocol=pl.lit("tcp")))
    assert found == {"starved_share": pytest.approx(0.4), "starved_done": 0.5, "served_done": 1.0}


def test_figures_of_short_runs() -> None:
    figures = urvoy_keller2007_figures.figures(60.0)
    assert [figure.title.partition(":")[0] for figure in figures] == [
        f"Figure {number}" for number in (16, 17, 18, 21, 22)
    ]
    assert_drawn(REPORT.figures[0], figures)
    kinds = [curve.kind for curve in figures[2].curves]
    assert kinds == ["FIFO, raw", "FIFO, medfilt", "LAS, raw", "LAS, medfilt", "PS model", "LAS model"]
    assert [curve.kind for curve in figures[3].curves] == ["LASACK, raw", "LASACK, medfilt", "LASACK model"]


def test_measures_of_a_short_run() -> None:
    experiment = next(one for one in REPORT.experiments if one.id == "bp-9.67-3")
    scenario = experiment.loaded().override(duration="60s")
    run = run_one(scenario, parse("las"), experiment.prepare(workload(scenario), 0))
    found = urvoy_keller2007_measures.downloads(run, window=3, reading="groups")
    assert found["unique_mbps"] == pytest.approx(3.0, rel=0.1)
    assert 2 < found["capacity_mbps"] < 5
    assert found["smallest_s"] < found["half_s"] < found["ninety_s"]
    assert found["smallest_passage_s"] > 0
    assert found["capacity_mbps"] == found["capacity_groups_mbps"] < found["capacity_present_mbps"]
    assert 1 < found["smallest_cwnd"] < 3
    assert found["las_raw_5"] < found["las_raw_50"] < found["las_raw_95"]
    assert found["starved_share"] == 0


def traced(rows: list[tuple], records: list[tuple]) -> SimpleNamespace:
    """A run with packets (flow, number, bytes; sent, queued, received, ms) and records (flow; present, RTT, ms)."""
    packets = pl.DataFrame(
        rows, ["flow_id", "number", "wire_bytes", "sent_s", "queued_s", "received_s"], orient="row"
    ).with_columns(pl.col("sent_s", "queued_s", "received_s") / 1000)
    told = pl.DataFrame(records, ["flow_id", "presence_s", "rtt_mean_s"], orient="row")
    told = told.with_columns(pl.col("presence_s", "rtt_mean_s") / 1000)
    return SimpleNamespace(packets=packets, records=told, counters={"end_ns": 1e9})


def test_time_at_the_access_point_by_each_reading() -> None:
    rows = [
        (7, 0, 40, 0.0, 2.0, 5.0),
        (7, 1, 1500, 10.0, 13.2, 15.2),
        (7, 2, 1500, 20.0, 23.2, 25.2),
        (7, 3, 1500, 20.0, 24.4, 28.2),
    ]
    (found,) = passage.times(traced(rows, [(7, 9.0, 12.0)]), 1).to_dicts()
    own = {name: 1000 * found[name] for name in passage.READINGS}
    delays = 5 + 5.2 + 5.2 + 8.2
    assert own == pytest.approx(
        {
            "present": 9.0,
            "packets": 3 + 2 + 2 + 3.8,
            "groups": delays - 3 * 2 - 3 * 1.2,
            "group-once": delays - 3 * 2 - 2 * 1.2,
            "spans": 5 + 5.2 + 8.2 - 3 * 2 - 2 * 1.2,
            "spans-wired": 5 + 5.2 + 8.2,
        }
    )
    (three,) = passage.times(traced(rows, [(7, 9.0, 12.0)]), 3).to_dicts()
    assert 1000 * three["groups"] == pytest.approx(delays - 2 * 2 - 3 * 1.2)


def test_what_is_sent_again_has_no_part_in_the_time_at_the_access_point() -> None:
    rows = [(7, 1, 1500, 10.0, 13.2, 15.2), (7, 2, 1500, 10.0, 14.4, None), (7, 2, 1500, 500.0, 503.2, 505.2)]
    (found,) = passage.times(traced(rows, [(7, 9.0, 12.0)]), 3).to_dicts()
    assert 1000 * found["packets"] == pytest.approx(2.0)


def test_windows_are_weighted_by_time() -> None:
    # Two segments are out for 10 ms, then one for 900 ms, which waits for a timeout: the way back takes 4 ms.
    rows = [
        (7, 1, 1500, 0.0, 2.0, 6.0),
        (7, 2, 1500, 0.0, 2.0, 6.0),
        (7, 3, 1500, 10.0, 12.0, None),
        (7, 3, 1500, 900.0, 902.0, 906.0),
    ]
    (found,) = windows.outstanding(traced(rows, [(7, 9.0, 10.0)])).to_dicts()
    assert found["window_packets"] == pytest.approx((10 + 10 + 900) / 910)


def test_groups_of_slow_start_end_at_the_advertised_window() -> None:
    sizes = np.diff(passage.group_ends(2, 200), prepend=0)
    assert sizes.tolist() == [2, 3, 5, 8, 12, 18, 27, 41, 43, 43]
