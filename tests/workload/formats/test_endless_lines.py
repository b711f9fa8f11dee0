"""What has no lines is refused before it is read whole (issue 42, point 10)."""

import contextlib
import gzip
import resource
import subprocess
import sys
import zlib

import pytest

from mayfly.errors import MayflyError
from mayfly.text.long_lines import HEADER_BYTES, LINE_BYTES
from mayfly.workload.formats.registry import read_flows_any
from mayfly.workload.streamed import File

MAYFLY = [sys.executable, "-m", "mayfly.cli"]
MEMORY_BYTES = 4 << 30
"""Of address space, which libraries alone take a part of."""

MOST_FED = 1 << 30
"""Of input without an end."""


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def endless(path, head, size):
    with gzip.open(path, "wb", 1) as file:
        file.write(head)
        for _ in range(size >> 20):
            file.write(b"1" * (1 << 20))
    return path


@pytest.mark.parametrize(
    ("head", "size", "said"),
    [
        (b"", 1 << 22, f"its first line is longer than {HEADER_BYTES:,} bytes: must be a header of columns"),
        (
            b"start_s,size_bytes\n",
            LINE_BYTES + (1 << 21),
            f"its second line is longer than {LINE_BYTES:,} bytes: must be a row of a table",
        ),
    ],
    ids=["header", "row"],
)
def test_a_table_of_one_endless_line_is_refused(head, size, said, tmp_path):
    path = endless(tmp_path / "line.csv.gz", head, size)
    for read in (read_flows_any, lambda path: File(path, 1460, 10.0)):
        with pytest.raises(MayflyError) as refused:
            read(path)
        assert str(refused.value) == f"{path}: {said}"


def test_a_long_row_is_a_row(tmp_path):
    bursts = " ".join(f"{at}:100" for at in range(200_000))
    path = tmp_path / "bursts.csv"
    path.write_text(f"start_s,protocol,bursts\n0,udp,{bursts}\n", encoding="utf-8")
    assert path.stat().st_size > 10 * HEADER_BYTES
    assert read_flows_any(path).height == 1


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            b"y\n",
            "standard input: has no column time_s: must have time_s, a queue (queue_mean_packets), arrivals, drops",
        ),
        (b"\0" * 2, "standard input: its first line is longer than 65,536 bytes: must be a header of columns"),
    ],
    ids=["yes", "zeros"],
)
@pytest.mark.parametrize("packed", [False, True])
def test_an_estimate_of_endless_input_that_is_no_table_is_refused_at_once(lines, said, packed):
    """Before: all memory of the machine was taken."""
    command = [*MAYFLY, "estimate", "-", "--rate", "10mbit", "--rtt", "100ms"]
    fed = 0
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, bufsize=0, preexec_fn=limited
    ) as process:
        assert process.stdin is not None and process.stderr is not None
        packer = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS | 16) if packed else None
        with contextlib.suppress(BrokenPipeError):
            while fed < MOST_FED:
                part = lines * (1 << 15)
                process.stdin.write(part if packer is None else packer.compress(part))
                fed += len(part)
        assert process.stderr.read().decode() == f"mayfly: {said}\n"
        assert process.wait(60) == 2
    # What a pipe holds beside the first lines; in gzip it holds a thousand times as much.
    assert fed < (MOST_FED if packed else 1 << 20)
