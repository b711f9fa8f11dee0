"""Real programs at both ends of a link: Debian's servers, and what their users run.

Servers: nginx, dnsmasq, rsync, dovecot, iperf3. Clients: curl (alone, and with six connections at once as a browser
has them), wget, rsync, git, dig, iperf3, ping. A video player and a telephone call are scripts: there is no program
that a machine without screen and sound runs. A step is a program with what it is to do; what it took is what the
program's user saw, from its start to its end.
"""

import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import site_network
from namespaces import enter

WWW = Path("/run/out/www")
HOME = Path("/run/site")
MAILS = 50
RTP = struct.Struct("!BBHIId")  # with the time of sending, s, in place of the first eight bytes of speech
CALL_PORT = 30_000
CALL_GAP_S, CALL_BYTES = 0.02, 172
STDERR_BYTES = 300

NGINX = """daemon off; user root; worker_processes 1; pid {home}/nginx.pid; error_log {home}/nginx.log;
events {{ worker_connections 4096; }}
http {{ access_log off; sendfile on; tcp_nopush on; client_body_temp_path {home}/body; client_max_body_size 0;
proxy_temp_path {home}/proxy; fastcgi_temp_path {home}/fastcgi; uwsgi_temp_path {home}/uwsgi; scgi_temp_path
{home}/scgi; server {{ listen 80; root {www}; location /up/ {{ root {home}; dav_methods PUT; create_full_put_path on;
}} }} }}
"""
RSYNC = """use chroot = no
pid file = {home}/rsyncd.pid
[files]
path = {www}
read only = yes
[in]
path = {home}/in
read only = no
"""
DOVECOT = """base_dir = {home}/dovecot
state_dir = {home}/dovecot-state
instance_name = {name}
protocols = imap
log_path = {home}/dovecot.log
ssl = no
disable_plaintext_auth = no
mail_location = maildir:{home}/mail
mail_uid = 8
mail_gid = 8
first_valid_uid = 8
first_valid_gid = 8
default_internal_user = dovecot
passdb {{
  driver = static
  args = nopassword=y
}}
userdb {{
  driver = static
  args = uid=8 gid=8 home={home}
}}
service imap-login {{
  inet_listener imaps {{
    port = 0
  }}
}}
"""


def home(number: int) -> Path:
    """Folder of a server's programs, in memory."""
    found = HOME / site_network.server(number)
    found.mkdir(parents=True, exist_ok=True)
    return found


def nginx(number: int, _: list[dict]) -> list[list[str]]:
    conf = home(number) / "nginx.conf"
    (home(number) / "up").mkdir(exist_ok=True)
    conf.write_text(NGINX.format(home=home(number), www=WWW))
    return [["nginx", "-p", str(home(number)), "-c", str(conf)]]


def dnsmasq(number: int, _: list[dict]) -> list[list[str]]:
    address = site_network.server_address(number)
    options = ("--keep-in-foreground", "--no-resolv", "--no-hosts", "--user=root", "--cache-size=0")
    return [
        [
            "dnsmasq",
            *options,
            "--conf-file=/dev/null",
            f"--pid-file={home(number)}/dnsmasq.pid",
            f"--address=/#/{address}",
        ]
    ]


def rsyncd(number: int, _: list[dict]) -> list[list[str]]:
    conf = home(number) / "rsyncd.conf"
    (home(number) / "in").mkdir(exist_ok=True)
    conf.write_text(RSYNC.format(home=home(number), www=WWW))
    return [["rsync", "--daemon", "--no-detach", f"--config={conf}"]]


def dovecot(number: int, steps: list[dict]) -> list[list[str]]:
    own = home(number)
    conf = own / "dovecot.conf"
    conf.write_text(DOVECOT.format(home=own, name=own.name))
    sizes = next(step["sizes"] for step in steps if step["program"] == "mail")
    for folder in ("cur", "new", "tmp"):
        (own / "mail" / folder).mkdir(parents=True)
    for place in range(MAILS):
        size = sizes[place % len(sizes)]
        head = f"From: a@example.org\nSubject: {place}\nDate: Mon, 1 Jan 2024 00:00:{place:02d} +0000\n\n"
        text = head + ("x" * 76 + "\n") * (size // 77)
        (own / "mail" / "cur" / f"1700000{place:03d}.{place}.host:2,S").write_text(text)
    shutil.chown(own, 8, 8)
    for folder, _, names in os.walk(own / "mail"):
        for name in (folder, *(os.path.join(folder, name) for name in names)):
            os.chown(name, 8, 8)
    return [["dovecot", "-F", "-c", str(conf)]]


def iperf3d(number: int, steps: list[dict]) -> list[list[str]]:
    ports = sorted({step["port"] for step in steps if step["program"] == "iperf3"})
    return [["iperf3", "--server", "--port", str(port)] for port in ports]


SERVERS: dict[str, Callable[[int, list[dict]], list[list[str]]]] = {
    "nginx": nginx,
    "dnsmasq": dnsmasq,
    "rsync": rsyncd,
    "dovecot": dovecot,
    "iperf3": iperf3d,
}
"""By name: the commands that a server runs, of the steps that ask it."""


class Actor(threading.Thread):
    """One who runs steps in turn at a client: what a thread starts inherits its namespace (setns(2))."""

    def __init__(self, row: dict, run):
        super().__init__(daemon=True)
        self.row, self.run_of = row, run
        self.address = ""
        self.told: dict = {}

    def run(self) -> None:
        enter(site_network.client(self.row["client"]))
        for place, step in enumerate(self.row["steps"]):
            self.run_of.sleep(step.get("think_s", 0.0))
            self.run_of.sleep_until(step.get("at_s", 0.0))
            self.address = site_network.server_address(step["server"])
            begun = self.run_of.now()
            told = {"actor": self.row["name"], "client": self.row["client"], "step": place, "program": step["program"]}
            told |= {"what": step.get("what", step["program"]), "server": step["server"], "start_s": begun}
            mark, self.told = self.run_of.begun(told), told
            try:
                found = CLIENTS[step["program"]](self, step)
            except subprocess.CalledProcessError as error:
                found = {"failed": f"{error.cmd[0]} {error.returncode}: {(error.stderr or '').strip()[-STDERR_BYTES:]}"}
            except OSError as error:
                found = {"failed": str(error)}
            self.run_of.ended(mark, {"end_s": self.run_of.now()} | found)

    def ran(self, command: list[str], *, status: tuple[int, ...] = (0,)) -> str:
        """What a command prints.

        Raises
        ------
        subprocess.CalledProcessError
            It ends with another status.
        """
        process = self.run_of.start(command, subprocess.PIPE)
        out, err = process.communicate()
        if process.returncode not in status:
            raise subprocess.CalledProcessError(process.returncode, command, out, err)
        return out


CURL = ["curl", "--silent", "--show-error", "--fail", "--output", "/dev/null", "--write-out"]
CURL_SAYS = '{"bytes":%{size_download},"up":%{size_upload},"time_s":%{time_total},"port":%{local_port}}\n'


def fetched(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def page(actor: Actor, step: dict) -> dict:
    """A page as a browser gets it: its text, then all it is made of over six connections at once."""
    base = f"http://{actor.address}"
    found = fetched(actor.ran([*CURL, CURL_SAYS, f"{base}/{step['html']}"]))
    if objects := step["objects"]:
        # Each needs its own --output.
        rest = [part for size in objects for part in ("--output", "/dev/null", f"{base}/{size}")]
        together = ["--parallel", "--parallel-immediate", "--parallel-max", "6"]
        command = ["curl", "--silent", "--show-error", "--fail", *together]
        found += fetched(actor.ran([*command, "--write-out", CURL_SAYS, *rest]))
    return {"bytes": sum(one["bytes"] for one in found), "transfers": found}


def get(actor: Actor, step: dict) -> dict:
    limit = ["--limit-rate", str(step["limit_Bps"])] if step.get("limit_Bps") else []
    found = fetched(actor.ran([*CURL, CURL_SAYS, *limit, f"http://{actor.address}/{step['size']}"]))
    return {"bytes": step["size"], "transfers": found}


def put(actor: Actor, step: dict) -> dict:
    name = f"{actor.row['name']}-{time.monotonic_ns()}"
    source = ["--upload-file", str(WWW / str(step["size"]))]
    found = fetched(actor.ran([*CURL, CURL_SAYS, *source, f"http://{actor.address}/up/{name}"]))
    for kept in HOME.glob(f"*/up/{name}"):
        kept.unlink()
    return {"bytes": step["size"], "transfers": found}


def wget(actor: Actor, step: dict) -> dict:
    limit = [f"--limit-rate={step['limit_Bps']}"] if step.get("limit_Bps") else []
    command = ["wget", "--quiet", "--no-config", "--output-document=/dev/null", *limit]
    actor.ran([*command, f"http://{actor.address}/{step['size']}"])
    return {"bytes": step["size"]}


def rsync(actor: Actor, step: dict) -> dict:
    """Files from the server, or to it."""
    limit = [f"--bwlimit={step['limit_Bps'] // 1024}"] if step.get("limit_Bps") else []
    if step.get("up"):
        files = [str(WWW / str(size)) for size in step["sizes"]]
        actor.ran(["rsync", "--whole-file", *limit, *files, f"rsync://{actor.address}/in/"])
        for kept in HOME.glob("*/in/*"):
            kept.unlink()
    else:
        where = HOME / f"{actor.row['name']}-rsync"
        where.mkdir(exist_ok=True)
        files = [f"rsync://{actor.address}/files/{size}" for size in step["sizes"]]
        actor.ran(["rsync", "--whole-file", *limit, *files, f"{where}/"])
        shutil.rmtree(where)
    return {"bytes": sum(step["sizes"])}


def git(actor: Actor, step: dict) -> dict:
    where = HOME / f"{actor.row['name']}-clone"
    url = f"http://{actor.address}/{step['repository']}"
    actor.ran(["git", "-c", "safe.directory=*", "clone", "--quiet", url, str(where)])
    shutil.rmtree(where)
    return {"bytes": step["size"]}


def mail(actor: Actor, step: dict) -> dict:
    """So many mails by IMAP over one connection."""
    urls = [f"imap://{actor.address}/INBOX;MAILINDEX={1 + (step['first'] + k) % MAILS}" for k in range(step["count"])]
    parts = [part for url in urls for part in ("--output", "/dev/null", url)]
    command = ["curl", "--silent", "--show-error", "--user", "user:word", "--write-out", CURL_SAYS]
    found = fetched(actor.ran([*command, *parts]))
    return {"bytes": sum(one["bytes"] for one in found), "transfers": found}


def dns(actor: Actor, step: dict) -> dict:
    actor.ran(["dig", "+tries=3", "+time=2", "+noall", "+answer", f"@{actor.address}", step["name"]])
    return {"bytes": 0}


def iperf3(actor: Actor, step: dict) -> dict:
    way = ["--reverse"] if step.get("down") else []
    rate = ["--udp", "--bitrate", str(step["udp_bps"]), "--length", "1200"] if step.get("udp_bps") else []
    whom = ["--client", actor.address, "--port", str(step["port"]), "--time", str(step["time_s"])]
    end = json.loads(actor.ran(["iperf3", "--json", *whom, *way, *rate]))["end"]
    total = end["sum"] if rate else end["sum_received"]
    found = {"bytes": total["bytes"], "goodput_bps": total["bits_per_second"]}
    if rate:
        found |= {"loss": total["lost_percent"] / 100, "jitter_s": total["jitter_ms"] / 1e3}
    return found


def ping(actor: Actor, step: dict) -> dict:
    told = actor.ran(["ping", "-n", "-i", str(step["gap_s"]), "-w", str(step["time_s"]), actor.address], status=(0, 1))
    times = [float(line.rsplit("time=", 1)[1].split()[0]) / 1e3 for line in told.splitlines() if "time=" in line]
    return {"rtts_s": times, "bytes": 0}


def video(actor: Actor, step: dict) -> dict:
    """A player: segments one by one over one connection, no more than so much ahead of what is shown."""
    import http.client

    length_s, ahead_s = step["segment_s"], step["ahead_s"]
    connection = http.client.HTTPConnection(actor.address, 80)
    shown_until, stalled_s = None, 0.0
    # Told as they come: the end of the run cuts a film off.
    segments = actor.told["segments_s"] = []
    while actor.run_of.now() < step["until_s"]:
        if shown_until is not None:
            actor.run_of.sleep(shown_until - actor.run_of.now() - ahead_s)
        begun = actor.run_of.now()
        connection.request("GET", f"/{step['size']}")
        connection.getresponse().read()
        now = actor.run_of.now()
        segments.append(now - begun)
        if shown_until is not None:
            stalled_s += max(0.0, now - shown_until)
        shown_until = max(now, shown_until or 0.0) + length_s
    connection.close()
    return {"bytes": step["size"] * len(segments), "stalled_s": stalled_s}


def call(actor: Actor, step: dict) -> dict:
    """Speech both ways, G.711 in packets of 20 ms: when each was sent, and came."""
    port = CALL_PORT + actor.row["client"]
    near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    near.bind((site_network.client_address(actor.row["client"]), port))
    enter(site_network.server(step["server"]))
    far = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    far.bind((actor.address, port))
    enter(site_network.client(actor.row["client"]))
    ends = (far, near)
    came: tuple[list, list] = ([], [])  # way down, way up: what came where

    def listen(end: socket.socket, into: list) -> None:
        while True:
            try:
                data = end.recv(2048)
            except OSError:
                return
            if len(data) < RTP.size:
                return
            _, _, number, _, _, sent = RTP.unpack_from(data)
            into.append((number, sent, actor.run_of.now()))

    for end, into in ((near, came[0]), (far, came[1])):
        threading.Thread(target=listen, args=(end, into), daemon=True).start()
    count = int(step["time_s"] / CALL_GAP_S)
    begun = actor.run_of.now()
    sent_s: dict[str, list[float]] = {"down": [], "up": []}
    for number in range(count):
        actor.run_of.sleep_until(begun + number * CALL_GAP_S)
        for way, end, other in (("down", far, near), ("up", near, far)):
            now = actor.run_of.now()
            sent_s[way].append(now)
            packet = RTP.pack(0x80, 0, number & 0xFFFF, number * 160, 1, now)
            end.sendto(packet.ljust(CALL_BYTES, b"\0"), other.getsockname())
    actor.run_of.sleep(step.get("settle_s", 2.0))
    for end in ends:
        end.close()
    ways = {}
    for name, rows in zip(("down", "up"), came, strict=True):
        first = {number: at for number, _, at in reversed(rows)}
        ways[name] = {"sent_s": sent_s[name], "received_s": [first.get(number & 0xFFFF) for number in range(count)]}
    return {"bytes": 0, "ways": ways}


CLIENTS: dict[str, Callable[[Actor, dict], dict]] = {
    "page": page,
    "get": get,
    "put": put,
    "wget": wget,
    "rsync": rsync,
    "git": git,
    "mail": mail,
    "dns": dns,
    "iperf3": iperf3,
    "ping": ping,
    "video": video,
    "call": call,
}
"""By name: a program, as its user runs it."""

ASKS = {
    "page": "nginx",
    "get": "nginx",
    "put": "nginx",
    "wget": "nginx",
    "git": "nginx",
    "video": "nginx",
    "rsync": "rsync",
    "mail": "dovecot",
    "dns": "dnsmasq",
    "iperf3": "iperf3",
}
"""Server that a program asks; ping and call ask none."""


def stop(processes: list[subprocess.Popen]) -> None:
    """Ends what still runs, and what that has started: each began a session of its own."""
    for process in processes:
        if process.poll() is None:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
