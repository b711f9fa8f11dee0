"""Programs on PATH that note how they are called and answer from files."""

import json
from pathlib import Path

SCRIPT = """#!/bin/sh
called="$(basename "$0") $*"
echo "$called" >>"{folder}/calls"
{cases}
exit 0
"""
CASE = """case "$called" in "{call}"*)
  if [ -z "{after}" ] || grep -q -- "{after}" "{folder}/calls"; then
    cat "{folder}/out{number}"; cat "{folder}/err{number}" >&2; exit {status}
  fi ;;
esac"""


class Machine:
    """A folder of programs; `answers` maps the beginning of a call to (status, standard output, standard error).

    `interfaces` are those of the machine, with their numbers.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.interfaces = {"lo": 1, "eth0": 2}
        self.answers: dict[tuple[str, str], tuple[int, str, str]] = {}
        for name in ("tc", "ip", "ethtool", "modprobe", "depmod", "bpftool", "make", "cc", "clang-19", "install", "rm"):
            self.add(name)

    def add(self, name: str) -> None:
        """Lays a program down, its answers as they are now."""
        cases = []
        for number, ((call, after), (status, out, err)) in enumerate(self.answers.items()):
            for kind, text in (("out", out), ("err", err)):
                (self.folder / f"{kind}{number}").write_text(text)
            cases.append(CASE.format(call=call, after=after, folder=self.folder, number=number, status=status))
        path = self.folder / name
        path.write_text(SCRIPT.format(folder=self.folder, cases="\n".join(cases)))
        path.chmod(0o755)

    def answer(self, call: str, out: str | list = "", status: int = 0, err: str = "", after: str = "") -> None:
        """What a call that begins so prints, once a call with `after` in it was made; the latest answer counts."""
        others = {other: answer for other, answer in self.answers.items() if other != (call, after)}
        self.answers = {(call, after): (status, out if isinstance(out, str) else json.dumps(out), err)} | others
        for name in list(self.folder.iterdir()):
            if name.stat().st_mode & 0o100:
                self.add(name.name)

    def calls(self) -> list[str]:
        """Calls so far that change something."""
        path = self.folder / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        looks = (" show", " list", "--dry-run", "ethtool -k")
        return [line for line in lines if not any(look in line for look in looks)]
