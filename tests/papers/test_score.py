"""The score of the papers: outcomes from hand-made rows, and what is declared about headlines, readings and reasons."""

import json
from pathlib import Path

import pytest

from mayfly.errors import MayflyError
from mayfly_papers.declare import readings as declared_readings
from mayfly_papers.declare.accuracy import accuracy, by_page, overall
from mayfly_papers.declare.agreement import narrow
from mayfly_papers.declare.readings import by_reading, counting, readings, split
from mayfly_papers.pages import HEADS, PAGES, Kind
from mayfly_papers.report.published import REPORT
from mayfly_papers.report.reasons import chosen_reasons, reason_ids, told_reasons
from mayfly_papers.report.score import PAPER_PAGES, accuracy_table, headline_rows, headline_table, statement_table
from mayfly_papers.score import headline
from mayfly_papers.score.headline import Headline, headlines, summed, told
from mayfly_papers.score.outcome import Outcome, judged
from mayfly_papers.score.statements import statements

ROOT = Path(__file__).parents[2]


def row(verdict: str, ours: float = 1.0, printed: float | None = None, band=None, name: str = "row"):
    return {
        "name": name,
        "unit": "",
        "printed": printed,
        "ours": ours,
        "ci95": [ours, ours],
        "one_run": band,
        "claimed": "below FIFO",
        "verdict": verdict,
        "margin": None,
        "at_twice": None,
        "replications": 2,
    }


HOLDS, OFF, OPEN = row("same direction"), row("differs"), row("undecided")


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([HOLDS, HOLDS], "conclusion holds"),
        ([HOLDS, OFF, OPEN], "mixed (1 of 3)"),
        ([OPEN, OPEN], "mixed (0 of 2)"),
        ([OFF, OPEN], "contradicted"),
        ([HOLDS, row("agrees", 1.0, 1.1, (0.9, 1.2))], "number reproduced"),
        ([HOLDS, row("differs", 1.0, 1.2, (0.99, 1.01))], "number reproduced"),
        ([HOLDS, row("differs", 1.0, 1.3, (0.99, 1.01))], "mixed (1 of 2)"),
        ([row("agrees", 1.0, 2.0, (0.1, 10.0))], "conclusion holds"),
        ([row("same direction", 1.0, 9.0, (0.9, 1.2))], "conclusion holds"),
        ([row("agrees", 1.0, 1.1, (0.9, 1.2)), row("same direction", 1.0, 9.0, (0.9, 1.2))], "conclusion holds"),
        ([row("agrees", 0.0, 0.0, (0.0, 0.0))], "number reproduced"),
    ],
)
def test_an_outcome_follows_from_its_rows(rows, text):
    assert str(judged(rows)) == text


def test_data_of_others_decides_nothing_and_a_print_that_contradicts_itself_is_told_first():
    assert str(judged([HOLDS], testable=False)) == "not testable here"
    assert str(judged([OFF], testable=False, print_holds=[False])) == "not testable here"
    assert str(judged([HOLDS], print_holds=[True, False, True])) == "print contradicts itself (2 of 3)"
    assert str(judged([HOLDS], print_holds=[True])) == "conclusion holds"


def claim(page: str, identity: str, *rows, says: str = "it is so"):
    return {"page": page, "id": identity, "source": "Chen 2012", "says": says, "rows": list(rows)}


@pytest.fixture
def declared(monkeypatch):
    """Headlines of our choice."""

    def made(*entries):
        found = tuple(Headline(paper="chen-2012", source="4.7", says="it is so", **entry) for entry in entries)
        monkeypatch.setattr(headline, "headlines", lambda: found)

    return made


def test_a_headline_takes_the_reading_that_counts_and_tells_the_others(declared):
    page = "chen-2012-wired"
    declared({"id": "one", "rests_on": [{"page": page, "claim": "table-4.1", "rows": ["LAS over EFD"]}]})
    named = {verdict: row(verdict, name="LAS over EFD") for verdict in ("same direction", "differs")}
    claims = [
        claim(page, "table-4.1-at-8", named["differs"], HOLDS),
        claim(page, "table-4.1-at-15", named["same direction"], HOLDS),
        claim(page, "table-4.1-at-5.8", named["same direction"], OFF),
        claim(page, "table-4.1-at-10.4", named["same direction"], OFF),
    ]
    [found] = told({"claims": claims})
    assert str(found.judged) == "conclusion holds" and found.stands and found.reasons == ()
    assert {name: str(other) for name, other in found.others.items()} == {"nominal load": "mixed (1 of 2)"}
    assert told({"claims": claims[:3]}) == [], "a claim of the reading that counts is not there"
    claims[3]["rows"][0] = named["differs"]
    [found] = told({"claims": claims})
    assert str(found.judged) == "mixed (1 of 2)"
    assert [reason.id for reason in found.reasons] == [f"{page}/table-4.1-at-10.4"]
    assert found.reasons[0].tested == bool(reason_ids()[f"{page}/table-4.1-at-10.4"][1])


def test_a_headline_on_other_captures_or_against_its_own_print_is_told_so(declared):
    apps, wlan = "chen-2012-apps", "chen-2012-wlan"
    print_itself = {"page": wlan, "claim": "ratios-a.2", "at_most": 1.25}
    declared(
        {"id": "one", "rests_on": [{"page": apps, "claim": "apps-blurs"}]},
        {"id": "two", "rests_on": [{"page": wlan, "claim": "mixed-long"}], "print": print_itself},
    )
    ratios = claim(wlan, "ratios-a.2-total", row("agrees", 1.1, 1.0, (0.9, 1.2)), row("differs", 1.1, 5.3, (1, 2)))
    found = told({"claims": [claim(apps, "apps-blurs", HOLDS), claim(wlan, "mixed-long", HOLDS), ratios]})
    assert [str(one.judged) for one in found] == ["not testable here", "print contradicts itself (1 of 2)"]
    texts = [cells[-1] for cells in headline_rows(found, whole=True)]
    assert texts == ["the trace is not public", "the paper's own numbers"]
    assert summed(found) == (
        "Of 1 headline claims that can be tested here 0 stand, 0 of them with their numbers. Of the other 1, 1 are "
        "contradicted by the paper's own numbers and 0 have a reason that a run shows. 1 more cannot be tested: the "
        "data, or the method as it was tuned, is not at hand."
    )


def test_a_headline_tells_what_twice_its_thresholds_give_where_that_is_another_verdict(declared):
    declared({"id": "one", "rests_on": [{"page": "rai-2003", "claim": "sizes"}]})
    lenient = OFF | {"at_twice": "same direction"}
    for rows, text in (([HOLDS, lenient], "conclusion holds"), ([HOLDS, OFF], "None"), ([HOLDS], "None")):
        [found] = told({"claims": [claim("rai-2003", "sizes", *rows)]})
        assert str(found.at_twice) == text
        cells = headline_rows([found], whole=True)[0]
        assert ("at twice the thresholds: conclusion holds" in cells[-2]) == (text != "None")


def test_few_numbers_are_told_one_by_one_and_many_as_a_range(declared):
    declared({"id": "one", "rests_on": [{"page": "rai-2003", "claim": "sizes"}]})

    def document(*numbers):
        rows = [row("same direction", ours, printed, (ours, ours)) for ours, printed in numbers]
        [found] = told({"claims": [claim("rai-2003", "sizes", *rows)]})
        return found.document()

    few = document((1.0, 2.0), (3.0, 2.0))
    assert (few["print"], few["ours"], few["factor"]) == ("2", "1 [1, 1] / 3 [3, 3]", "2.00 / 1.50")
    many = document((1.0, 2.0), (2.0, 3.0), (3.0, 4.0), (4.0, 1.0), (0.0, 5.0))
    assert (many["print"], many["ours"], many["factor"]) == ("1 to 5", "0 to 4", "1.33 to ours is 0")


def test_what_is_declared_about_headlines_resolves_to_rows_that_there_are(committed):
    """Every headline finds its claims, and so do what it shows and its evidence in the print."""
    found = told(committed)
    assert [one.headline.id for one in found] == [one.id for one in headlines()] and len(found) >= 35
    for one in found:
        assert one.shown, one.headline.id
        assert all(any(headline.matches(d.row["name"], p.rows) for d in one.deciding) for p in one.headline.rests_on)
        assert one.headline.print_itself is None or one.judged.outcome is Outcome.PRINT
    assert {one.headline.paper for one in found} == {
        "chen-2012",
        "chen-2013",
        "rai-2003",
        "urvoy-keller-2007",
        "zhao-2004",
    }


@pytest.fixture(scope="module")
def committed():
    return json.loads((ROOT / "docs" / REPORT / "summary.json").read_text(encoding="utf-8"))


def test_the_committed_score_is_that_of_its_rows(committed):
    assert committed["headlines"] == [one.document() for one in told(committed)]
    assert committed["statements"] == [one.document() for one in statements(committed)]
    assert all(line in headline_table(committed) for line in ("conclusion holds", "**mixed", "number reproduced"))


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ('id = "a"\npaper = "chen-2012"\nsource = ""\nsays = ""\nrests_on = []\n', "rests_on"),
        (
            'id = "a"\npaper = "chen-1999"\nsource = ""\nsays = ""\nrests_on = [{page = "x", claim = "y"}]\n',
            "must be one of",
        ),
        ('id = "a"\nverdict = "holds"\n', "headlines.toml, a: "),
    ],
)
def test_a_headline_that_is_none_is_refused(entry, says, tmp_path, monkeypatch):
    (tmp_path / headline.FILE).write_text(f"[[headline]]\n{entry}", encoding="utf-8")
    monkeypatch.setattr(headline, "files", lambda package: tmp_path)
    headlines.cache_clear()
    with pytest.raises(MayflyError, match=says):
        headlines()
    monkeypatch.undo()
    headlines.cache_clear()


def test_a_headline_on_claims_that_nothing_declares_is_refused(declared):
    declared({"id": "one", "rests_on": [{"page": "rai-2003", "claim": "no-such-*"}]})
    with pytest.raises(MayflyError, match="claim = no-such-\\*: rai-2003 declares none"):
        told({"claims": []})
    declared({"id": "one", "rests_on": [{"page": "rai-2002", "claim": "sizes"}]})
    with pytest.raises(MayflyError, match="page = rai-2002: there is none"):
        told({"claims": []})


def test_readings_are_told_by_the_ends_of_ids():
    assert split("zhao-2004", "table-3-shares-in-step-1ms") == ("table-3-shares", 1)
    assert split("zhao-2004", "table-8-gaps") == ("table-8-gaps", 0)
    assert counting("urvoy-keller-2007", ["mix-overload", "mix-overload-long"]) == {"mix-overload"}
    assert counting("urvoy-keller-2007", ["mix-overload", "table-1"]) == {"mix-overload", "table-1"}
    found = by_reading("chen-2012-wired", ["table-4.1-at-8", "table-4.1-at-5.8", "table-4.1-at-10.4"])
    assert found == {"table-4.1": {0: ["table-4.1-at-5.8", "table-4.1-at-10.4"], 1: ["table-4.1-at-8"]}}


def test_every_reading_has_claims_and_the_one_that_counts_its_evidence():
    pages = {page.id: page for page in PAGES}
    for page, found in readings().items():
        assert found[0].evidence and not any(other.evidence for other in found[1:])
        places = {split(page, own.id)[1] for own in pages[page].claims}
        assert places == set(range(len(found))), page


def test_a_reading_without_evidence_is_refused(tmp_path, monkeypatch):
    (tmp_path / declared_readings.FILE).write_text('[[rai-2003]]\nname = "a"\nsuffixes = [""]\n', encoding="utf-8")
    monkeypatch.setattr(declared_readings, "files", lambda package: tmp_path)
    readings.cache_clear()
    with pytest.raises(MayflyError, match="rai-2003: the reading that counts must have its evidence"):
        readings()
    monkeypatch.undo()
    readings.cache_clear()


def test_statements_are_sentences_and_not_their_readings():
    page = "chen-2012-wired"
    claims = [
        claim(page, "a-at-8", OFF),
        claim(page, "a-at-5.8", HOLDS),
        claim(page, "a-at-10.4", OPEN),
        claim(page, "b-at-5.8", HOLDS, says="another"),
        claim("chen-2012-apps", "apps-queue", HOLDS),
        claim(page, "c-at-5.8", says="not measured"),
    ]
    found = statements({"claims": claims})
    assert [str(one.judged) for one in found] == ["mixed (1 of 2)", "conclusion holds", "not testable here"]
    assert found[0].claims == ("a-at-5.8", "a-at-10.4")
    assert {name: str(other) for name, other in found[0].others.items()} == {"nominal load": "contradicted"}
    assert "| **papers** | 3 |" in statement_table({"claims": claims})


def test_accuracy_is_the_median_factor_of_the_reading_that_counts():
    rows = [row("differs", ours, 1.0, (ours, ours)) for ours in (0.5, 1.1, 4.0)]
    document = {
        "claims": [claim("rai-2003", "a-means", *rows), claim("rai-2003", "a-rounded", row("differs", 9.0, 1.0))]
    }
    own = by_page(document)["rai-2003"]
    assert (own.cells, own.reproduced, own.median) == (3, 1, 2.0)
    assert by_page(document, every=True)["rai-2003"].median == 3.0
    assert overall(document, ["formulas"]).median is None and str(accuracy([])) == "no printed number"
    assert "| 3 | 1 | 2.00 | 3.00 over 4 |" in accuracy_table(document)
    assert accuracy([row("differs", 0.0, 1.0)]).median == float("inf")


def test_pages_of_our_own_and_of_other_captures_are_not_the_papers_score():
    kinds = {page.id: page.kind for page in PAGES}
    assert {page for page, kind in kinds.items() if kind is Kind.OWN} == {
        "today",
        "default-estimator",
        "zhao-2004-testbed",
    }
    assert {page for page, kind in kinds.items() if kind is Kind.OTHER_CAPTURES} == {
        "chen-2012-traffic",
        "chen-2012-apps",
    }
    assert not set(PAPER_PAGES) & {"today", "default-estimator", "chen-2012-traffic", "chen-2012-apps"}
    for page, kind in kinds.items():
        text = (ROOT / "docs" / "papers" / f"{page}.md").read_text(encoding="utf-8")
        assert (HEADS[kind] in text) if HEADS[kind] else not any(head in text for head in HEADS.values() if head)


def test_every_test_of_a_reason_is_declared_and_explains_a_claim():
    for page in PAGES:
        tests = {test.id for test in page.reason_tests}
        named = {claim.difference.test for claim in page.claims if claim.difference and claim.difference.test}
        assert named == tests, page.id
        assert not tests & {claim.id for claim in page.claims}


def test_a_reason_is_repeated_by_its_claim_or_its_test():
    [(page, tests)] = chosen_reasons(["zhao-2004-ponrt/figure-9"])
    assert [test.id for test in tests] == ["empty-queue"] and page.claims == page.reason_tests and not page.figures
    assert chosen_reasons(["zhao-2004-ponrt/empty-queue"]) == [(page, tests)]
    assert sum(len(own) for _, own in chosen_reasons(["all"])) == sum(len(item.reason_tests) for item in PAGES)
    assert told_reasons({"zhao-2004-ponrt/empty-queue": None}) == ["zhao-2004-ponrt/empty-queue: not measured"]


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ([], "reason: ID is missing"),
        (["zhao-2004-ponrt/figure-99"], "no such reason; did you mean zhao-2004-ponrt/figure-9"),
        (["chen-2012-wired/figure-4.8-at-15"], "is argued, without a run"),
    ],
)
def test_a_reason_that_cannot_be_repeated_is_told(names, says):
    with pytest.raises(MayflyError, match=says):
        chosen_reasons(names)


def test_no_committed_row_of_a_wide_band_counts_as_reproduced(committed):
    for one in told(committed):
        if one.judged.outcome is Outcome.NUMBER:
            for deciding in one.deciding:
                found = deciding.row
                if found["printed"]:
                    near = max(found["ours"] / found["printed"], found["printed"] / found["ours"]) <= 1.25
                    assert near or narrow(found["one_run"]), (one.headline.id, found["name"])
