"""A page in headless Chromium, and what the text of a page holds."""

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
IN_BROWSER = [
    pytest.mark.browser,
    pytest.mark.skipif(BROWSER is None, reason="no chromium, chromium-browser or google-chrome on PATH"),
]
"""Marks of a file whose tests open a page."""


def in_browser(test):
    """A test that opens a page: of `make test-explore`, not of the fast lane."""
    for mark in IN_BROWSER:
        test = mark(test)
    return test


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
            timeout=300,
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


def figures_in(text):
    """Figures embedded in a page, by key."""
    found = re.search(r'<script type="application/json" id="figures">(.*?)</script>', text, re.S)
    return {figure["key"]: figure for figure in json.loads(found[1])}


def own_part(text):
    """The page without the plot library."""
    from plotly.offline import get_plotlyjs

    return text.replace(get_plotlyjs(), "")


# What a page of a width looks like to its reader, told to the page around it.
_PROBE = """
<script>addEventListener("load", function () { setTimeout(function () {
  function box(selector) {
    var found = document.querySelector(selector);
    return found && found.getBoundingClientRect();
  }
  var root = document.documentElement, links = Array.from(document.querySelectorAll("nav.contents a"));
  var answer = box(".answer p"), picture = box("figure.lead .plot");
  parent.postMessage(JSON.stringify({
    width: root.clientWidth, scrolls: root.scrollWidth, height: innerHeight,
    answer: answer && answer.bottom, picture: picture && [picture.top, picture.bottom, picture.right],
    drawn: document.querySelectorAll("figure.lead .bars .point, figure.lead .scatterlayer .trace").length,
    contents: links.length, dangling: links.filter(function (link) {
      return !document.getElementById(link.getAttribute("href").slice(1)); }).length,
    saves: document.querySelectorAll(".save button").length, plots: Number(root.dataset.plots),
    errors: JSON.parse(root.dataset.errors),
    cut: Array.from(document.querySelectorAll("table")).filter(function (table) {
      return table.offsetParent && table.scrollWidth > root.clientWidth && !table.closest(".scroll"); }).length
  }), "*"); }, 6000); });</script>
"""


def with_probe(page, html):
    """A page with scripts of a test at its end, which its policy would not run: they are named in it."""
    for script in re.findall(r"<script>(.*?)</script>", html, re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        page = page.replace("; script-src ", f"; script-src 'sha256-{digest}' ", 1)
    return page.replace("</body>", html + "</body>")


def seen_at(page, folder, sizes, *flags):
    """What a reader sees of a report in windows of several sizes.

    Frames, because a headless window is never narrower than 500 px. Returns a mapping from width to what was seen, and
    the :class:`Visit`.
    """
    framed = page.with_name("framed.html")
    framed.write_text(with_probe(page.read_text(encoding="utf-8"), _PROBE), encoding="utf-8")
    frames = "".join(
        f'<iframe src="framed.html" style="width:{width}px;height:{height}px;border:0"></iframe>'
        for width, height in sizes
    )
    outer = page.with_name("outer.html")
    outer.write_text(
        f'{frames}<pre id="seen"></pre><script>var all = []; addEventListener("message", function (event) {{ '
        "all.push(JSON.parse(event.data)); "
        'document.getElementById("seen").textContent = JSON.stringify(all); });</script>'
    )
    visit = Visit(outer, folder, "--window-size=1700,1000", *flags)
    found = json.loads(html.unescape(re.search(r'<pre id="seen">(.*?)</pre>', visit.dom, re.S)[1]))
    return {one["width"]: one for one in found}, visit
