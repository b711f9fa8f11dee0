"""Workload files (TOML) from the models that check them, for ``mayfly workload draw``."""

from typing import Any

from case import Case
from hypothesis import strategies as st
from values import ANYTHING, as_toml, damaged, mostly, section

from mayfly.profile.workload.schema import Class, Datagrams, Ends, Period

PARAMETERS = {
    "exponential": ("mean",),
    "lognormal": ("mu", "sigma"),
    "weibull": ("shape", "scale"),
    "pareto": ("minimum", "exponent"),
    "two exponentials": ("share_1", "mean_1", "mean_2"),
    "two lognormals": ("share_1", "mu_1", "sigma_1", "mu_2", "sigma_2"),
}
"""Of fitted laws, as a workload file names them."""

POSITIVE = st.sampled_from([1e-9, 0.001, 0.5, 1.0, 3.0, 1e6])


@st.composite
def laws(draw: st.DrawFn) -> dict[str, Any]:
    """Values as measured, or of a law."""
    if draw(st.integers(0, 2)):
        count = draw(st.integers(1, 6))
        values = draw(st.lists(st.one_of(POSITIVE, st.integers(1, 100_000)), min_size=count, max_size=count))
        weights = [
            draw(mostly(st.sampled_from([1.0, 2.0]), st.sampled_from([1e-300, 1e300, 0.0]), 20)) for _ in set(values)
        ]
        found: dict[str, Any] = {"law": "empirical", "values": sorted(set(values)), "weights": weights}
    else:
        law = draw(mostly(st.sampled_from(sorted(PARAMETERS)), st.just("x"), 30))
        names = PARAMETERS.get(law, ("x",))
        odd = st.sampled_from([0.0, -1.0, 1e300, 1e-300, float("nan")])
        found = {
            "law": law,
            "parameters": {
                name: draw(mostly(st.sampled_from([0.5, 0.9, 1.0, 0.1]), st.one_of(odd, POSITIVE), 20))
                for name in names
            },
            "maximum": draw(mostly(st.sampled_from([3.0, 1e6]), st.one_of(odd, POSITIVE), 20)),
        }
        if draw(st.integers(0, 30)) == 30:
            found["parameters"]["other"] = 1.0
        if draw(st.integers(0, 4)) == 4:
            found["zero"] = draw(st.sampled_from([0.0, 0.5, 0.999999, 1.0]))
    if draw(st.integers(0, 15)) == 15:
        found[draw(st.sampled_from(["values", "weights", "law", "mean"]))] = draw(ANYTHING)
    return found


@st.composite
def _class(draw: st.DrawFn, periods: int) -> dict[str, Any]:
    tcp = draw(st.booleans())
    activity = [1.0] * periods
    if periods > 1 and draw(st.booleans()):
        activity = draw(st.sampled_from([[0.0] * periods, [float(periods)] + [0.0] * (periods - 1)]))
    rows = draw(st.integers(1, 3))
    found: dict[str, Any] = {
        "name": draw(st.sampled_from(["lc-rp", "ls-rp", "lc-ls", "ls-ls", "other"])),
        "side": draw(st.sampled_from(["external", "internal", "neither"])),
        "direction": draw(st.sampled_from(["down", "up"])),
        "protocol": "tcp" if tcp else "udp",
        "flows": draw(st.integers(0, 1000)),
        "rate": draw(mostly(st.sampled_from([1.0, 10.0, 100.0]), st.sampled_from([1e-300, 1e9, 1e300]), 20)),
        "mean_bps": draw(st.sampled_from([0.0, 1e-300, 1e6, 1e300])),
        "opened_by_sender": draw(st.sampled_from([0.0, 0.5, 1.0])),
        "activity": activity,
        "gap": draw(laws()),
        "ends": {"src": ["a"] * rows, "dst": ["b"] * rows, "weights": [1.0] * rows},
    }
    if tcp:
        found |= {"size": draw(laws())} | ({"rtt": draw(laws())} if draw(st.booleans()) else {})
    else:
        found["datagrams"] = {
            "size_bytes": [draw(st.sampled_from([1, 1000, 10**6, 2**40, 2**62])) for _ in range(rows)],
            "packet_bytes": [draw(st.sampled_from([29, 100, 1500, 65535])) for _ in range(rows)],
            "rate_bps": [draw(st.sampled_from([1.0, 1e6, 1e12])) for _ in range(rows)],
            "weights": [1.0] * rows,
        }
    if draw(st.integers(0, 5)) == 5:
        model, name = draw(st.sampled_from([(Datagrams, "datagrams"), (Ends, "ends"), (Class, None)]))
        wild = draw(section(model, leave=("gap", "size", "rtt", "datagrams", "ends")))
        found |= wild if name is None else {name: wild}
    return found


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A workload as nested tables."""
    count = draw(st.integers(1, 3))
    length_s = draw(st.sampled_from([1e-6, 0.5, 10.0, 1e9]))
    periods: list[Any] = [
        {"start_s": k * length_s, "end_s": (k + 1) * length_s, "mean_bps": 1e6, "busy": False} for k in range(count)
    ]
    if draw(st.integers(0, 12)) == 12:
        periods[0] = draw(st.one_of(section(Period), ANYTHING))
    found: dict[str, Any] = {
        "version": draw(mostly(st.just(1), st.sampled_from([0, 2, True, "1"]), 60)),
        "sources": ["office.pcap"],
        "duration_s": count * length_s,
        "period": periods,
        "class": draw(
            st.lists(
                _class(count),
                min_size=1,
                max_size=3,
                unique_by=lambda one: (str(one["name"]), str(one["side"]), str(one["direction"]), str(one["protocol"])),
            )
        ),
    }
    if draw(st.integers(0, 15)) == 15:
        found[draw(st.sampled_from([*sorted(found), "left_out", "classes"]))] = draw(ANYTHING)
    return found


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A workload that is drawn from."""
    content = draw(damaged(as_toml(draw(documents())), one_in=8))
    if draw(st.integers(0, 60)) == 60:
        content = b"sources = " + b"[" * 5000
    load = draw(st.sampled_from([(), ("--load", "1mbit"), ("--load", "1kbit"), ("--load", "100mbit")]))
    duration = draw(st.sampled_from(["1s", "10s", "10s", "1ns", "0s"]))
    arguments = ("workload", "draw", "workload.toml", "--duration", duration, *load, "-o", "out/flows.csv", "--json")
    return Case("workloads", (arguments,), {"workload.toml": content})
