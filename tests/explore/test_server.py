"""The local server of `mayfly explore`: what it answers, and what it refuses."""

import http.client
import json
import socket
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from explore_standin import CAPTURE, Engine, page

from mayfly import _native
from mayfly.errors import MayflyError
from mayfly.explore import captures as captures_module
from mayfly.explore import documents
from mayfly.explore import server as module
from mayfly.explore.server import MOST_REQUEST_BYTES, page_files, serving


@contextmanager
def served(folder, *captures, **options):
    """A server at work, and its engine."""
    engine = Engine()
    server = serving(captures, folder=folder, engine=engine, **options)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server, engine
    finally:
        for _ in range(200):
            engine.go_on.release()
        server.shutdown()
        server.server_close()


@pytest.fixture
def folder(tmp_path):
    return page(tmp_path / "page")


@pytest.fixture
def site(folder):
    with served(folder) as both:
        yield both


def ask(server, path, method="GET", body=None, token=None, **headers):
    """Status, text and headers of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, f"/{server.token if token is None else token}{path}", body, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, answer.headers


def raw(server, text):
    """What comes back for these bytes, to the end of the connection."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=60) as connection:
        connection.sendall(text.replace("\n", "\r\n").encode("latin-1"))
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode()


def test_the_page_and_its_files_have_their_kinds(site):
    server, _ = site
    for path, kind in (
        ("/", "text/html; charset=utf-8"),
        ("/index.html", "text/html; charset=utf-8"),
        ("/assets/index.js", "text/javascript; charset=utf-8"),
        ("/mayfly_bg.wasm", "application/wasm"),
        ("/presets/office.json", "application/json"),
        ("/index.html?x=1", "text/html; charset=utf-8"),
        ("/assets%2Findex.js", "text/javascript; charset=utf-8"),
    ):
        status, text, headers = ask(server, path)
        assert (status, headers["Content-Type"]) == (200, kind) and text


def test_it_is_bound_to_this_machine_alone_and_its_token_is_new_each_time(site, folder):
    server, _ = site
    assert server.server_address[0] == "127.0.0.1"
    assert len(server.token) >= 40 and server.address.endswith(f":{server.server_port}/{server.token}/")
    with served(folder) as (other, _):
        assert other.token != server.token


@pytest.mark.parametrize("path", ["/", "/api/engine", "/assets/index.js", "/nothing"])
def test_every_answer_has_the_headers_that_keep_the_page_to_itself(site, path):
    _, _, headers = ask(site[0], path)
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "connect-src 'self'" in policy and "frame-ancestors 'none'" in policy
    assert "'unsafe-eval'" not in policy and "'wasm-unsafe-eval'" in policy and "script-src 'self' 'w" in policy
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin" and "Access-Control-Allow-Origin" not in headers
    assert headers["Cache-Control"] == ("no-store" if path in ("/api/engine", "/nothing") else "no-cache")
    assert headers["Server"] == "mayfly "


@pytest.mark.parametrize("token", ["", "x", "x" * 43, "%00", "é".encode().decode("latin-1")])
def test_without_the_token_there_is_nothing(site, token):
    server, engine = site
    addresses = ("/api/load?name=office", "/api/run", "/api/advise")
    for path, method in (("/", "GET"), ("/api/engine", "GET"), *((address, "POST") for address in addresses)):
        raw_path = f"/{token}{path}"
        answer = raw(server, f"{method} {raw_path} HTTP/1.1\nHost: 127.0.0.1:{server.server_port}\n\n")
        assert answer.startswith("HTTP/1.1 404 "), answer
        assert server.token not in answer
    assert not engine.loaded and not engine.ran
    assert ask(server, "")[0] == 404


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py",
        "/..%2fserver.py",
        "/assets/../../secret",
        "/assets/..%2f..%2fsecret",
        "/%2e%2e/secret",
        "/%2fetc/passwd",
        "//etc/passwd",
        "/assets\\..\\..\\secret",
        "/assets",
        "/assets/",
        "/presets/office.json%00.html",
        "/index.html/",
        "/.",
    ],
)
def test_no_file_but_those_of_the_page_is_served(site, folder, path):
    (folder.parent / "secret").write_text("secret")
    server, _ = site
    answer = raw(server, f"GET /{server.token}{path} HTTP/1.1\nHost: 127.0.0.1:{server.server_port}\n\n")
    assert answer.startswith("HTTP/1.1 404 ") and "secret" not in answer.partition("\r\n\r\n")[2]


def test_a_link_that_leads_out_of_the_page_is_no_file_of_it(folder, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (folder / "assets" / "link.js").symlink_to(tmp_path / "secret")
    (folder / "assets" / "inside.js").symlink_to(folder / "assets" / "index.js")
    assert "assets/link.js" not in page_files(folder) and "assets/inside.js" in page_files(folder)
    with served(folder) as (server, _):
        assert ask(server, "/assets/link.js")[0] == 404


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "localhost:1", "[::1]:{port}", ""]
)
def test_a_name_that_was_pointed_here_is_refused(site, host):
    server, _ = site
    host = host.format(port=server.server_port)
    answer = raw(server, f"GET /{server.token}/ HTTP/1.1\nHost: {host}\n\n")
    assert answer.startswith("HTTP/1.1 403 ") and "127.0.0.1 and localhost only" in answer


def test_without_a_host_or_with_two_nothing_is_answered(site):
    server, _ = site
    own = f"Host: 127.0.0.1:{server.server_port}\n"
    assert raw(server, f"GET /{server.token}/ HTTP/1.1\n\n").startswith("HTTP/1.1 403 ")
    assert raw(server, f"GET /{server.token}/ HTTP/1.1\n{own}{own}\n").startswith("HTTP/1.1 403 ")
    assert ask(server, "/", Host=f"localhost:{server.server_port}")[0] == 200
    assert ask(server, "/", Host=f"LOCALHOST:{server.server_port}")[0] == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}", ""]
)
def test_pages_of_other_sites_are_refused(site, origin):
    server, engine = site
    origin = origin.format(port=server.server_port)
    body = json.dumps({"workload": "office"})
    status, text, _ = ask(server, "/api/run", "POST", body, Origin=origin)
    assert status == 403 and "its own page only" in text and not engine.ran
    assert ask(server, "/api/run", "POST", body, Origin=server.address.rsplit("/", 2)[0])[0] == 200


@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "BREW"])
def test_other_methods_are_refused(site, method):
    status, _, headers = ask(site[0], "/", method)
    assert status == 405 and headers["Allow"] == "GET, POST"


@pytest.mark.parametrize(
    "text", ["nonsense\n\n", "GET\n\n", "GET / HTTP/9.9\n\n", "GET http://[ HTTP/1.1\nHost: x\n\n", "\n\n", ""]
)
def test_what_is_no_request_is_refused_or_ends_the_connection(site, text):
    answer = raw(site[0], text)
    assert not answer or answer.split()[1][0] == "4" or answer.startswith(("Bad ", "Invalid ")), answer
    assert ask(site[0], "/")[0] == 200


def test_who_answers_says_so_with_the_captures_by_name(folder, tmp_path):
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "x.pcap").write_bytes(CAPTURE + place.encode())
    with served(folder, tmp_path / "a" / "x.pcap", tmp_path / "b" / "x.pcap") as (server, engine):
        hello = json.loads(ask(server, "/api/engine")[1])
        assert hello["engine"] == "server" and hello["captures"] == ["x.pcap", "x.pcap (2)"]
        assert hello["most_capture_bytes"] == 2**30
        assert [(name, capture[-1:]) for name, capture, _ in engine.opened] == [("x.pcap", b"a"), ("x.pcap (2)", b"b")]
        assert engine.opened[0][2] == {"internal": None, "template": {"name": "whatif"}}


def test_a_preset_is_loaded_by_name(site):
    server, engine = site
    status, text, headers = ask(server, "/api/load?name=office", "POST")
    assert (status, json.loads(text)["name"], headers["Cache-Control"]) == (200, "office", "no-store")
    assert engine.loaded == ["office"]


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/api/load?name=offic", "preset offic: must be one of office"),
        ("/api/load?name=..%2f..%2fsecret", "preset ../../secret: must be one of office"),
        ("/api/load", "name: must be there once"),
        ("/api/load?name=", "name: must be there once"),
        ("/api/load?name=a&name=b", "name: must be there once"),
        ("/api/load?name=a%0ab", "printable characters"),
        ("/api/open?name=" + "x" * 201, "of 1 to 200 printable characters"),
        ("/api/open?name=x.pcap", "capture x.pcap: must be one that `mayfly explore` was given: none"),
        ("/api/open?name=%2fetc%2fpasswd", "capture /etc/passwd: must be one that"),
    ],
)
def test_a_name_that_there_is_not_is_refused_in_one_line(site, path, told):
    status, text, headers = ask(site[0], path, "POST")
    assert status == 400 and told in text and text.count("\n") == 1
    assert headers["Content-Type"] == "text/plain; charset=utf-8"


def test_a_capture_is_opened_from_its_bytes_or_by_its_name(folder, tmp_path):
    path = tmp_path / "own.pcap"
    path.write_bytes(CAPTURE)
    with served(folder, path, internal=["10.0.0.0/8"]) as (server, engine):
        assert [options["internal"] for _, _, options in engine.opened] == [["10.0.0.0/8"]]
        by_name = ask(server, "/api/open?name=own.pcap", "POST")
        assert by_name[0] == 200 and json.loads(by_name[1])["bytes"] == 24
        assert len(engine.opened) == 1, "it was read when the server started"
        ask(server, "/api/open?name=own.pcap&internal=10.1.0.0/16&internal=10.2.0.0/16", "POST")
        assert engine.opened[-1][2]["internal"] == ["10.1.0.0/16", "10.2.0.0/16"]
        ask(server, "/api/open?name=own.pcap", "POST")
        assert len(engine.opened) == 3 and engine.opened[-1][2]["internal"] == ["10.0.0.0/8"]
        dropped = ask(server, "/api/open?name=own.pcap", "POST", CAPTURE + b"more")
        assert json.loads(dropped[1])["bytes"] == 28
        assert json.loads(ask(server, "/api/open?name=own.pcap", "POST")[1])["bytes"] == 24


def test_bytes_that_are_no_capture_are_refused_in_one_line(site):
    status, text, _ = ask(site[0], "/api/open?name=a.pcap", "POST", b"nonsense")
    assert (status, text) == (400, "a.pcap: not a capture: must be pcap or pcapng\n")


def test_a_run_is_answered_and_a_refusal_is_one_line(site):
    server, _ = site
    status, text, _ = ask(server, "/api/run", "POST", json.dumps({"workload": "office", "number": 7}))
    assert status == 200 and json.loads(text) == {"workload": "office", "number": 7}
    assert ask(server, "/api/run", "POST", '{"workload": "x"}')[:2] == (400, "workload x: was not loaded\n")
    assert ask(server, "/api/run", "POST", b"\xff\xfe")[0] == 400
    assert ask(server, "/api/run", "POST", "not json")[0] == 400


def test_it_says_what_runs_come_to(site):
    server, _ = site
    way = {"rate_bps": 20_000_000, "buffer": [300, "packets"], "load": 0.5}
    links = {"down": way, "up": way | {"rate_bps": 5_000_000}}

    def asked(id, ping_ms):
        users = {"ping": {"probes": 9, "p95_ms": ping_ms}}
        return {"command": "whatif", "links": links, "disciplines": [{"id": id, "label": id, "users": users}]}

    status, text, _ = ask(server, "/api/advise", "POST", json.dumps([asked("fifo", 200.0), asked("pie", 20.0)]))
    found = json.loads(text)
    assert (status, found["discipline"]) == (200, "pie")
    assert found["sentence"].endswith(
        "`mayfly qdisc load eth0 --both-ways --down 19mbit --up 4750kbit --discipline pie --buffer 300`"
    )
    assert ask(server, "/api/advise", "POST", "[]")[:2] == (200, "null")
    assert ask(server, "/api/advise", "POST", '[{"disciplines": 7}]')[0] == 400


def test_a_fault_of_the_engine_is_told_and_the_server_lives(site):
    server, _ = site
    status, text, _ = ask(server, "/api/run", "POST", '{"workload": "panic"}')
    assert (status, text) == (500, "internal error: SystemError: index out of bounds; please report it\n")
    assert ask(server, "/api/run", "POST", '{"workload": "memory"}')[1].startswith("out of memory")
    assert ask(server, "/api/run", "POST", '{"workload": "office"}')[0] == 200


@pytest.mark.parametrize("path", ["/api/nothing", "/api/engine", "/", "/index.html", "/api/run/"])
def test_nothing_else_is_posted_to(site, path):
    assert ask(site[0], path, "POST", "{}")[0] == 404


@pytest.mark.parametrize(
    ("path", "length", "bound"),
    [
        ("/api/run", MOST_REQUEST_BYTES + 1, MOST_REQUEST_BYTES),
        ("/api/load?name=office", 1, 0),
        ("/api/open?name=x", 2**30 + 1, 2**30),
        ("/api/open?name=x", 10**30, 2**30),
    ],
)
def test_a_body_above_its_bound_is_refused_before_it_is_read(site, path, length, bound):
    server, engine = site
    own = f"Host: 127.0.0.1:{server.server_port}\n"
    answer = raw(server, f"POST /{server.token}{path} HTTP/1.1\n{own}Content-Length: {length}\n\n")
    assert answer.startswith("HTTP/1.1 413 ") and f"must be at most {bound}\n" in answer
    assert not engine.opened and not engine.ran


@pytest.mark.parametrize("length", ["-1", "x", "1e3", "", "١"])
def test_a_length_that_is_none_is_refused(site, length):
    server, _ = site
    own = f"Host: 127.0.0.1:{server.server_port}\n"
    text = f"POST /{server.token}/api/run HTTP/1.1\n{own}Content-Length: {length}\n\n"
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=60) as connection:
        connection.sendall(text.replace("\n", "\r\n").encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 400 ")


def test_a_body_without_its_length_is_refused(site):
    server, _ = site
    own = f"Host: 127.0.0.1:{server.server_port}\n"
    answer = raw(server, f"POST /{server.token}/api/run HTTP/1.1\n{own}Transfer-Encoding: chunked\n\n2\n{{}}\n0\n\n")
    assert answer.startswith("HTTP/1.1 411 ")


def test_a_body_that_breaks_off_is_no_request(site):
    server, engine = site
    own = f"Host: 127.0.0.1:{server.server_port}\n"
    assert raw(server, f"POST /{server.token}/api/run HTTP/1.1\n{own}Content-Length: 99\n\n{{}}") == ""
    assert not engine.ran


def test_a_client_that_went_away_while_it_waited_is_not_run_for(site):
    server, engine = site
    own = f"Host: 127.0.0.1:{server.server_port}\n"

    def begin(workload):
        body = json.dumps({"workload": workload})
        head = f"POST /{server.token}/api/run HTTP/1.1\n{own}Content-Length: {len(body)}\n\n"
        connection = socket.create_connection(("127.0.0.1", server.server_port), timeout=60)
        connection.sendall(head.replace("\n", "\r\n").encode() + body.encode())
        return connection

    running = [begin("wait"), begin("wait")]
    engine.begun.acquire()
    engine.begun.acquire()
    begin("office").close()
    for _ in range(6000):
        if not server.desk.runs._waiting:
            break  # it was seen to be gone
        threading.Event().wait(0.01)
    engine.go_on.release()
    engine.go_on.release()
    for connection in running:
        assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
        connection.close()
    assert engine.ran == ["wait", "wait"]


def test_the_engine_itself_is_asked_through_the_server(folder):
    (folder / "presets" / "attack.json").write_text(documents.text(documents.preset("attack")), encoding="utf-8")
    (folder / "template.json").write_text(documents.text(documents.template()), encoding="utf-8")
    capture = Path(__file__).parents[2] / "captures" / "office.pcap.gz"
    server = serving([capture], folder=folder)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    own = _native.Explorer()
    try:
        assert ask(server, "/api/load?name=attack", "POST")[1] == own.load(documents.text(documents.preset("attack")))
        options = json.dumps({"internal": None, "template": documents.template()})
        info = own.open(capture.name, capture.read_bytes(), options)
        assert ask(server, f"/api/open?name={capture.name}", "POST")[1] == info
        assert ask(server, "/api/open?name=dropped", "POST", capture.read_bytes())[1] == info.replace(
            json.dumps(capture.name), '"dropped"'
        )
        link = {"rate_bps": 10_000_000, "reverse_rate_bps": None, "buffer": {"packets": 300}, "rtt_s": None}
        for workload in ("attack", capture.name):
            request = json.dumps({"workload": workload, "link": link, "discipline": {"id": "lfq", "options": {}}})
            status, text, _ = ask(server, "/api/run", "POST", request)
            assert (status, text) == (200, own.run(request))
        status, text, _ = ask(server, "/api/run", "POST", '{"workload": "attack"}')
        assert status == 400 and "link" in text and text.count("\n") == 1
    finally:
        server.shutdown()
        server.server_close()


def test_captures_of_the_page_are_read_through_the_filter_of_the_command(folder):
    (folder / "template.json").write_text(documents.text(documents.template()), encoding="utf-8")
    capture = Path(__file__).parents[2] / "captures" / "office.pcap.gz"
    server = serving([capture], folder=folder, filter="tcp and port 80")
    try:
        info = json.loads(server.desk.open(capture.name))
        assert info["notes"][0].startswith('the filter "tcp and port 80" leaves out ')
        assert "of 71,394 packets" in info["notes"][0]
    finally:
        server.server_close()
    with pytest.raises(MayflyError, match=r"filter = 'portal': 'portal' is none of its words"):
        serving([capture], folder=folder, filter="portal")


def test_captures_of_the_page_have_other_addresses_where_the_command_asks(folder):
    (folder / "template.json").write_text(documents.text(documents.template()), encoding="utf-8")
    capture = Path(__file__).parents[2] / "captures" / "office.pcap.gz"
    request = {"workload": capture.name, "discipline": {"id": "fifo"}}
    request["link"] = {"rate_bps": 10**7, "reverse_rate_bps": None, "buffer": {"packets": 300}, "rtt_s": None}
    found = []
    for key in (None, bytes(range(32))):
        # Networks are named with their real addresses.
        server = serving([capture], folder=folder, internal=["10.10.0.0/24"], anonymize=key)
        try:
            info = server.desk.open(capture.name)
            found.append((info, json.loads(server.desk.engine.run(json.dumps(request)))["figures"]))
            with pytest.raises(ValueError, match="no host is in it") as refused:
                server.desk.open(capture.name, internal=["172.16.0.0/24"])
            # The office is 10.10.0.0/24: its own name is in the refusal without a key alone.
            assert ("10.10.0" in str(refused.value)) == (key is None)
        finally:
            server.server_close()
    assert found[0] == found[1]
    with pytest.raises(MayflyError, match="anonymize: bytes of length 3: must be"):
        serving([capture], folder=folder, anonymize=b"abc")


def test_a_page_that_was_not_built_says_what_builds_it(tmp_path):
    with pytest.raises(MayflyError, match=r"the page was not built: `make explore` builds it in a checkout"):
        serving(folder=tmp_path, engine=Engine())


def test_bad_captures_are_refused_before_anything_is_served(folder, tmp_path, monkeypatch):
    bad = tmp_path / "bad.pcap"
    bad.write_bytes(b"nonsense")
    for path, told in (
        (tmp_path / "none.pcap", r"none\.pcap: no such file: must be a capture"),
        (tmp_path, r"is a folder: must be a capture"),
        (bad, r"bad\.pcap: not a capture: must be pcap or pcapng"),
    ):
        with pytest.raises(MayflyError, match=told) as refused:
            serving([path], folder=folder, engine=Engine())
        assert str(refused.value).count("bad.pcap") == (path == bad) and str(path) in str(refused.value)
    monkeypatch.setattr(captures_module, "MOST_CAPTURE_BYTES", 7)
    with pytest.raises(MayflyError, match=r"8 bytes: must be at most 7 for the page; `mayfly whatif` reads more"):
        serving([bad], folder=folder, engine=Engine())
    with pytest.raises(MayflyError, match=r"internal = '10\.0\.0\.0/33': must be a network"):
        serving(folder=folder, engine=Engine(), internal=["10.0.0.0/33"])


def test_a_port_that_is_taken_or_none_is_refused(folder):
    with (
        served(folder) as (server, _),
        pytest.raises(MayflyError, match=rf"port {server.server_port}: address already in use: must be free"),
    ):
        serving(folder=folder, engine=Engine(), port=server.server_port)
    for port in (-1, 65_536):
        with pytest.raises(MayflyError, match=rf"port {port}: must be from 0 to 65535"):
            serving(folder=folder, engine=Engine(), port=port)


def test_a_capture_that_is_gone_is_refused_when_it_is_asked_for(folder, tmp_path):
    path = tmp_path / "own.pcap"
    path.write_bytes(CAPTURE)
    with served(folder, path) as (server, _):
        path.unlink()
        status, text, _ = ask(server, "/api/open?name=own.pcap&internal=10.0.0.0/8", "POST")
        assert status == 400 and "own.pcap: cannot be read: No such file" in text


def test_a_browser_of_the_terminal_is_never_opened(monkeypatch):
    opened = []
    monkeypatch.setattr(module.webbrowser, "open", opened.append)
    monkeypatch.setattr(module.sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    module._open_browser("http://127.0.0.1:1/")
    assert opened == []
    monkeypatch.setenv("DISPLAY", ":0")
    module._open_browser("http://127.0.0.1:1/")
    assert opened == ["http://127.0.0.1:1/"]
