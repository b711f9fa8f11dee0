"""What an interrupted reproduction measured, kept for the next one."""

import hashlib
import json
import os
import shutil
from functools import cache
from pathlib import Path

import mayfly
import mayfly_papers
from mayfly.text.files import complete
from mayfly_papers.declare.declaration import Experiment, Measures

KEPT = ".measured"
"""Name of the folder beside a report to come."""


@cache
def code() -> str:
    """Digest of both packages: numbers of other code are not ours."""
    digest = hashlib.sha256()
    for home in (Path(mayfly.__file__).parent, Path(mayfly_papers.__file__).parent):
        for file in sorted(path for path in home.rglob("*") if path.suffix in (".py", ".so", ".toml", ".c", ".h")):
            name = str(file.relative_to(home.parent)).encode()
            digest.update(name + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


class Kept:
    """Measured numbers of experiments, one file each, under a digest of the code and of what is run.

    Parameters
    ----------
    folder : path
        Created at the first write.
    page : str
        Name of the page: experiments of two pages may have one id.
    """

    def __init__(self, folder: str | os.PathLike[str], page: str) -> None:
        self._folder, self._page = Path(folder), page

    def _file(self, experiment: Experiment) -> Path:
        what = [
            code(),
            self._page,
            experiment.id,
            str(experiment.scenario),
            sorted((key, str(value)) for key, value in experiment.overrides.items()),
            list(experiment.disciplines),
            experiment.replications,
        ]
        return self._folder / f"{hashlib.sha256(json.dumps(what).encode()).hexdigest()[:24]}.json"

    def read(self, experiment: Experiment) -> tuple[dict[str, list[Measures]], float] | None:
        """Numbers by discipline and replication, and the seconds they took; None where there are none."""
        try:
            found = json.loads(self._file(experiment).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found["measured"], found["seconds"]

    def write(self, experiment: Experiment, measured: dict[str, list[Measures]], seconds: float) -> None:
        """Keep numbers; a file is there whole or not at all."""
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._file(experiment)
        with complete(file) as partial:
            partial.write_text(json.dumps({"seconds": seconds, "measured": measured}), encoding="utf-8")


def forget(folder: str | os.PathLike[str]) -> None:
    """Remove what was kept."""
    shutil.rmtree(folder, ignore_errors=True)
