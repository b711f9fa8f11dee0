"""Models in the report of a comparison: curves, table, errors."""

import re

import pytest
from browser import Visit, figures_in, in_browser
from sections import section_text
from synthetic import flow_records, sample_rows, summary_of

from mayfly.comparison.page import page_text, write_report
from mayfly.comparison.sections import models
from mayfly.comparison.sections.models import error_text

RECORDS = flow_records(["fifo", "las", "efd"], flows=1500)
PLAIN = summary_of(RECORDS)


def model(policy, mean_s):
    means = {"flows": 10, "simulated_s": 0.5, "ci95_s": 0.1, "model_s": mean_s, "error": mean_s and mean_s / 0.5 - 1}
    sizes = {"size_packets_low": 4, "size_packets_high": 9, "flows": 40, "simulated_mean_s": 0.5, "ci95_s": 0.1}
    return {
        "policy": policy,
        "title": "title <b>",
        "source": "Chen 2012, Eq. 5.3",
        "mean_s": mean_s,
        "simulated_mean_s": 0.5,
        "short": means,
        "long": means | {"model_s": None, "error": None},
        "error_median": means["error"],
        "error_p90": means["error"],
        "by_size": [sizes | {"model_mean_s": mean_s, "error": means["error"]}],
        "curve": {"size_packets": [4, 40, 400], "mean_s": [0.1, 0.2, 0.4]},
    }


QUEUE = {
    "with_path": False,
    "rho": 0.8,
    "flows": 1500,
    "mean_bytes": 60080.0,
    "cov": 6.0,
    "direction": "down",
    "no_model": ["efd"],
    "notes": ["no model: efd"],
}
SUMMARY = PLAIN | {"models": {"fifo": model("ps", 0.4), "las": model("las", 0.55)}, "model_queue": QUEUE}


def test_without_models_the_page_has_nothing_of_them():
    text = page_text(PLAIN, RECORDS, sample_rows(RECORDS))
    assert "model-errors" not in figures_in(text)
    assert not re.search(r"Models beside|Dashed: the M/G/1|: ps model", text)


def test_a_model_is_dashed_in_the_colour_of_its_discipline_right_after_it():
    figures = figures_in(page_text(SUMMARY, RECORDS))
    data = figures["mean-by-size"]["data"]
    assert [trace["name"] for trace in data] == ["fifo", "fifo: ps model", "las", "las: las model", "efd"]
    assert [trace["legendgroup"] for trace in data] == ["fifo", "fifo", "las", "las", "efd"]
    for simulated, dashed in ((data[0], data[1]), (data[2], data[3])):
        assert simulated["line"]["color"] == dashed["line"]["color"]
        assert (simulated["line"]["dash"], dashed["line"]["dash"]) == ("solid", "dash")
        assert dashed["meta"] == simulated["meta"], "a click on the discipline hides both"
    assert data[1]["x"] == [5.84, 58.4, 584.0] and data[1]["y"] == [0.1, 0.2, 0.4]
    assert "Chen 2012, Eq. 5.3" in data[1]["hovertemplate"] and "title &lt;b&gt;" in data[1]["hovertemplate"]


def test_errors_by_size_have_the_interval_of_the_simulation():
    [fifo, las] = figures_in(page_text(SUMMARY, RECORDS))["model-errors"]["data"]
    assert (fifo["x"], fifo["y"]) == ([8.76], [-0.2])
    # 0.4 over 0.6 and over 0.4 in place of 0.5, to first order.
    assert fifo["error_y"]["array"] == [pytest.approx(0.16)]
    assert las["y"] == [0.1]


def test_table_and_notes():
    text = page_text(SUMMARY, RECORDS)
    section = text.partition("Models beside the simulation</h2>")[2].partition("<h2>")[0]
    cells = re.findall(r"<td>(.*?)</td>", section)
    assert cells[:7] == ["ps", "500 ms", "400 ms", "-20.0 %", "500 ms", "starves", "–"]
    assert "no model: efd." in section and "load 0.8" in section and "title &lt;b&gt;" in section
    assert re.search(r"las +las +500 ms +550 ms +\+10.0 %", section_text(models.SECTION, SUMMARY))


def test_no_models_at_all_say_why():
    summary = PLAIN | {"models": {}, "model_queue": {"with_path": True, "notes": ["no models: <none>"]}}
    text = page_text(summary, RECORDS)
    assert "no models: &lt;none&gt;." in text and "Models beside" not in text


def test_errors_in_words():
    assert [error_text(value) for value in (0.0, -1.0, 12.5)] == ["+0.0 %", "-100 %", "+1,250 %"]


@in_browser
def test_the_page_with_models_is_drawn_without_error(tmp_path):
    visit = Visit(write_report(tmp_path / "report.html", SUMMARY, RECORDS), tmp_path)
    declared = re.findall(r'class="plot[^"]*" id="plot-([a-z-]+)"', visit.dom)
    assert "model-errors" in declared
    assert re.search(r'data-plots="(\d+)"', visit.dom)[1] == str(len(declared))
    assert 'data-errors="[]"' in visit.dom
    assert (visit.console, visit.requests) == ([], [])
