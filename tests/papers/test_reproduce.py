"""Every table and figure of the papers is accounted for; what is asked for is what runs."""

import json
from collections import Counter

import pytest
from invocation import mayfly

from mayfly.errors import MayflyError
from mayfly_papers.declare.exhibits import EXHIBITS, PAPERS, cited
from mayfly_papers.pages import PAGES
from mayfly_papers.report.page import reproduction_page, write_reproduction
from mayfly_papers.report.reproduce import Listing, changed, chosen, command_of, reproduce

FORMULA = "urvoy-keller-2007-fig-7"
SIMULATED = "urvoy-keller-2007-fig-3"


def test_every_table_and_figure_has_claims_or_a_reason_and_not_both():
    rows = Listing().rows()
    assert [row["id"] for row in rows if bool(row["claims"]) == bool(row["reason"])] == []
    assert len({row["id"] for row in rows}) == len(rows)


def test_every_paper_has_all_its_numbers():
    """The figures and tables of a paper are numbered without gaps."""
    arabic = Counter(
        e.paper for e in EXHIBITS if e.label.startswith("Fig.") and "." not in e.label.removeprefix("Fig.")
    )
    assert arabic == {"chen-2013": 8, "rai-2003": 16, "urvoy-keller-2007": 22, "zhao-2004": 32}
    chapters = Counter(
        e.label.partition(".")[2].split(".")[0].strip() for e in EXHIBITS if e.paper == "chen-2012" and "Fig" in e.label
    )
    assert chapters == {"3": 2, "4": 13, "5": 17, "6": 8, "7": 5, "8": 13, "9": 14, "A": 6}
    tables = Counter(e.paper for e in EXHIBITS if e.label.startswith("Table"))
    assert tables == {"chen-2012": 15, "rai-2003": 1, "urvoy-keller-2007": 1, "zhao-2004": 10}


def test_every_claim_names_a_paper_and_every_number_in_it_is_known():
    for item in PAGES:
        for claim in item.claims:
            assert claim.source.startswith(tuple(PAPERS.values())), claim.source
            if "Fig." in claim.source or "Table" in claim.source:
                assert cited(claim.source), claim.source


@pytest.mark.parametrize(
    ("source", "ids"),
    [
        ("Chen 2012, 6.5.2, Fig. 6.6, 6.7", ["chen-2012-fig-6.6", "chen-2012-fig-6.7"]),
        ("Chen 2012, 6.4; 7.3.1, Fig. 7.2", ["chen-2012-fig-7.2"]),
        ("Chen 2012, 7.3.2, Fig. 7.3; 7.5", ["chen-2012-fig-7.3"]),
        ("Chen 2012, 5.3.2.2, Fig. 5.17d, e", ["chen-2012-fig-5.17"]),
        ("Chen 2012, 4.6.2, Fig. 4.9, Table 4.2", ["chen-2012-fig-4.9", "chen-2012-table-4.2"]),
        ("Chen 2012, appendix A, Table A.3", ["chen-2012-table-a.3"]),
        ("Chen 2012, 5.2.2", []),
        ("Rai 2003, 4.4, Fig. 9a", ["rai-2003-fig-9"]),
        ("Rai 2003, 4.2, Fig. 6(b)", ["rai-2003-fig-6"]),
        ("Urvoy-Keller 2007, 5.2, 7.1, Fig. 10, Eq. 2 and 11", ["urvoy-keller-2007-fig-10"]),
        ("Urvoy-Keller 2007, 6, Fig. 16 to 18", [f"urvoy-keller-2007-fig-{k}" for k in (16, 17, 18)]),
        ("Zhao 2004, IV.A.4, Table X", ["zhao-2004-table-x"]),
    ],
)
def test_the_tables_and_figures_of_a_source(source, ids):
    assert cited(source) == ids


def test_all_is_every_claim_and_a_figure_is_its_own():
    assert sum(len(claims) for _, claims in chosen(["all"])) == sum(len(item.claims) for item in PAGES)
    [(item, claims)] = chosen(["chen-2012-fig-4.12"])
    assert item.id == "chen-2012-wired" and all("Fig. 4.12" in claim.source for claim in claims)
    assert len(chosen(["rai-2003", FORMULA])) == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("chen-2012-fig-4.1", "nothing is declared for it: a drawing"),
        ("rai-2003-fg-7", "did you mean rai-2003-fig-7"),
        ("?", "no such page, table or figure; --list shows all"),
    ],
)
def test_what_cannot_be_asked_for_is_told(name, said):
    with pytest.raises(MayflyError, match=said):
        chosen([name])
    with pytest.raises(MayflyError, match="--replications 1: must be from 2"):
        reproduce([FORMULA], replications=1)


def test_quick_means_fewer_and_shorter_runs_and_nothing_else():
    for item in PAGES:
        for experiment in item.experiments:
            short, full = changed(experiment, True, None), experiment.loaded()
            shortened = not experiment.whole and full.duration >= 300
            assert 2 <= short.replications <= min(experiment.replications, 3 if shortened else 2)
            loaded = short.loaded()
            assert loaded.duration == pytest.approx(full.duration / 5 if shortened else full.duration)
            assert loaded.warm_up < loaded.duration
            assert changed(experiment, False, None) == experiment
            assert changed(experiment, True, 7).replications == 7


def test_a_report_has_its_claims_and_the_command_that_makes_it(tmp_path):
    found = reproduce([FORMULA, "chen-2012-table-8.3"], quick=True)
    files = write_reproduction(found, tmp_path / "out")
    document = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert document["files"] == files and sum(document["verdicts"].values()) == len(document["claims"]) == 2
    assert [row["id"] for row in document["exhibits"]] == ["chen-2012-table-8.3", FORMULA]
    page = reproduction_page(found)
    assert f"mayfly reproduce {FORMULA} chen-2012-table-8.3 --quick" in page
    assert all(claim["says"].split(",")[0] in page for claim in document["claims"])
    assert command_of(["all"], False, 3) == "mayfly reproduce all --replications 3"


def test_a_reason_is_repeated_by_the_claim_that_it_explains():
    asked = ["reason", "chen-2012-enterprise/enterprise-underload"]
    found = reproduce(asked, quick=True, replications=2)
    [checked] = found.checked
    assert (checked.item, checked.claim.id, checked.failure) == ("chen-2012-enterprise", "fifo-alone", "")
    [said] = found.sentences()
    assert said.startswith("chen-2012-enterprise/fifo-alone: the reason ") and said.endswith(f"it explains {asked[1]}")
    page = reproduction_page(found)
    assert f"mayfly reproduce {' '.join(asked)} --quick --replications 2" in page and "wired-topological-8" in page


def test_reasons_are_a_command_of_their_own_beside_run_and_calibrate():
    shown = mayfly("reproduce", "--help").out
    assert all(f"\n  {name} " in shown for name in ("run", "reason", "calibrate"))
    assert "PAGE/CLAIM" in mayfly("reproduce", "reason", "--help").out
    for asked, told in (([], "ID is missing"), (["zhao-2004-ponrt/figur-9"], "did you mean zhao-2004-ponrt/figure-9")):
        refused = mayfly("reproduce", "reason", *asked)
        assert refused.status == 2 and told in refused.err and refused.err.count("\n") == 1


def test_a_claim_that_short_runs_cannot_tell_is_said_to_be_so(monkeypatch):
    from mayfly_papers.declare import declaration

    def broken(self, runs):
        raise MayflyError("row 'x': values [nan]: must be finite")

    monkeypatch.setattr(declaration.Claim, "check", broken)
    found = reproduce([FORMULA], quick=True)
    assert found.counts()["not measured"] == 1 and "must be finite" in reproduction_page(found)
    whole = reproduce([FORMULA])
    assert whole.checked[0].failure.startswith("row 'x'") and "not measured" in " ".join(whole.sentences())


def test_an_interrupted_reproduction_goes_on_from_what_was_measured(tmp_path, monkeypatch):
    """The second run simulates nothing that the first one measured; other code or settings measure anew."""
    from mayfly_papers.declare import declaration, measured

    ran = []
    simulate = declaration.simulate

    def counted(experiment, pool=None):
        ran.append(experiment.id)
        return simulate(experiment, pool)

    monkeypatch.setattr(declaration, "simulate", counted)
    asked = {"quick": True, "replications": 2, "figures": False, "keep": tmp_path / measured.KEPT}
    first = reproduce([SIMULATED], **asked)
    once = list(ran)
    second = reproduce([SIMULATED], **asked)
    assert once and ran == once
    told = [[row.mean for row in checked.finding.rows] for checked in first.checked]
    assert [[row.mean for row in checked.finding.rows] for checked in second.checked] == told
    assert first.runs.keys() == second.runs.keys()
    assert all(first.runs[page].seconds == second.runs[page].seconds for page in first.runs)
    reproduce([SIMULATED], **{**asked, "replications": 3})
    assert len(ran) == 2 * len(once)
    for file in (tmp_path / measured.KEPT).iterdir():
        file.write_text('{"half":')
    reproduce([SIMULATED], **asked)
    assert len(ran) == 3 * len(once)
    monkeypatch.setattr(measured, "code", lambda: "other")
    reproduce([SIMULATED], **asked)
    assert len(ran) == 4 * len(once)
    measured.forget(tmp_path / measured.KEPT)
    assert not (tmp_path / measured.KEPT).exists()
