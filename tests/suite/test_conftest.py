"""The suite's own habits, as conftest.py at the root has them."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest_plugins = ["pytester"]
ROOT = Path(__file__).parents[2]
seconds = st.dictionaries(st.text("abcdef_", min_size=1, max_size=9), st.floats(0.1, 1000), max_size=40)


@pytest.fixture(scope="session")
def habits(pytestconfig):
    return pytestconfig.pluginmanager.get_plugin(str(ROOT / "conftest.py"))


@pytest.fixture
def suite(pytester):
    """A suite of its own with this conftest: two files of the slow lane with recorded seconds, four without."""
    pytester.makepyprojecttoml('[tool.pytest.ini_options]\nmarkers = ["slow: x", "papers: x", "kernel: x"]\n')
    pytester.makeconftest((ROOT / "conftest.py").read_text(encoding="utf-8"))
    pytester.mkdir("tests").joinpath("slow_seconds.toml").write_text("test_a = 90\ntest_b = 10\n")
    for name, mark in zip("abcdef", ("slow", "papers") * 3, strict=True):
        pytester.path.joinpath("tests", f"test_{name}.py").write_text(
            "import pytest\n"
            f"@pytest.mark.{mark}\n@pytest.mark.parametrize('k', range(3))\ndef test_{name}(k): pass\n"
            f"def test_{name}_fast(): pass\n"
            f"def test_{name}_skipped(): pytest.skip('needs a thing')\n"
        )
    return pytester


@given(known=seconds, new=st.sets(st.text("ghij", min_size=1)), count=st.integers(1, 6))
def test_the_parts_are_a_partition(habits, known, new, count):
    files = new | set(known)
    chosen = [habits.in_part(files, (number, count), known) for number in range(1, count + 1)]
    assert sorted(name for part in chosen for name in part) == sorted(files)


@given(known=seconds, count=st.integers(1, 6))
def test_no_part_is_longer_than_another_by_more_than_its_shortest_file(habits, known, count):
    part_of = habits.parts(known, count)
    files = [[known[name] for name in known if part_of[name] == number] for number in range(1, count + 1)]
    totals = list(map(sum, files))
    assert all(total - min(own) <= min(totals) + 1e-6 for total, own in zip(totals, files, strict=True) if own)


def test_a_new_file_moves_no_other(habits):
    known, files = {"test_a": 90.0, "test_b": 10.0}, {f"test_{k}" for k in range(20)}
    before = habits.in_part(files, (2, 4), known)
    assert habits.in_part(files | {"test_new"}, (2, 4), known) - {"test_new"} == before


def test_the_recorded_parts_of_the_slow_lane_are_even(habits):
    known = tomllib.loads((ROOT / "tests" / "slow_seconds.toml").read_text(encoding="utf-8"))
    part_of = habits.parts(known, 8)
    totals = [sum(known[name] for name in known if part_of[name] == number) for number in range(1, 9)]
    assert max(totals) < max(1.2 * sum(known.values()) / 8, max(known.values()) + 1)


def test_four_quarters_run_every_slow_test_once(suite):
    ran = []
    for number in range(1, 5):
        result = suite.inline_run("-m", "slow or papers", "--part", f"{number}/4")
        passed, skipped, failed = result.listoutcomes()
        assert (skipped, failed) == ([], [])
        ran += [report.nodeid for report in passed]
    assert sorted(ran) == sorted(f"tests/test_{name}.py::test_{name}[{k}]" for name in "abcdef" for k in range(3))


@pytest.mark.parametrize("jobs", [[], ["-n", "2", "--dist", "loadfile"]], ids=["alone", "xdist"])
def test_what_ran_and_what_was_skipped_stand_before_the_closing_line(suite, jobs):
    lines = suite.runpytest_subprocess("-q", "--part", "1/4", *jobs).outlines
    assert lines[-2:-1] == ["     6 needs a thing"]
    [told] = [k for k, line in enumerate(lines) if "part 1 of 4 of the slow lane" in line]
    tests, files = int(lines[told + 1].split()[0]), int(lines[told + 1].split()[-2])
    assert lines[told + 1] == f"{tests} of 18 tests, in {files} files" and tests == 3 * files
    assert lines[told + 2] == "     3 test_a"
    assert lines[-1].startswith(f"{6 + tests} passed, 6 skipped")


def test_without_the_option_everything_runs_and_no_part_is_told(suite):
    result = suite.runpytest("-q")
    result.assert_outcomes(passed=24, skipped=6)
    assert "slow lane" not in result.stdout.str()


@pytest.mark.parametrize("text", ["0/4", "5/4", "x", "1", "1/0", "-1/4"])
def test_a_part_that_is_none_is_refused(habits, text):
    with pytest.raises(pytest.UsageError, match="must be K/N"):
        habits.part_of(text)


def test_temporary_paths_stay_short_whatever_the_name_of_the_test(tmp_path, tmp_path_factory):
    assert tmp_path.parent == tmp_path_factory.getbasetemp()
    assert tmp_path.name.isdecimal() and list(tmp_path.iterdir()) == []


def test_a_file_is_searched_for_doctests_where_it_has_a_prompt(suite):
    suite.makepyfile(
        with_prompt='"""An example.\n\n>>> 1 + 1\n3\n"""\n',
        without="raise AssertionError('imported')\n",
    )
    suite.runpytest("-q", "--doctest-modules").assert_outcomes(passed=24, skipped=6, failed=1)


def test_a_signal_that_a_test_ignores_is_not_ignored_in_the_next(suite):
    suite.path.joinpath("tests", "test_a.py").write_text(
        "import signal\n"
        "def test_one(): signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "def test_two(): assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL\n"
    )
    suite.runpytest_subprocess("-q", "tests/test_a.py").assert_outcomes(passed=2)
