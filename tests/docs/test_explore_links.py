"""Links of the pages to states of `mayfly explore`: they name what there is, where disciplines are compared."""

import re
import sys
import urllib.parse
from pathlib import Path
from types import SimpleNamespace

import pytest

from mayfly.discipline_registry import parse
from mayfly.explore.catalogue import ATTACKED, PRESETS
from mayfly.scenario.attacks import ATTACKS
from mayfly.text import quantity

DOCS = Path(__file__).parents[2] / "docs"
ROLE = re.compile(r"\{explore\}`[^`<]+ <([^`>]*)>`")
LIVE = {attack.id for attack in ATTACKS if attack.page is not None}
PAGES = sorted([*DOCS.glob("how-to/*.md"), *DOCS.glob("tutorials/*.md")])
STATES = [(page, state) for page in PAGES for state in ROLE.findall(page.read_text(encoding="utf-8"))]

ABOUT_SOMETHING_ELSE = {
    "cluster-sweep": "where runs go",
    "flow-formats": "files",
    "flow-lists": "files",
    "json-output": "what a command prints",
    "own-discipline": "a discipline that the page does not have",
    "packet-traces": "what is recorded of a run",
    "python-api": "functions",
    "reports": "what stands where in a report",
    "reproducible-runs": "seeds",
    "sweeps": "many runs",
    "workload-from-capture": "what is measured of a capture",
    "your-own-capture": "a capture, which a link does not carry",
    "notebook": "Python",
}
"""Pages with `--disciplines` in a command that do not compare any."""


@pytest.mark.parametrize(("page", "state"), STATES, ids=lambda value: value if isinstance(value, str) else value.stem)
def test_a_state_names_what_there_is(page, state):
    words = urllib.parse.parse_qs(state, strict_parsing=True)
    assert set(words) <= {"workload", "rate", "up", "buffer", "rtt", "d", "attack"}
    [workload] = words["workload"]
    assert workload in PRESETS
    for name in ("rate", "up"):
        for value in words.get(name, []):
            quantity.rate_bps(value)
    for value in words.get("buffer", []):
        quantity.buffer(value, "buffer", rate_bps=10_000_000)
    for value in words.get("rtt", []):
        assert 0.004 < quantity.seconds(value, "rtt") <= 1
    labels = [parse(label).label for label in words["d"]]
    assert 2 <= len(labels) <= 6 and len(set(labels)) == len(labels)
    for value in words.get("attack", []):
        kind, rate, connections = value.split(",")
        assert workload in ATTACKED and kind in LIVE
        assert quantity.rate_bps(rate) and 1 <= int(connections) <= 256


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_that_compares_disciplines_has_one_to_play_with(page):
    text = page.read_text(encoding="utf-8")
    if "--disciplines" not in text or page.stem in ABOUT_SOMETHING_ELSE:
        assert page.stem != "gaming"
        return
    assert ROLE.search(text), f"{page.name}: must link to a state of the page"


def test_the_page_of_attacks_has_each_of_them_live(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_ext")
    import reference_tables

    assert "```{from-package} attacks\n" in (DOCS / "how-to" / "gaming.md").read_text(encoding="utf-8")
    states = ROLE.findall(reference_tables.attacks())
    assert {re.search("&attack=([^,]+),", state)[1] for state in states} == LIVE
    sys.modules.pop("reference_tables")


@pytest.fixture
def extension(monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(DOCS / "_ext")
    import explore_links

    yield explore_links
    sys.modules.pop("explore_links")


def test_links_lead_to_the_page_where_it_was_built_and_to_its_description_elsewhere(extension, monkeypatch, tmp_path):
    builder = SimpleNamespace(
        format="html",
        get_target_uri=lambda name: f"{name}.html",
        get_relative_uri=lambda name, to: f"{to.removeprefix('how-to/')}.html",
    )
    app = SimpleNamespace(builder=builder, outdir=tmp_path / "site")
    monkeypatch.setattr(extension, "PAGE", tmp_path / "page")
    assert extension.address(app, "how-to/choose", "workload=office") == "explore.html"
    app.outdir.mkdir()
    extension.take(app, None)
    assert not (app.outdir / "explore").exists()
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "index.html").write_text("page")
    assert extension.address(app, "how-to/choose", "workload=office") == "../explore/index.html#workload=office"
    assert extension.address(app, "index", "") == "explore/index.html"
    extension.take(app, None)
    assert (app.outdir / "explore" / "index.html").read_text() == "page"
