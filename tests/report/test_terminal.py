"""Tables for the terminal."""

import io

import pytest
from rich.console import Console
from rich.table import Table

from mayfly.report.quantity import bytes_text, count_text, digits, interval_text, rate_text, time_text
from mayfly.report.terminal import comparison_table, disciplines_table


def row(label="efd", short_s=0.0907, long_s=3.758, unfinished=11):
    def flows(mean_s):
        return {
            "mean_s": mean_s,
            "ci95": None if mean_s is None else [0.9 * mean_s, 1.1 * mean_s],
            "flows": 9,
            "mean_size_packets": 20.6,
        }

    return {
        "id": label,
        "label": label,
        "options": {},
        "short": flows(short_s),
        "long": flows(long_s),
        "flows_completed": 100,
        "flows_unfinished": unfinished,
        "unfinished_bytes": 123_456_789,
        "unfinished_delivered_bytes": 1,
        "utilisation": 0.795,
        "drops": 123_613,
        "queue_mean_packets": 84.7,
        "flow_table": {"mean": 392.5, "max": 1031},
        "throughput_mbps": {"down": 7.9, "up": 0.1},
        "udp": {"packets": 0, "lost": 0, "loss": None},
        "cpu_s": 0.2,
        "packet_hops": 3,
    }


def text_of(table, width):
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None).print(table)
    return stream.getvalue()


ROWS = [row("fifo", 0.39, 3.519), row("efd(threshold=40, high=las)"), row("[red]las", 2e-5, None, 0)]


def test_the_table_is_readable_in_80_columns():
    table = comparison_table({"disciplines": ROWS})
    assert isinstance(table, Table)
    text = text_of(table, 80)
    assert max(map(len, text.splitlines())) <= 80
    for whole in (
        "390 ms",
        "[351, 429]",
        "3.52 s",
        "[3.17, 3.87]",
        "90.7 ms",
        "79.5 %",
        "123,613",
        "123 MB",
        "1,031",
        "20.0 µs",
        "[red]las",
    ):
        assert whole in text, text


@pytest.mark.parametrize("width", [75, 60, 40])
def test_a_narrow_terminal_gets_parts_that_lose_no_figure(width):
    text = text_of(comparison_table({"disciplines": ROWS}), width)
    assert max(map(len, text.splitlines())) <= width
    assert text.count("fifo") == 3
    for whole in ("390 ms", "[3.17, 3.87]", "79.5 %", "123,613", "123 MB", "1,031"):
        assert whole in text, text


@pytest.mark.parametrize("width", [1, 10, 20])
def test_no_width_breaks_the_table(width):
    assert text_of(comparison_table({"disciplines": ROWS}), width)


def test_a_value_the_run_cannot_give_is_a_dash():
    bare = row() | {"utilisation": None, "drops": None, "flow_table": {"mean": None, "max": None}}
    assert text_of(comparison_table({"disciplines": [bare]}), 80).count("–") >= 4


def test_disciplines_show_defaults_bounds_and_choices():
    specs = [
        {"id": "fifo", "about": "First in, first out", "source": "", "params": []},
        {
            "id": "efd",
            "about": "Early flow discard",
            "source": "Chen 2012",
            "params": [
                {"name": "threshold", "unit": "packets", "about": "th", "default": 20.0, "min": 1.0, "max": 1000.0},
                {"name": "high", "unit": "", "about": "", "choices": ["fifo", "las"]},
            ],
        },
    ]
    text = text_of(disciplines_table(specs), 100)
    for whole in ("Early flow discard", "Chen 2012", "threshold (20 packets; 1 to 1000)", "high = fifo|las (fifo)"):
        assert whole in text, text
    assert text_of(disciplines_table([]), 40)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (time_text(0.0), "0 s"),
        (time_text(1e-9), "0.00100 µs"),
        (time_text(59.94), "59.9 s"),
        (interval_text(2.0, [-0.5, 4.5]), "[-0.500, 4.50]"),
        (bytes_text(0), "0 B"),
        (bytes_text(3.2e12), "3.20 TB"),
        (rate_text(64e3), "64.0 kbit/s"),
        (count_text(None), "–"),
        (digits(-1234.6), "-1,235"),
    ],
)
def test_numbers_read_at_a_glance(text, expected):
    assert text == expected
