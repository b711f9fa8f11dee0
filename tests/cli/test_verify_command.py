"""``mayfly verify``: what it refuses, before anything runs."""

from invocation import refused_here


def test_what_cannot_be_asked_is_refused(tmp_path):
    out = ("--out", tmp_path)
    assert refused_here("verify", "kitchen", *out).startswith("workload = kitchen: must be one of office, home, school")
    assert "unknown discipline" in refused_here("verify", "office", "-d", "nothing", *out)
    assert refused_here("verify", "office", "--engine", "ns3", *out) == (
        "engine = ns3: must be one of simulator, linux, both"
    )
    assert "from = pie: must be one of the disciplines: fifo, lfq" in refused_here(
        "verify", "office", "-d", "fifo,lfq", "--from", "pie", *out
    )
    assert "cannot be written" in refused_here("verify", "office", "--out", __file__)
