"""Which packets of captures are read, and under which addresses; nothing here needs a table."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mayfly import _native
from mayfly.errors import MayflyError

KEY_BYTES = 32
"""Length of a key of Crypto-PAn: 16 bytes of AES, 16 of its pad."""


@dataclass
class Sieve:
    """How captures are read within :func:`read_through`.

    Parameters
    ----------
    filter : str or None
        Expression that packets pass.
    key : bytes or None
        Of the addresses.
    of_run : bool
        The key was drawn here, and is known nowhere else.
    used : bool
        A capture was read so.
    """

    filter: str | None = None
    key: bytes | None = None
    of_run: bool = False
    used: bool = False

    def internal(self, networks: object) -> list[str] | None:
        """Networks of real addresses, as the capture has them; None for None.

        Raises
        ------
        MayflyError
            One of them is none.
        """
        if networks is None:
            return None
        from mayfly.workload.sides import networks_of

        texts = networks_of(networks)
        return texts if self.key is None else _native.anonymized(self.key, texts)

    def address(self, text: str) -> str:
        """An address, as the capture has it."""
        return text if self.key is None else _native.anonymized(self.key, [text])[0]


_SIEVE: ContextVar[Sieve | None] = ContextVar("sieve", default=None)


@contextmanager
def read_through(filter: str | None = None, anonymize: bool | bytes | None = None) -> Iterator[Sieve]:
    """Read captures within the block through a filter, and under other addresses.

    Parameters
    ----------
    filter : str, optional
        Expression (``docs/captures.md`` lists what it may hold); every packet counts when absent.
    anonymize : bool or bytes, optional
        Key of Crypto-PAn, 32 bytes, or True for one of this run alone; addresses stay when absent or False.

    Returns
    -------
    iterator of Sieve
        Which also translates networks that are named with their real addresses. The sieve around the block where
        neither is given.

    Raises
    ------
    MayflyError
        No such expression, or no such key.

    Examples
    --------
    >>> from mayfly.workload.connections import connections
    >>> with read_through("tcp port 443 or udp"):
    ...     frame, counts = connections("captures/office.pcap.gz")
    >>> sieve_sentences(counts)
    ['the filter "tcp port 443 or udp" leaves out ...
    >>> with read_through("tcp[13] & 2 != 0"):
    ...     pass
    Traceback (most recent call last):
    mayfly.errors.MayflyError: filter = 'tcp[13] & 2 != 0': 'tcp[13]' is none of its words; allowed are ...
    """
    if filter is None and anonymize in (None, False):
        yield _SIEVE.get() or Sieve()
        return
    if filter is not None:
        try:
            _native.check_filter(filter)
        except ValueError as error:
            raise MayflyError(str(error)) from None
    of_run = anonymize is True
    key = secrets.token_bytes(KEY_BYTES) if of_run else bytes(anonymize) if anonymize else None
    if key is not None and len(key) != KEY_BYTES:
        raise MayflyError(f"anonymize: a key of {len(key)} bytes: must be {KEY_BYTES} bytes")
    found = Sieve(filter, key, of_run)
    before = _SIEVE.set(found)
    try:
        yield found
    finally:
        _SIEVE.reset(before)


def key_of(path: str | os.PathLike[str]) -> bytes:
    """Read a key from a file.

    Parameters
    ----------
    path : path
        Of 32 bytes, which a line end may follow, or of 64 hexadecimal digits, before which ``0x`` may stand.

    Returns
    -------
    bytes, shape (32,)

    Raises
    ------
    MayflyError
        The file cannot be read, or holds something else.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            held = file.read(100)
    except OSError as error:
        raise MayflyError(f"--anonymize-key {path}: cannot be read: {error.strerror or error}") from None
    for end in (b"", b"\n", b"\r\n"):
        if len(held) == KEY_BYTES + len(end) and held.endswith(end):
            return held[:KEY_BYTES]
    digits = held.strip().removeprefix(b"0x")
    if len(digits) == 2 * KEY_BYTES and all(digit in b"0123456789abcdefABCDEF" for digit in digits):
        return bytes.fromhex(digits.decode("ascii"))
    raise MayflyError(f"--anonymize-key {path}: must hold {KEY_BYTES} bytes, or {2 * KEY_BYTES} hexadecimal digits")


def sieve_options() -> dict[str, Any]:
    """The sieve of the block, as options of the reader in ``mayfly._native``."""
    found = _SIEVE.get()
    if found is None:
        return {"filter": None, "key": None}
    found.used = True
    return {"filter": found.filter, "key": found.key}


def refuse_of_table(source: str) -> None:
    """Refuse a sieve where no packets are read.

    Raises
    ------
    MayflyError
        There is one.
    """
    found = _SIEVE.get()
    if found is not None:
        asked = "filter" if found.filter is not None else "anonymize"
        raise MayflyError(f"{source}: {asked}: acts on packets, of which this file has none: read a capture")


def image(address: str) -> str:
    """An address that a user names, as captures within the block have it."""
    return (_SIEVE.get() or Sieve()).address(address)


def noted(counts: dict[str, Any]) -> dict[str, Any]:
    """What was counted, with the filter and the kind of key: ``filter``, and ``anonymized`` (``run``, ``key``)."""
    found = _SIEVE.get()
    if found is not None and found.filter is not None:
        counts["filter"] = found.filter
        counts.setdefault("filtered", 0)
    if found is not None and found.key is not None:
        counts["anonymized"] = "run" if found.of_run else "key"
    return counts


def sieve_sentences(counts: Mapping[str, Any]) -> list[str]:
    """Say how many packets a filter left out, and whose addresses these are.

    Parameters
    ----------
    counts : mapping
        As :func:`mayfly.workload.connections.connections` returns it.

    Returns
    -------
    list of str
        Empty where captures were read as they are.

    Examples
    --------
    >>> for sentence in sieve_sentences({"filter": "tcp", "filtered": 25, "packets": 75, "anonymized": "key"}):
    ...     print(sentence)
    the filter "tcp" leaves out 25 of 100 packets (25.0 %)
    addresses are anonymized (Crypto-PAn) under the given key
    """
    found = []
    if "filter" in counts:
        found.append(_native.filtered_sentence(counts["filter"], counts.get("filtered", 0), counts.get("packets", 0)))
    if (kind := counts.get("anonymized")) is not None:
        key = "the given key" if kind == "key" else "a key of this run alone; --anonymize-key FILE names one that stays"
        found.append(f"addresses are anonymized (Crypto-PAn) under {key}")
    return found
