"""No claim of the page of today differs without a reason; its measures, tables and figures on short runs."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from mayfly.discipline_registry import parse
from mayfly.simulate.run import RunResult, run_one, workload
from mayfly_papers.declare import declaration
from mayfly_papers.declare.data import reasons
from mayfly_papers.declare.declaration import Claim, Experiment, Runs
from mayfly_papers.declare.exhibits import cited
from mayfly_papers.pages import PAGES
from mayfly_papers.report.page import reproduction_page
from mayfly_papers.report.reproduce import Listing, reproduce
from mayfly_papers.today import figures as today_figures
from mayfly_papers.today import measures as today_measures
from mayfly_papers.today import tables as today_tables
from mayfly_papers.today.runs import NAMES, RIVALS, SHORTER, requests

DIFFERENCES = reasons("mayfly_papers.today")

TODAY = next(item for item in PAGES if item.id == "today")
OF = {experiment.id: experiment for experiment in TODAY.experiments}


@pytest.fixture(scope="session")
def today_runs() -> Runs:
    return Runs(TODAY.experiments)


@pytest.mark.papers
@pytest.mark.parametrize("claim", TODAY.claims, ids=lambda claim: claim.id)
def test_claim_stands_as_declared(claim: Claim, today_runs: Runs) -> None:
    finding = claim.check(today_runs)
    assert finding.expected, finding.account


def ran(identity: str, discipline: str = "efd", duration: str = "20s") -> RunResult:
    experiment = OF[identity]
    scenario = replace(experiment, overrides=dict(experiment.overrides) | {"duration": duration}).loaded()
    flows = (experiment.flows or workload)(scenario, 0)
    return run_one(scenario, parse(discipline), flows)


def test_claims_and_experiments_have_names_of_their_own_and_every_reason_a_claim() -> None:
    for listed in (TODAY.claims, TODAY.experiments):
        ids = [one.id for one in listed]
        assert len(ids) == len(set(ids))
    assert set(DIFFERENCES) <= {claim.id for claim in TODAY.claims}


def test_nothing_is_printed_for_it_and_no_table_or_figure_of_a_paper_is_claimed() -> None:
    assert not [row.name for claim in TODAY.claims for row in claim.rows if row.printed]
    assert not [claim.id for claim in TODAY.claims if cited(claim.source)]
    page = next(page for page in Listing().document()["pages"] if page["id"] == "today")
    assert page["claims"] == len(TODAY.claims) > 30


def test_every_run_has_five_replications_and_the_rivals() -> None:
    for experiment in TODAY.experiments:
        assert experiment.replications >= 5, experiment.id
        assert {"fifo", "fq_codel"} <= set(experiment.disciplines), experiment.id
    for transport in ("cubic", "bbr", "ecn"):
        assert {"efd", "las", *RIVALS} <= set(OF[f"{transport}-8"].disciplines)
        assert OF[f"{transport}-8"].loaded().tcp.initial_window == 10
    assert OF["bbr-8"].loaded().tcp.congestion == "bbr" and OF["ecn-8"].loaded().tcp.ecn == "classic"


def test_response_times_by_size_and_state() -> None:
    run = ran("bbr-8")
    found = today_measures.transfers(run)
    done = run.records.filter(pl.col("finish_s").is_not_null() & (pl.col("size_packets") <= 20))["response_time_s"]
    assert found["small_s"] == pytest.approx(done.mean())
    assert found["small_p99_s"] == pytest.approx(np.percentile(done, 99))
    least, most = today_measures.EDGES[:2]
    sizes = (pl.col("size_packets") >= least) & (pl.col("size_packets") < most) & pl.col("finish_s").is_not_null()
    assert found["size_0_s"] == pytest.approx(run.records.filter(sizes)["response_time_s"].mean())
    assert "longest_stall_s" not in found and found["memory_bytes"] > 0
    assert "longest_stall_s" in today_measures.transfers(ran("cubic-8"))


def test_a_stream_alone_waits_for_nothing() -> None:
    experiment = OF["call-beside-4"]
    few = {"workload.load": 10_000, "workload.exact_load": False, "duration": "30s"}
    scenario = replace(experiment, overrides=dict(experiment.overrides) | few).loaded()
    found = today_measures.stream(run_one(scenario, parse("fifo"), workload(scenario)))
    assert found["loss"] == 0 and found["regular"] > 0.9 and found["wait_p99_s"] < 0.05
    assert scenario.workload.cbr[0].rate / (8 * scenario.workload.cbr[0].packet) == 50


def test_answers_over_kept_and_over_new_connections() -> None:
    flows = requests(OF["requests"].loaded(), 0)
    assert flows.filter(pl.col("group") == "kept").height == 10
    assert flows.equals(requests(OF["requests"].loaded(), 0))
    assert not flows.equals(requests(OF["requests"].loaded(), 1))
    found = today_measures.answers(ran("requests", duration="60s"))
    # Three flights of 24 ms at least: 12 segments do not fit into the first window.
    assert set(found) == {"kept_s", "fresh_s"} and 0.048 < found["fresh_s"] < 0.2


def test_pages_and_bulk_transfers_share_the_link() -> None:
    found = today_measures.pages(ran("pages", duration="40s"))
    assert 0 < found["http1_s"] <= found["http1_p95_s"] and 0 < found["http2_s"] <= found["http2_p95_s"]
    assert 1 < found["bulk_mbps"] < 10
    found = today_measures.bulk(ran("bulk-100", duration="40s"))
    assert found["utilisation"] > 0.95 and 0.03 < found["bulk_rtt_s"] < 0.2


def test_a_greedy_user_and_those_beside() -> None:
    found = today_measures.isolation(ran("split-1", duration="60s"))
    assert found["attacker_s"] > 4 and found["long_mbps"] + found["attacker_mbps"] < 10
    found = today_measures.isolation(ran("spaced", "fq_codel", duration="60s"))
    assert "attacker_s" not in found and found["attacker_mbps"] < 1.25 * 2.25


def test_directions_of_a_cell_are_told_apart() -> None:
    found = today_measures.mixed(ran("cell-10"))
    assert {"down_small_s", "up_small_s", "down_large_s"} <= set(found)
    found = today_measures.by_latency(ran("enterprise"))
    assert found["internet_small_s"] > found["intranet_small_s"] > 0
    queued = OF["5v5-n-airtime-fair"].loaded().network.wlan
    assert (queued.standard, queued.queues, queued.preset) == ("802.11n", "airtime-fair", None)


class Ones:
    """Every number is 1."""

    def values(self, experiment: str, discipline: str, measure: str) -> np.ndarray:
        assert discipline in OF[experiment].disciplines
        return np.ones(5)


def test_tables_hold_disciplines_that_ran() -> None:
    text = today_tables.tables(Ones())
    assert text.count("### ") >= 14 and all(f"| {name} |" in text for name in ("EFD", "FQ-CoDel", "EFDACK", "LASACK"))


def test_pictures_draw_every_discipline() -> None:
    def short(experiment: Experiment) -> Experiment:
        duration = "30s" if experiment.id == "pages" else "5s"
        return replace(experiment, overrides=dict(experiment.overrides) | {"duration": duration}, replications=1)

    drawn = {figure.key: figure for figure in today_figures.figures(Runs(map(short, TODAY.experiments)))}
    assert len(drawn) == 9
    assert {curve.kind for curve in drawn["by-size-cubic-8"].curves} >= {NAMES[d] for d in ("efd", "cake", *SHORTER)}
    assert all(len(curve.x) == len(curve.y) for figure in drawn.values() for curve in figure.curves)
    assert all(np.isfinite(curve.y).any() for figure in drawn.values() for curve in figure.curves)


def test_a_reproduction_without_tables_or_figures_tells_its_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(self, runs):
        raise ValueError("not run")

    monkeypatch.setattr(declaration.Claim, "check", nothing)
    found = reproduce(["today"], quick=True, figures=False)
    [table] = found.tables()
    assert table.row_count == len(TODAY.claims)
    page = reproduction_page(found)
    assert "Tables and figures" not in page and "short-fq-codel" in page
