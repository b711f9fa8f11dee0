"""The file of a sweep: designs, and what is refused before anything runs."""

import pytest
from files import grid, plan_of

from mayfly.errors import MayflyError
from mayfly.sweep.plan import load_plan


def test_a_grid_has_every_combination(tmp_path):
    plan = load_plan(grid(tmp_path))
    assert plan.names == ("network.buffer", "workload.load")
    assert [tuple(point.values()) for point in plan.points] == [
        (20, "4mbit"),
        (20, "8mbit"),
        (100, "4mbit"),
        (100, "8mbit"),
    ]
    assert plan.disciplines == ("fifo", "efd") and plan.seeds == (1, 2) and plan.most_runs == 16


def test_a_random_design_is_the_same_each_time_and_within_its_bounds(tmp_path):
    text = """
        scenario = "wired"
        design = "random"
        points = 200
        [fields]
        "network.buffer" = { from = 10, to = 1000, scale = "log" }
        "network.delay" = { from = "1ms", to = "9ms" }
        "tcp.mss" = [500, 1460]
    """
    plan = plan_of(tmp_path, text)
    assert plan.points == plan_of(tmp_path, text).points
    buffers = [point["network.buffer"] for point in plan.points]
    assert all(isinstance(value, int) and 10 <= value <= 1000 for value in buffers)
    # Equal ratios: half of them lie below the geometric mean, within four standard deviations.
    assert abs(sum(value < 100 for value in buffers) - 100) < 4 * 200**0.5 / 2
    assert all(1 <= float(point["network.delay"].removesuffix("ms")) <= 9 for point in plan.points)
    assert {point["tcp.mss"] for point in plan.points} == {500, 1460}


def test_a_list_has_its_points_and_options_of_a_discipline_are_fields(tmp_path):
    text = """
        scenario = "wired"
        disciplines = "fifo,efd(high=las)"
        design = "list"
        [[point]]
        "efd.threshold" = 5000
        [[point]]
        "network.buffer" = 50
    """
    plan = plan_of(tmp_path, text)
    assert plan.discipline("efd(high=las)", plan.points[0]) == "efd(high=las, threshold=5000)"
    assert plan.discipline("fifo", plan.points[0]) == "fifo"
    assert plan.discipline("efd(high=las)", plan.points[1]) == "efd(high=las)"
    assert plan.overrides(plan.points[0]) == {} and plan.overrides(plan.points[1]) == {"network.buffer": 50}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1", "unknown field x; a sweep has scenario"),
        ("", "scenario: Field required"),
        ('scenario = "none"', "no such file; ready scenarios are"),
        ('scenario = "wired"\ndesign = "random"', "points = None: must be given with design = random"),
        ('scenario = "wired"\ndesign = "list"', "[[point]]: must be given"),
        ('scenario = "wired"\nseeds = 0', "seeds = 0: must be at least 1"),
        ('scenario = "wired"\nseeds = [1, 1]', "seeds = (1, 1)"),
        ('scenario = "wired"\nseeds = 3\n[stop]\nrelative_ci = 0.1', "seeds = 3: must be left out with [stop]"),
        ('scenario = "wired"\n[stop]\nmin_seeds = 9\nmax_seeds = 3', "max_seeds = 3: must be at least min_seeds, 9"),
        ('scenario = "wired"\n[fields]\n"network.bufer" = [1]', "did you mean network.buffer?"),
        ('scenario = "wired"\n[fields]\n"network.buffer" = [0]', "network.buffer = 0"),
        ('scenario = "wired"\n[fields]\n"network.buffer" = []', "must have a value"),
        ('scenario = "wired"\n[fields]\nseed = [1]', "seed: is no field of a sweep"),
        (
            'scenario = "wired"\ndisciplines = "fifo"\n[fields]\n"efd.threshold" = [9]',
            "efd is not among the disciplines",
        ),
        (
            'scenario = "wired"\n[fields]\n"network.delay" = { from = "1ms", to = "2s" }',
            "must be numbers with the same",
        ),
        ('scenario = "wired"\n[fields]\n"network.buffer" = { from = 9, to = 2 }', "to = 2: must be above from = 9"),
        ('scenario = "wired"\n[fields]\n"network.buffer" = { from = 0, to = 2, scale = "log" }', "must be above 0"),
        ("scenario = [", "not a sweep: "),
    ],
)
def test_a_mistake_is_told_in_a_line(tmp_path, text, said):
    with pytest.raises(MayflyError) as refused:
        plan_of(tmp_path, text)
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_too_many_points_are_refused(tmp_path):
    values = ", ".join(str(k) for k in range(1, 1102))
    text = f'scenario = "wired"\n[fields]\n"network.buffer" = [{values}]\n"tcp.mss" = [{values}]'
    with pytest.raises(MayflyError, match="1212201 points: must be at most 1000000"):
        plan_of(tmp_path, text)
