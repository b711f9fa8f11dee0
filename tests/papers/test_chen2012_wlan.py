"""No claim of Chen 2012, 6, 7, 9.3.1 and appendix A differs without a reason; the measures, by hand."""

import numpy as np
import polars as pl
import pytest

from mayfly.discipline_registry import parse
from mayfly.simulate.run import run_one, workload
from mayfly_papers.chen2012.wlan import appendix as chen2012_wlan_tables
from mayfly_papers.chen2012.wlan import measures as wlan_measures
from mayfly_papers.chen2012.wlan.printed_tables import COLUMNS, TABLES
from mayfly_papers.declare.data import reasons
from mayfly_papers.declare.declaration import Claim, Runs
from mayfly_papers.pages import PAGES

DIFFERENCES = reasons("mayfly_papers.chen2012.wlan")

CELL = next(item for item in PAGES if item.id == "chen-2012-wlan")


@pytest.fixture(scope="session")
def cell_runs() -> Runs:
    return Runs(CELL.experiments)


@pytest.mark.papers
@pytest.mark.parametrize("claim", CELL.claims, ids=lambda claim: claim.id)
def test_claim_stands_as_declared(claim: Claim, cell_runs: Runs) -> None:
    finding = claim.check(cell_runs)
    assert finding.expected, finding.account


def test_claims_and_experiments_have_names_of_their_own_and_every_reason_a_claim() -> None:
    for listed in (CELL.claims, CELL.experiments):
        ids = [one.id for one in listed]
        assert len(ids) == len(set(ids))
    assert set(DIFFERENCES) <= {claim.id for claim in CELL.claims}


def test_every_cell_of_the_appendix_is_declared_at_both_readings() -> None:
    claims = {claim.id: claim for claim in CELL.claims}
    for table, (mix, printed) in chen2012_wlan_tables.OF_TABLE.items():
        cells = [cell for row in TABLES[table].cells.values() for cell in row]
        assert len(cells) == 24 and all(low <= cell.value <= high for cell in cells for low, high in [cell.ci95])
        for reading in ("total", "per-direction"):
            rows = claims[f"table-{table.lower()}-{reading}"].rows
            assert sorted(row.printed.value for row in rows) == sorted(cell.value for cell in cells)
            load = chen2012_wlan_tables.load_of(table, reading)
            assert load == (printed if reading == "total" else printed * (1 + 1 / mix.downs_per_up))
            (experiment,) = [one for one in CELL.experiments if one.id == mix.experiment(load)]
            scenario = experiment.loaded()
            assert scenario.network.buffer == (mix.buffer, "packets")
            assert scenario.workload.load == pytest.approx(load * 1e6)


def test_the_distance_to_a_table_is_that_of_logarithms_and_a_parabola_finds_the_nearest_load() -> None:
    class Twice:
        """Ours are twice what is printed."""

        def values(self, experiment: str, discipline: str, measure: str) -> np.ndarray:
            return 2 * np.full(2, TABLES["A.3"].cells[discipline][COLUMNS.index(measure)].value)

    assert chen2012_wlan_tables.distance("A.3", 10)(Twice()) == pytest.approx(np.log(2))
    at = np.array([10.0, 11, 13, 15])
    assert chen2012_wlan_tables._lowest(at, (at - 12.3) ** 2 + 1) == pytest.approx(12.3)
    assert chen2012_wlan_tables._lowest(at, at) == 10


def test_measures_of_short_runs() -> None:
    five = next(one for one in CELL.experiments if one.id == "5v5-30").loaded().override(duration="2s")
    found = wlan_measures.persistent(run_one(five, parse("fifo"), workload(five)))
    assert found["total_mbps"] == pytest.approx(found["up_mbps"] + found["down_mbps"])
    assert 20 < found["total_mbps"] < 30 and found["down_cwnd"] <= 43
    assert 0 <= found["data_loss"] < 1 and 0 <= found["ack_loss"] < 1

    mixed = next(one for one in CELL.experiments if one.id == "sym-30-10").loaded().override(duration="20s")
    run = run_one(mixed, parse("fifo"), workload(mixed))
    found = wlan_measures.transfers(run)
    done = run.records.filter(pl.col("finish_s").is_not_null() & (pl.col("size_packets") <= 20))
    assert found["small_s"] == pytest.approx(done["response_time_s"].mean())
    assert found["down_short_packets"] < found["down_long_packets"]

    near = next(one for one in CELL.experiments if one.id == "topological-10").loaded().override(duration="20s")
    found = wlan_measures.by_latency(run_one(near, parse("las"), workload(near)))
    assert found["internet_small_s"] > 0.2 > found["intranet_small_s"]
