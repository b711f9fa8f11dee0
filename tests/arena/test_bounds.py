"""What a clairvoyant could have, on a short board."""

import json

import numpy as np
import polars as pl
import pytest
from invocation import mayfly_here, refused_here

from mayfly.arena.arena import arena
from mayfly.arena.bounds import BoundTrial, has_bound, later, ranks
from mayfly.arena.experiments import EXPERIMENTS
from mayfly.arena.trial import Trial
from mayfly.simulate.run import named, run_one, workload


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bounds")
    return folder, arena(
        folder, "fq_codel,dqfq,passport", ["load-80", "spaced"], quick=True, seeds=2, bounds="fq_codel"
    )


def test_who_knows_the_order_in_which_fq_codel_finishes_is_sooner_and_hardly_anybody_is_later(board):
    _, found = board
    assert set(found.bounds) == {f"load-80:{name}" for name in ("short", "middling", "long")}
    for row in ("load-80:short", "load-80:middling"):
        reference, bound = found.values[row]["fq_codel"], found.bounds[row]["fq_codel"]
        assert set(bound) == set(reference) == {1, 2}
        assert all(bound[seed] < 0.9 * reference[seed] for seed in bound), row
    assert 0 <= found.later["fq_codel"] < 0.2
    # It is beside the board, and in no place of it.
    assert found.disciplines == ["fq_codel", "dqfq", "passport"]
    assert all(set(places) == set(found.disciplines) for places in found.board.values())


def test_the_bound_is_the_same_for_whom_the_board_asks_and_does_not_run_again(board):
    folder, found = board
    again = arena(folder, "fq_codel", ["load-80"], quick=True, seeds=2, bounds=["fq_codel"])
    assert again.ran == 0 and again.bounds == found.bounds and again.later == found.later
    assert BoundTrial("load-80", "fq_codel", 1, True).key != Trial("load-80", "fq_codel", 1, True).key


def test_rivals_are_what_their_pages_say_on_a_board(board):
    _, found = board
    mean = {row: {label: place.mean for label, place in places.items()} for row, places in found.board.items()}
    assert mean["load-80:short"]["dqfq"] < 0.8 * mean["load-80:short"]["fq_codel"]
    assert mean["spaced:attacker"]["dqfq"] < 1.1 and mean["spaced:attacker"]["passport"] < 1.3


def test_report_page_and_document_have_the_table_and_the_share_of_those_that_are_later(board, tmp_path):
    folder, found = board
    given = ("load-80", "-d", "fq_codel", "--quick", "--seeds", "2", "--bounds", "fq_codel")
    ended = mayfly_here("arena", *given, "--out", folder, "--page", tmp_path / "page.md", "--quiet")
    assert ended.status == 0, ended.err
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "--bounds fq_codel --page" in page
    table = page.partition("## What a clairvoyant could have")[2].partition("\n## ")[0]
    assert "pri(fq_codel)" in table and table.count("\n| ") == 1 + 3
    assert "What a clairvoyant could have" in (folder / "report.html").read_text(encoding="utf-8")
    document = json.loads((folder / "arena.json").read_text(encoding="utf-8"))
    assert document["later"]["fq_codel"] == found.later["fq_codel"]
    assert set(document["bounds"]["load-80:short"]["fq_codel"]) == {"1", "2"}


def test_ranked_serves_in_the_order_that_it_is_given():
    trial = Trial("load-104", "fifo", 1, quick=True)
    scenario, flows = trial.loaded(), workload(trial.loaded())
    by_size = {}
    for name, descending in (("small", False), ("large", True)):
        order = flows["size_bytes"].rank("ordinal", descending=descending)
        result = run_one(scenario, named(["ranked"])[0], flows.with_columns(mark=order.cast(pl.Int64)))
        own = result.records.filter(pl.col("size_packets") <= 20)["slowdown"]
        by_size[name] = float(np.median(own.fill_null(1000.0)))
    assert by_size["small"] < 1.2 < 3 < by_size["large"]


def test_only_experiments_that_draw_transfers_have_a_bound():
    bounded = {one.id for one in EXPERIMENTS if has_bound(one.id)}
    assert {"load-50", "rtt-600", "enterprise"} <= bounded and not {"pages", "split", "cell-30", "call"} & bounded


def test_places_and_shares():
    assert ranks(pl.DataFrame({"finish_s": [2.0, 1.0, None, 1.0]})).tolist() == [3, 1, 4, 2]
    times = [pl.DataFrame({"response_time_s": own}, schema={"response_time_s": pl.Float64}) for own in ([], [])]
    assert later(*times) == 0.0


def test_refusals(tmp_path):
    assert "nonsense" in refused_here("arena", "load-80", "--bounds", "nonsense", "--out", tmp_path / "a")
    given = ("--sensitivity", "codel", "--bounds", "fq_codel", "--out", tmp_path / "a")
    assert "must stand without bounds" in refused_here("arena", *given)
    assert not (tmp_path / "a").exists()
