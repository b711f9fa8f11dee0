"""A case: files, and the commands that read them; kept as a JSON file where it found something."""

import base64
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

OUT = "out"
"""Folder of what commands write, in that of the case."""


TO_TOML = "@toml"
"""In place of a command: ``@toml FROM KEY TO`` writes an object of a JSON document as TOML, without what is null."""


@dataclass(frozen=True)
class Case:
    """What a child process is given.

    Parameters
    ----------
    kind : str
        Name of the generator.
    commands : tuple of tuple of str
        Arguments of ``mayfly``, run one after another in the folder of the case.
    files : dict of bytes
        Content by name, folders included.
    links : dict of str
        Targets of symbolic links by name.
    same : tuple of tuple of str
        Names of files that must have the same content when all commands ended with status 0: the differential part.
    """

    kind: str
    commands: tuple[tuple[str, ...], ...]
    files: dict[str, bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    same: tuple[tuple[str, ...], ...] = ()

    def lay(self, folder: Path) -> None:
        """Writes the files into an empty folder."""
        (folder / OUT).mkdir(parents=True)
        for name, content in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        for name, target in self.links.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).symlink_to(target)

    def text(self) -> str:
        """The case as JSON; files of text as they stand."""
        files = {name: _written(content) for name, content in self.files.items()}
        document = {"kind": self.kind, "commands": self.commands, "files": files, "links": self.links}
        return json.dumps({**document, "same": self.same}, indent=1) + "\n"

    @property
    def digest(self) -> str:
        """Names it."""
        return hashlib.sha256(self.text().encode()).hexdigest()[:12]


def read_case(path: Path) -> Case:
    """A case that was kept."""
    found = json.loads(path.read_text(encoding="utf-8"))
    return Case(
        found["kind"],
        tuple(map(tuple, found["commands"])),
        {name: _content(written) for name, written in found["files"].items()},
        found["links"],
        tuple(map(tuple, found["same"])),
    )


def _written(content: bytes) -> dict[str, str]:
    try:
        return {"text": content.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def _content(written: dict[str, str]) -> bytes:
    return written["text"].encode() if "text" in written else base64.b64decode(written["base64"])
