"""No claim of Rai 2003 differs without a reason, and no reason is contradicted; the measures, by hand."""

import polars as pl
import pytest

from mayfly.simulate.run import workload
from mayfly_papers.declare.data import reasons
from mayfly_papers.declare.declaration import Claim, Runs
from mayfly_papers.pages import PAGES
from mayfly_papers.rai2003 import claims as rai2003
from mayfly_papers.rai2003 import measures as rai2003_measures

DIFFERENCES = reasons("mayfly_papers.rai2003")

REPORT = next(item for item in PAGES if item.id == "rai-2003")


@pytest.fixture(scope="session")
def report_runs() -> Runs:
    return Runs(REPORT.experiments)


@pytest.mark.papers
@pytest.mark.parametrize("claim", REPORT.claims, ids=lambda claim: claim.id)
def test_claim_stands_as_declared(claim: Claim, report_runs: Runs) -> None:
    finding = claim.check(report_runs)
    assert finding.expected, finding.account


def test_claims_have_names_of_their_own_and_every_reason_a_claim() -> None:
    ids = [claim.id for claim in REPORT.claims]
    assert len(ids) == len(set(ids))
    assert set(DIFFERENCES) <= set(ids)


def test_every_number_of_the_text_is_declared() -> None:
    printed = [row.printed.value for claim in REPORT.claims for row in claim.rows if row.printed]
    assert {0.033, 0.039, 0.18, 0.30, 0.08, 0.70, 0.04, 0.00015, 0.98, 1.0, 0.0118, 0.0005, 2.5, 2.0, 0.5} <= set(
        printed
    )
    assert 12212 / 6763 in printed and 11 / 6763 in printed


def test_the_web_is_that_of_table_1_and_counts_from_2000_s() -> None:
    for experiment in REPORT.experiments:
        scenario = experiment.loaded()
        assert scenario.network.buffer == (60, "packets")
        assert (scenario.tcp.mss + scenario.tcp.header, scenario.tcp.recovery) == (1040, "reno")
        (web,) = scenario.workload.web
        assert (web.pages, web.objects, web.page_gap, web.object_gap, web.mean, web.shape) == (60, 3, 5, 0.5, 12, 1.2)
        assert scenario.warm_up == rai2003_measures.WARM_UP_S
    assert {web["session_gap"] for web in rai2003.LOADS.values()} == {"11s", "8s", "6s"}


def listed(**fields) -> pl.DataFrame:
    experiment = next(item for item in REPORT.experiments if item.id == "ftp-varied")
    return workload(experiment.loaded().override(**fields)).head(5000)


def test_varied_delays_belong_to_pairs_of_server_and_client() -> None:
    flows = listed()
    varied = rai2003.varied_delays(flows, 0)
    assert varied.drop("rtt_s").equals(flows.drop("rtt_s"))
    web = varied.filter(pl.col("group").fill_null("web") == "web")
    assert web["rtt_s"].is_between(0.1, 0.8).all()
    up = pl.col("direction") == "up"
    pairs = web.select("rtt_s", s=pl.when(up).then("dst").otherwise("src"), c=pl.when(up).then("src").otherwise("dst"))
    # A request takes the path of its answer; five servers, five clients.
    assert pairs.group_by("s", "c").agg(pl.col("rtt_s").n_unique())["rtt_s"].to_list() == [1] * 25
    assert web["rtt_s"].n_unique() == 25
    assert not rai2003.varied_delays(flows, 1)["rtt_s"].equals(varied["rtt_s"])
    assert rai2003.varied_delays(flows, 0).equals(varied)


def test_a_far_source_is_that_of_the_ftp_flow_only() -> None:
    flows = listed().with_columns(group=pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("ftp")).otherwise("group"))
    far = rai2003.far_source(flows, 0)
    assert far["rtt_s"].drop_nulls().to_list() == [pytest.approx(2.09)]
    assert far["rtt_s"].is_not_null().arg_true().to_list() == [7]


def test_times_and_losses_of_a_few_flows() -> None:
    flows = pl.DataFrame(
        {
            "protocol": "tcp",
            "size_packets": [1, 1, 36, 200],
            "transmission_s": [1.0, 3.0, 5.0, 60.0],
            "packets_sent": [2, 3, 40, 205],
            "drops": [0, 1, 0, 9],
        }
    )
    times = rai2003_measures.times(flows)
    assert (times["short_s"], times["page_s"], times["large_s"]) == (2.0, 5.0, 60.0)
    losses = rai2003_measures.losses(flows)
    assert (losses["loss"], losses["lossy"], losses["lossy_one"]) == (10 / 250, 2.0, 1.0)
    assert (losses["lossy_below_2"], losses["lossy_below_10"]) == (0.5, 0.5)
    assert (losses["one_with_loss"], losses["large_loss"], losses["few_loss"]) == (0.5, 9 / 205, 1 / 5)
    sizes = rai2003_measures.sizes(flows)
    assert (sizes["below_10"], sizes["above_100"]) == (0.5, 0.25)
