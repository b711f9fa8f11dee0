"""Certificates of a cluster: who has them is in it, and nobody else."""

import contextlib
import socket
import ssl
import stat

import pytest
from files import grid
from invocation import mayfly_here, refused_here

from mayfly.errors import MayflyError
from mayfly.sweep.plan import load_plan
from mayfly.sweep.run import sweep
from mayfly.workers.certificates import AUTHORITY, CERTIFICATE, KEY, make_certificates, security
from mayfly.workers.workers import Local, workers

pytest.importorskip("cryptography", reason="cryptography is not installed")
NAMES = {AUTHORITY, CERTIFICATE, KEY}


def contexts(folder):
    """Of both ends, as Dask makes them: a certificate is asked for, and a name is not."""
    found = []
    for purpose in (ssl.Purpose.CLIENT_AUTH, ssl.Purpose.SERVER_AUTH):
        context = ssl.create_default_context(purpose, cafile=str(folder / AUTHORITY))
        context.check_hostname, context.verify_mode = False, ssl.CERT_REQUIRED
        context.load_cert_chain(folder / CERTIFICATE, folder / KEY)
        found.append(context)
    return found


def handshake(server, client):
    """Both ends greet each other without a network; raises what either has against it."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [server.wrap_bio(to_server, to_client, server_side=True), client.wrap_bio(to_client, to_server)]
    waiting = list(ends)
    for _ in range(20):
        for end in list(waiting):
            try:
                end.do_handshake()
                waiting.remove(end)
            except ssl.SSLWantReadError:
                pass
        if not waiting:
            ends[1].write(b"x")
            return ends[0].read(1)
    raise AssertionError("no end of the handshake")


def test_both_ends_with_one_set_of_certificates_agree(tmp_path):
    make_certificates(tmp_path / "one")
    assert handshake(*contexts(tmp_path / "one")) == b"x"


def test_another_set_is_refused_and_so_is_none(tmp_path):
    make_certificates(tmp_path / "one")
    make_certificates(tmp_path / "other")
    server, _ = contexts(tmp_path / "one")
    _, stranger = contexts(tmp_path / "other")
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(server, stranger)
    trusting = ssl.create_default_context(cafile=str(tmp_path / "one" / AUTHORITY))
    trusting.check_hostname = False
    with pytest.raises(ssl.SSLError, match="PEER_DID_NOT_RETURN_A_CERTIFICATE"):
        handshake(server, trusting)


def test_only_the_owner_may_read_them_and_none_is_written_over(tmp_path):
    folder = tmp_path / "certificates"
    ended = mayfly_here("sweep", "certificates", folder, "--days", 2, "--json")
    assert ended.status == 0 and set(ended.document["files"]) == {"authority", "certificate", "key"}
    assert {path.name for path in folder.iterdir()} == NAMES
    for path in (folder, *folder.iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    before = (folder / KEY).read_bytes()
    assert "is there already" in refused_here("sweep", "certificates", folder)
    assert (folder / KEY).read_bytes() == before


@pytest.mark.parametrize(("days", "said"), [(0, "from 1 to 3650"), (3651, "from 1 to 3650")])
def test_days_have_bounds(tmp_path, days, said):
    assert said in refused_here("sweep", "certificates", tmp_path / "x", "--days", days)


def test_a_folder_that_others_read_is_not_written(tmp_path):
    folder = tmp_path / "open"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    assert "others may read it" in refused_here("sweep", "certificates", folder)
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("cluster", "certificates", "said"),
    [
        ("tls://h:1", None, "must be with --cluster-certificates"),
        ("dask://h:1", "x", "must be with --cluster tls://"),
        (None, "x", "must be with --cluster tls://"),
        ("http://h:1", None, "must be tls://HOST:PORT or dask://HOST:PORT"),
        ("tls://", "x", "must be tls://HOST:PORT or dask://HOST:PORT"),
    ],
)
def test_addresses_and_certificates_go_together(cluster, certificates, said):
    with pytest.raises(MayflyError, match=said):
        workers(cluster=cluster, certificates=certificates)


def test_a_key_that_others_may_read_is_refused(tmp_path):
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    make_certificates(tmp_path / "c")
    (tmp_path / "c" / KEY).chmod(0o644)
    with pytest.raises(MayflyError, match="others may read it"):
        security(tmp_path / "c")
    (tmp_path / "c" / KEY).chmod(0o600)
    (tmp_path / "c" / CERTIFICATE).write_text("none")
    with pytest.raises(MayflyError, match="not certificates of a cluster"):
        security(tmp_path / "c")
    with pytest.raises(MayflyError, match="no such file"):
        security(tmp_path)


@pytest.mark.slow
def test_a_sweep_on_a_cluster_by_tls(tmp_path):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    make_certificates(tmp_path / "one")
    make_certificates(tmp_path / "other")
    plan = load_plan(grid(tmp_path))
    how = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with distributed.LocalCluster(**how, protocol="tls", security=security(tmp_path / "one")) as cluster:
        address = cluster.scheduler_address
        assert address.startswith("tls://127.0.0.1:")
        with pytest.raises(MayflyError, match="no scheduler with these certificates"):
            sweep(plan, tmp_path / "no", make_workers=workers(cluster=address, certificates=tmp_path / "other"))
        with pytest.raises(MayflyError, match="no scheduler"):
            sweep(plan, tmp_path / "no", make_workers=workers(cluster=address.replace("tls://", "dask://")))
        # Without a certificate nothing is read of what a stranger sends.
        port = int(address.rpartition(":")[2])
        trusting = ssl.create_default_context(cafile=str(tmp_path / "one" / AUTHORITY))
        trusting.check_hostname = False
        answer = b""
        with (
            contextlib.suppress(ssl.SSLError, ConnectionError),
            socket.create_connection(("127.0.0.1", port), timeout=10) as plain,
            trusting.wrap_socket(plain) as stranger,
        ):
            answer = stranger.recv(1)
        assert answer == b""
        on_cluster = sweep(plan, tmp_path / "on", make_workers=workers(cluster=address, certificates=tmp_path / "one"))
    here = sweep(plan, tmp_path / "here", make_workers=lambda: Local(1))

    def figures(swept):
        rows = [{k: v for k, v in row.items() if k not in ("cpu_s", "wall_s")} for row in swept.rows]
        return sorted(map(repr, rows))

    assert on_cluster.ran == here.ran == 16 and figures(on_cluster) == figures(here)
