"""The captures that the page may open by name: those of the command line, and no other file."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from mayfly.errors import MayflyError
from mayfly.text.readable import printable
from mayfly.workload.sieve import Sieve

MOST_CAPTURE_BYTES = 2**30
"""Longest capture that the page takes, dropped on it or named, as it is in the file."""


class Engine(Protocol):
    """What runs the simulations of the page: ``mayfly._native.Explorer``. Each method raises ValueError, in a line."""

    def load(self, document: str) -> str:
        """Takes a workload document; returns what it is, as JSON."""

    def open(self, name: str, capture: bytes, options: str) -> str:
        """Reads a capture; returns what it is, as JSON."""

    def run(self, request: str) -> str:
        """Runs a request; returns the outcome, as JSON."""


@dataclass
class Captures:
    """Captures by the name that the page knows them by.

    Parameters
    ----------
    template : str
        Document of the scenario around their flows, as JSON.
    internal : tuple of str
        Networks on the near side; none to have them inferred.
    filter : str or None
        Packets that count.
    key : bytes or None
        Of Crypto-PAn, under which the page gets images of the addresses.
    tunnels : bool
        Whether the packet inside a tunnel counts.
    """

    template: str
    internal: tuple[str, ...] = ()
    filter: str | None = None
    key: bytes | None = None
    tunnels: bool = False
    paths: dict[str, Path] = field(default_factory=dict)

    def add(self, path: str | os.PathLike[str]) -> str:
        """Names a file.

        Parameters
        ----------
        path : path
            A capture.

        Returns
        -------
        str
            The last part of its path; with a number where another file has that name.

        Raises
        ------
        MayflyError
            It is no file, cannot be read, or is too long.
        """
        path = Path(path)
        try:
            if not path.is_file():
                raise MayflyError(f"{path}: {'is a folder' if path.is_dir() else 'no such file'}: must be a capture")
            size = path.stat().st_size
        except (OSError, ValueError) as error:
            raise MayflyError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
        if size > MOST_CAPTURE_BYTES:
            raise MayflyError(
                f"{path}: {size} bytes: must be at most {MOST_CAPTURE_BYTES} for the page; `mayfly whatif` reads more"
            )
        name, number = path.name, 1
        while name in self.paths:
            number += 1
            name = f"{path.name} ({number})"
        self.paths[name] = path
        return name

    def read(self, name: str) -> bytes:
        """The bytes of a capture of the command line.

        Raises
        ------
        MayflyError
            There is none of this name, or it is gone.
        """
        if name not in self.paths:
            known = ", ".join(self.paths) or "none"
            raise MayflyError(f"capture {printable(name)}: must be one that `mayfly explore` was given: {known}")
        try:
            return self.paths[name].read_bytes()
        except OSError as error:
            raise MayflyError(f"{self.paths[name]}: cannot be read: {error.strerror or error}") from None

    def options(self, internal: Sequence[str] = ()) -> str:
        """Options of :meth:`Engine.open`: the filter, and networks on the near side, else those of the command line.

        Raises
        ------
        MayflyError
            With a key, a network that is none.
        """
        near = Sieve(key=self.key).internal(internal or self.internal or None)
        # Put together as text: the template is long, and stays as it is.
        filtered = "" if self.filter is None else f'"filter": {json.dumps(self.filter)}, '
        keyed = "" if self.key is None else f'"key": {json.dumps(list(self.key))}, '
        inside = '"tunnels": true, ' if self.tunnels else ""
        return f'{{"internal": {json.dumps(near)}, {filtered}{keyed}{inside}"template": {self.template.strip()}}}'
