"""Samples of every kind, and what is refused."""

import gzip
import json

import numpy as np
import polars as pl
import pytest

from mayfly.errors import MayflyError
from mayfly.estimate import Samples, read_samples

HEAD = "time_s,queue_packets,arrivals,drops\n"


def written(tmp_path, text, name="queue.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def refused(tmp_path, text, **options):
    with pytest.raises(MayflyError) as error:
        read_samples(written(tmp_path, text), **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_ns2_columns_have_the_mean_queue_and_the_truth(tmp_path):
    head = "time_s,mean_queue_pkts,inst_queue_pkts,arrivals,drops,drop_prob,nonresp_fraction\n"
    samples = read_samples(written(tmp_path, head + "0.033,1.5,3,10,1,0.1,0.5\n0.066,2.5,4,20,0,0,0.75\n"))
    assert samples.queue_pkts.tolist() == [1.5, 2.5]
    assert samples.nonresponsive.tolist() == [5, 15]


def test_our_tables_in_parquet_and_gzip_are_the_same(tmp_path):
    table = pl.DataFrame({"time_s": [0.1, 0.2], "backlog_packets": [3, 4], "arrivals": [7, 8], "drops": [0, 1]})
    table = table.with_columns(queue_mean_packets=pl.Series([2.5, 3.5]), nonresponsive_arrivals=pl.Series([1, 2]))
    table.write_parquet(tmp_path / "samples.parquet")
    (tmp_path / "samples.gz").write_bytes(gzip.compress(table.write_csv().encode()))
    for name in ("samples.parquet", "samples.gz"):
        samples = read_samples(tmp_path / name)
        assert samples.queue_pkts.tolist() == [2.5, 3.5], "the mean goes before the backlog"
        assert samples.nonresponsive.tolist() == [1, 2]


def test_one_of_several_runs_is_chosen(tmp_path):
    text = (
        "discipline,replication,"
        + HEAD
        + "".join(f"{label},{run},{t},1,{run},0\n" for label in ("red", "fifo") for run in (0, 1) for t in (1, 2))
    )
    assert "has samples of red, fifo: choose one with --discipline" in refused(tmp_path, text)
    assert "must be one of red, fifo" in refused(tmp_path, text, run="pie")
    samples = read_samples(written(tmp_path, text), run="fifo")
    assert samples.arrivals.tolist() == [0, 0], "the first replication"


@pytest.mark.parametrize(
    ("text", "said"),
    {
        "empty": ("", "cannot be read as a table"),
        "header": (HEAD, "has 0 samples: must have 2 or more"),
        "one": (HEAD + "1,2,3,4\n", "has 1 samples"),
        "word": (HEAD + "1,2,3,4\n2,2,some,4\n", "row 2: arrivals = 'some': must be a number"),
        "no drops": ("time_s,queue_packets,arrivals\n1,2,3\n2,2,3\n", "has no column drops"),
        "no queue": ("time_s,drops,arrivals\n1,2,3\n2,2,3\n", "has no column queue_mean_packets"),
        "ragged": (HEAD + "1,2,3,4,5,6\n", "cannot be read as a table"),
        "one poll": ("1.5\nqdisc red 1: dev e root\n", "has no queue at a root"),
        "not of tc": ("1.5 [{}, 3]\n", "is not what tc -s -j prints"),
    }.values(),
)
def test_what_is_no_table_of_samples_is_refused_in_a_line(text, said, tmp_path):
    assert said in refused(tmp_path, text)


def test_missing_values_are_left_to_the_estimator(tmp_path):
    samples = read_samples(written(tmp_path, HEAD + "1,2,3,4\n2,,3,4\nnan,2,-3,inf\n"))
    assert np.isnan(samples.queue_pkts[1]) and np.isnan(samples.time_s[2]) and np.isinf(samples.drops[2])


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(MayflyError, match="cannot be read: No such file"):
        read_samples(tmp_path / "none.csv")


def poll_json(time, sent, drops, backlog, device="eth0"):
    inner = {"kind": "fq_codel", "handle": "10:", "dev": device, "bytes": 1, "drops": 5, "backlog": 7}
    root = {"kind": "red", "dev": device, "root": True, "bytes": sent, "drops": drops, "backlog": backlog}
    return f"{time}\n{json.dumps([root, inner])}\n"


def poll_text(time, sent, drops, backlog):
    return (
        f"{time}\nqdisc red 1: dev eth0 root refcnt 2 limit 60000b min 15000b max 45000b\n"
        f" Sent {sent} bytes 1845783 pkt (dropped {drops}, overlimits 82704 requeues 0)\n"
        f" backlog {backlog}b 3p requeues 0\n"
        "qdisc fq_codel 10: dev eth0 parent 1:1\n Sent 9 bytes 9 pkt (dropped 9, overlimits 0 requeues 0)\n"
        " backlog 9b 9p\n"
    )


@pytest.mark.parametrize("poll", [poll_json, poll_text])
def test_polls_count_what_was_sent_dropped_and_still_waits(poll, tmp_path):
    text = poll(100.0, 50_000, 10, 4000) + poll(100.5, 150_000, 13, 1000) + poll(101.25, 250_000, 13, 3000)
    samples = read_samples(written(tmp_path, text), packet_bytes=500)
    assert samples.time_s.tolist() == [0.5, 1.25], "since the first poll"
    assert samples.queue_pkts.tolist() == [5.0, 4.0]
    # (100 000 - 3000)/500 + 3; (100 000 + 2000)/500.
    assert samples.arrivals.tolist() == [197.0, 204.0]
    assert samples.drops.tolist() == [3.0, 0.0]
    assert samples.nonresponsive is None


def test_time_and_json_may_share_a_line_and_sizes_have_letters(tmp_path):
    text = "".join(poll_json(t, t * 1000, 0, 0).replace("\n", " ", 1) for t in (1, 2, 3))
    assert read_samples(written(tmp_path, text)).arrivals.tolist() == [1.0, 1.0]
    text = poll_text(1, 0, 0, "2K") + poll_text(2, 0, 0, "2K") + poll_text(3, 0, 0, "2K")
    assert read_samples(written(tmp_path, text), packet_bytes=1024).queue_pkts.tolist() == [2.0, 2.0]


def test_one_of_several_interfaces_is_chosen(tmp_path):
    two = [json.loads(poll_json(0, 1, 0, 0, device).split("\n")[1])[0] for device in ("eth0", "eth1")]
    text = "".join(f"{t}\n{json.dumps(two)}\n" for t in (1, 2, 3))
    assert "choose one with --dev" in refused(tmp_path, text)
    assert read_samples(written(tmp_path, text), device="eth1").arrivals.tolist() == [0.0, 0.0]


def test_the_truth_is_that_of_the_arrivals_of_each_interval():
    times = 0.033 * np.arange(1, 9)
    samples = Samples(times, np.ones(8), np.arange(8.0), np.zeros(8), nonresponsive=np.arange(8.0) / 4)
    ends = np.round(times[[3, 7]], 9)
    assert samples.truth(np.array([0.0, ends[0]]), ends) == pytest.approx([0.25, 0.25])
    back = Samples(times[::-1], np.ones(8), np.ones(8), np.zeros(8), nonresponsive=np.ones(8))
    assert back.truth(np.array([0.0]), np.array([1.0])) is None
