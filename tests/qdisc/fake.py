"""Programs on PATH that note how they are called and answer from files."""

import json
from pathlib import Path

SCRIPT = """#!/bin/sh
echo "$(basename "$0") $*" >>"{folder}/calls"
case "$(basename "$0") $*" in
{cases}
esac
"""


class Machine:
    """A folder of programs; `answers` maps the beginning of a call to (status, standard output, standard error)."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.answers: dict[str, tuple[int, str, str]] = {}
        for name in ("tc", "modprobe", "depmod", "bpftool", "make", "cc", "clang-19", "install", "rm"):
            self.add(name)

    def add(self, name: str) -> None:
        """Lays a program down, its answers as they are now."""
        cases = []
        for number, (call, (status, out, err)) in enumerate(self.answers.items()):
            for kind, text in (("out", out), ("err", err)):
                (self.folder / f"{kind}{number}").write_text(text)
            shown = f'cat "{self.folder}/out{number}"; cat "{self.folder}/err{number}" >&2; exit {status}'
            cases.append(f'"{call}"*) {shown} ;;')
        path = self.folder / name
        path.write_text(SCRIPT.format(folder=self.folder, cases="\n".join(cases)))
        path.chmod(0o755)

    def answer(self, call: str, out: str | list = "", status: int = 0, err: str = "") -> None:
        """What a call that begins so prints."""
        others = {other: answer for other, answer in self.answers.items() if other != call}
        self.answers = {call: (status, out if isinstance(out, str) else json.dumps(out), err)} | others
        for name in list(self.folder.iterdir()):
            if name.stat().st_mode & 0o100:
                self.add(name.name)

    def calls(self) -> list[str]:
        """Calls so far that change something."""
        path = self.folder / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line for line in lines if " show" not in line and " list" not in line and "--dry-run" not in line]
