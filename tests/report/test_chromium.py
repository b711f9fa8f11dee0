"""The report in headless Chromium: every plot drawn, nothing on the console, nothing asked of the network."""

import json
import re
import shutil
import subprocess

import pytest
from synthetic import LAWS, flow_records, sample_rows, summary_of

from mayfly.report.html import write_report

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium, chromium-browser or google-chrome on PATH")

# The resolver rule keeps the browser's own requests on this machine; a request of the page is logged before it.
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--virtual-time-budget=20000",
    "--enable-logging=stderr",
    "--v=0",
    "--host-resolver-rules=MAP * ~NOTFOUND",
]


class Visit:
    """What a page left behind: its DOM, its console lines, the addresses it asked for."""

    def __init__(self, page, folder, *flags):
        log = folder / "net.json"
        done = subprocess.run(
            [
                BROWSER,
                *FLAGS,
                f"--user-data-dir={folder / 'profile'}",
                f"--log-net-log={log}",
                *flags,
                "--dump-dom",
                page.as_uri(),
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        self.dom = done.stdout
        self.console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        self.requests = _page_requests(log.read_text())


def _page_requests(text):
    # A log cut short by the end of the browser lacks its closing brackets.
    try:
        log = json.loads(text)
    except json.JSONDecodeError:
        log = json.loads(text.rstrip().rstrip(",") + "]}")
    start = log["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    jobs = [event["params"] for event in log["events"] if event["type"] == start and "url" in event.get("params", {})]
    # The browser's own requests have "not an origin"; those of a page from a file have the opaque origin "null".
    return [job["url"] for job in jobs if job["initiator"] != "not an origin"]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    records = flow_records([*list(LAWS)[:5], "efd(threshold=40, high=las)"], flows=2500)
    path = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(path, summary_of(records), records, sample_rows(records))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_plot_is_drawn_without_error_or_network(report, tmp_path, scheme):
    visit = Visit(report, tmp_path, f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}")
    declared = re.findall(r'class="plot[^"]*" id="plot-([a-z-]+)"', visit.dom)
    assert len(declared) == 8
    assert re.search(r'data-plots="(\d+)"', visit.dom)[1] == str(len(declared))
    assert re.search(r'data-errors="([^"]*)"', visit.dom)[1] == "[]"
    drawn = re.findall(r'<div class="plot-container plotly"', visit.dom)
    assert len(drawn) == len(declared)
    # Plotly stacks several roots per plot: marks, legend, hover.
    roots = visit.dom.count('class="main-svg"')
    assert roots >= len(declared)
    assert roots % len(declared) == 0
    assert visit.dom.count('class="trace scatter') >= 6 * 5
    assert visit.console == []
    assert visit.requests == []
    titles = set(re.findall(r'data-title="([^"]*)"', visit.dom))
    # Recent versions of Plotly offer to upload the chart unless told otherwise.
    assert "Zoom" in titles
    assert not any(re.search("share|cloud|upload|edit", title, re.IGNORECASE) for title in titles)
    assert ("rgb(230, 232, 235)" in visit.dom) == (scheme == "dark")


def test_a_hostile_scenario_name_runs_nothing(tmp_path):
    records = flow_records(["fifo"], flows=300)
    hostile = '</script><script>console.error("broke out")</script><img src="http://leak.invalid/x.png">'
    summary = summary_of(records, scenario={"name": hostile, "network": {"buffer": hostile}}, answer=[hostile])
    visit = Visit(write_report(tmp_path / "report.html", summary, records), tmp_path)
    assert visit.console == []
    assert visit.requests == []
    assert 'data-errors="[]"' in visit.dom


def test_a_leak_or_a_console_error_would_be_seen(tmp_path):
    page = tmp_path / "leak.html"
    page.write_text('<img src="http://leak.invalid/x.png"><script>console.error("told")</script>')
    visit = Visit(page, tmp_path)
    assert visit.requests == ["http://leak.invalid/x.png"]
    assert any("told" in line for line in visit.console)


@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_is_wider_than_the_window(report, tmp_path, width):
    # A frame, because a headless window is never narrower than 500 px; the frame's page reports its own widths.
    probe = (
        "<script>addEventListener('load',function(){setTimeout(function(){var w=document.documentElement;"
        "var widest=Math.max.apply(null,Array.from(document.querySelectorAll('.main-svg')).map(function(s)"
        "{return s.getBoundingClientRect().right}));"
        "parent.postMessage(JSON.stringify([w.clientWidth,w.scrollWidth,Math.ceil(widest)]),'*')},3000)})</script>"
    )
    framed = tmp_path / "framed.html"
    framed.write_text(report.read_text(encoding="utf-8").replace("</body>", probe + "</body>"), encoding="utf-8")
    outer = tmp_path / "outer.html"
    outer.write_text(
        f'<iframe src="framed.html" style="width:{width}px;height:900px;border:0"></iframe><p id="widths"></p>'
        "<script>addEventListener('message',function(e){document.getElementById('widths').textContent=e.data})</script>"
    )
    visit = Visit(outer, tmp_path, "--window-size=1400,1000")
    client, scroll, widest = json.loads(re.search(r'<p id="widths">(.*?)</p>', visit.dom)[1])
    assert client == width
    assert scroll <= width
    assert widest <= width
