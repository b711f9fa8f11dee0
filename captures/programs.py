"""The real programs that make the traffic: nginx, rsync, iperf3, dnsmasq outside; curl, dig, rsync, iperf3 inside."""

import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from network import SERVERS, UNANSWERED, Network
from plan import SITES, Page, Plan, Task

RESOLVER = SERVERS["near"].address
STREAM_BYTES_PER_S = 60_000
CALL_S = 18
POLLS = 10
# For tcpdump to be listening before the first program runs.
LEAD_S = 1.0
CURL = ("curl", "--silent", "--show-error", "--output", "/dev/null")

NGINX = """
user root; worker_processes 1; daemon off; pid {name}.pid; error_log stderr crit;
events {{ worker_connections 512; }}
http {{
  access_log off; sendfile on; client_max_body_size 64m;
  client_body_temp_path {name}-body; proxy_temp_path {name}-proxy; fastcgi_temp_path {name}-fastcgi;
  uwsgi_temp_path {name}-uwsgi; scgi_temp_path {name}-scgi;
  server {{
    listen 80 default_server;
    location /files/ {{ root {root}; }}
    location /stream/ {{ alias {root}/files/; limit_rate {rate}; }}
    location /incoming/ {{ root {root}; dav_methods PUT; }}
  }}
}}
"""

RSYNCD = """
use chroot = no
uid = root
gid = root
pid file = {root}/{name}-rsyncd.pid
lock file = {root}/{name}-rsyncd.lock
[files]
path = {root}/files
[incoming]
path = {root}/incoming
read only = no
"""


@dataclass(frozen=True)
class Program:
    """How a task is run, and the exit statuses that mean it went as planned."""

    command: Callable[[Task, Path], tuple[str, ...]]
    statuses: tuple[int, ...] = (0,)


def http(task: Task, path: str) -> str:
    """URL of `path` on the server of `task`."""
    return f"http://{SERVERS[task.server].address}/{path}"


def rsync_url(task: Task, path: str) -> str:
    """Address of `path` at the rsync daemon on the server of `task`."""
    return f"rsync://{SERVERS[task.server].address}/{path}"


def iperf(task: Task, *options: str) -> tuple[str, ...]:
    """An iperf3 client against the server of `task`."""
    return ("iperf3", "--client", SERVERS[task.server].address, "--repeating-payload", *options)


TASKS = {
    "get": Program(lambda task, _: (*CURL, http(task, f"files/{task.size_bytes}"))),
    "stream": Program(lambda task, _: (*CURL, http(task, f"stream/{task.size_bytes}"))),
    "put": Program(
        lambda task, root: (
            *CURL,
            "--upload-file",
            f"{root}/outgoing/{task.size_bytes}",
            http(task, f"incoming/{task.client}-{task.size_bytes}"),
        )
    ),
    # One connection, a small request every 6 s: an application with think time.
    "poll": Program(lambda task, _: (*CURL, "--rate", "10/m", *[http(task, f"files/{task.size_bytes}")] * POLLS)),
    "rsync_pull": Program(
        lambda task, root: ("rsync", rsync_url(task, f"files/{task.size_bytes}"), f"{root}/pulled-{task.size_bytes}")
    ),
    "rsync_push": Program(
        lambda task, root: ("rsync", f"{root}/outgoing/{task.size_bytes}", rsync_url(task, "incoming/"))
    ),
    "iperf_down": Program(lambda task, _: iperf(task, "--reverse", "--bytes", str(task.size_bytes))),
    # 64 kbit/s in packets of 160 bytes both ways: a telephone call.
    "call": Program(
        lambda task, _: iperf(task, "--udp", "--bidir", "--bitrate", "64k", "--length", "160", "--time", str(CALL_S))
    ),
    "refused": Program(lambda task, _: (*CURL, f"http://{SERVERS[task.server].address}:8443/"), statuses=(7,)),
    "unanswered": Program(lambda *_: (*CURL, "--connect-timeout", "4", f"http://{UNANSWERED}/"), statuses=(28,)),
    "abandon": Program(
        lambda task, _: (*CURL, "--max-time", "0.9", http(task, f"stream/{task.size_bytes}")), statuses=(28,)
    ),
}


def start_servers(network: Network, plan: Plan) -> None:
    """Create the files of `plan` (sparse: zero bytes only) and start all servers.

    Raises
    ------
    RuntimeError
        When a server has ended at once.
    """
    root = network.directory
    # nginx and rsync are given absolute paths below this directory, which is private to the recording.
    for name, sizes in (("files", plan.sizes_bytes()), ("outgoing", plan.upload_sizes_bytes()), ("incoming", ())):
        (root / name).mkdir()
        for size_bytes in sizes:
            with open(root / name / str(size_bytes), "wb") as file:
                file.truncate(size_bytes)
    servers = []
    for name in SERVERS:
        (root / f"{name}.nginx").write_text(NGINX.format(name=name, root=root, rate=STREAM_BYTES_PER_S))
        (root / f"{name}.rsyncd").write_text(RSYNCD.format(name=name, root=root))
        servers.append(network.start(name, "nginx", "-p", str(root), "-c", f"{name}.nginx", "-e", "stderr"))
        servers.append(network.start(name, "rsync", "--daemon", "--no-detach", f"--config={name}.rsyncd"))
        servers.append(network.start(name, "iperf3", "--server"))
    records = [f"--host-record=www.{site},{SERVERS[server].address}" for site, server in SITES.items()]
    options = ("--conf-file=/dev/null", "--pid-file", "--user=root", "--no-resolv", "--no-hosts", "--local=/example/")
    servers.append(network.start("near", "dnsmasq", "--keep-in-foreground", *options, *records))
    time.sleep(1.0)
    for server in servers:
        if server.poll() is not None:
            raise RuntimeError(f"{' '.join(server.args)}: ended at once with exit status {server.returncode}")


@dataclass
class Office:
    """Runs a plan: one thread per browsing client, one per task."""

    network: Network
    plan: Plan
    start_s: float = 0.0
    stop: threading.Event = field(default_factory=threading.Event)
    threads: list[threading.Thread] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    pages_seen: int = 0

    def open(self) -> None:
        """Start all threads; the first programs run after `LEAD_S`, capture time 0 is `head_start_s` later."""
        self.start_s = time.monotonic() + LEAD_S + self.plan.head_start_s
        jobs = [(self.browse, client, pages) for client, pages in self.plan.browsing.items()]
        jobs += [(self.perform, task) for task in self.plan.tasks]
        for job, *arguments in jobs:
            thread = threading.Thread(target=self.guarded, args=(job, *arguments))
            self.threads.append(thread)
            thread.start()

    def close(self) -> None:
        """Wait for the threads; `Network.close` has ended their programs."""
        for thread in self.threads:
            thread.join()

    def guarded(self, job: Callable, *arguments) -> None:
        """Run `job`; what goes wrong before `stop` is a failure of the recording."""
        try:
            job(*arguments)
        except RuntimeError as error:
            if not self.stop.is_set():
                self.failures.append(str(error))

    def program(self, client: str, command: tuple[str, ...], statuses: tuple[int, ...] = (0,), text: str = "") -> str:
        """Run one program in `client` with `text` as its input and return its output."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = self.network.start(client, *command, text=True, **pipes)
        output, errors = process.communicate(text)
        if process.returncode not in statuses:
            raise RuntimeError(f"{client}: {' '.join(command)}: exit status {process.returncode}: {errors.strip()}")
        return output

    def perform(self, task: Task) -> None:
        """Run one timed job."""
        if not self.stop.wait(max(0.0, self.start_s + task.start_s - time.monotonic())):
            program = TASKS[task.program]
            self.program(task.client, program.command(task, self.network.directory), program.statuses)

    def browse(self, client: str, pages: tuple[Page, ...]) -> None:
        """View pages one after the other until the recording stops."""
        self.stop.wait(LEAD_S)
        for number, page in enumerate(pages):
            if self.stop.wait(page.think_s):
                return
            self.view(client, number, page)
            self.pages_seen += 1

    def view(self, client: str, number: int, page: Page) -> None:
        """Look the site up, fetch the page, then its objects over up to six connections; send the form, if any."""
        host = f"www.{page.site}"
        answer = self.program(client, ("dig", "+short", f"@{RESOLVER}", host, "A", host, "AAAA")).split()
        if not answer:
            raise RuntimeError(f"{client}: {host}: no address from {RESOLVER}")
        resolve = ("--resolve", f"{host}:80:{answer[0]}")
        self.program(client, (*CURL, *resolve, f"http://{host}/files/{page.html_bytes}"))
        objects = "".join(f'url = "http://{host}/files/{size}"\noutput = "/dev/null"\n' for size in page.object_bytes)
        parallel = ("curl", "--silent", "--show-error", "--parallel", "--parallel-immediate", "--parallel-max", "6")
        self.program(client, (*parallel, *resolve, "--config", "-"), text=objects)
        if page.upload_bytes:
            form = self.network.directory / "outgoing" / str(page.upload_bytes)
            target = f"http://{host}/incoming/{client}-{number}"
            self.program(client, (*CURL, *resolve, "--upload-file", str(form), target))
