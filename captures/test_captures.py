"""Tests of the recorder that need no root, and of the committed captures against README.md."""

import math
import random
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from delay_line import OneWay, parse_line
from plan import LARGEST_OBJECT_BYTES, PLANS, TAIL_PROBABILITY, TAIL_SHAPE, TAIL_START_BYTES, object_size_bytes
from programs import TASKS

HERE = Path(__file__).parent
COMMITTED = ("captures/office.pcap.gz", "tests/data/tiny.pcapng.gz")


def test_a_packet_leaves_the_delay_line_after_its_delay_and_in_order():
    entry, source = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    sink, leaving = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    for end in (source, leaving):
        end.setblocking(False)
    way = OneWay(source.fileno(), sink.fileno(), 200_000_000)
    entry.send(b"first")
    entry.send(b"second")
    way.read_all()
    way.write_due()
    with pytest.raises(BlockingIOError):
        leaving.recv(10)
    time.sleep(0.21)
    way.write_due()
    assert [leaving.recv(10), leaving.recv(10)] == [b"first", b"second"]
    assert not way.in_flight


@pytest.mark.parametrize("text", ["a:b", "a:b:0", "a:b:-1", "a:b:10001", "a:b:nan"])
def test_a_delay_line_without_a_delay_in_its_bounds_is_refused(text):
    with pytest.raises(ValueError, match="delay"):
        parse_line(text)


def test_a_delay_line_is_read_in_milliseconds():
    assert parse_line("near:far:7.5") == ("near", "far", 7_500_000)


@pytest.mark.parametrize("name", PLANS)
def test_the_seed_alone_decides_the_plan(name):
    assert PLANS[name](1) == PLANS[name](1)
    assert PLANS[name](1) != PLANS[name](2)


@pytest.mark.parametrize("name", PLANS)
def test_every_task_has_a_program(name):
    assert {task.program for task in PLANS[name](1).tasks} <= set(TASKS)


def test_object_sizes_follow_their_law():
    stream = random.Random("sizes")
    sizes = [object_size_bytes(stream) for _ in range(40_000)]
    assert max(sizes) <= LARGEST_OBJECT_BYTES
    at = 200_000
    body = 0.5 * math.erfc(math.log(at / 6_000) / (1.2 * math.sqrt(2)))
    whole = 1.0 - (TAIL_START_BYTES / LARGEST_OBJECT_BYTES) ** TAIL_SHAPE
    above = (TAIL_START_BYTES / at) ** TAIL_SHAPE - (TAIL_START_BYTES / LARGEST_OBJECT_BYTES) ** TAIL_SHAPE
    expected = (1.0 - TAIL_PROBABILITY) * body + TAIL_PROBABILITY * above / whole
    seen = sum(size > at for size in sizes) / len(sizes)
    # Four standard errors of a binomial proportion: fails for a correct law once in 16,000 choices of the stream.
    assert abs(seen - expected) < 4.0 * math.sqrt(expected * (1.0 - expected) / len(sizes))


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
@pytest.mark.parametrize("path", COMMITTED)
def test_the_tables_of_the_readme_are_those_of_the_committed_capture(path):
    command = [sys.executable, str(HERE / "census.py"), str(HERE.parent / path)]
    tables = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert tables in (HERE / "README.md").read_text()
