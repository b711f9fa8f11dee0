"""``make release VERSION=x.y.z``: version, changelog, wheels, source archives, bills of materials, commit and tag.

All of it is done in a second worktree. The checkout gets the commit and the tag at the end, when everything has been
built from that commit; until then a failure leaves it as it was. Nothing is pushed or uploaded.
"""

import argparse
import email
import json
import platform
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
IN_CARGO = re.compile(r'(\[workspace\.package\]\nversion = ")([^"]+)(")')
IN_CITATION = re.compile(r"(?m)^(version: )(.+)()$")
IN_PYPROJECT = re.compile(r'(?m)^(version = ")([^"]+)(")')
OPEN = "## [Unreleased]\n"


class RefusedError(Exception):
    """What keeps a release from being made, in a line."""


def run(*command: str | Path, cwd: Path) -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def version_of(root: Path) -> str:
    """The version that stands in Cargo.toml, the one place that everything else follows."""
    found = IN_CARGO.search((root / "Cargo.toml").read_text(encoding="utf-8"))
    if found is None:
        raise RefusedError("Cargo.toml: has no version of the workspace")
    return found[2]


def numbers(version: str) -> tuple[int, ...]:
    """``"1.10.0"`` as ``(1, 10, 0)``, by which versions are ordered."""
    if not re.fullmatch(r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}", version):
        raise RefusedError(f"VERSION={version}: must be three numbers, such as 0.2.0")
    return tuple(map(int, version.split(".")))


def closed(changelog: str, version: str, day: date) -> str:
    """The changelog with what was unreleased under the version, and nothing unreleased."""
    before, found, after = changelog.partition(OPEN)
    if not found:
        raise RefusedError(f"CHANGELOG.md: has no line {OPEN.strip()}")
    if not re.split(r"(?m)^## ", after)[0].strip():
        raise RefusedError("CHANGELOG.md: nothing is unreleased")
    return f"{before}{OPEN}\n## [{version}] - {day}\n{after}"


def locked(lock: str, version: str) -> str:
    """Cargo.lock with that version of the workspace's own crates, which are those without a source."""
    head, *packages = lock.split("[[package]]\n")
    own = [
        text if "\nsource = " in text else re.sub(r'(?m)^version = ".*"$', f'version = "{version}"', text, count=1)
        for text in packages
    ]
    return "[[package]]\n".join([head, *own])


def check(root: Path, version: str, dist: Path) -> None:
    """Refuses what would not end in a release."""
    here = version_of(root)
    if numbers(version) < numbers(here):
        raise RefusedError(f"VERSION={version}: must not be below {here}, the version of Cargo.toml")
    if changed := run("git", "status", "--porcelain", cwd=root):
        raise RefusedError(f"the checkout has changes, to be committed first: {changed.splitlines()[0].strip()}")
    if run("git", "tag", "--list", f"v{version}", cwd=root):
        raise RefusedError(f"the tag v{version} exists")
    if there := sorted(dist.glob(f"mayfly*-{version}[-.]*")):
        raise RefusedError(f"{there[0]}: exists")
    closed((root / "CHANGELOG.md").read_text(encoding="utf-8"), version, date.min)


def set_version(root: Path, version: str, day: date, pure: Iterable[str]) -> None:
    """Writes the version where it stands, and closes the changelog."""
    before = version_of(root)

    def write(name: str, text: str) -> None:
        (root / name).write_text(text, encoding="utf-8")

    def read(name: str) -> str:
        return (root / name).read_text(encoding="utf-8")

    pyprojects = [f"{folder}/pyproject.toml" for folder in pure]
    places = [("Cargo.toml", IN_CARGO), ("CITATION.cff", IN_CITATION), *((name, IN_PYPROJECT) for name in pyprojects)]
    for name, pattern in places:
        text, found = pattern.subn(rf"\g<1>{version}\g<3>", read(name), count=1)
        if not found:
            raise RefusedError(f"{name}: has no version")
        write(name, text)
    for name in pyprojects:
        write(name, read(name).replace(f"mayfly=={before}", f"mayfly=={version}"))
    write("Cargo.lock", locked(read("Cargo.lock"), version))
    write("CHANGELOG.md", closed(read("CHANGELOG.md"), version, day))


@contextmanager
def worktree(root: Path) -> Iterator[Path]:
    """A second worktree at the commit of the checkout, which builds with its environment and into its target."""
    with tempfile.TemporaryDirectory(prefix="mayfly-release-") as place:
        folder = Path(place) / "mayfly"
        run("git", "worktree", "add", "--quiet", "--detach", folder, "HEAD", cwd=root)
        try:
            for name in (".venv", "target"):
                if (root / name).exists():
                    (folder / name).symlink_to((root / name).resolve())
            yield folder
        finally:
            run("git", "worktree", "remove", "--force", folder, cwd=root)


def crates_of(source: Path) -> set[tuple[str, str]]:
    """Names and versions of the crates that are linked into the native module on this machine."""
    tree = ("cargo", "tree", "--locked", "--package", "mayfly-py", "--edges", "normal", "--prefix", "none")
    lines = run(*tree, "--format", "{p}", cwd=source).splitlines()
    return {(name, version.removeprefix("v")) for name, version, *_ in map(str.split, filter(None, lines))}


def needed_by(wheels: Iterable[Path]) -> tuple[dict[str, str], list[Requirement]]:
    """Versions of the distributions in wheels by name, and what they need here without extras."""
    versions, needed = {}, []
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            [name] = [name for name in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)]
            metadata = email.message_from_bytes(archive.read(name))
        versions[canonicalize_name(metadata["Name"])] = metadata["Version"]
        needed += [Requirement(text) for text in metadata.get_all("Requires-Dist") or ()]
    return versions, [one for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})]


def components_of(bill: Mapping[str, Any]) -> dict[str, set[str]]:
    """Versions by name of all that a bill of materials lists, its subject too."""
    found: dict[str, set[str]] = {}

    def see(component: Mapping[str, Any]) -> None:
        found.setdefault(component["name"], set()).add(component.get("version", ""))
        for part in component.get("components", ()):
            see(part)

    see({"name": "", **bill.get("metadata", {}).get("component", {})})
    for component in bill.get("components", ()):
        see(component)
    return found


def absent_from(
    crates: Mapping[str, Any], linked: Iterable[tuple[str, str]], packages: Mapping[str, Any], wheels: Iterable[Path]
) -> list[str]:
    """What is in wheels, or is installed with them, and in no bill of materials."""
    of_crates = components_of(crates)
    absent = [f"crate {name} {version}" for name, version in sorted(linked) if version not in of_crates.get(name, ())]
    of_packages: dict[str, set[str]] = {}
    for name, versions in components_of(packages).items():
        of_packages.setdefault(canonicalize_name(name), set()).update(versions)
    own, needed = needed_by(wheels)
    absent += [f"{name} {version}" for name, version in own.items() if version not in of_packages.get(name, ())]
    for one in needed:
        there = of_packages.get(canonicalize_name(one.name), ())
        if not any(one.specifier.contains(version, prereleases=True) for version in there if version):
            absent.append(str(one))
    return absent


def bills_of_materials(source: Path, dist: Path, version: str) -> None:
    """CycloneDX files into ``dist``: crates as maturin wrote them into the wheel, Python as an installation has it."""
    # Those that can be installed here: the wheels of other processors hold the same crates.
    here = ("-any", f"_{platform.machine()}")
    wheels = [wheel for wheel in sorted(dist.glob(f"mayfly*-{version}-*.whl")) if wheel.stem.endswith(here)]
    crates = []
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            crates += [archive.read(name) for name in archive.namelist() if ".dist-info/sboms/" in name]
    if len(crates) != 1:
        raise RefusedError(f"{dist}: {len(crates)} bills of materials in the wheels in place of one")
    (dist / f"mayfly-{version}-crates.cdx.json").write_bytes(crates[0])
    with tempfile.TemporaryDirectory(prefix="mayfly-release-") as place:
        tools, installed = Path(place) / "tools", Path(place) / "installed"
        run(sys.executable, "-m", "venv", tools, cwd=source)
        run(sys.executable, "-m", "venv", "--without-pip", installed, cwd=source)
        pip = (tools / "bin" / "python", "-m", "pip", "--quiet", "--disable-pip-version-check")
        run(*pip, "install", "cyclonedx-bom", cwd=source)
        run(*pip, "--python", installed / "bin" / "python", "install", *wheels, cwd=source)
        told = ("--pyproject", source / "pyproject.toml", "--output-reproducible", "--mc-type", "application")
        out = dist / f"mayfly-{version}-python.cdx.json"
        run(tools / "bin" / "cyclonedx-py", "environment", *told, "--output-file", out, installed, cwd=source)
    # pyproject.toml has no version: maturin takes it from Cargo.toml.
    bill = json.loads(out.read_text(encoding="utf-8"))
    bill["metadata"]["component"]["version"] = version
    out.write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8")
    if absent := absent_from(json.loads(crates[0]), crates_of(source), bill, wheels):
        raise RefusedError(f"the bills of materials lack what the wheels have: {', '.join(absent)}")


def build(source: Path, dist: Path, version: str) -> None:
    """Everything that is published, into ``dist``."""
    run("cargo", "metadata", "--locked", "--format-version", "1", cwd=source)
    dist.mkdir(parents=True, exist_ok=True)
    subprocess.run(["make", "dist", f"DIST={dist}"], cwd=source, check=True)
    bills_of_materials(source, dist, version)


def release(root: Path, version: str, dist: Path, pure: Iterable[str], *, dry: bool) -> None:
    """Makes the release, or shows what it would be."""
    check(root, version, dist)
    branch = run("git", "rev-parse", "--abbrev-ref", "HEAD", cwd=root)
    with worktree(root) as folder:
        set_version(folder, version, datetime.now(UTC).date(), pure)
        if dry:
            print(run("git", "diff", cwd=folder))
            print("\nWith DRY_RUN=1 nothing was changed. Without it, from a commit of the above:\n")
            print(f"  make dist DIST={dist}")
            print(f"  {dist}/mayfly-{version}-crates.cdx.json, -python.cdx.json: bills of materials (CycloneDX)")
            print(f"  git merge --ff-only COMMIT, on {branch}")
            print(f"  git tag --annotate v{version}")
            return
        run("git", "commit", "--quiet", "--all", "--message", f"release: {version}", cwd=folder)
        commit = run("git", "rev-parse", "HEAD", cwd=folder)
        build(folder, dist, version)
        run("git", "merge", "--quiet", "--ff-only", commit, cwd=root)
        run("git", "tag", "--annotate", f"v{version}", "--message", f"Mayfly {version}", cwd=root)
    for path in sorted(dist.glob(f"mayfly*-{version}[-.]*")):
        print(path)
    print(f"v{version} is {commit[:9]} on {branch}; to publish: git push --follow-tags, then upload {dist}")


def main() -> int:
    """Reads the command line of ``make release``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", nargs="?")
    parser.add_argument("--sbom", action="store_true", help="only the bills of materials of the wheels in --dist")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--dist", type=Path, default=Path("dist"))
    parser.add_argument("--pure", action="append", default=[], help="a folder with a distribution of Python alone")
    given = parser.parse_args()
    if not given.sbom and given.version is None:
        parser.error("VERSION=x.y.z must be given")
    try:
        if given.sbom:
            bills_of_materials(ROOT, given.dist.absolute(), version_of(ROOT))
            return 0
        release(ROOT, given.version, given.dist.absolute(), given.pure, dry=given.dry_run)
    except RefusedError as refused:
        print(f"release: {refused}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as failed:
        print(f"release: failed, and the checkout is as it was: {' '.join(failed.cmd)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
