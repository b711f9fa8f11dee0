"""What CI runs of the slow lane: a quarter per submission, and the four quarters are the lane."""

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
    """A repository with the first turn and the program that chooses the quarter."""
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


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (4, 4, 4, 4), (24, 2, 8, 13)])
def test_four_submissions_of_any_length_see_the_four_quarters(checkout, sizes):
    seen = []
    for turn, size in enumerate(sizes, 8):
        take_a_turn(checkout, turn)
        commit(checkout, size - 1)
        seen.append(part(checkout))
    assert sorted(seen) == ["1/4", "2/4", "3/4", "4/4"]


def test_the_quarter_is_the_commits_own(checkout):
    before = part(checkout)
    take_a_turn(checkout, 8)
    assert part(checkout) != before
    git(checkout, "checkout", "--quiet", "HEAD~")
    assert part(checkout) == before


def test_a_turn_that_nobody_takes_comes_with_every_25_commits(checkout):
    seen = [part(checkout)]
    for _ in range(4):
        commit(checkout, 25)
        seen.append(part(checkout))
    assert len(set(seen[:4])) == 4 and seen[4] == seen[0]


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


def test_the_inputs_of_lanes_are_committed():
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8").replace("\\\n", " ")
    lanes = re.findall(r"\.ci/lane \S+ (.*?) -- ", text)
    assert len(lanes) == 2
    for path in {path for paths in lanes for path in paths.split()}:
        assert git(ROOT, "ls-files", "--", path), path


@pytest.mark.slow
def test_every_test_of_the_slow_lane_is_in_one_quarter(pytestconfig):
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
    quarters = [habits.in_part(files.values(), (number, 4), seconds) for number in range(1, 5)]
    ran = [test for quarter in quarters for test in tests if files[test] in quarter]
    assert len(tests) > 500 and sorted(ran) == sorted(tests)
