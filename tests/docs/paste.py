"""Pastes what commands print now into the pages that show it, when figures have moved on purpose.

    python tests/docs/paste.py docs/how-to/access-point.md README.md

Run it from the checkout; `git diff` then shows what moved, and the commit says why. Pages that hold no table are left
as they are.
"""

import os
import sys
import tempfile
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))
import test_examples as pages

WIDTH = "100"


def wrapped(text: str) -> list[str]:
    """Lines as a terminal of that width shows them: in a pipe a sentence is one."""
    fit = textwrap.TextWrapper(int(WIDTH), break_long_words=False, break_on_hyphens=False)
    return [short for line in text.splitlines() for short in fit.wrap(line.rstrip()) or [""]]


def pasted(page: Path) -> int:
    """Rewrites a page; the number of tables that were other than shown."""
    lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
    changes: list[tuple[int, int, str]] = []
    for command, now in pages.tables(page):
        if now.split() != command.shown.split():
            trimmed = "".join(f"{line}\n" for line in wrapped(now))
            changes.append((command.line, command.line + len(command.shown.splitlines()), trimmed))
    for start, stop, text in reversed(changes):
        lines[start:stop] = [text]
    page.write_text("".join(lines), encoding="utf-8")
    return len(changes)


def main(arguments: list[str]) -> None:
    """Pastes into the pages that are named."""
    os.environ["COLUMNS"] = WIDTH
    chosen = [Path(name).resolve() for name in arguments]
    with tempfile.TemporaryDirectory() as folder:
        for name in ("captures", "scenarios"):
            (Path(folder) / name).symlink_to(pages.ROOT / name)
        os.chdir(folder)
        for page in chosen:
            print(f"{pages.named(page)}: {pasted(page)} tables are others now", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
