"""What CI runs of the slow lane: an eighth per submission, and the eight are the lane."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def git(folder, *arguments):
    who = ["-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", "-C", folder, *who, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path):
    """A repository with the first turn and the program that chooses the eighth."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "part", tmp_path / ".ci")
    take_a_turn(tmp_path, 7)
    return tmp_path


def take_a_turn(checkout, turn):
    (checkout / ".ci" / "turn").write_text(f"{turn}\n", encoding="utf-8")
    git(checkout, "add", "--all")
    git(checkout, "commit", "--quiet", "--message", "turn")


def commit(checkout, times):
    for _ in range(times):
        git(checkout, "commit", "--quiet", "--allow-empty", "--message", "work")


def part(checkout):
    return subprocess.run([checkout / ".ci" / "part"], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("sizes", [(1,) * 8, (4,) * 8, (24, 2, 8, 13, 1, 20, 3, 5)])
def test_eight_submissions_of_any_length_see_the_eight_parts(checkout, sizes):
    seen = []
    for turn, size in enumerate(sizes, 8):
        take_a_turn(checkout, turn)
        commit(checkout, size - 1)
        seen.append(part(checkout))
    assert sorted(seen) == [f"{number}/8" for number in range(1, 9)]


def test_the_part_is_the_commits_own(checkout):
    before = part(checkout)
    take_a_turn(checkout, 8)
    assert part(checkout) != before
    git(checkout, "checkout", "--quiet", "HEAD~")
    assert part(checkout) == before


def test_a_turn_that_nobody_takes_comes_with_every_25_commits(checkout):
    seen = [part(checkout)]
    for _ in range(8):
        commit(checkout, 25)
        seen.append(part(checkout))
    assert len(set(seen[:8])) == 8 and seen[8] == seen[0]


def lane(folder, *paths, command="echo ran"):
    """What ``.ci/lane`` says, and its status."""
    done = subprocess.run(
        [ROOT / ".ci" / "lane", "name", *paths, "--", "sh", "-c", command],
        cwd=folder,
        env=os.environ | {"LANE_CACHE": str(folder / ".git" / "cache")},
        capture_output=True,
        text=True,
    )
    return done.stdout.strip() if done.returncode == 0 else done.returncode


def test_a_lane_is_skipped_where_it_passed_with_the_same_files(checkout):
    (checkout / "a").write_text("1")
    git(checkout, "add", "--all")
    git(checkout, "commit", "--quiet", "--message", "a")
    assert lane(checkout, "a", command="exit 3") == 3
    assert lane(checkout, "a") == "ran"
    assert lane(checkout, "a").startswith("lane name: passed before with the same a")
    # Another command, and other inputs, are another lane; a commit elsewhere is none.
    assert lane(checkout, "a", command="echo ran again") == "ran again"
    assert lane(checkout, "a", ".ci") == "ran"
    take_a_turn(checkout, 9)
    assert lane(checkout, "a").startswith("lane name: passed before")
    assert lane(checkout, "a", ".ci") == "ran"
    (checkout / "a").write_text("2")
    assert lane(checkout, "a") == lane(checkout, "a") == "ran"
    git(checkout, "commit", "--quiet", "--all", "--message", "b")
    assert lane(checkout, "a") == "ran"
    assert lane(checkout, "a", "absent") == 2


def lane_inputs():
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8").replace("\\\n", " ")
    lanes = re.findall(r"\.ci/lane \S+ (.*?) -- ", text)
    assert len(lanes) == 2
    return {path for paths in lanes for path in paths.split()}


def test_the_inputs_of_lanes_are_committed():
    for path in lane_inputs():
        assert git(ROOT, "ls-files", "--", path), path


MAKEFILE = """
build lint docs test-explore test-papers instructions test-kernel:
	@{other}
test:
	@echo 'FAILED tests/a.py::test_a - assert 1 == 2'; echo '2 failed, 7 passed, 1 skipped in 1.25s'; {test}
"""


@pytest.fixture
def ci_run(checkout):
    """Runs ``.ci/run`` of a repository whose targets are stubs; gives the lines printed, and the status."""
    for name in ("run", "lane", "kernel"):
        shutil.copy(ROOT / ".ci" / name, checkout / ".ci")
    (checkout / ".ci" / "packages").touch()

    def run(*, other="true", test="true", limit=3600):
        for path in ("kernel", "tests/kernel", "python/mayfly/scenario/attacks.py", *lane_inputs() - {"Makefile"}):
            (checkout / path).mkdir(parents=True, exist_ok=True)
            (checkout / path / "a").touch()
        (checkout / "Makefile").write_text(MAKEFILE.format(other=other, test=test), encoding="utf-8")
        git(checkout, "add", "--all")
        git(checkout, "commit", "--quiet", "--allow-empty", "--message", "stubs")
        settings = {"CI_LIMIT_S": str(limit)}
        settings |= {name: str(checkout / ".git" / "cache") for name in ("LANE_CACHE", "KERNEL_CACHE")}
        done = subprocess.run([checkout / ".ci" / "run"], env=os.environ | settings, capture_output=True, text=True)
        return done.stdout.splitlines(), done.returncode

    return run


def table(lines):
    """Result of each lane."""
    found = [re.match(r"(passed|FAILED|cut off|no time) +\d+ s  (.*)", line) for line in lines]
    return {row[2]: row[1] for row in found if row}


def test_the_run_ends_with_the_closing_line_of_the_fast_lane(ci_run):
    lines, status = ci_run()
    assert (status, lines[-1]) == (0, "2 failed, 7 passed, 1 skipped in 1.25s")
    assert len(table(lines)) >= 7 and set(table(lines).values()) == {"passed"}


def test_a_fast_lane_that_fails_fails_the_run_and_is_listed_at_its_end(ci_run):
    lines, status = ci_run(test="exit 1")
    found = table(lines)
    assert (status, found.pop("fast lane"), set(found.values())) == (1, "FAILED", {"passed"})
    assert lines[-2:] == ["FAILED tests/a.py::test_a - assert 1 == 2", "2 failed, 7 passed, 1 skipped in 1.25s"]


CLOSING = "1 skipped, 2 errors in 3.50s"


@pytest.mark.slow  # a minute and a half of sleep
def test_a_slow_machine_fails_nothing_but_a_fast_lane_that_did_not_end(ci_run):
    # Three tenths of the limit are left for the fast lane.
    lines, status = ci_run(other="[ $@ != docs ] || sleep 90", limit=50)
    assert (table(lines)["site"], table(lines)["fast lane"], status) == ("cut off", "passed", 0)
    # What is interrupted still says what failed.
    interrupted = f"trap 'echo \"{CLOSING}\"; exit 2' INT; sleep 90 & wait"
    lines, status = ci_run(test=interrupted, limit=50)
    assert (table(lines)["site"], table(lines)["fast lane"], status) == ("passed", "cut off", 1)
    assert lines[-1] == CLOSING


@pytest.mark.slow
def test_every_test_of_the_slow_lane_is_in_one_part(pytestconfig):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", "-m", "slow or papers"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    tests = [line for line in done.stdout.splitlines() if "::" in line]
    habits = pytestconfig.pluginmanager.get_plugin(str(ROOT / "conftest.py"))
    seconds = tomllib.loads((ROOT / "tests" / "slow_seconds.toml").read_text(encoding="utf-8"))
    files = {test: Path(test.partition("::")[0]).stem for test in tests}
    parts = [habits.in_part(files.values(), (number, 8), seconds) for number in range(1, 9)]
    ran = [test for part in parts for test in tests if files[test] in part]
    assert len(tests) > 500 and sorted(ran) == sorted(tests)
