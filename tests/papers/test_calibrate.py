"""A search over a page whose truth is known finds it, and does not look at the cells kept aside."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from invocation import mayfly

from mayfly.errors import MayflyError
from mayfly_papers.calibrate import search
from mayfly_papers.calibrate.answer import write_calibration
from mayfly_papers.calibrate.cells import cells_of, used_groups
from mayfly_papers.calibrate.grid import indices, varied
from mayfly_papers.calibrate.search import calibrate, page_of, planned
from mayfly_papers.declare.declaration import Claim, Experiment, Printed, Row
from mayfly_papers.declare.rows import printed_beside, quantity
from mayfly_papers.declare.unknowns import Calibration, Unknown
from mayfly_papers.pages import PAGES, Page

UNKNOWNS = (
    Unknown("rate", "rate of the link", (5, 8, 10, 20), "not told", "Mb/s"),
    Unknown("law", "law of the sizes", ("even", "odd"), "not told"),
    Unknown("colour", "colour of the link", ("red", "blue"), "changes nothing"),
    Unknown("counted", "what is counted", ("all", "half"), "not told"),
)
TRUTH = {"rate": 10, "law": "odd", "colour": "red", "counted": "half"}
FIRST = {"rate": 5, "law": "even", "colour": "blue", "counted": "all"}
EXPERIMENTS = 8


def experiments(setting):
    """Experiments of one field each; odd ones do not depend on the law."""
    return [
        Experiment(
            f"run-{k}",
            {"network.rate": setting["rate"] * 1e6, "workload.size": k}
            | ({} if k % 2 else {"workload.law": setting["law"]}),
            (f"fifo-{setting['rate']}",),
            2,
            dict,
        )
        for k in range(1, EXPERIMENTS + 1)
    ]


def answer(experiment):
    """What a run gives: a number that follows from its fields, the same in both replications."""
    fields = experiment.overrides
    value = fields["network.rate"] / 1e6 * math.sqrt(fields["workload.size"])
    value *= 1.7 if fields.get("workload.law") == "odd" else 1.0
    run = {"time": value, "half": value / 2, "pace": value}
    return {label: [run] * experiment.replications for label in experiment.disciplines}


def measures(setting):
    return {"time": "half"} if setting["counted"] == "half" else {}


@pytest.fixture
def ran(monkeypatch):
    """Experiments that were run, with their rates."""
    found = []

    def simulate(experiment):
        found.append((experiment.id, experiment.overrides["network.rate"] / 1e6))
        return answer(experiment)

    monkeypatch.setattr(search, "simulate", simulate)
    return found


def page(noise=0.0, wrong=(), first=FIRST, unknowns=UNKNOWNS):
    """A page that printed what the truth gives, with a deviation, and other numbers in place of some."""
    rng, rows = np.random.default_rng(1), []
    declared = experiments(first)
    for own, true in zip(declared, experiments(TRUTH), strict=True):
        [runs] = answer(true).values()
        off = math.exp(noise * rng.standard_normal()) * (7 if own.id in wrong else 1)
        for name, true_name in (("time", "half"), ("pace", "pace")):
            value = Printed(runs[0][true_name] * off)
            rows.append(printed_beside(f"{name} {own.id}", quantity(own.id, own.disciplines[0], name), value))
    rows.append(Row("zero", quantity("run-1", declared[0].disciplines[0], "time"), "", Printed(0.0)))
    claim = Claim("claim", "Zhao 2004, Table III", "says", "settings", tuple(rows))
    calibration = Calibration(unknowns, experiments, (claim,), first, measures)
    return Page("made-up", "A page", "", (claim,), tuple(declared), calibration=calibration)


def test_the_truth_is_found_and_holds_on_the_half_kept_aside(ran):
    found = calibrate(page(noise=0.02))
    # What nothing depends on keeps its first value.
    assert found.tried.chosen == TRUTH | {"colour": "blue"} and found.plan.unseen() == ("colour",)
    fits = {(name, side): fit for name, side, fit in found.fits()}
    assert fits["chosen", "used"].median < 1.03 and fits["chosen", "kept aside"].median < 1.05
    assert fits["first", "kept aside"].median > 1.2
    weights = found.tried.likelihood
    assert weights["rate"][2] > 0.9 and weights["law"][1] > 0.9 and weights["counted"][1] > 0.9
    assert all(sum(of) == pytest.approx(1) for of in weights.values())
    assert found.by_none() == [] and found.unfitted() == []


def test_cells_kept_aside_are_not_looked_at(ran):
    """Other numbers printed on that side change neither the choice nor a likelihood, and of it two settings are run."""
    plain = page(noise=0.1)
    aside = {cell.experiment for cell in planned(plain).cells if not cell.used}
    found, other = calibrate(plain), calibrate(page(noise=0.1, wrong=aside))
    assert found.tried == other.tried and found.nearest == other.nearest
    assert {name for name, _ in ran} == {f"run-{k}" for k in range(1, EXPERIMENTS + 1)}
    rates = {found.tried.chosen["rate"], FIRST["rate"]}
    assert {rate for name, rate in ran if name in aside} == rates
    assert all({rate for own, rate in ran if own == name} == {5, 8, 10, 20} for name, _ in ran if name not in aside)
    before = {own.cell.id: own.factor for own in found.chosen}
    assert all(own.factor != before[own.cell.id] for own in other.chosen if not own.cell.used)


def test_the_halves_follow_from_page_and_group_alone():
    cells, left_out = cells_of("made-up", page().calibration, page().experiments)
    assert sum(cell.used for cell in cells) == EXPERIMENTS == len(cells) / 2
    assert left_out == ("claim/zero: 0 is printed",)
    again, _ = cells_of("made-up", page(noise=0.3, wrong=["run-2"]).calibration, page().experiments)
    assert [cell.used for cell in again] == [cell.used for cell in cells]
    together = replace(page().calibration, together=lambda name: f"pair-{(int(name[4:]) + 1) // 2}")
    pairs, _ = cells_of("made-up", together, page().experiments)
    assert all(len({own.used for own in pairs[k : k + 4]}) == 1 for k in range(0, len(pairs), 4))
    with pytest.raises(MayflyError, match="groups of experiments with printed numbers: 1: must be at least 2"):
        used_groups("made-up", ["a", "a"])


def test_a_cell_that_no_setting_fits_is_named(ran):
    used = [cell for cell in planned(page()).cells if cell.used]
    found = calibrate(page(wrong=[used[0].experiment]))
    assert found.tried.chosen["rate"] == TRUTH["rate"] and found.by_none() == [used[0].id, used[1].id]
    assert [own.cell.id for own in found.unfitted()] == found.by_none()
    assert found.unfitted()[0].factor == pytest.approx(7)
    assert f"| {used[0].id} | used |" in found.markdown() and "none fits" in found.markdown()


def test_a_run_that_fails_counts_as_wrong_and_is_told(monkeypatch):
    def simulate(experiment):
        if experiment.overrides["network.rate"] == 8e6:
            raise MayflyError("too slow")
        return answer(experiment)

    monkeypatch.setattr(search, "simulate", simulate)
    found = calibrate(page())
    assert found.tried.chosen["rate"] == TRUTH["rate"] and found.tried.best["rate"][1] == pytest.approx(math.log(1000))
    assert found.failed and all(own.endswith("too slow") for own in found.failed)
    assert "runs failed, such as run-" in found.sentences()[-1]


def test_a_search_goes_on_where_it_was_interrupted(ran, tmp_path, monkeypatch):
    whole, told = calibrate(page(), jobs=1), []
    first = list(ran)
    ran.clear()

    def until(share):
        told.append(share)
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        calibrate(page(), jobs=1, keep=tmp_path, progress=until)
    done = len(ran)
    assert 0 < done < len(first) and told == sorted(told)
    found = calibrate(page(), jobs=1, keep=tmp_path)
    assert found.tried == whole.tried and len(ran) < done + len(first) - done / 2
    ran.clear()
    assert calibrate(page(), jobs=1, keep=tmp_path).tried == whole.tried and ran == []


def test_what_is_tried_is_the_grid_or_a_sample_of_it(ran):
    calibration = page().calibration
    assert len(indices(calibration)) == 32 == len(np.unique(indices(calibration), axis=0))
    some = indices(calibration, 8)
    assert len(some) <= 8 and [0, 0, 1, 0] in some.tolist() and np.array_equal(some, indices(calibration, 8))
    with pytest.raises(MayflyError, match="--settings 1: must be at least 2"):
        indices(calibration, 1)
    many = replace(calibration, unknowns=UNKNOWNS + tuple(replace(UNKNOWNS[0], id=f"rate-{k}") for k in range(9)),
                   first=FIRST | {f"rate-{k}": 5 for k in range(9)})  # fmt: skip
    with pytest.raises(MayflyError, match="settings: must be at most 4,000,000; --settings N takes a sample"):
        indices(many)
    assert len(indices(many, 64)) <= 64
    # Runs that differ are few: an experiment of odd number depends on the rate, others on the law too.
    assert {own.id: len(own.unknowns) for own in varied(calibration)}["run-1"] == 2
    assert calibrate(page(), settings=16).plan.runs <= 32


def test_an_unknown_that_is_held_is_not_searched(ran):
    found = calibrate(page(), fixed=["rate=20", "colour=red"])
    assert found.tried.chosen["rate"] == 20 and found.tried.chosen["colour"] == "red"
    assert len(found.plan.indices) == 4 and {rate for _, rate in ran} == {20, FIRST["rate"]}
    assert "| rate of the link | 20 Mb/s | 5 Mb/s | not searched |" in found.markdown()
    for given, said in (("rat=5", "did you mean rate"), ("x", "ID=VALUE, of rate, law"), ("rate=6", "5, 8, 10, 20")):
        with pytest.raises(MayflyError, match=f"--fix {given}: must be .*{said}"):
            calibrate(page(), fixed=[given])


def test_experiments_that_are_not_those_of_the_first_setting_are_refused():
    calibration = page().calibration
    with pytest.raises(MayflyError, match="must have the ids of the first setting, in its order"):
        varied(replace(calibration, experiments=lambda setting: experiments(setting)[: 8 if setting == FIRST else 7]))
    with pytest.raises(MayflyError, match="values 1: must be at least two, all different"):
        Unknown("one", "one", (1,), "")
    with pytest.raises(MayflyError, match="first: rate = 6: must be one of 5, 8, 10, 20"):
        replace(calibration, first=FIRST | {"rate": 6})
    with pytest.raises(MayflyError, match="must be at least one, with different ids"):
        replace(calibration, unknowns=UNKNOWNS + UNKNOWNS)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"share": 0.001}, "--share 0.001: must be from 0.01 to 1"),
        ({"replications": 0}, "--replications 0: must be from 1"),
        ({"jobs": 0}, "--jobs 0: must be from 1"),
    ],
)
def test_numbers_out_of_bounds_are_refused(given, said):
    with pytest.raises(MayflyError, match=said):
        calibrate(page(), **given)


def test_pages_without_unknowns_are_named():
    with pytest.raises(MayflyError, match=r"PAGE = formulas: declares no unknowns; must be one of .*zhao-2004"):
        page_of("formulas")
    with pytest.raises(MayflyError, match="no such page; did you mean zhao-2004"):
        page_of("zhao-2044")
    with pytest.raises(MayflyError, match="no such page; those with unknowns: "):
        page_of("?")


def test_every_declared_calibration_has_cells_on_both_sides():
    for item in (own for own in PAGES if own.calibration is not None):
        cells, _ = cells_of(item.id, item.calibration, item.experiments)
        assert len({cell.used for cell in cells}) == 2
        assert {cell.experiment for cell in cells} <= {own.id for own in item.experiments}
        for own in item.calibration.experiments(item.calibration.first):
            own.loaded()


def test_the_answer_is_written_whole(ran, tmp_path):
    found = calibrate(page(noise=0.05))
    files = write_calibration(found, tmp_path / "out")
    document = json.loads((tmp_path / "out" / "calibration.json").read_text())
    assert document["files"] == files and document["chosen"]["rate"] == 10 and document["settings"] == 32
    assert len(document["cells_judged"]) == 2 * EXPERIMENTS
    text = (tmp_path / "out" / "calibration.md").read_text()
    assert text.startswith("# A page: what it must have run\n") and "rate of the link | 10 Mb/s | 5 Mb/s |" in text


def test_the_command_shows_its_plan_and_refuses_in_one_line(tmp_path):
    shown = mayfly("reproduce", "calibrate", "formulas", "--out", str(tmp_path / "no"))
    assert shown.status == 2 and shown.err.count("\n") == 1 and "declares no unknowns" in shown.err
    assert not (tmp_path / "no").exists()
    text = mayfly("reproduce", "calibrate", "--help").out
    assert text.startswith("Usage: mayfly reproduce calibrate") and "Example:" in text
    assert mayfly("reproduce").status == 2 and "ID is missing" in mayfly("reproduce").err
    plan = mayfly("reproduce", "calibrate", "zhao-2004", "--plan", "--settings", "8", "--json")
    assert json.loads(plan.out)["page"] == "zhao-2004" and json.loads(plan.out)["settings"] <= 8
