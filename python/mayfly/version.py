"""Version of the package, with the commit it was built from or runs from."""

import subprocess
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
WRITTEN = HERE / "commit.txt"
"""Put into wheels and source archives by ``make dist``; in a checkout git is asked."""


def commit() -> str | None:
    """The commit, abbreviated; with a ``+`` where the checkout has changes. None where it is not known."""
    if WRITTEN.is_file():
        return WRITTEN.read_text(encoding="utf-8").strip() or None
    root = HERE.parent.parent
    if not (root / ".git").exists():
        return None
    try:
        asked = ["git", "-C", str(root), "describe", "--always", "--exclude=*", "--dirty=+"]
        done = subprocess.run(asked, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def described() -> str:
    """Version and commit, such as ``0.1.0 (1a2b3c4d5)``."""
    known = commit()
    return version("mayfly") + (f" ({known})" if known else "")
