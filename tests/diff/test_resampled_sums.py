"""What a resample needs of a side: sums by session, and the transfers about each percentile."""

import math

import numpy as np
import polars as pl
import pytest

from mayfly.diff import measures
from mayfly.workload.columns import columns_of


def table(seed, transfers=4000, sessions=900):
    rng = np.random.default_rng(seed)
    own = np.sort(rng.integers(0, sessions, transfers))
    own = np.cumsum(np.concatenate([[True], own[1:] != own[:-1]])) - 1
    times_s = np.round(rng.lognormal(0.0, 1.0, transfers), 2)
    sent = rng.integers(1, 400, transfers)
    return columns_of(
        pl.DataFrame({"time_s": times_s, "session": own, "packets": sent, "repeated": rng.binomial(sent, 0.1)})
    )


def by_all(found, rows, weights):
    """Percentiles by the weights of all transfers."""
    values = found["time_s"][rows]
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[found["session"][rows[order]]].astype(np.int64))
    return [float(values[order][np.searchsorted(reached, math.ceil(share * reached[-1]))]) for share in measures.SHARES]


@pytest.mark.parametrize("seed", range(5))
def test_percentiles_are_those_of_all_transfers(seed, monkeypatch):
    found = table(seed)
    rows = np.flatnonzero(found["time_s"] > 0.3)
    rng = np.random.default_rng(seed)
    count = int(found["session"].max()) + 1
    weights = rng.poisson(1.0, size=(20, count)).astype(np.uint8)
    # Draws as no Poisson law makes them: all that counts lies at one end, beyond every window.
    quick, slow = np.zeros((2, count), dtype=np.uint8)
    order = rows[np.argsort(found["time_s"][rows])]
    quick[found["session"][order[:3]]], slow[found["session"][order[-3:]]] = 200, 200
    weights = np.concatenate([weights, [quick, slow]])
    names = (("p50", "s"), ("p95", "s"))
    own = measures._percentiles(names, found, rows, "time_s")
    values = measures._values([own], weights)
    assert list(zip(*values.values(), strict=True)) == [tuple(by_all(found, rows, one)) for one in weights]


def test_few_transfers_are_read_for_a_resample():
    """Before, each of them was, four hundred times."""
    found = table(1, transfers=60_000, sessions=60_000)
    rows = np.arange(found.height)
    sessions = found["session"]
    wholes = np.bincount(sessions)
    order = np.argsort(found["time_s"], kind="stable")
    window = measures._Window.of(sessions[order], wholes, 0.5)
    assert len(window.sessions) < len(rows) / 10
    assert int(window.before.sum()) == window.begin


def test_sums_do_not_depend_on_how_many_are_made_at_once(monkeypatch):
    found = table(2)
    weights = np.random.default_rng(1).poisson(1.0, size=(7, int(found["session"].max()) + 1)).astype(np.uint8)
    columns = [measures._by_session(found, found[name]) for name in ("packets", "repeated")]
    assert columns[0].dtype.itemsize <= 2
    whole = measures._sums(weights, columns)
    monkeypatch.setattr(measures, "_AT_ONCE", 13)
    assert np.array_equal(measures._sums(weights, columns), whole)
    assert np.array_equal(whole[:, 0], weights.astype(np.int64) @ columns[0].astype(np.int64))
