"""`mayfly link-trace`: files that are written whole, one document, one line for bad input."""

import json

import pytest

pytest.importorskip("mayfly._native", reason="the compiled module is not built")

from typer.testing import CliRunner

from mayfly.cli.app import app


def said(*words):
    return CliRunner().invoke(app, ["link-trace", *map(str, words)])


def document(*words):
    result = said(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_trace_that_is_made_is_shown_fitted_and_benched(tmp_path):
    path = tmp_path / "wifi.csv"
    made = document("make", "wifi", "--duration", "25s", "--seed", 3, "--set", "mean=9mbit", "--out", path)
    assert made["file"] == str(path) and made["mean_bps"] == pytest.approx(9e6, rel=1e-5)
    shown = document("show", path)
    assert shown["period_s"] == 25.0 and len(shown["rates_bps"]["1"]) == len(shown["shares"])
    fitted = document("fit", path, "--out", tmp_path / "more.up", "--duration", "5s")
    assert fitted["held_out"] and fitted["model"]["median_bps"] > 0
    assert document("show", tmp_path / "more.up")["format"] == "opportunities"
    benched = document("bench", path, "--duration", "5s", "--disciplines", "fifo")
    assert benched["sentences"][0] and benched["rows"][0]["name"] == "no shaper, fifo"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["more.up", "wifi.csv"]


def test_the_advice_stands_before_the_table(tmp_path):
    path = tmp_path / "dsl.csv"
    said("make", "dsl", "--out", path)
    lines = said("bench", path, "--duration", "3s", "--disciplines", "fifo", "--quiet").output.splitlines()
    assert lines[0].startswith(("Use ", "No shaper ")) and "What each set-up carries" in lines[1]


def test_a_seed_makes_one_file(tmp_path):
    for name in ("one.csv", "other.csv"):
        assert said("make", "starlink", "--seed", 7, "--out", tmp_path / name).exit_code == 0
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("make", "lte", "--out", "nowhere/lte.csv"), "nowhere/lte.csv: cannot be written"),
        (("make", "let", "--out", "x.csv"), "did you mean lte"),
        (("make", "lte", "--set", "stuck=-1", "--out", "x.csv"), "stuck = -1"),
        (("make", "lte", "--duration", "0s", "--out", "x.csv"), "duration = 0: must be from 1 s to a day"),
        (("show", "nowhere.csv"), "not a trace of a link"),
        (("bench", "nowhere.csv"), "not a trace of a link"),
    ],
)
def test_bad_input_is_refused_in_one_line_and_leaves_nothing(tmp_path, monkeypatch, words, says):
    monkeypatch.chdir(tmp_path)
    result = said(*words)
    assert result.exit_code != 0 and list(tmp_path.iterdir()) == []
    assert says in (str(result.exception) + result.output)
