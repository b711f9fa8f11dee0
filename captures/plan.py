"""What the office does while it is recorded: web browsing, bulk copies, uploads, calls, and connections that fail.

Everything here is drawn from named random streams of one seed, so that the same seed asks the same programs for the
same bytes; packet timing is the kernel's.
"""

import math
import random
from dataclasses import dataclass

SITES = {
    "intranet.example": "near",
    "mail.example": "near",
    "search.example": "near",
    "cdn.example": "near",
    "news.example": "region",
    "shop.example": "region",
    "wiki.example": "region",
    "maps.example": "far",
    "video.example": "far",
    "archive.example": "overseas",
    "partner.example": "overseas",
}
SITE_WEIGHTS = (3, 4, 5, 5, 5, 4, 3, 3, 2, 2, 2)

LARGEST_OBJECT_BYTES = 1_500_000
TAIL_PROBABILITY = 0.06
TAIL_START_BYTES = 30_000
TAIL_SHAPE = 1.1


@dataclass(frozen=True)
class Page:
    """One page view: a pause before it in s, its site, the sizes fetched, and the size sent (0: none)."""

    think_s: float
    site: str
    html_bytes: int
    object_bytes: tuple[int, ...]
    upload_bytes: int


@dataclass(frozen=True)
class Task:
    """One timed job: start in s of capture time, who, what (a row of `programs.TASKS`), with whom, how much."""

    start_s: float
    client: str
    program: str
    server: str
    size_bytes: int


@dataclass(frozen=True)
class Plan:
    """A recording: length in s, head start of the programs before it in s, page views by client, timed jobs."""

    duration_s: float
    head_start_s: float
    browsing: dict[str, tuple[Page, ...]]
    tasks: tuple[Task, ...]

    def sizes_bytes(self) -> set[int]:
        """Sizes of all files the servers have to offer."""
        sizes = {task.size_bytes for task in self.tasks if task.size_bytes}
        for pages in self.browsing.values():
            for page in pages:
                sizes.update((page.html_bytes, *page.object_bytes))
        return sizes

    def upload_sizes_bytes(self) -> set[int]:
        """Sizes of all files the clients send."""
        pages = {page.upload_bytes for pages in self.browsing.values() for page in pages} - {0}
        return pages | {task.size_bytes for task in self.tasks if task.program in ("put", "rsync_push")}


def object_size_bytes(stream: random.Random) -> int:
    """Draw the size of a web object: lognormal body (median 6 kB, sigma 1.2), Pareto tail (shape 1.1) cut at 1.5 MB.

    Notes
    -----
    The form (lognormal body, Pareto tail of shape near 1.1) is that of Barford and Crovella 1998 (SURGE); the
    numbers are ours, chosen for a few hundred connections in a minute.
    """
    if stream.random() < TAIL_PROBABILITY:
        # Inverse of the Pareto law truncated at the largest size.
        cut = 1.0 - (TAIL_START_BYTES / LARGEST_OBJECT_BYTES) ** TAIL_SHAPE
        return int(TAIL_START_BYTES * (1.0 - stream.random() * cut) ** (-1.0 / TAIL_SHAPE))
    return min(max(round(stream.lognormvariate(math.log(6_000), 1.2)), 120), LARGEST_OBJECT_BYTES)


def page_views(stream: random.Random, count: int, mean_think_s: float, mean_objects: float) -> tuple[Page, ...]:
    """Draw `count` page views with exponential think times in s and a geometric number of objects."""
    pages = []
    for _ in range(count):
        objects = 1 + int(math.log(1.0 - stream.random()) / math.log(1.0 - 1.0 / mean_objects))
        pages.append(
            Page(
                think_s=stream.expovariate(1.0 / mean_think_s),
                site=stream.choices(list(SITES), SITE_WEIGHTS)[0],
                html_bytes=round(stream.lognormvariate(math.log(14_000), 0.7)),
                object_bytes=tuple(object_size_bytes(stream) for _ in range(min(objects, 40))),
                upload_bytes=round(stream.lognormvariate(math.log(40_000), 1.0)) if stream.random() < 0.12 else 0,
            )
        )
    return tuple(pages)


OFFICE_TASKS = (
    Task(-3.0, "c5", "stream", "region", 2_400_000),
    Task(2.0, "c1", "get", "region", 7_600_000),
    Task(5.0, "c3", "refused", "near", 0),
    Task(8.0, "c6", "poll", "near", 2_500),
    Task(9.0, "c2", "rsync_pull", "near", 4_200_000),
    Task(14.0, "c6", "call", "region", 0),
    Task(18.0, "c3", "rsync_push", "far", 3_000_000),
    Task(21.0, "c4", "unanswered", "near", 0),
    Task(27.0, "c4", "get", "far", 3_400_000),
    Task(31.0, "c2", "abandon", "region", 6_000_001),
    Task(36.0, "c3", "iperf_down", "near", 3_000_000),
    Task(42.0, "c5", "put", "near", 3_000_000),
    Task(47.0, "c2", "get", "overseas", 4_000_000),
    Task(50.0, "c6", "call", "near", 0),
    Task(52.0, "c4", "refused", "far", 0),
    Task(56.0, "c1", "rsync_pull", "region", 3_300_000),
    Task(63.0, "c5", "put", "overseas", 600_000),
    Task(66.0, "c3", "get", "near", 3_100_000),
    Task(69.0, "c4", "stream", "far", 2_500_000),
)

TINY_TASKS = (
    Task(0.3, "c1", "get", "region", 45_000),
    Task(0.8, "c2", "put", "near", 20_000),
    Task(1.0, "c3", "refused", "far", 0),
    Task(1.4, "c2", "abandon", "far", 400_000),
)


def office(seed: int) -> Plan:
    """The 75 s recording of six clients."""
    clients = [f"c{i}" for i in range(1, 7)]
    browsing = {name: page_views(random.Random(f"{seed}/browsing/{name}"), 60, 4.8, 9.0) for name in clients}
    return Plan(duration_s=75.0, head_start_s=4.0, browsing=browsing, tasks=OFFICE_TASKS)


def tiny(seed: int) -> Plan:
    """The few-second recording of three clients for unit tests."""
    pages = {"c1": 1, "c3": 1}
    browsing = {name: page_views(random.Random(f"{seed}/tiny/{name}"), n, 0.4, 3.0) for name, n in pages.items()}
    return Plan(duration_s=5.0, head_start_s=0.0, browsing=browsing, tasks=TINY_TASKS)


PLANS = {"office": office, "tiny": tiny}
