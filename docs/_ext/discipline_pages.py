"""Pages of the disciplines: the documentation at the head of each Rust file, as Markdown below ``docs/disciplines``.

Those of the kernel's, ``docs/kernel/sch_<id>.md``, are the comment ``DOC: sch_<id>`` of ``kernel/sch_<id>.c``, with the
table of ``kernel/options/<id>.h`` where it says ``{options}``. The site, its tests and its examples read these pages;
nobody edits them, and they are not in the repository.
"""

import re
import sys
from pathlib import Path

from mayfly.text.files import complete

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "crates" / "qdisc" / "src" / "disciplines"
FOLDER = ROOT / "docs" / "disciplines"
KERNEL = ROOT / "kernel"
KERNEL_FOLDER = ROOT / "docs" / "kernel"
OPTIONS = "{options}"

sys.path.insert(0, str(KERNEL / "options"))
import option_rows  # noqa: E402


def pages() -> dict[str, str]:
    """Markdown of every discipline, by id.

    Returns
    -------
    dict of str
        What stands behind ``//!`` at the head of its file.

    Raises
    ------
    ValueError
        A discipline without documentation, or one that has no title.
    """
    found = {}
    for source in sorted(SOURCES.glob("*.rs")):
        if source.stem == "mod":
            continue
        head = []
        for line in source.read_text(encoding="utf-8").splitlines():
            if not line.startswith("//!"):
                break
            head.append(line.removeprefix("//!").removeprefix(" "))
        if not head or not head[0].startswith("# "):
            raise ValueError(f"{source.name}: must begin with its documentation, '//! # Name'")
        title, *rest = head
        found[source.stem] = "\n".join([title, *_where(source.stem), *rest]) + "\n"
    return found


def _where(id: str) -> list[str]:
    """Where it runs, below its title; nothing about a file that is not in the registry."""
    from mayfly.discipline_registry import disciplines, where_text

    row = next((row for row in disciplines() if row["id"] == id), None)
    return [] if row is None else ["", f"**Runs** {where_text(row)}."]


def kernel_pages() -> dict[str, str]:
    """Markdown of every queue discipline of the kernel, by the name of its module.

    Returns
    -------
    dict of str
        What stands in its comment ``DOC:``, with its table of options.

    Raises
    ------
    ValueError
        One without documentation, or without a place for its options.
    """
    found = {}
    for source in sorted(KERNEL.glob("sch_*.c")):
        if source.stem == "sch_common":
            continue
        comment = re.search(rf"^/\*\*\n \* DOC: {source.stem}\n(.*?)\n \*/$", source.read_text("utf-8"), re.S | re.M)
        if not comment:
            raise ValueError(f"{source.name}: must have its documentation, '/**', ' * DOC: {source.stem}'")
        lines = [line.removeprefix(" *").removeprefix(" ") for line in comment[1].splitlines()]
        if lines.count(OPTIONS) != 1:
            raise ValueError(f"{source.name}: must have {OPTIONS} once in its documentation, for its options")
        at = lines.index(OPTIONS)
        lines[at : at + 1] = option_rows.page(source.stem.removeprefix("sch_"))
        found[source.stem] = f"# `{source.stem}`\n" + "\n".join(lines) + "\n"
    return found


def write() -> list[Path]:
    """Write the pages that are new or other than before, and remove those of disciplines that are no more.

    Several processes may do so at once, as the workers of a test run do.

    Returns
    -------
    list of Path
        All pages of ``docs/disciplines``.
    """
    FOLDER.mkdir(exist_ok=True)
    _put(KERNEL_FOLDER, "sch_*.md", kernel_pages())
    return _put(FOLDER, "*.md", pages())


def _put(folder: Path, pattern: str, found: dict[str, str]) -> list[Path]:
    texts = {folder / f"{name}.md": text for name, text in found.items()}
    for page in set(folder.glob(pattern)) - set(texts):
        page.unlink(missing_ok=True)
    for page, text in texts.items():
        # A page that stays as it is keeps its time: Sphinx does not read it again.
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            with complete(page, clear=False) as partial:
                partial.write_text(text, encoding="utf-8")
    return sorted(texts)
