"""Whether a Dask scheduler answers at an address, before dask.distributed is asked.

Its client (distributed 2026.8.0) waits without end for the first message of a server that accepts and says nothing, and
takes the first eight bytes of any other for a length, which it then allocates. Both ends of a connection of a cluster
begin with a message: its length as a little-endian number of eight bytes, then as many bytes
(``distributed/comm/tcp.py``).
"""

import socket
import ssl
import struct
import time

from mayfly.errors import MayflyError

ANSWER_S = 10.0
"""A scheduler that is busy answers within this time."""

SILENT_S = 2.0
"""After so long a server that waits for a request is asked one."""

_ASKED = b"X\r\n\r\n"
"""What servers of HTTP refuse as a request, too short to be a length."""

_LENGTH = struct.Struct("<Q")
_LONGEST = 1 << 20
"""Bytes of a first message at most; it has some hundred."""


def refuse_no_scheduler(address: str, context: ssl.SSLContext | None = None) -> None:
    """Refuse an address at which no Dask scheduler answers.

    Parameters
    ----------
    address : str
        ``tls://HOST:PORT`` or ``dask://HOST:PORT``.
    context : ssl.SSLContext, optional
        With the certificates of the cluster, where connections are encrypted.

    Raises
    ------
    MayflyError
        Nobody answers in 10 s, or somebody else does; one line.
    """
    host, _, port = address.partition("://")[2].rpartition(":")
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise MayflyError(
            f"--cluster {address}: must name the port of a Dask scheduler, such as dask://{host or port}:8786"
        )
    who = "no scheduler" if context is None else "no scheduler with these certificates"
    ends_s = time.monotonic() + ANSWER_S
    try:
        with (
            socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER_S) as plain,
            # A handshake of TLS that nobody answers ends with the time of its socket.
            plain if context is None else context.wrap_socket(plain, server_hostname=host.strip("[]")) as peer,
        ):
            answer = _first_bytes(peer, ends_s)
    except TimeoutError:
        raise MayflyError(
            f"--cluster {address}: {who} answers: the connection is accepted, and nothing is said for {ANSWER_S:g} s"
        ) from None
    except (OSError, ValueError) as error:
        raise MayflyError(f"--cluster {address}: {who} answers: {error}") from None
    if answer.startswith((b"HTTP/", b"<")):
        raise MayflyError(
            f"--cluster {address}: {who} answers: a server of HTTP does, such as the dashboard of a cluster: name the "
            "port of the scheduler"
        )
    if not answer:
        raise MayflyError(f"--cluster {address}: {who} answers: the connection is accepted and closed")
    if len(answer) < _LENGTH.size or not 0 < _LENGTH.unpack(answer[: _LENGTH.size])[0] <= _LONGEST:
        raise MayflyError(f"--cluster {address}: {who} answers: what comes is no message of Dask")


def _first_bytes(peer: socket.socket, ends_s: float) -> bytes:
    """The first eight bytes that the peer says, or fewer where it closes."""
    answer, asked = b"", False
    while len(answer) < _LENGTH.size:
        left_s = ends_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        peer.settimeout(left_s if asked or answer else min(left_s, SILENT_S))
        try:
            part = peer.recv(_LENGTH.size - len(answer))
        except TimeoutError:
            if asked or answer:
                raise
            peer.sendall(_ASKED)
            asked = True
            continue
        if not part:
            break
        answer += part
    return answer
