"""The local server of `mayfly explore`: the page below a secret address, and the engine behind it.

Principle: who has the address may simulate, and read the captures that the command named. Nothing else is there: files
are those that lay in the folder of the page when the server started, looked up by name; the address has a token that
nobody guesses; other hosts cannot connect, other sites may not ask (``Host`` against names that were pointed here,
``Origin`` against pages of others).
"""

import contextlib
import hmac
import json
import os
import secrets
import select
import socket
import sys
import threading
import urllib.parse
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

from mayfly import _native
from mayfly.errors import MayflyError
from mayfly.explore import PRESETS_FOLDER, TEMPLATE
from mayfly.explore.captures import MOST_CAPTURE_BYTES, Captures, Engine
from mayfly.explore.queue import GivenUp, Newest
from mayfly.text.readable import printable
from mayfly.workload.sieve import checked_key

PAGE = Path(__file__).parent / "page"
"""Where `make explore` puts the page."""

HOST = "127.0.0.1"

MOST_REQUEST_BYTES = 2**16
"""Longest request for a run."""

_PATIENCE_S = 30.0
"""Time in which a client has to send what it began."""

_MOST_NAME = 200
"""Characters of a name at most."""

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".wasm": "application/wasm",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
"""Kinds of files that a page may have; others are served as bytes."""

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
    "connect-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def page_files(folder: Path = PAGE) -> dict[str, Path]:
    """The files of the page, by their address below it.

    Parameters
    ----------
    folder : path
        Where it was built.

    Returns
    -------
    dict of path
        Such as ``assets/index.js``; links that lead out of the folder are left out.

    Raises
    ------
    MayflyError
        It was not built.
    """
    if not (folder / "index.html").is_file() or not (folder / TEMPLATE).is_file():
        raise MayflyError("the page was not built: `make explore` builds it in a checkout; wheels have it")
    inside = folder.resolve()
    found = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: path for name, path in found.items() if path.resolve().is_relative_to(inside)}


@dataclass
class Desk:
    """What the addresses below ``api/`` stand for.

    Parameters
    ----------
    engine : Engine
        Runs the simulations.
    files : dict of path
        Of :func:`page_files`.
    captures : Captures
        Those of the command line.
    """

    engine: Engine
    files: dict[str, Path]
    captures: Captures
    runs: Newest = field(default_factory=Newest)
    _opened: dict[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)
    _opening: threading.Lock = field(default_factory=threading.Lock)

    def hello(self) -> str:
        """Who answers here, and what can be opened by name."""
        told = {
            "engine": "server",
            "captures": list(self.captures.paths),
            "most_capture_bytes": MOST_CAPTURE_BYTES,
        }
        return json.dumps(told)

    def load(self, name: str) -> str:
        """Has the engine take a preset.

        Raises
        ------
        ValueError, MayflyError
            There is none of this name, or the engine refuses it.
        """
        path = self.files.get(f"{PRESETS_FOLDER}/{name}.json")
        if path is None:
            known = [file.stem for place, file in self.files.items() if place.startswith(f"{PRESETS_FOLDER}/")]
            raise MayflyError(f"preset {printable(name)}: must be one of {', '.join(known)}")
        return self.engine.load(path.read_text(encoding="utf-8"))

    def open(self, name: str, capture: bytes | None = None, internal: Sequence[str] = ()) -> str:
        """Has the engine read a capture: these bytes, or those of the command line's file of this name.

        Raises
        ------
        ValueError, MayflyError
            There is none of this name, or it cannot be read.
        """
        near = tuple(internal)
        with self._opening:
            if capture is None and self._opened.get(name, (None, ""))[0] == near:
                return self._opened[name][1]
            self._opened.pop(name, None)
            given = self.captures.read(name) if capture is None else capture
            info = self.engine.open(name, given, self.captures.options(near))
            if capture is None:
                self._opened[name] = (near, info)
            return info


class Server(ThreadingHTTPServer):
    """The server, bound to this machine alone.

    Parameters
    ----------
    desk : Desk
        What it gives access to.
    port : int
        0 for a free one.

    Raises
    ------
    MayflyError
        The port cannot be had.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True

    def __init__(self, desk: Desk, port: int = 0):
        self.desk = desk
        self.token = secrets.token_urlsafe(32)
        try:
            super().__init__((HOST, port), Handler)
        except OSError as error:
            reason = str(error.strerror or error)
            raise MayflyError(f"port {port}: {reason[:1].lower()}{reason[1:]}: must be free; 0 finds one") from None
        self.hosts = tuple(f"{name}:{self.server_port}" for name in (HOST, "localhost"))

    @property
    def address(self) -> str:
        """Of the page, with its token."""
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: what went wrong was told to the client, or the client is gone."""


class Handler(BaseHTTPRequestHandler):
    """Answers one connection, request by request."""

    protocol_version = "HTTP/1.1"
    server_version = "mayfly"
    sys_version = ""
    timeout = _PATIENCE_S
    error_content_type = "text/plain; charset=utf-8"
    error_message_format = "%(message)s\n"

    def log_message(self, format: str, *args: object) -> None:
        """Keep the terminal to the address."""

    def end_headers(self) -> None:
        """Every answer has the headers that keep the page to itself."""
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def parse_request(self) -> bool:
        """Read the request line and the headers, and refuse what the server is not there for."""
        if not super().parse_request():
            return False
        refused = self._refusal()
        if refused is not None:
            self._refuse(*refused)
            return False
        return True

    def _refusal(self) -> tuple[HTTPStatus, str] | None:
        server = self._server
        if self.command not in ("GET", "POST"):
            return HTTPStatus.METHOD_NOT_ALLOWED, "only GET and POST"
        hosts, origins = self.headers.get_all("Host", []), self.headers.get_all("Origin", [])
        if len(hosts) != 1 or hosts[0].strip().lower() not in server.hosts:
            return HTTPStatus.FORBIDDEN, "this server answers to 127.0.0.1 and localhost only"
        if any(origin.strip().lower() not in {f"http://{host}" for host in server.hosts} for origin in origins):
            return HTTPStatus.FORBIDDEN, "this server answers to its own page only"
        if "Transfer-Encoding" in self.headers:
            return HTTPStatus.LENGTH_REQUIRED, "a body must come with its length"
        token, slash, _ = self._path.removeprefix("/").partition("/")
        if not hmac.compare_digest(token.encode("utf-8", "replace"), server.token.encode()):
            return HTTPStatus.NOT_FOUND, "not found"
        if not slash:
            return HTTPStatus.NOT_FOUND, "not found: the address ends in /"
        return None

    def do_GET(self) -> None:
        """Answer with a file of the page, or who answers here."""
        if self._below == "api/engine":
            self._answer(self._server.desk.hello(), "application/json", store=False)
            return
        path = self._server.desk.files.get(urllib.parse.unquote(self._below or "index.html"))
        if path is None:
            self._refuse(HTTPStatus.NOT_FOUND, "not found")
            return
        try:
            content = path.read_bytes()
        except OSError:
            self._refuse(HTTPStatus.NOT_FOUND, "not found: it was there when the server started")
            return
        self._answer(content, _TYPES.get(path.suffix, "application/octet-stream"))

    def do_POST(self) -> None:
        """Load, open, run or advise."""
        most = {
            "api/load": 0,
            "api/open": MOST_CAPTURE_BYTES,
            "api/run": MOST_REQUEST_BYTES,
            "api/advise": MOST_REQUEST_BYTES,
        }.get(self._below)
        if most is None:
            self._refuse(HTTPStatus.NOT_FOUND, "not found")
            return
        body = self._body(most)
        if body is None:
            return
        try:
            self._answer(self._outcome(body), "application/json", store=False)
        except GivenUp:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "given up for newer runs")
        except (ValueError, MayflyError) as error:
            line = " ".join(str(error).split()) or type(error).__name__
            self._answer(f"{line}\n", _TYPES[".txt"], HTTPStatus.BAD_REQUEST, store=False)
        except MemoryError:
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, "out of memory: a shorter capture, or a slower link")
        except BaseException as error:
            # A panic of native code is no Exception.
            line = " ".join(f"internal error: {type(error).__name__}: {error}".split())
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, f"{line}; please report it")

    def _outcome(self, body: bytes) -> str:
        desk = self._server.desk
        if self._below == "api/run":
            request = body.decode("utf-8")
            with desk.runs.turn(self._is_there):
                return desk.engine.run(request)
        if self._below == "api/advise":
            return _native.advise(body.decode("utf-8"))
        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query, keep_blank_values=True)
        [name] = asked.get("name", []) if len(asked.get("name", [])) == 1 else [""]
        if not 1 <= len(name) <= _MOST_NAME or not name.isprintable():
            raise MayflyError(f"name: must be there once, of 1 to {_MOST_NAME} printable characters")
        if self._below == "api/load":
            return desk.load(name)
        return desk.open(name, body or None, asked.get("internal", []))

    def _body(self, most: int) -> bytes | None:
        """The body of the request; None where it was refused."""
        length = self.headers.get("Content-Length", "0").strip()
        if not (length.isascii() and length.isdecimal()):
            self._refuse(HTTPStatus.BAD_REQUEST, "Content-Length: must be a number of bytes")
            return None
        if len(length) > 18 or int(length) > most:
            shown = length if len(length) <= 18 else "more than 10^18"
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"{shown} bytes: must be at most {most}")
            return None
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            self.close_connection = True
            return None
        return body

    def _is_there(self) -> bool:
        """Whether the client still waits: one that went away has closed its side."""
        try:
            readable, _, _ = select.select([self.connection], [], [], 0)
            return not readable or self.connection.recv(1, socket.MSG_PEEK) != b""
        except (OSError, ValueError):
            return False

    def _refuse(self, status: HTTPStatus, line: str) -> None:
        """One line, and the end of the connection: what else the client sends is not read as a request."""
        self.close_connection = True
        self._answer(f"{line}\n", _TYPES[".txt"], status, store=False)
        # Who is still sending would not read the answer.
        with contextlib.suppress(OSError):
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(1.0)
            left = 64
            while left and self.rfile.read1(2**20):
                left -= 1

    def _answer(
        self, content: str | bytes, kind: str, status: HTTPStatus = HTTPStatus.OK, *, store: bool = True
    ) -> None:
        encoded = content.encode() if isinstance(content, str) else content
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(encoded)))
            self.send_header("Cache-Control", "no-cache" if store else "no-store")
            if status == HTTPStatus.METHOD_NOT_ALLOWED:
                self.send_header("Allow", "GET, POST")
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(encoded)

    @property
    def _server(self) -> Server:
        return cast(Server, self.server)

    @property
    def _path(self) -> str:
        try:
            return urllib.parse.urlsplit(self.path).path
        except ValueError:
            return ""

    @property
    def _below(self) -> str:
        """The address below the token."""
        return self._path.removeprefix("/").partition("/")[2]


def serving(
    captures: Sequence[str | Path] = (),
    *,
    port: int = 0,
    internal: Sequence[str] = (),
    filter: str | None = None,
    anonymize: bool | bytes | None = None,
    tunnels: bool = False,
    folder: Path | None = None,
    engine: Engine | None = None,
) -> Server:
    """A server that is ready to serve, with its captures read.

    Parameters
    ----------
    captures : sequence of path
        What the page may open by name.
    port : int
        0 for a free one.
    filter : str, optional
        Packets of the captures that count (:func:`mayfly.workload.sieve.read_through`).
    internal : sequence of str
        Networks on the near side of the captures; inferred when there are none.
    anonymize : bool or bytes, optional
        As of :func:`mayfly.whatif`: the page gets images of the addresses, also of captures that are dropped on it.
        ``internal`` and ``filter`` name real addresses, on the page, too.
    tunnels : bool
        Whether the packet inside a tunnel counts, also of captures that are dropped on the page.
    folder : path, optional
        Of the page; where `make explore` puts it when not given.
    engine : Engine, optional
        The native one when not given.

    Returns
    -------
    Server
        Bound; nothing is answered before ``serve_forever``.

    Raises
    ------
    MayflyError
        The page was not built, a capture cannot be read, the port cannot be had, or ``filter`` or ``anonymize`` is not
        one.
    """
    if not 0 <= port <= 65_535:
        raise MayflyError(f"port {port}: must be from 0 to 65535; 0 finds a free one")
    files = page_files(folder or PAGE)
    named = Captures(
        files[TEMPLATE].read_text(encoding="utf-8"),
        _checked(internal),
        _checked_filter(filter),
        checked_key(anonymize),
        tunnels,
    )
    names = [named.add(path) for path in captures]
    desk = Desk(engine or _native_engine(), files, named)
    for name in names:
        try:
            desk.open(name)
        except ValueError as error:
            reason = " ".join(str(error).split()).removeprefix(f"{name}: ")
            raise MayflyError(f"{named.paths[name]}: {reason}") from None
    return Server(desk, port)


def _checked(internal: Sequence[str]) -> tuple[str, ...]:
    if internal:
        from mayfly.workload.capture import networks_of

        return tuple(networks_of(internal))
    return ()


def _checked_filter(filter: str | None) -> str | None:
    if filter is None:
        return None
    from mayfly.workload.sieve import checked_filter

    return checked_filter(filter)


def _native_engine() -> Engine:
    from mayfly import _native

    found: Any = getattr(_native, "Explorer", None)
    if found is None:
        raise MayflyError("the native module has no explorer: `make build` builds one that has")
    return cast(Engine, found())


def serve(server: Server, browser: bool) -> None:
    """Serves until an interrupt.

    Parameters
    ----------
    server : Server
        Of :func:`serving`.
    browser : bool
        Open the page, where there is a browser with windows.
    """
    print(f"{server.address}   (Ctrl-C ends it)", flush=True)
    if browser:
        threading.Thread(target=_open_browser, args=(server.address,), daemon=True).start()
    try:
        server.serve_forever()
    finally:
        server.server_close()


def _open_browser(address: str) -> None:
    # Without windows there are browsers of the terminal only, which would take it over.
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return
    with contextlib.suppress(webbrowser.Error, OSError):
        webbrowser.open(address)
