"""The blocks of the page about gaming."""

import re
from pathlib import Path

import pytest

import mayfly
from mayfly.errors import MayflyError
from mayfly.packs.gaming_page import filled_page, page_blocks, verdicts
from mayfly.packs.gaming_verdicts import RULES
from mayfly.scenario.attacks import ATTACKS

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "gaming.md"


@pytest.fixture(scope="module")
def found():
    return mayfly.gaming("fifo,las", duration="12s")


def test_blocks_are_filled_and_the_rest_is_kept(found):
    text = "before\n<!-- pack: made -->\nold\n<!-- pack end -->\nbetween\n<!-- pack: overview --><!-- pack end -->"
    assert filled_page("<!-- pack: made -->\n<!-- pack end -->", found).count("2 disciplines, seed 1") == 1
    page = filled_page(text.replace("--><!--", "-->\n<!--"), found)
    assert page.startswith("before\n<!-- pack: made -->\n\n2 disciplines") and "old" not in page
    assert "<!-- pack end -->\nbetween\n" in page and "| `las` |" in page
    assert filled_page(page, found) == page
    variants = mayfly.gaming("efd(threshold=3000)", ["spaced"], duration="2s")
    assert "efd(threshold=3000)" in filled_page("<!-- pack: variants -->\n<!-- pack end -->", found, variants)


def test_a_page_without_blocks_or_with_others_is_refused(found):
    with pytest.raises(MayflyError, match="the page has no block"):
        filled_page("text", found)
    with pytest.raises(
        MayflyError, match="block 'overvew' of the page: must be one of overview, verdicts, figures, made"
    ):
        filled_page("<!-- pack: overvew -->\n<!-- pack end -->", found)


ATTACKED = [attack.cases.key for attack in ATTACKS if attack.cases and attack.cases.key]


def row(label, **more):
    names = [name for rule in RULES for name in rule.needs]
    return {"label": label} | dict.fromkeys(names, 1.0) | more


def test_a_discipline_is_named_when_it_keeps_the_rule():
    sentences = verdicts(
        [
            row("good"),
            row("bad", **dict.fromkeys(ATTACKED, 1.3), long=0.7, stall_attacked_s=6.0, short_p95=3.1),
            row("unknown", **dict.fromkeys(ATTACKED), long=None, stall_attacked_s=None, short_p95=None),
            row("still", stall_s=5.5),
        ]
    )
    assert {"spaced", "renewed", "split"} <= set(ATTACKED) and len(sentences) == len(RULES) == len(ATTACKED) + 3
    for sentence in sentences:
        assert "`good`" in sentence and "`bad`" not in sentence and "`unknown`" not in sentence
        assert ("`still`" in sentence) == ("overload" not in sentence)
    assert "**Hold a split transfer** (at most 1.25 fair shares): none." in verdicts([row("x", split=9.0)])


def test_no_line_of_a_list_is_longer_than_the_page_allows(found):
    many = mayfly.gaming("fifo", ["overload"], duration="2s").overview * 40
    assert max(len(line) for line in page_blocks(found)["verdicts"].splitlines()) <= 140
    assert verdicts(many)


def test_the_page_has_every_block_once():
    names = re.findall(r"<!-- pack: (\w+) -->", PAGE.read_text(encoding="utf-8"))
    assert sorted(names) == ["figures", "made", "overview", "variants", "verdicts"]


@pytest.mark.slow
def test_the_figures_of_the_page_are_those_measured_now():
    text = PAGE.read_text(encoding="utf-8")
    seed, replications = map(int, re.search(r"seed (\d+), (\d+) replications", text).groups())
    now = page_blocks(mayfly.gaming("fifo,las,efd", seed=seed, replications=replications))
    shown = text.splitlines()
    for name in ("overview", "figures"):
        rows = [line for line in now[name].splitlines() if line.startswith("| `")]
        assert rows and [line for line in rows if line not in shown] == []
