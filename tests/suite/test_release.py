"""``make release``: the version in all its places, and a checkout that is as it was until everything is built."""

import importlib.util
import re
import subprocess
import zipfile
from datetime import date
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DAY = date(2026, 11, 24)
CARGO = """[workspace]
members = ["crates/a"]

[workspace.package]
version = "0.1.0"
edition = "2024"

[workspace.dependencies]
dary_heap = "0.1.0"
"""
LOCK = """version = 4

[[package]]
name = "dary_heap"
version = "0.1.0"
source = "registry"

[[package]]
name = "mayfly-a"
version = "0.1.0"
dependencies = [
 "dary_heap",
]
"""
CHANGELOG = """# Changelog

## [Unreleased]

### Added

- A thing

## [0.1.0] - 2026-01-01

- The first thing
"""
PYPROJECT = """[project]
name = "mayfly-papers"
version = "0.1.0"
dependencies = ["mayfly==0.1.0"]
"""


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("release", ROOT / ".ci" / "release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def git(folder, *arguments):
    done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "checkout"
    files = {
        "Cargo.toml": CARGO,
        "Cargo.lock": LOCK,
        "CHANGELOG.md": CHANGELOG,
        "CITATION.cff": "cff-version: 1.2.0\nversion: 0.1.0\n",
        "papers/pyproject.toml": PYPROJECT,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    git(folder, "init", "--quiet", "--initial-branch", "main")
    for key, value in {"user.name": "a", "user.email": "a@b.invalid", "commit.gpgsign": "false"}.items():
        git(folder, "config", key, value)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "all")
    return folder


def state(checkout):
    """All that a release could change."""
    asked = [("log", "--oneline", "--all"), ("status", "--porcelain"), ("tag",), ("branch",), ("worktree", "list")]
    return [git(checkout, *words) for words in asked]


def test_a_release_sets_the_version_closes_the_changelog_and_tags(tool, checkout, tmp_path, monkeypatch):
    built = []
    monkeypatch.setattr(tool, "build", lambda source, dist, version: built.append((tool.version_of(source), version)))
    tool.release(checkout, "0.2.0", tmp_path / "dist", ["papers"], dry=False)
    assert built == [("0.2.0", "0.2.0")]
    assert git(checkout, "describe", "--dirty") == "v0.2.0"
    assert git(checkout, "log", "-1", "--format=%s") == "release: 0.2.0"
    changed = git(checkout, "diff", "--unified=0", "HEAD~").splitlines()
    added = [line[1:] for line in changed if re.match(r"\+(?!\+\+)", line)]
    today = re.search(r"\d{4}-\d\d-\d\d", (checkout / "CHANGELOG.md").read_text(encoding="utf-8"))[0]
    assert sorted(added) == sorted(
        [
            'version = "0.2.0"',
            'version = "0.2.0"',
            'version = "0.2.0"',
            "version: 0.2.0",
            'dependencies = ["mayfly==0.2.0"]',
            f"## [0.2.0] - {today}",
            "",
        ]
    )
    assert len(git(checkout, "worktree", "list").splitlines()) == 1


def test_a_dry_run_shows_all_of_it_and_changes_nothing(tool, checkout, tmp_path, capfd):
    before = state(checkout)
    tool.release(checkout, "0.2.0", tmp_path / "dist", ["papers"], dry=True)
    assert state(checkout) == before and not (tmp_path / "dist").exists()
    shown = capfd.readouterr().out
    assert shown.count('+version = "0.2.0"') == 3 and "+## [0.2.0] - " in shown
    assert "git tag --annotate v0.2.0" in shown and "git merge --ff-only COMMIT, on main" in shown


def test_what_cannot_be_built_leaves_the_checkout_as_it_was(tool, checkout, tmp_path, monkeypatch):
    def fails(*_):
        raise subprocess.CalledProcessError(1, ["make", "dist"])

    monkeypatch.setattr(tool, "build", fails)
    before = state(checkout)[1:]
    head = git(checkout, "rev-parse", "HEAD")
    with pytest.raises(subprocess.CalledProcessError):
        tool.release(checkout, "0.2.0", tmp_path / "dist", ["papers"], dry=False)
    assert state(checkout)[1:] == before and git(checkout, "rev-parse", "HEAD") == head


@pytest.mark.parametrize("version", ["", "1", "1.2", "v1.2.0", "1.2.0rc1", "01.2.0", "1.2.0.0"])
def test_a_version_is_three_numbers(tool, checkout, tmp_path, version):
    with pytest.raises(tool.RefusedError, match="must be three numbers"):
        tool.check(checkout, version, tmp_path)


def test_versions_only_rise(tool, checkout, tmp_path):
    tool.check(checkout, "0.1.0", tmp_path)
    tool.check(checkout, "0.10.0", tmp_path)
    with pytest.raises(tool.RefusedError, match=r"must not be below 0\.1\.0"):
        tool.check(checkout, "0.0.9", tmp_path)
    git(checkout, "tag", "v0.1.0")
    with pytest.raises(tool.RefusedError, match=r"the tag v0\.1\.0 exists"):
        tool.check(checkout, "0.1.0", tmp_path)


@pytest.mark.parametrize("name", ["CHANGELOG.md", "new"])
def test_changes_are_committed_first(tool, checkout, tmp_path, name):
    (checkout / name).write_text("x", encoding="utf-8")
    with pytest.raises(tool.RefusedError, match=f"to be committed first: .+ {name}"):
        tool.check(checkout, "0.2.0", tmp_path)


def test_what_was_built_before_is_not_mixed_in(tool, checkout, tmp_path):
    (tmp_path / "mayfly-0.2.0.tar.gz").touch()
    tool.check(checkout, "0.20.0", tmp_path)
    with pytest.raises(tool.RefusedError, match="exists"):
        tool.check(checkout, "0.2.0", tmp_path)


def test_a_changelog_needs_something_to_release(tool):
    assert tool.closed(CHANGELOG, "0.2.0", DAY) == CHANGELOG.replace(
        "## [Unreleased]\n", "## [Unreleased]\n\n## [0.2.0] - 2026-11-24\n"
    )
    with pytest.raises(tool.RefusedError, match="nothing is unreleased"):
        tool.closed(tool.closed(CHANGELOG, "0.2.0", DAY), "0.3.0", DAY)
    with pytest.raises(tool.RefusedError, match="has no line"):
        tool.closed("# Changelog\n", "0.2.0", DAY)


def test_the_version_is_one_in_this_checkout(tool):
    here = tool.version_of(ROOT)
    assert tool.IN_CITATION.search((ROOT / "CITATION.cff").read_text(encoding="utf-8"))[2] == here
    lock = (ROOT / "Cargo.lock").read_text(encoding="utf-8")
    assert tool.locked(lock, here) == lock
    assert tool.OPEN in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def wheel_of(folder, name, requires):
    path = folder / f"{name}-0.1.0-py3-none-any.whl"
    lines = [f"Name: {name}", "Version: 0.1.0", *(f"Requires-Dist: {one}" for one in requires)]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            f"{name}-0.1.0.dist-info/METADATA", "Metadata-Version: 2.4\n" + "\n".join(lines) + "\n\nText\n"
        )
    return path


def bill(subject, **components):
    rows = [{"name": name, "version": version} for name, version in components.items()]
    return {"metadata": {"component": {"name": subject, "version": "0.1.0"}}, "components": rows}


def test_bills_that_lack_what_a_wheel_has_are_refused(tool, tmp_path):
    needs = ["Typer_Slim>=0.20", "numpy>=2; python_version >= '3'", "tomli; python_version < '3'", "dask; extra == 'x'"]
    wheels = [wheel_of(tmp_path, "mayfly", needs), wheel_of(tmp_path, "mayfly-papers", ["mayfly==0.1.0"])]
    linked = {("serde", "1.0.2"), ("mayfly-py", "0.1.0")}
    crates = bill("mayfly-py", serde="1.0.2")
    packages = bill("mayfly", numpy="2.3.0", **{"typer-slim": "0.21.0", "mayfly-papers": "0.1.0"})
    assert tool.absent_from(crates, linked, packages, wheels) == []
    # Each of them once: absent, and there in another version.
    for name in ("numpy", "typer-slim", "mayfly-papers"):
        for version in (None, "0.0.1"):
            rows = [row for row in packages["components"] if row["name"] != name]
            rows += [] if version is None else [{"name": name, "version": version}]
            [absent] = tool.absent_from(crates, linked, packages | {"components": rows}, wheels)
            assert absent.lower().replace("_", "-").startswith(name)
    assert tool.absent_from(bill("mayfly-py", serde="1.0.1"), linked, packages, wheels) == ["crate serde 1.0.2"]
    assert tool.absent_from(bill("other"), linked, packages, wheels) == [
        "crate mayfly-py 0.1.0",
        "crate serde 1.0.2",
    ]


def test_the_crates_of_a_wheel_are_those_that_are_linked(tool):
    linked = tool.crates_of(ROOT)
    names = {name for name, _ in linked}
    assert {"mayfly-py", "mayfly-netsim", "pyo3", "serde"} <= names
    # What only tests are built of is not in a wheel.
    assert not {"proptest", "insta"} & names
