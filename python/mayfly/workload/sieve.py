"""Which packets of captures are read, and under which addresses; nothing here needs a table."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mayfly import _native
from mayfly.errors import MayflyError
from mayfly.text.readable import harmless, printable
from mayfly.workload.span import span_counted, span_sentence

KEY_BYTES = 32
"""Length of a key of Crypto-PAn: 16 bytes of AES, 16 of its pad."""

_NO_HOST = ": no host is in it; seen are "
"""Of the sentence of ``hosts::NoHost``, between what was given and what was seen."""


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
    site : str
        Networks that a user named with their real addresses.
    """

    filter: str | None = None
    key: bytes | None = None
    of_run: bool = False
    used: bool = False
    site: str = ""

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
        self.site = ", ".join(texts) or "nothing"
        return texts if self.key is None else _native.anonymized(self.key, texts)

    def address(self, text: str) -> str:
        """An address, as the capture has it."""
        return text if self.key is None else _native.anonymized(self.key, [text])[0]

    def in_real_addresses(self, message: str) -> str:
        """A refusal that names the image of ``internal``: with the networks that were given."""
        before, refused, seen = message.partition(_NO_HOST)
        if not (self.key and self.site and refused):
            return message
        name = before.partition(" = ")[0]
        return f"{name} = {self.site}: no host is in it; seen, with other addresses than in the capture, are {seen}"


_SIEVE: ContextVar[Sieve | None] = ContextVar("sieve", default=None)


@contextmanager
def read_through(filter: str | None = None, anonymize: bool | bytes | None = None) -> Iterator[Sieve]:
    """Read captures within the block through a filter, and under other addresses.

    Parameters
    ----------
    filter : str, optional
        Expression (``docs/captures.md`` lists what it may hold); when absent, packets
        count as around the block, else all.
    anonymize : bool or bytes, optional
        Key of Crypto-PAn, 32 bytes, or True for one of this run alone; when absent or False, addresses are as around
        the block.

    Returns
    -------
    iterator of Sieve
        Which also translates networks that are named with their real addresses.

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
    filter, key = checked_filter(filter), checked_key(anonymize)
    around = _SIEVE.get() or Sieve()
    if filter is None and key is None:
        yield around
        return
    of_run = anonymize is True
    if key is None:
        key, of_run = around.key, around.of_run
    found = Sieve(around.filter if filter is None else filter, key, of_run)
    before = _SIEVE.set(found)
    try:
        yield found
    except MayflyError as error:
        if (message := found.in_real_addresses(str(error))) == str(error):
            raise
        raise MayflyError(message) from None
    finally:
        _SIEVE.reset(before)


def checked_filter(expression: object) -> str | None:
    r"""An expression as it is, or None for None.

    Parameters
    ----------
    expression : object
        As given.

    Returns
    -------
    str or None

    Raises
    ------
    MayflyError
        It is no text of Unicode, or no expression; one line, in which what does not print is escaped.

    Examples
    --------
    >>> checked_filter("tcp\x1b")
    Traceback (most recent call last):
    mayfly.errors.MayflyError: filter = 'tcp\x1b': 'tcp\x1b' is none of its words; allowed are ...
    """
    if expression is None:
        return None
    shown = f"'{printable(expression)}'" if isinstance(expression, str) else printable(repr(expression))
    try:
        if not isinstance(expression, str):
            raise TypeError
        expression.encode("utf-8")
    except (TypeError, UnicodeEncodeError):
        kind = type(expression).__name__
        raise MayflyError(f"filter = {shown} ({kind}): must be text of UTF-8, such as 'tcp port 443'") from None
    try:
        _native.check_filter(expression)
    except ValueError as error:
        raise MayflyError(f"filter = {shown}: {harmless(str(error))}") from None
    return expression


def checked_key(anonymize: object) -> bytes | None:
    """The key of addresses.

    Parameters
    ----------
    anonymize : object
        As given.

    Returns
    -------
    bytes or None, shape (32,)
        Drawn for True; None where addresses stay.

    Raises
    ------
    MayflyError
        It is no key, nor True, False or None.
    """
    if anonymize is None or anonymize is False:
        return None
    if anonymize is True:
        return secrets.token_bytes(KEY_BYTES)
    given = type(anonymize).__name__
    if isinstance(anonymize, bytes | bytearray):
        if len(anonymize) == KEY_BYTES:
            return bytes(anonymize)
        given = f"{given} of length {len(anonymize)}"
    raise MayflyError(f"anonymize: {given}: must be True, False, None or a key, bytes or bytearray of {KEY_BYTES}")


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


_VALUED = frozenset({"src", "dst", "host", "net", "port", "portrange"})
"""Words of a filter which say of what kind the values behind them are."""

_PLAIN = _VALUED | {"tcp", "udp", "icmp", "icmp6", "ip", "ip6", "and", "or", "not", "vlan"}
"""Words of a filter that are no values."""


def without_addresses(expression: str) -> str:
    """A filter, with ``…`` for each address and network; ports and tags stay.

    Examples
    --------
    >>> without_addresses("net 10.10 or 10.11.0.0/16 and not (tcp port 80 or 443 || host fe80::1) and vlan 7")
    'net … or … and not (tcp port 80 or 443 || host …) and vlan 7'
    """
    kind = before = ""

    def shown(word: re.Match[str]) -> str:
        nonlocal kind, before
        text, last = word.group(), before
        before = text
        if text in _PLAIN or text in "()!&|":
            kind = text if text in _VALUED else kind
            return text
        number = re.fullmatch("[0-9]+(-[0-9]+)?", text) and (kind in ("port", "portrange") or last == "vlan")
        return text if number else "…"

    return re.sub(r"[^\s()!&|]+|[()!&|]", shown, expression)


def noted(counts: dict[str, Any]) -> dict[str, Any]:
    """What was counted, with the filter and the kind of key.

    ``span`` is the time that counts (:func:`mayfly.workload.span.span_counted`).
    ``filter`` is the expression, of anonymized addresses :func:`without_addresses`: this is the one place from which
    outputs have it. ``anonymized`` is ``run`` or ``key``.
    """
    found = _SIEVE.get()
    if found is not None and found.filter is not None:
        counts["filter"] = found.filter if found.key is None else without_addresses(found.filter)
        counts.setdefault("filtered", 0)
    if (span := span_counted()) is not None:
        counts["span"] = span
        counts.setdefault("filtered", 0)
    if found is not None and found.key is not None:
        counts["anonymized"] = "run" if found.of_run else "key"
    return counts


def nothing_passes(counts: Mapping[str, Any]) -> str | None:
    """Say that a filter left out every packet; None where it did not.

    Examples
    --------
    >>> nothing_passes({"filter": "port 1", "filtered": 71_394, "packets": 0})
    'the filter "port 1" leaves out all 71,394 packets'
    >>> nothing_passes({"packets": 0})
    """
    left = counts.get("filtered", 0)
    if counts.get("packets") or not left:
        return None
    if (sentence := span_sentence(counts)) is not None:
        return sentence
    if "filter" not in counts:
        return None
    return f'the filter "{counts["filter"]}" leaves out {"the only packet" if left == 1 else f"all {left:,} packets"}'


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
    if (sentence := span_sentence(counts)) is not None:
        found.append(sentence)
    elif "filter" in counts:
        found.append(_native.filtered_sentence(counts["filter"], counts.get("filtered", 0), counts.get("packets", 0)))
    if (kind := counts.get("anonymized")) is not None:
        key = "the given key" if kind == "key" else "a key of this run alone; --anonymize-key FILE names one that stays"
        found.append(f"addresses are anonymized (Crypto-PAn) under {key}")
    return found
