"""`mayfly qdisc export`: what Prometheus reads, parsed by its own client, of readings recorded in the guest."""

import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

import pytest
from invocation import COMMAND, heed_interrupts, refused_here

pytest.importorskip("prometheus_client", reason="prometheus_client is not installed: pip install mayfly[metrics]")
from prometheus_client import CollectorRegistry, generate_latest, start_http_server
from prometheus_client.parser import text_string_to_metric_families

from mayfly.qdisc.export import MOST_CLIENTS, families, withstand
from mayfly.qdisc.show import parse

RECORDED = Path(__file__).parent / "recorded" / "lfq.json"
UNITS = ("bytes", "packets", "seconds", "users", "flows", "bytes_per_second", "success")


@pytest.fixture(scope="module")
def document() -> list[dict]:
    return json.loads(RECORDED.read_text(encoding="utf-8"))[1]


class Fixed:
    def __init__(self, rows, top):
        self.rows, self.top = rows, top

    def collect(self):
        return families(self.rows, self.top)


def read_back(document: list[dict], top: int) -> dict:
    """Families by name, as Prometheus would have them."""
    registry = CollectorRegistry()
    rows = [row for row in parse(json.dumps(document)) if row.kind == "lfq"]
    registry.register(Fixed(rows, top))
    text = generate_latest(registry).decode()
    return {family.name: family for family in text_string_to_metric_families(text)}


def test_each_count_is_what_tc_said(document):
    found = read_back(document, 16)
    up = next(row for row in document if row["kind"] == "lfq" and row["dev"] == "eth0")
    for name, value in (
        ("sent_bytes", up["bytes"]),
        ("dropped_packets", up["drops"]),
        ("backlog_bytes", up["backlog"]),
        ("shaped_bytes_per_second", 125_000),
        ("table_users", 144),
    ):
        family = found[f"mayfly_qdisc_{name}"]
        assert family.type == ("counter" if name in ("sent_bytes", "dropped_packets") else "gauge")
        assert [s.value for s in family.samples if s.labels["device"] == "eth0"] == [value]
    user = next(one for one in up["top"] if one["user"] == "10.0.1.66")
    (waited,) = (
        sample.value
        for sample in found["mayfly_qdisc_user_wait_p95_seconds"].samples
        if sample.labels["user"] == "10.0.1.66" and sample.labels["device"] == "eth0"
    )
    assert waited == pytest.approx(user["wait_p95_us"] / 1e6)


def test_names_have_units_and_waits_are_cumulative(document):
    found = read_back(document, 16)
    for name, family in found.items():
        assert name.endswith(UNITS), name
        assert (family.type == "counter") == any(one.name.endswith("_total") for one in family.samples)
    buckets = [
        sample
        for sample in found["mayfly_qdisc_wait_seconds"].samples
        if sample.name.endswith("_bucket") and sample.labels["device"] == "eth0"
    ]
    values = [sample.value for sample in buckets]
    up = next(row for row in document if row["kind"] == "lfq" and row["dev"] == "eth0")
    assert values == sorted(values) and values[-1] == up["packets"] and buckets[-1].labels["le"] == "+Inf"


def test_users_are_bounded(document):
    found = read_back(document, 2)
    users = [sample for sample in found["mayfly_qdisc_user_flows"].samples if sample.labels["device"] == "eth0"]
    assert len(users) == 2
    assert not any("_user_" in name for name in read_back(document, 0))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--listen", "no.such.host.invalid:9817"], "--listen = no.such.host.invalid:9817: "),
        (["--listen", "192.0.2.1:9817"], "--listen = 192.0.2.1:9817: "),
    ],
)
def test_addresses_that_cannot_be_had_are_one_line(machine, arguments, said):
    assert said in refused_here("qdisc", "export", *arguments)


def test_a_port_that_is_taken_is_one_line(machine):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        listen = f"127.0.0.1:{other.getsockname()[1]}"
        assert f"--listen = {listen}: Address already in use" in refused_here("qdisc", "export", "--listen", listen)


def test_the_endpoint_answers_until_it_is_interrupted(machine, document):
    machine.answer("tc -s -j qdisc show", document)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        listen = f"127.0.0.1:{free.getsockname()[1]}"
    process = subprocess.Popen(
        [*COMMAND, "qdisc", "export", "--listen", listen],
        env=os.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    )
    assert process.stderr.readline() == f"http://{listen}/metrics\n"
    text = urllib.request.urlopen(f"http://{listen}/metrics", timeout=10).read().decode()
    assert "mayfly_qdisc_read_success 1.0" in text
    assert 'mayfly_qdisc_user_dropped_packets_total{device="eth0"' in text
    # A reading that fails is told, and the endpoint goes on.
    machine.answer("tc -s -j qdisc show", status=1, err="Cannot open netlink socket\n")
    text = urllib.request.urlopen(f"http://{listen}/metrics", timeout=10).read().decode()
    assert "mayfly_qdisc_read_success 0.0" in text and "sent_bytes" not in text
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130 and "Traceback" not in err and len(err.strip().splitlines()) == 1


@pytest.fixture
def port(monkeypatch):
    """Of an endpoint that withstands strangers, with less patience."""
    monkeypatch.setattr("mayfly.qdisc.export.PATIENCE_S", 1.0)
    server, thread = start_http_server(0, "127.0.0.1", CollectorRegistry())
    withstand(server)
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


def threads_within(most, patience_s=10.0):
    end = time.monotonic() + patience_s
    while threading.active_count() > most and time.monotonic() < end:
        time.sleep(0.05)
    return threading.active_count() <= most


def test_clients_that_wait_are_bounded_and_end(port):
    before = threading.active_count()
    waiting = [socket.create_connection(("127.0.0.1", port)) for _ in range(3 * MOST_CLIENTS)]
    for one in waiting:
        one.sendall(b"GET /metr")
    assert urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).status == 200
    # The newest of them still wait, as long as the endpoint has patience.
    assert threads_within(before + MOST_CLIENTS)
    assert threads_within(before)
    for one in waiting:
        one.close()


def test_odd_requests_print_nothing(port, capfd):
    line = b"Accept: application/openmetrics-text;version=\xff"
    for target in (b"/metrics", b"/?name[]=%00", b"*"):
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(b"GET " + target + b" HTTP/1.1\r\n" + line + b"\r\n\r\n")
            assert client.recv(4) == b"HTTP"
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            client.sendall(b"GET " + target + b" HTTP/1.1\r\n\r\n")
    assert urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).status == 200
    assert capfd.readouterr() == ("", "")
