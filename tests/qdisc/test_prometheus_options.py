"""`mayfly qdisc export` without the client of Prometheus: its options, and the line that says what is missing."""

import sys

import pytest
from invocation import refused_here


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--listen", "9817"], "--listen = '9817': must be host and port"),
        (["--listen", "127.0.0.1:70000"], "--listen = '127.0.0.1:70000': must be host and port"),
        (["--listen", "127.0.0.1:0"], "must be host and port"),
        (["--top", "17"], "--top = 17: must be from 0 to 16"),
        (["--top=-1"], "--top = -1: must be from 0 to 16"),
        ([], "needs prometheus_client: pip install 'mayfly[metrics]'"),
    ],
)
def test_options_and_a_missing_client_are_one_line(machine, monkeypatch, arguments, said):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    assert said in refused_here("qdisc", "export", *arguments)
    assert machine.calls() == []
