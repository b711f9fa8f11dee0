"""What answers at the address of a cluster and is no Dask scheduler: one line each, in bounded time."""

import contextlib
import os
import socket
import threading
import time

import pytest

from mayfly.errors import MayflyError
from mayfly.workers import scheduler
from mayfly.workers.certificates import make_certificates
from mayfly.workers.workers import Dask

pytest.importorskip("distributed", reason="dask.distributed is not installed")


def http(peer):
    """As a server that waits for a request does."""
    asked = b""
    while not asked.endswith(b"\r\n\r\n"):
        asked += peer.recv(4096)
    peer.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def silent(peer):
    """Accepts and says nothing, until the other end goes."""
    while peer.recv(4096):
        pass


ANSWERS = {
    "silent": (silent, "the connection is accepted, and nothing is said for 3 s"),
    "http": (http, "a server of HTTP does, such as the dashboard of a cluster: name the port of the scheduler"),
    "banner": (lambda peer: peer.sendall(b"SSH-2.0-OpenSSH_9.2p1\r\n"), "what comes is no message of Dask"),
    "random": (lambda peer: peer.sendall(os.urandom(7) + b"\xff"), "what comes is no message of Dask"),
    "short": (lambda peer: peer.sendall(b"\x01"), "what comes is no message of Dask"),
    "closed": (lambda peer: None, "the connection is accepted and closed"),
}


@contextlib.contextmanager
def serving(answer):
    """A port of this machine, at which every connection gets the answer and is closed behind it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    peer, _ = listening.accept()
                    with peer, contextlib.suppress(OSError):
                        answer(peer)

        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1]


@pytest.mark.parametrize("kind", ANSWERS)
def test_what_is_no_scheduler_is_refused_with_its_reason(monkeypatch, kind):
    monkeypatch.setattr(scheduler, "ANSWER_S", 3.0)
    monkeypatch.setattr(scheduler, "SILENT_S", 0.5)
    answer, why = ANSWERS[kind]
    with serving(answer) as port:
        begins = time.monotonic()
        with pytest.raises(MayflyError) as refused:
            Dask(f"dask://127.0.0.1:{port}")
        assert time.monotonic() - begins < 6
        assert str(refused.value) == f"--cluster dask://127.0.0.1:{port}: no scheduler answers: {why}"


def test_a_handshake_of_tls_that_nobody_answers_ends(monkeypatch, tmp_path):
    monkeypatch.setattr(scheduler, "ANSWER_S", 1.0)
    make_certificates(tmp_path / "one")
    with serving(silent) as port:
        begins = time.monotonic()
        with pytest.raises(MayflyError, match="no scheduler with these certificates answers"):
            Dask(f"tls://127.0.0.1:{port}", tmp_path / "one")
        assert time.monotonic() - begins < 5


@pytest.mark.parametrize("address", ["dask://127.0.0.1", "dask://127.0.0.1:", "dask://127.0.0.1:0", "dask://h:99999"])
def test_an_address_without_a_port_is_refused(address):
    with pytest.raises(MayflyError, match="must name the port of a Dask scheduler"):
        Dask(address)


def test_a_scheduler_is_none_of_these():
    from distributed import LocalCluster

    how = {"n_workers": 0, "processes": False, "protocol": "tcp://", "dashboard_address": None}
    with LocalCluster(**how) as cluster:
        scheduler.refuse_no_scheduler("dask://" + cluster.scheduler_address.removeprefix("tcp://"))
