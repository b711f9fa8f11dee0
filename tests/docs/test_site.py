"""The built site in a browser: no page is wider than its window, nothing comes from elsewhere, links inside it hold.

`make docs` builds it, in CI before these tests; without it they skip.
"""

import html.parser
import json
import re
import subprocess
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from browser import BROWSER, FLAGS

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
# The report of the reproduction and the page of `mayfly explore` are pages of their own, not of the site's frame.
OWN = ("reproduction", "explore")
PAGES = sorted(path for path in SITE.rglob("*.html") if path.relative_to(SITE).parts[0] not in OWN)
WIDTHS = (400, 600, 800, 1000, 1200, 1400, 1600)
pytestmark = pytest.mark.skipif(not PAGES, reason="the site is not built: make docs")

# Every page in a frame as wide as each window; what sticks out is named by its tag and class.
HARNESS = """<!DOCTYPE html><meta charset="utf-8"><iframe id="frame" style="height:900px;border:0"></iframe>
<pre id="found">unfinished</pre><script>
const pages = PAGES, widths = WIDTHS, found = [], frame = document.getElementById("frame");
let at = 0;
frame.onload = () => {
  const page = frame.contentDocument.documentElement;
  for (const width of widths) {
    frame.style.width = width + "px";
    if (page.scrollWidth > page.clientWidth) {
      const out = [...frame.contentDocument.querySelectorAll(".content *, .toc-drawer *")]
        .filter((one) => one.getBoundingClientRect().right > page.clientWidth + 1).slice(0, 3)
        .map((one) => one.tagName.toLowerCase() + "." + one.className);
      found.push([pages[at], width, page.scrollWidth, out.join(" ")]);
    }
  }
  next();
};
const next = () => {
  at += 1;
  if (at < pages.length) frame.src = pages[at];
  else document.getElementById("found").textContent = JSON.stringify([pages.length, found]);
};
at = -1; next();
</script>"""


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Number of pages seen, and what was wider than its window."""
    if BROWSER is None:
        pytest.skip("needs a browser")
    folder = tmp_path_factory.mktemp("site")
    harness = folder / "harness.html"
    pages = json.dumps([path.as_uri() for path in PAGES])
    harness.write_text(HARNESS.replace("PAGES", pages).replace("WIDTHS", json.dumps(WIDTHS)), encoding="utf-8")
    flags = [flag for flag in FLAGS if not flag.startswith("--virtual-time")]
    command = [BROWSER, *flags, "--allow-file-access-from-files", f"--user-data-dir={folder / 'profile'}"]
    command += ["--virtual-time-budget=600000", "--window-size=1700,1000", "--dump-dom", harness.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    text = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)[1]
    return json.loads(text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


def test_no_page_is_wider_than_its_window(wide):
    seen, found = wide
    assert seen == len(PAGES)
    assert found == []


class Page(html.parser.HTMLParser):
    """Links, names and what is loaded, of one page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.names, self.loaded, self.equations = [], set(), [], 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.names |= {given[name] for name in ("id", "name") if given.get(name)}
        self.equations += tag == "math"
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in ("script", "img", "iframe", "source", "object") and (given.get("src") or given.get("data")):
            self.loaded.append(given.get("src") or given["data"])
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(given["href"])


@pytest.fixture(scope="module")
def parsed():
    return {path: Page(path) for path in PAGES}


def test_nothing_is_loaded_from_elsewhere(parsed):
    away = {
        (str(path.relative_to(SITE)), what)
        for path, page in parsed.items()
        for what in page.loaded
        if urlsplit(what).scheme in ("http", "https") or what.startswith("//")
    }
    assert away == set()


def test_equations_are_drawn_without_a_script(parsed):
    assert sum(page.equations for page in parsed.values()) > 100
    left = [str(path) for path in parsed if re.search(r"\\\(|\\\[|class=\"math ", path.read_text(encoding="utf-8"))]
    assert left == []


def test_links_inside_the_site_hold(parsed):
    broken = []
    for path, page in parsed.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            name = unquote(parts.fragment)
            known = parsed[target].names if target in parsed else None
            if not target.exists() or (name and known is not None and name not in known):
                broken.append((str(path.relative_to(SITE)), link))
    assert broken == []
