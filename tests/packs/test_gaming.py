"""The pack of attacks: its cases, what it finds, and what it writes."""

import json

import polars as pl
import pytest
from browser import figures_in, own_part

import mayfly
from mayfly.errors import MayflyError
from mayfly.packs.gaming import cases, overview
from mayfly.packs.gaming_report import gaming_page, gaming_tables
from mayfly.scenario.attacks import PARTS
from mayfly.show.table import markdown
from mayfly.simulate.run import workload
from mayfly.workload.mix import offered

DISCIPLINES = ("fifo", "las", "efd")


@pytest.fixture(scope="module")
def fractions():
    return []


@pytest.fixture(scope="module")
def found(fractions):
    return mayfly.gaming(DISCIPLINES, duration="60s", seed=3, progress=fractions.append)


def ratio(found, discipline, case, group="attacker"):
    return found.table.filter(discipline=discipline, case=case, group=group)["ratio"].item()


def test_the_cases_are_those_of_the_parts_in_order():
    every = cases()
    assert list(PARTS) == list(dict.fromkeys(case.part.id for case in every))
    assert len({case.id for case in every}) == len(every)
    assert [case.id for case in cases(["split"])] == [f"split-{flows}" for flows in (1, 2, 4, 8, 16, 32, 64)]
    assert {case.scenario.duration for case in cases(duration="7s")} == {7.0}
    with pytest.raises(MayflyError, match=r"part = 'splits': must be one of spaced, split, overload"):
        cases(["splits"])
    with pytest.raises(MayflyError, match=r"gaming-spaced: duration = -1"):
        cases(duration=-1)


def test_the_attacker_sends_what_the_case_says():
    for case in cases(["spaced"]):
        flows = workload(case.scenario)
        attacker = flows.filter(group="attacker")
        percent = int(case.label.split()[0])
        assert offered(attacker, span_s=300.0)["down"]["mbps"] == pytest.approx(percent / 10, rel=1e-3)
        assert (attacker.height > 1) == case.id.endswith("renewed")
        assert attacker.select("src", "dst").n_unique() == 1
    for case in cases(["split"]):
        attacker = workload(case.scenario).filter(group="attacker")
        per_start = attacker.group_by("start_s").agg(pl.col("size_bytes").sum(), pl.len())
        assert per_start["size_bytes"].unique().to_list() == [5_000_000]
        assert per_start["len"].unique().to_list() == [int(case.label)]
        assert per_start.height == 5 and attacker.select("src", "dst").n_unique() == 1
    for case in cases(["overload"]):
        flood = workload(case.scenario).filter(group="flood")
        # On the wire, with the headers of the scenario's hosts.
        packets = {"mss": case.scenario.tcp.mss, "header_bytes": case.scenario.tcp.headers_bytes}
        mbps = offered(flood, span_s=300.0, **packets)["down"]["mbps"]
        assert mbps == pytest.approx(int(case.label.split()[0]) / 10, rel=1e-3)
        assert flood.select("src", "dst").n_unique() == 16


def test_victims_are_the_same_in_every_case_of_a_part():
    for part in ("spaced", "split"):
        lists = [workload(case.scenario).filter(pl.col("group") != "attacker") for case in cases([part])]
        kept = [flows.select("start_s", "size_bytes", "group").rows() for flows in lists]
        assert all(rows == kept[0] for rows in kept)


def test_a_spaced_sender_gets_its_rate_from_efd_and_a_fair_share_from_las(found):
    # At half the link: the fair share is a little below a quarter.
    assert ratio(found, "efd", "spaced-50") > 1.8
    assert ratio(found, "las", "spaced-50") < 1.15
    assert ratio(found, "fifo", "spaced-50") > 1.8
    lost = found.table.filter(case="spaced-50", group="attacker")
    assert lost.filter(discipline="las")["loss"].item() > 0.4 > lost.filter(discipline="efd")["loss"].item()


def test_new_ports_take_from_las_what_spacing_cannot(found):
    assert ratio(found, "las", "spaced-50-renewed") > 1.9 * ratio(found, "las", "spaced-50")


def test_a_split_gains_with_the_connections(found):
    for discipline in DISCIPLINES:
        single, many = (ratio(found, discipline, f"split-{flows}") for flows in (1, 16))
        assert many > 1.3 * single, discipline


def test_overload_starves_the_long_transfers_and_las_most(found):
    assert ratio(found, "las", "overload-110", "long") < ratio(found, "las", "overload-80", "long")
    stall = found.table.filter(group="long", case="overload-150").select("discipline", "longest_stall_s")
    assert dict(stall.iter_rows())["las"] > 20


def test_the_overview_is_the_worst_of_the_table(found):
    for row in found.overview:
        own = found.table.filter(discipline=row["label"], group="attacker")
        one_port = own.filter(pl.col("part") == "spaced", ~pl.col("case").str.contains("renewed"))
        assert row["spaced"] == one_port["ratio"].max()
        assert one_port.filter(label=row["spaced_at"])["ratio"].item() == row["spaced"]
        assert row["split"] == own.filter(part="split")["ratio"].max()
        assert row["split_gain"] == pytest.approx(row["split"] / own.filter(case="split-1")["ratio"].item())
        renewed = pl.col("case").str.contains("renewed")
        short = found.table.filter(~renewed, discipline=row["label"], group="short")
        assert row["short_p99"] == short["p99"].max() or (short["p99"].null_count() and row["short_p99"] is None)
    assert overview(found.table.filter(part="spaced"))[0]["split"] is None


def test_a_percentile_that_never_came_is_worse_than_any():
    rows = [
        {"case": f"split-{n}", "part": "split", "label": str(n), "discipline": "x", "id": "x", "family": "", "p50": 1.0,
         "group": "short", "ratio": 1.0, "with_transfers": True, "longest_stall_s": None, "p95": 2.0, "p99": p99}
        for n, p99 in ((1, 5.0), (2, None), (4, 9.0))
    ]  # fmt: skip
    row = overview(pl.DataFrame(rows, schema_overrides={"longest_stall_s": pl.Float64}))[0]
    assert (row["short_p95"], row["short_p99"], row["short_at"]) == (2.0, None, "split-2")


def test_progress_ascends_to_the_end(found, fractions):
    assert fractions == sorted(fractions)
    assert fractions[0] >= 0 and fractions[-1] == pytest.approx(1.0)


def test_the_same_seed_gives_the_same_table(found):
    again = mayfly.gaming("las", ["split"], duration="60s", seed=3).table
    same = found.table.filter(discipline="las", part="split")
    assert again.select(pl.exclude("complete")).equals(same.select(pl.exclude("complete")))


def test_files_hold_what_was_found(found, tmp_path):
    files = found.write(tmp_path / "new")
    assert pl.read_parquet(files["table"]).equals(found.table)
    document = json.loads((tmp_path / "new" / "summary.json").read_text())
    assert document == json.loads(json.dumps(found.summary | {"files": files}))
    split = next(case for case in document["cases"] if case["case"] == "split-8")["disciplines"][0]["groups"][0]
    assert split["group"] == "attacker" and split["batches"] == 1 and split["response_s"] > 0
    assert [case["case"] for case in document["cases"]] == list(dict.fromkeys(found.table["case"]))
    page = own_part((tmp_path / "new" / "report.html").read_text(encoding="utf-8"))
    assert page.count("<table>") == sum(len(grids) for grids in gaming_tables(found).values()) >= 13
    assert "http" not in page.replace("http-equiv", "").replace("^http", "")


def test_the_report_leads_with_who_resists_and_folds_the_tables_of_each_attack(found):
    page = gaming_page(found)
    head, _, rest = own_part(page).partition("<h2")
    assert f"of {len(found.overview)}" in head and 'id="plot-resists"' in head and "<table>" not in head
    assert rest.count("<details>") == len(PARTS) and rest.index("Who resists what") < rest.index("<details>")
    figures = figures_in(page)
    assert list(figures) == ["resists", *(f"{part}-{column}" for part in PARTS for column in ("ratio", "p95"))]
    for row in found.overview:
        bars = [
            trace for trace in figures["resists"]["data"] if trace["meta"] == row["label"] and "orientation" in trace
        ]
        assert bars[0]["x"] == [pytest.approx(row["spaced"], rel=1e-4)]
    drawn = figures["spaced-ratio"]["data"][0]
    own = found.table.filter(part="spaced", group="attacker", discipline=drawn["meta"])
    assert drawn["y"] == pytest.approx(own["ratio"].to_list(), rel=1e-4) and drawn["x"] == own["label"].to_list()


def test_every_part_has_its_tables_and_only_those_that_ran(found):
    assert list(gaming_tables(found)) == ["overview", *PARTS]
    only = mayfly.gaming("fifo", ["overload"], duration="5s")
    assert only.table.schema == found.table.schema
    grids = gaming_tables(only)
    assert list(grids) == ["overview", "overload"]
    assert not any("split" in head for head in grids["overview"][0].heads)
    assert "| `fifo` |" in markdown(grids["overload"][0])


def test_a_run_too_short_for_a_split_transfer_shows_none():
    found = mayfly.gaming("fifo", ["split"], duration="12s")
    assert "– (1 of 1 unfinished)" in markdown(gaming_tables(found)["split"][1])
    found = mayfly.gaming("fifo", ["split"], duration="3s")
    assert len(found.tables()) == 2
    json.dumps(found.summary, allow_nan=False)
    assert "| `fifo` | – | – |" in markdown(gaming_tables(found)["split"][0])
