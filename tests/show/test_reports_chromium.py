"""Every kind of report in headless Chromium: its first screen, its contents, its tables, at the widths of readers."""

import csv
import html
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from browser import BROWSER, FLAGS, IN_BROWSER, Visit, seen_at, with_probe
from synthetic import FAMILY, LAWS, flow_records, sample_rows, summary_of, with_users

from mayfly.show.assets import FOLDER, share

pytestmark = IN_BROWSER

CAPTURES = Path(__file__).parents[2] / "captures"
SIZES = ((400, 800), (800, 900), (1400, 900), (1600, 900))
REPORTS = ("few", "many", "models", "estimates", "gaming")
OPENS_S = 2.0


def _comparison(path, labels, flows):
    from mayfly.comparison.page import write_report

    records = flow_records(labels, flows=flows)
    return write_report(path, with_users(summary_of(records)), records, sample_rows(records, period_s=1.0))


def _models(path):
    from mayfly.models.queue.compared import compared
    from mayfly.models.queue.page import write_model_page

    return write_model_page(path, compared("fifo,ps,las,srpt", "bounded-pareto:min=1,max=1e4,alpha=1.1", [0.5, 0.8]))


def _estimates(path):
    from mayfly.estimate.estimate import estimate
    from mayfly.estimate.page import write_estimates
    from mayfly.estimate.samples import read_samples

    samples = read_samples(CAPTURES / "red-queue.csv.gz", packet_bytes=1000)
    return write_estimates(path, estimate(samples, "28mbit", "100ms", "1000B", from_s=100.0))


def _gaming(path):
    import mayfly
    from mayfly.packs.gaming_report import gaming_page
    from mayfly.show import page

    return page.write(path, gaming_page(mayfly.gaming("fifo,fq_codel,efd", ["split"], duration="20s")))


@pytest.fixture(
    scope="module", params=[*REPORTS[:1], *(pytest.param(name, marks=pytest.mark.slow) for name in REPORTS[1:])]
)
def report(request, tmp_path_factory):
    path = tmp_path_factory.mktemp(request.param) / "report.html"
    made = {
        "few": lambda: _comparison(path, list(LAWS)[:5], 1500),
        "many": lambda: _comparison(path, list(FAMILY)[::2], 400),
        "models": lambda: _models(path),
        "estimates": lambda: _estimates(path),
        "gaming": lambda: _gaming(path),
    }[request.param]()
    # Each frame loads the library: once in the folder is enough of it, and a test of that.
    assert share(made).parent.name == FOLDER
    return made


@pytest.mark.parametrize("scheme", [0, 1], ids=["dark", "light"])
def test_the_first_screen_answers_and_nothing_is_cut(report, tmp_path, scheme):
    seen, visit = seen_at(report, tmp_path, SIZES, f"--blink-settings=preferredColorScheme={scheme}")
    assert visit.console == []
    assert set(seen) == {width for width, _ in SIZES}
    for width, found in seen.items():
        assert found["errors"] == [], width
        assert found["scrolls"] <= width and found["cut"] == 0, (width, found)
        assert 0 < found["answer"] < found["height"], (width, "the answer is on the first screen")
        top, _, right = found["picture"]
        # All of a low picture, the beginning of a high one; under the answer, in the window.
        assert found["answer"] <= top < found["height"] - 200 and right <= width, (width, found["picture"])
        assert found["drawn"] > 0, width
        assert found["dangling"] == 0 and (found["contents"] >= 3 or "estimates" in str(report)), width
        assert found["saves"] == 4 * found["plots"] > 0


def test_a_plot_is_saved_as_svg_png_and_numbers(tmp_path):
    path = _comparison(tmp_path / "report.html", ["fifo", "efd"], 400)
    script = """
    <script>var got = {}, kinds = [0, 1, 3], text = ["SVG", "PNG", "PDF", "CSV"];
    addEventListener("load", function () { setTimeout(function next() {
      if (!kinds.length) { document.body.dataset.got = JSON.stringify(got); return; }
      var at = kinds.shift();
      document.querySelectorAll("figure.lead .save button")[at].click();
      setTimeout(function () { var saved = window.__mayfly_report.saved;
        got[text[at]] = saved && [saved.name, saved.address.slice(0, 30)];
        next();
      }, 2500); }, 5000); });
    var kept = URL.createObjectURL;
    URL.createObjectURL = function (blob) {
      blob.text().then(function (told) { document.body.dataset.csv = told; }); return kept(blob); };
    </script>"""
    path.write_text(with_probe(path.read_text(encoding="utf-8"), script), encoding="utf-8")
    visit = Visit(path, tmp_path)
    got = html_json(visit.dom, "got")
    assert {kind: saved[0].rpartition(".")[2] for kind, saved in got.items()} == {
        "SVG": "svg",
        "PNG": "png",
        "CSV": "csv",
    }
    assert got["SVG"][1].startswith("data:image/svg+xml") and got["PNG"][1].startswith("data:image/png")
    told = html.unescape(re.search(r'data-csv="([^"]*)"', visit.dom)[1]).splitlines()
    assert told[0] == "series,x is,x,y is,y,low,high,value"
    assert len(told) == 1 + 2 * 4, "two disciplines, four measures, no text of the bars"
    # The title of the axis holds a comma and is quoted.
    series, title, value, _, label, low, high, _ = next(csv.reader(told[1:2]))
    assert (series, title, label) == ("fifo", "short transfers, p95 (ms)", "fifo")
    assert float(low) < float(value) < float(high)
    assert 'data-errors="[]"' in visit.dom and visit.console == []


def test_a_plot_is_printed_alone_as_a_pdf_of_its_own_size(tmp_path):
    path = _comparison(tmp_path / "report.html", ["fifo", "efd"], 400)
    script = """
    <script>window.print = function () { document.body.dataset.asked = document.title; };
    addEventListener("load", function () { setTimeout(function () {
      document.querySelectorAll("figure.lead .save button")[2].click(); }, 4000); });</script>"""
    path.write_text(with_probe(path.read_text(encoding="utf-8"), script), encoding="utf-8")
    pdf = tmp_path / "figure.pdf"
    command = [BROWSER, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", f"--print-to-pdf={pdf}"]
    subprocess.run([*command, "--no-pdf-header-footer", path.as_uri()], capture_output=True, timeout=300, check=True)
    made = pdf.read_bytes()
    assert made.startswith(b"%PDF") and len(re.findall(rb"/Type\s*/Page\b", made)) == 1
    width, height = map(float, re.search(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", made).groups())
    assert width > 1.5 * height, "the page is as flat as the figure"
    assert b"/Subtype /Image" not in made and b"/Subtype/Image" not in made, "lines and text, no picture of pixels"
    visit = Visit(path, tmp_path)
    assert re.search(r'data-asked="[a-z0-9-]*felt"', visit.dom) and visit.console == []


def html_json(dom, name):
    """A JSON document that the page's script left in the body."""
    return json.loads(html.unescape(re.search(rf'data-{name}="([^"]*)"', dom)[1]))


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A report of 100,000 flows under five disciplines."""
    return _comparison(tmp_path_factory.mktemp("large") / "report.html", list(LAWS)[:5], 100_000)


def test_a_report_of_a_hundred_thousand_flows_is_small(large):
    assert large.stat().st_size < 8_000_000


def test_a_report_of_a_hundred_thousand_flows_opens_soon(large, tmp_path):
    if os.getloadavg()[0] > (os.cpu_count() or 1):
        pytest.skip("the machine is busy: how soon a page opens cannot be told")
    real = [flag for flag in FLAGS if "virtual-time" not in flag]
    took = []
    for at in range(3):
        command = [
            BROWSER,
            *real,
            f"--user-data-dir={tmp_path / str(at)}",
            "--timeout=6000",
            "--dump-dom",
            large.as_uri(),
        ]
        dom = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
        took.append(int(re.search(r'data-first="(\d+)"', dom)[1]) / 1000)
    assert min(took) < OPENS_S, took
