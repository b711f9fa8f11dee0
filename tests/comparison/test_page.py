"""The report page, without a browser."""

import json
import os
import re

import polars as pl
import pytest
from browser import figures_in, own_part
from synthetic import FAMILIES, FAMILY, LAWS, flow_records, sample_rows, summary_of

from mayfly.comparison.figures.response import confidence_bands, unfinished_sizes
from mayfly.comparison.page import page_text, write_report
from mayfly.show.page import embedded_json
from mayfly.show.palette import styles

RECORDS = flow_records(flows=1500)
SAMPLES = sample_rows(RECORDS)
SUMMARY = summary_of(RECORDS)


EVERY = list(FAMILY)
MANY_RECORDS = flow_records(EVERY, flows=600)
MANY_SUMMARY = summary_of(MANY_RECORDS)
MANY = page_text(MANY_SUMMARY, MANY_RECORDS, sample_rows(MANY_RECORDS))


KEYS = {
    "felt",
    "mean-by-size",
    "mean-by-percentile",
    "confidence",
    "cdf",
    "unfinished",
    "loss",
    "active",
    "queue",
    "flow-table",
    "progress",
}


def test_every_plot_has_a_place_a_title_and_a_source():
    text = page_text(SUMMARY, RECORDS, SAMPLES)
    keys = set(figures_in(text))
    assert keys == KEYS
    assert set(re.findall(r'id="plot-([a-z-]+)"', text)) == keys
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", text, re.S)
    assert len(captions) == len(keys)
    assert all("Chen 2012" in caption or "Rai 2003" in caption for caption in captions[1:])


def test_axes_have_titles_and_disciplines_one_colour():
    figures = figures_in(page_text(SUMMARY, RECORDS, SAMPLES))
    for figure in (figure for figure in figures.values() if "grid" not in figure):
        axes = [value for name, value in figure["layout"].items() if re.match("[xy]axis", name)]
        assert all(axis["title"]["text"] for axis in axes)
        assert all(trace.get("meta") in (*list(LAWS)[:4], None) for trace in figure["data"])
    colours = {label: style.colour for label, style in styles(list(LAWS)[:4]).items()}
    for key in ("mean-by-size", "mean-by-percentile", "cdf", "unfinished", "flow-table"):
        assert [trace["line"]["color"] for trace in figures[key]["data"]] == list(colours.values())


def test_the_page_loads_nothing_and_forbids_it():
    own = own_part(page_text(SUMMARY, RECORDS, SAMPLES))
    assert not re.search(r"https?:|\bsrc=|\bhref=\"(?!#)|@import|url\(", own)
    assert "default-src 'none'" in own
    assert len(own) < 1_000_000


@pytest.mark.parametrize(
    "hostile", ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a & \"b\" 'c'"]
)
def test_strings_of_strangers_stay_text(hostile):
    records = RECORDS.filter(pl.col("discipline").is_in(["fifo", "efd"])).with_columns(
        pl.col("discipline").replace("efd", hostile)
    )
    summary = summary_of(
        records, scenario={"name": hostile, "network": {"rate": hostile, "buffer": hostile}}, answer=[hostile]
    )
    text = page_text(summary, records, sample_rows(records))
    assert own_part(text).count("</script>") == 3
    assert "<img src=x" not in text
    assert "<script>alert" not in text
    assert hostile == json.loads(embedded_json(hostile))
    assert any(trace["legendgroup"] == trace["meta"] == hostile for trace in figures_in(text)["cdf"]["data"])


@pytest.mark.parametrize(("buffer", "shown"), [([300, "packets"], "300 packets"), ([450_000, "bytes"], "450 kB")])
def test_the_head_says_what_ran(buffer, shown):
    scenario = {"name": "wired", "title": "Chen 2012, ch. 4", "network": {"rate": 10_000_000, "buffer": buffer}}
    text = own_part(page_text(SUMMARY | {"scenario": scenario}, RECORDS))
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", text))
    assert facts["buffer"] == shown
    assert facts["link rate"] == "10.0 Mbit/s"
    assert (facts["transfers"], facts["seed"]) == ("1,500", "1")
    assert '<p class="soft">Chen 2012, ch. 4</p>' in text


def test_json_refuses_what_json_cannot_say():
    with pytest.raises(ValueError, match="JSON compliant"):
        embedded_json([float("nan")])


def test_a_run_without_samples_or_completed_flows_still_has_a_page():
    assert set(figures_in(page_text(SUMMARY, RECORDS))).isdisjoint({"queue", "flow-table", "progress"})
    nothing = RECORDS.with_columns(pl.lit(None, dtype=pl.Float64).alias("finish_s"))
    assert set(figures_in(page_text(summary_of(nothing), nothing))) == {"unfinished", "loss"}
    udp = RECORDS.with_columns(pl.lit("udp").alias("protocol"))
    assert set(figures_in(page_text(summary_of(udp), udp))) == {"active"}


def test_the_confidence_plot_is_the_thesis_rule():
    figure = confidence_bands(RECORDS, styles(["fifo"]), 1460)
    band, mean = figure.data
    assert band["x"] == mean["x"] + mean["x"][::-1]
    assert all(low < middle < high for (low, high), middle in zip(mean["customdata"], mean["y"], strict=True))
    assert "at least 200 transfers" in figure.caption


def test_unfinished_transfers_that_delivered_nothing_are_on_the_axis():
    records = RECORDS.with_columns(pl.lit(None, dtype=pl.Float64).alias("finish_s"), pl.lit(0).alias("delivered_bytes"))
    [trace] = unfinished_sizes(records, styles(["fifo"]), 1000).data
    assert (trace["x"], trace["y"]) == ([0.5, 0.5], [0.0, 1.0])


def test_the_file_is_replaced_at_once(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("before")
    monkeypatch.setattr(os, "replace", lambda *names: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_report(path, SUMMARY, RECORDS, SAMPLES)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    assert write_report(path, SUMMARY, RECORDS, SAMPLES) == path
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_report(tmp_path / "none" / "report.html", SUMMARY, RECORDS)


@pytest.mark.slow
def test_the_page_does_not_grow_with_the_flows():
    labels = list(LAWS)[:10]
    small, large = (flow_records(labels, flows=flows) for flows in (20_000, 200_000))
    sizes = [
        len(page_text(summary_of(records, answer=[]), records, sample_rows(records, period_s=0.02)).encode())
        for records in (small, large)
    ]
    assert sizes[1] < 8_000_000
    assert sizes[1] - sizes[0] < 400_000


def rows_in(text):
    """Rows of the table: label to its HTML."""
    return dict(re.findall(r'<tr data-discipline="(.*?)"(.*?)</tr>', text, re.S))


def test_few_disciplines_are_all_drawn_in_the_order_written():
    text = own_part(page_text(SUMMARY, RECORDS, SAMPLES))
    rows = rows_in(text)
    assert list(rows) == list(LAWS)[:4] and all(" checked " in row for row in rows.values())
    assert 'class="tools"' not in text and 'class="family"' not in text
    for figure in figures_in(text).values():
        assert all(trace.get("visible", True) is True for trace in figure["data"])


def test_of_many_the_baseline_and_the_best_of_each_family_are_drawn():
    rows = rows_in(MANY)
    shown = [label for label, row in rows.items() if " checked " in row]
    found = {row["label"]: row["short"]["mean_s"] for row in MANY_SUMMARY["disciplines"]}
    assert list(rows) == EVERY, "the synthetic registry is in order"
    best = [min(FAMILIES[family], key=found.get) for family in list(FAMILIES)[1:]]
    next_best = min((name for name in EVERY if name not in ("fifo", *best)), key=found.get)
    assert sorted(shown) == sorted(["fifo", *best, next_best]) and shown[0] == "fifo"
    for figure in figures_in(MANY).values():
        hidden = False if "panels" in figure or "grid" in figure else "legendonly"
        for trace in figure["data"]:
            assert trace.get("visible", True) == (True if trace.get("meta") in (*shown, None) else hidden)
    assert re.findall(r'class="family" data-family="(.*?)"', MANY) == list(FAMILIES)


def test_the_legend_of_many_is_grouped_by_family():
    figure = figures_in(MANY)["mean-by-size"]
    groups = [(trace["meta"], trace["legendgroup"], trace["legendgrouptitle"]["text"]) for trace in figure["data"]]
    assert groups == [(name, FAMILY[name], FAMILY[name]) for name in EVERY]
    assert figure["layout"]["height"] > 19 * len(EVERY) > 460, "room for every name"


def test_panels_take_the_room_of_those_that_are_shown():
    queue = figures_in(MANY)["queue"]
    assert queue["panels"]["labels"] == EVERY and queue["layout"]["height"] < 1000
    keys = [trace for trace in queue["data"] if "meta" not in trace]
    assert {trace["name"] for trace in keys} == {"one queue", "high priority", "low priority"}
    assert all(trace["showlegend"] is False for trace in queue["data"] if "meta" in trace)


def test_many_disciplines_have_fewer_points_and_the_page_says_so():
    few, many = (figures_in(text) for text in (page_text(SUMMARY, RECORDS, SAMPLES), MANY))
    for key, words in (
        ("cdf", "At most 90 points each"),
        ("queue", "at most 230 of them"),
        ("flow-table", "60 points"),
    ):
        caption = re.search(rf'id="plot-{key}".*?<figcaption>(.*?)</figcaption>', MANY, re.S)[1]
        assert words in caption
        most = max(len(trace["x"]) for trace in many[key]["data"])
        assert most <= int(re.search(r"\d+", words)[0])
        assert most < max(len(trace["x"]) for trace in few[key]["data"])


def test_cells_sort_by_what_they_show():
    row = rows_in(MANY)["las"]
    found = next(row for row in MANY_SUMMARY["disciplines"] if row["label"] == "las")
    values = [float(value) for value in re.findall(r'data-value="(.*?)"', row)]
    assert values[:2] == pytest.approx([found["short"]["mean_s"], found["long"]["mean_s"]], rel=1e-8)
    assert values[-3:] == pytest.approx([84.7, 2.0, 6416])
    assert "6.27 KiB" in row and "2.00 / 31" in row
    # A mean that is not there has no value to sort by.
    nothing = RECORDS.with_columns(pl.lit(None, dtype=pl.Float64).alias("finish_s"))
    assert "<td><b>–</b></td>" in page_text(summary_of(nothing), nothing)


def test_marks_have_a_column_when_there_are_any():
    assert ">marks<" not in own_part(MANY)
    summary = summary_of(RECORDS, answer=[])
    summary["disciplines"][1]["marks"] = 1203
    text = own_part(page_text(summary, RECORDS))
    assert ">marks<" in text and "1,203" in rows_in(text)["las"]


def test_sentences_about_the_others_wait_behind_a_fold():
    head, _, rest = re.search(r'<div class="answer">(.*?)</div>', MANY, re.S)[1].partition("<details>")
    assert head.count("<p ") == 1 and rest.count("<p ") == len(EVERY) - 2
    assert "<details><summary>The other" not in page_text(summary_of(flow_records(["fifo", "las"], flows=300)), RECORDS)


def test_a_summary_from_before_families_and_memory_still_has_a_page():
    records = flow_records(EVERY[:9], flows=300)
    summary = summary_of(records, answer=[])
    for row in summary["disciplines"]:
        del row["family"], row["marks"], row["flow_table"]["bytes"]
    text = page_text(summary, records, sample_rows(records))
    assert list(rows_in(text)) == EVERY[:9]


@pytest.mark.slow
def test_thirty_disciplines_stay_small():
    records = flow_records([*EVERY, *(f"efd(threshold={at})" for at in range(4))], flows=20_000)
    text = own_part(page_text(summary_of(records, answer=[]), records, sample_rows(records, period_s=0.02)))
    assert len(text.encode()) < 1_200_000
