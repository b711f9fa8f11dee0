"""Mayfly in processes of its own, of whichever tree: only its command line is used."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

MANY = Path(__file__).with_name("many.py")


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    status: int
    out: str
    error: str

    def document(self) -> Any:
        """What the command printed with ``--json``; with ``--follow``, a list of it.

        Where it printed nothing of the kind: that, and what it complained of.
        """
        try:
            lines = [json.loads(line) for line in self.out.splitlines()]
            return lines[0] if len(lines) == 1 else lines
        except json.JSONDecodeError:
            return {"not_json": self.out, "complaint": self.error}


@dataclass
class Mayfly:
    """The Mayfly found on a path, the installed one where the path is empty."""

    path: Sequence[Path] = ()
    jobs: int = 1
    _many: "subprocess.Popen[str] | None" = field(default=None, init=False)

    def environment(self) -> dict[str, str]:
        """Nothing of the caller's terminal, locale or clock is seen."""
        kept = os.environ | {"COLUMNS": "100", "NO_COLOR": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
        kept["POLARS_MAX_THREADS"] = str(self.jobs)
        if self.path:
            kept["PYTHONPATH"] = os.pathsep.join(str(entry) for entry in self.path)
        return kept

    def run(self, arguments: Sequence[str], folder: Path) -> Outcome:
        """One command in a process of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "mayfly.cli", *arguments],
            cwd=folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    def run_many(self, arguments: Sequence[str], folder: Path) -> Outcome:
        """One command in a process that stays for the next: for hundreds of commands shorter than its start."""
        if self._many is None:
            self._many = subprocess.Popen(
                [sys.executable, str(MANY)],
                env=self.environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        asked, answers = self._many.stdin, self._many.stdout
        assert asked and answers
        print(json.dumps([str(folder), list(arguments)]), file=asked, flush=True)
        line = answers.readline()
        if not line:
            status = self.close()
            return Outcome(status, "", f"the process ended with status {status}")
        return Outcome(*json.loads(line))

    def close(self) -> int:
        """Ends the process that stayed."""
        if self._many is None:
            return 0
        process, self._many = self._many, None
        stdin: IO[str] | None = process.stdin
        if stdin:
            stdin.close()
        return process.wait()
