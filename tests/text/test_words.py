"""One word for one thing: what docs/glossary.md has decided, pages, docstrings and comments keep."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"

QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|'[^']*'")
"""Names of columns, options and fields keep the word they have."""

# The word that is not used, and the places where it means something else or belongs to somebody else.
DECIDED = {
    r"\bfragments?\b": (
        *(
            "crates/account",
            "crates/capture",
            "crates/py/src/capture.rs",
            "crates/replay/src/unanswerable.rs",
            "python/mayfly/summary_types.py",
            "docs/captures",
            "docs/kernel",
            "docs/limits.md",
            "tests",
        ),
        # The words of the thesis, and of the results of the claims about it.
        *(
            "papers/src/mayfly_papers/chen2012",
            "docs/papers",
            "crates/netsim/src/out/records.rs",
            "crates/netsim/src/sim.rs",
        ),
        *("docs/tutorials", "docs/how-to/two-captures.md", "docs/profile", "python/mayfly/profile"),
    ),
    r"\bpermanent flows?\b": ("docs/papers", "papers/src/mayfly_papers/zhao2004"),
    r"\bpictures?\b": ("docs/papers/today.md",),
}


def texts():
    for folder, endings in (("docs", (".md",)), ("python", (".py",)), ("papers/src", (".py",)), ("crates", (".rs",))):
        for path in sorted((ROOT / folder).rglob("*")):
            skipped = {"_build", "_extra", "__pycache__"} & {*path.parts}
            # Pages of disciplines are made from the Rust files, which are read themselves.
            if path.suffix in endings and not skipped and path.parent != ROOT / "docs" / "disciplines":
                yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


@pytest.mark.parametrize("pattern", DECIDED)
def test_the_other_word_is_not_used(pattern):
    found = []
    for name, text in texts():
        if name == "docs/glossary.md" or name.startswith(DECIDED[pattern]):
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            if re.search(pattern, QUOTED.sub("", line.replace("``", "`")), re.IGNORECASE):
                found.append(f"{name}:{number}: {line.strip()[:100]}")
    assert found == []


def test_the_glossary_decides_what_is_tested():
    table = GLOSSARY.read_text(encoding="utf-8").split("| for |", 1)[1].split("\n\n", 1)[0]
    for word in ("sub-flow", "fragment", "endless", "permanent", "figure", "picture", "cell", "group", "class"):
        assert word in table, word


def test_entries_of_the_glossary_are_in_order_and_defined_once():
    text = GLOSSARY.read_text(encoding="utf-8")
    entries = re.findall(r"^(\S[^\n|:#]*)\n: ", text, re.MULTILINE)
    assert len(entries) > 80 and len({*entries}) == len(entries)
    folded = [entry.lower() for entry in entries]
    assert folded == sorted(folded)
