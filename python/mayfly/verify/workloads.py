"""Workloads of real programs behind one link: who uses it, with what, and when.

Users wait for what they asked for, think, and ask again, so that a faster link is asked for more. All draws are made
here, from a seed; disciplines meet the same users. Sizes of pages and of what they are made of are log-normal, think
times exponential.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

Step = dict[str, Any]

PING_GAP_S = 0.1
LAST_STEPS = 400
"""Steps of a user at most: more than fit into a run."""

IPERF_PORT = 5201

ASKED_SHARE = 0.4
"""Of pages whose server's name is not known yet."""


@dataclass(frozen=True)
class Link:
    """The congested link.

    Parameters
    ----------
    down_bps, up_bps : int
        Rates, bit/s of IP packets.
    down_packets, up_packets : int
        Buffers of its queues.
    """

    down_bps: int = 10_000_000
    up_bps: int = 2_000_000
    down_packets: int = 200
    up_packets: int = 60


@dataclass
class Workload:
    """Users of a link.

    Parameters
    ----------
    id : str
    title : str
        What it is, in words.
    kept_aside : bool
        Whether nobody looked at it while the replay was mended.
    make : callable
        From a workload and a source of random numbers, adds the users.
    link : Link
    rtts_s : tuple of float
        Round-trip time to each server, s.
    duration_s : float
    """

    id: str
    title: str
    kept_aside: bool
    make: Callable[["Workload", Random], None]
    link: Link = field(default_factory=Link)
    rtts_s: tuple[float, ...] = (0.012, 0.03, 0.08)
    duration_s: float = 90.0
    actors: list[dict[str, Any]] = field(default_factory=list)
    clients: int = 0

    def actors_of(self, seed: int) -> list[dict[str, Any]]:
        """The users with all that they will do.

        Parameters
        ----------
        seed : int

        Returns
        -------
        list of dict
            As ``kernel/uml/closed_loop.py`` takes them.
        """
        self.actors, self.clients = [], 0
        self.make(self, Random(f"{self.id} {seed}"))
        step = {"program": "ping", "server": 0, "gap_s": PING_GAP_S, "time_s": int(self.duration_s) - 1}
        self.user("ping", [step])
        return self.actors

    def client(self) -> int:
        """A new client."""
        self.clients += 1
        return self.clients - 1

    def user(self, name: str, steps: list[Step], client: int | None = None) -> None:
        """A user at a client, a new one if none is given."""
        own = self.client() if client is None else client
        self.actors.append({"name": f"{name}-{len(self.actors)}", "client": own, "steps": steps})


def size(random: Random, median: float, sigma: float, least: int = 200, most: int = 4_000_000) -> int:
    """Bytes, log-normal."""
    return int(min(max(random.lognormvariate(0.0, sigma) * median, least), most))


def page(random: Random, servers: int, *, objects: int = 12, median: int = 12_000) -> Step:
    """A page: its text and about so many objects."""
    count = min(max(1, round(random.expovariate(1 / objects))), 40)
    return {
        "program": "page",
        "server": random.randrange(servers),
        "html": size(random, 20_000, 0.8),
        "objects": [size(random, median, 1.2, most=600_000) for _ in range(count)],
    }


def browse(work: Workload, random: Random, users: int, think_s: float, **pages: int) -> None:
    """So many users who look up a name, read a page, and think."""
    for _ in range(users):
        steps: list[Step] = []
        for place in range(LAST_STEPS // 4):
            wait = {"think_s": random.expovariate(1 / think_s)}
            one = page(random, len(work.rtts_s), **pages)
            if random.random() < ASKED_SHARE:
                steps += [{"program": "dns", "server": 0, "name": f"www{place}.example.org"} | wait, one]
            else:
                steps.append(one | wait)
        work.user("browser", steps)


def fetch(work: Workload, random: Random, users: int, median: int, think_s: float, program: str = "get") -> None:
    """So many users who fetch files one by one."""
    for _ in range(users):
        steps = [
            {
                "program": program,
                "server": random.randrange(len(work.rtts_s)),
                "size": size(random, median, 0.7, most=40_000_000),
                "think_s": random.expovariate(1 / think_s),
            }
            for _ in range(LAST_STEPS // 4)
        ]
        work.user(program, steps)


def video(work: Workload, random: Random, viewers: int, rate_bps: int, segment_s: float = 4.0) -> None:
    """So many films of one rate."""
    for _ in range(viewers):
        step = {
            "program": "video",
            "server": random.randrange(len(work.rtts_s)),
            "size": int(rate_bps * segment_s / 8),
            "segment_s": segment_s,
            "ahead_s": 12.0,
            "until_s": work.duration_s - 2.0,
            "think_s": random.uniform(0.0, segment_s),
        }
        work.user("video", [step])


def call(work: Workload, random: Random, calls: int) -> None:
    """So many telephone calls, nearly as long as the run."""
    for _ in range(calls):
        step = {"program": "call", "server": random.randrange(len(work.rtts_s)), "think_s": random.uniform(0.5, 2.0)}
        work.user("call", [step | {"time_s": work.duration_s - 6.0}])


def mail(work: Workload, random: Random, users: int, think_s: float) -> None:
    """So many users who fetch their new mail now and then."""
    sizes = [size(random, 15_000, 1.3, most=2_000_000) for _ in range(20)]
    for _ in range(users):
        steps = [
            {
                "program": "mail",
                "server": 1,
                "sizes": sizes,
                "first": random.randrange(50),
                "count": random.randint(1, 6),
                "think_s": random.expovariate(1 / think_s),
            }
            for _ in range(40)
        ]
        work.user("mail", steps)


def backup(work: Workload, server: int, sizes: list[int], *, up: bool, at_s: float = 2.0, limit: int = 0) -> None:
    """Files to a server, or from it, by rsync."""
    work.user(
        "backup",
        [{"program": "rsync", "server": server, "sizes": sizes, "up": up, "at_s": at_s, "limit_Bps": limit}],
    )


def iperf(work: Workload, server: int, *, down: bool, seconds: int, at_s: float, udp_bps: int = 0) -> None:
    """A measurement of throughput, or a stream of UDP at a constant rate."""
    port = IPERF_PORT + len(work.actors)
    step = {"program": "iperf3", "server": server, "port": port, "down": down, "time_s": seconds, "at_s": at_s}
    work.user("iperf3", [step | ({"udp_bps": udp_bps} if udp_bps else {})])


def _office(work: Workload, random: Random) -> None:
    browse(work, random, 8, 6.0)
    mail(work, random, 3, 12.0)
    fetch(work, random, 1, 3_000_000, 8.0)
    fetch(work, random, 1, 300_000, 15.0, "put")
    call(work, random, 1)


def _home(work: Workload, random: Random) -> None:
    browse(work, random, 3, 5.0)
    video(work, random, 1, 4_000_000)
    fetch(work, random, 1, 12_000_000, 5.0, "wget")
    call(work, random, 1)


def _school(work: Workload, random: Random) -> None:
    browse(work, random, 16, 10.0, objects=8)
    video(work, random, 1, 2_000_000)
    fetch(work, random, 2, 1_500_000, 10.0)


def _video(work: Workload, random: Random) -> None:
    video(work, random, 3, 2_500_000)
    browse(work, random, 2, 6.0)


def _backup(work: Workload, random: Random) -> None:
    backup(work, 1, [40_000_000, 30_000_000, 20_000_000, 15_000_000], up=False)
    backup(work, 2, [size(random, 400_000, 0.8) for _ in range(40)], up=True)
    browse(work, random, 2, 8.0)
    mail(work, random, 1, 10.0)


def _meeting(work: Workload, random: Random) -> None:
    call(work, random, 4)
    fetch(work, random, 2, 2_500_000, 6.0)
    fetch(work, random, 1, 600_000, 4.0, "put")
    browse(work, random, 2, 8.0)


def _downloads(work: Workload, random: Random) -> None:
    for server in range(3):
        fetch(work, random, 2, 8_000_000, 1.0, "get" if server else "wget")
    step = {"program": "git", "server": 1, "repository": "repo.git", "size": 3_000_000}
    work.user("git", [step | {"think_s": 4.0} for _ in range(8)])
    browse(work, random, 2, 6.0)


def _uplink(work: Workload, random: Random) -> None:
    backup(work, 1, [size(random, 1_500_000, 0.5) for _ in range(14)], up=True)
    fetch(work, random, 2, 500_000, 4.0, "put")
    browse(work, random, 3, 6.0)
    call(work, random, 1)


def _overloaded(work: Workload, random: Random) -> None:
    browse(work, random, 24, 3.0)
    fetch(work, random, 4, 4_000_000, 2.0)
    video(work, random, 2, 3_000_000)


def _idle(work: Workload, random: Random) -> None:
    browse(work, random, 2, 12.0, objects=6)
    mail(work, random, 1, 20.0)
    call(work, random, 1)


def _mixed(work: Workload, random: Random) -> None:
    browse(work, random, 6, 6.0)
    fetch(work, random, 5, 4_000_000, 3.0)


def _udp(work: Workload, random: Random) -> None:
    iperf(work, 0, down=True, seconds=70, at_s=5.0, udp_bps=3_000_000)
    iperf(work, 1, down=False, seconds=70, at_s=8.0, udp_bps=700_000)
    call(work, random, 3)
    browse(work, random, 4, 6.0)
    fetch(work, random, 2, 3_000_000, 3.0)


WORKLOADS = (
    Workload("office", "eight who browse, mail, a few downloads and uploads, a call", False, _office),
    Workload("home", "three who browse, a film, a download, a call", True, _home),
    Workload("school", "sixteen who browse, a film, downloads", False, _school),
    Workload("video", "three films, two who browse", True, _video),
    Workload("backup", "a restore and a backup by rsync, two who browse", False, _backup),
    Workload("meeting", "four calls, files shared both ways", True, _meeting),
    Workload("downloads", "a download manager with six files at once, git clone over HTTP", False, _downloads),
    Workload("uplink", "uploads fill the way up, three who browse, a call", True, _uplink),
    Workload("overloaded", "24 who browse and four who download: more than fits", False, _overloaded),
    Workload("idle", "two who browse, mail, a call: the link is hardly used", True, _idle),
    Workload("mixed-rtt", "paths from 5 to 250 ms", False, _mixed, rtts_s=(0.005, 0.02, 0.06, 0.12, 0.25)),
    Workload("udp", "two streams of UDP that do not react, three calls, downloads", True, _udp),
)
"""Twelve, half of them kept aside."""

BY_ID = {workload.id: workload for workload in WORKLOADS}
