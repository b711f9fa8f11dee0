"""The page of a profile: without a browser, and in headless Chromium."""

import re
from pathlib import Path

import pytest
from browser import Visit, figures_in, in_browser

from mayfly.profile.answer import profile
from mayfly.profile.page import profile_page

OFFICE = Path(__file__).parents[2] / "captures" / "office.pcap.gz"


@pytest.fixture(scope="module")
def found():
    return profile([OFFICE], bin_s=5.0, bootstrap=9)


@pytest.fixture(scope="module")
def text(found):
    return profile_page(found)


def test_every_plot_has_a_place(text):
    keys = list(figures_in(text))
    assert keys[:4] == ["link", "load", "directions", "sizes"]
    assert {"mass", "gaps", "rtts", "qq-size", "qq-gap"} <= set(keys)
    assert re.findall(r'id="plot-([a-z0-9-]+)"', text) == keys


def test_plots_show_the_profile(found, text):
    figures = figures_in(text)
    document = found.document()
    (load,) = figures["load"]["data"]
    assert load["meta"] == "lc-rp"
    shown = [rate / 1e6 for rate in document["load"]["by_class_bps"]["lc-rp"]]
    assert load["y"] == pytest.approx(shown, rel=1e-4)
    (sizes,) = figures["sizes"]["data"]
    assert sizes["x"][-1] == pytest.approx(document["size_bytes"]["all"]["max"], rel=1e-4) and sizes["y"][-1] == 1.0
    assert [trace["name"] for trace in figures["qq-size"]["data"]][:-1] == [
        fit["law"] for fit in document["fits"]["size_bytes"]
    ]
    rows = re.findall(r'<tr data-discipline="([^"]+)"', text)
    assert rows == ["lc-rp"]


def test_the_load_of_the_link_has_both_directions_and_the_guess(found, text):
    figure = figures_in(text)["link"]
    down, rate, up, other = figure["data"]
    assert [trace["name"] for trace in figure["data"]] == ["down", "down: rate, a guess", "up", "up: rate, a guess"]
    guess = found.document()["link"]["guess"]
    assert rate["y"] == pytest.approx([guess["down"]["rate_bps"] / 1e6] * 2, rel=1e-4)
    assert other["y"] == pytest.approx([guess["up"]["rate_bps"] / 1e6] * 2, rel=1e-4)
    # A load above the rate of the link is no load: bins of 5 s average what windows of it hold.
    assert max(down["y"]) <= 1.02 * rate["y"][0] and max(up["y"]) <= 1.02 * other["y"][0]
    assert text.index("Is the link full") < text.index("What was captured") < text.index('id="appendix"')
    assert text.index('id="appendix"') < text.index("<h2>Laws of flow sizes</h2>")


def test_names_of_files_are_text_and_not_html(found):
    from dataclasses import replace

    strange = replace(found, connections=replace(found.connections, sources=("<b>&.pcap",)))
    text = profile_page(strange)
    assert "<b>&.pcap" not in text and "&lt;b&gt;&amp;.pcap" in text


@in_browser
def test_in_a_browser(text, tmp_path):
    page = tmp_path / "report.html"
    page.write_text(text, encoding="utf-8")
    # Of more than a dozen plots each is drawn when it is about to be seen: a window as high as the page shows all.
    visit = Visit(page, tmp_path, "--window-size=1200,14000")
    assert f'data-plots="{len(figures_in(text))}"' in visit.dom
    assert 'data-errors="[]"' in visit.dom
    assert visit.console == [] and visit.requests == []
