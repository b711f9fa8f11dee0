"""The fluid model of TCP: another integrator, closed forms, its own small deviations, and the packet simulator."""

import json
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.integrate import solve_ivp
from scipy.special import lambertw
from typer.testing import CliRunner

import mayfly
from mayfly.cli.app import app
from mayfly.errors import MayflyError
from mayfly.models.tcp.delay_equations import solve
from mayfly.models.tcp.drop_laws import FixedDrops, Overflow, Red
from mayfly.models.tcp.fluid import Fluid, Group
from mayfly.models.tcp.fluid_answer import fluid_answer
from mayfly.models.tcp.fluid_stability import critical_rtt, linear, margins, roots
from mayfly.models.tcp.laws import pftk_rate

FIXED = Fluid(1000.0, (Group(10, 0.05),), FixedDrops(0.01), nonresponsive_pps=300)
CALM = Fluid(10_000.0, (Group(40, 0.04),), Red(50, 1500, 0.02, 0.0005), nonresponsive_pps=2000, buffer_packets=2000)
SWINGING = Fluid(10_000.0, (Group(60, 0.1),), Red(50, 300, 0.1, 0.0005), nonresponsive_pps=2000, buffer_packets=2000)
ZHAO = Fluid(
    3500.0, (Group(35, 0.1, window=64),), Red(15, 45, spacing="wait"), nonresponsive_pps=2750, buffer_packets=60
)


def steps_of_scipy(model: Fluid, initial: list[float], duration: float) -> np.ndarray:
    """States at the end of each piece as long as the shortest delay, each an ordinary equation (DOP853)."""
    group, lag, pieces = model.groups[0], model.groups[0].rtt_s, []
    pace = 0.0 if model.drops.weight is None else -math.log1p(-model.drops.weight)

    def past(t: float) -> np.ndarray:
        return np.array(initial) if t <= 0 else pieces[min(int(t / lag + 1e-12), len(pieces) - 1)](t)

    def right(t: float, y: np.ndarray) -> list[float]:
        window, queue, average = y
        rtt = queue / model.capacity_pps + group.rtt_s
        before = past(t - rtt)
        offered = group.flows * window / rtt + model.nonresponsive_pps
        early, earlier = (model.drops.probability(float(x)) for x in (average, before[2]))
        return [
            1 / rtt - window * before[0] * earlier / (2 * rtt),
            offered * (1 - early) - model.capacity_pps,
            pace * offered * (queue - average),
        ]

    states, y = [], np.array(initial)
    for k in range(round(duration / lag)):
        found = solve_ivp(right, (k * lag, (k + 1) * lag), y, "DOP853", rtol=1e-11, atol=1e-11, dense_output=True)
        pieces.append(found.sol)
        y = found.y[:, -1]
        states.append(y)
    return np.array(states)


@pytest.mark.parametrize("model", [FIXED, CALM], ids=["fixed", "red"])
def test_a_trajectory_is_that_of_another_integrator(model):
    at = model.equilibrium()
    start = [at.windows[0] * 1.1, at.queue_packets * 0.95, at.queue_packets]
    found = model.trajectory(2.0, start, step_s=model.groups[0].rtt_s / 20)
    expected = steps_of_scipy(model, start, 2.0)
    np.testing.assert_allclose(found.states[20::20], expected, rtol=1e-6)
    # What halving the step changes bounds what is left, which is 16 times smaller.
    assert (np.abs(found.states[20::20] - expected).max(axis=0) <= found.error + 1e-8).all()


def test_steps_are_of_order_four():
    def error(step: float) -> float:
        found = solve(lambda t, y, past: [-past(t - 1)[0] * y[0]], [1.0], 4.0, step)
        return float(found.error[0])

    # The corners that the start leaves at whole times are on the grid.
    assert math.log2(error(0.1) / error(0.05)) == pytest.approx(4, abs=0.3)
    # A delay of exactly one step: y falls linearly over the first, as a parabola over the second.
    one = solve(lambda t, y, past: [-past(t - 0.1)[0]], [1.0], 0.2, 0.1)
    np.testing.assert_allclose(one.states[:, 0], [1, 0.9, 0.805], rtol=1e-12)
    with pytest.raises(ValueError, match="shorter than a step"):
        solve(lambda t, y, past: [past(t - 0.01)[0]], [1.0], 1.0, 0.5)


@pytest.mark.parametrize("model", [FIXED, CALM, ZHAO], ids=["fixed", "red", "zhao"])
def test_nothing_moves_at_the_equilibrium(model):
    at = model.equilibrium()
    group = model.groups[0]
    assert 2 * group.flows**2 == pytest.approx((group.flows * at.windows[0]) ** 2 * at.loss, rel=1e-12)
    assert (at.rates_pps.sum() + at.nonresponsive_pps) * (1 - at.loss) == pytest.approx(model.capacity_pps, rel=1e-9)
    assert at.rtts_s[0] == pytest.approx(group.rtt_s + at.queue_packets / model.capacity_pps, rel=1e-12)
    moved = model.trajectory(1.0, [*at.windows, at.queue_packets, at.queue_packets]).states
    np.testing.assert_allclose(moved / moved[0], 1, rtol=1e-8)


def test_the_queue_for_fixed_drops_is_in_closed_form():
    at = FIXED.equilibrium()
    rtt = 10 * math.sqrt(2 / 0.01) / (1000 / 0.99 - 300)
    assert at.queue_packets == pytest.approx((rtt - 0.05) * 1000, rel=1e-12)
    # Eq. 2.8 in place of 2.18: what is dropped enters.
    at = replace(FIXED, drops_leave=False).equilibrium()
    assert at.queue_packets == pytest.approx((10 * math.sqrt(200) / 700 - 0.05) * 1000, rel=1e-12)
    # D in place of X_u: R = (z + D) / C.
    at = replace(FIXED, drops_leave=False, nonresponsive_pps=0, nonresponsive_packets=60).equilibrium()
    assert at.rtts_s[0] == pytest.approx((10 * math.sqrt(200) + 60) / 1000, rel=1e-12)
    assert at.psi == pytest.approx(60 / (60 + 10 * math.sqrt(200)), rel=1e-12)


def test_groups_with_losses_elsewhere_and_other_round_trips():
    groups = (Group(10, 0.05), Group(5, 0.2, elsewhere=0.02), Group(5, 0.05, per_ack=2))
    at = Fluid(2000.0, groups, Red(20, 200), nonresponsive_pps=500).equilibrium()
    shares = np.array([at.loss, at.loss + 0.02, at.loss * 2])
    np.testing.assert_allclose(at.windows, np.sqrt(2 / shares), rtol=1e-12)
    assert (at.rates_pps.sum() + 500) * (1 - at.loss) == pytest.approx(2000, rel=1e-9)
    # A group in two halves is the same group.
    halves = Fluid(2000.0, (Group(5, 0.05), Group(5, 0.05), *groups[1:]), Red(20, 200), nonresponsive_pps=500)
    assert halves.equilibrium().queue_packets == pytest.approx(at.queue_packets, rel=1e-9)


def test_what_else_may_hold_an_equilibrium():
    idle = Fluid(1e5, (Group(1, 0.1),), FixedDrops(0.02)).equilibrium()
    assert (idle.bound, idle.queue_packets, idle.windows[0]) == ("link not full", 0, pytest.approx(10))
    full = Fluid(1000.0, (Group(10, 0.05),), Overflow(), buffer_packets=50).equilibrium()
    assert (full.bound, full.queue_packets) == ("full buffer", 50)
    assert full.rates_pps[0] * (1 - full.loss) == pytest.approx(1000)
    assert full.windows[0] == pytest.approx(math.sqrt(2 / full.loss))
    jump = Fluid(1000.0, (Group(60, 0.05),), Red(5, 15, gentle=False), buffer_packets=50).equilibrium()
    assert (jump.bound, jump.queue_packets) == ("jump of the drop law", pytest.approx(15))
    capped = Fluid(1000.0, (Group(10, 0.05, window=8),), Overflow(), buffer_packets=50).equilibrium()
    assert (capped.bound, capped.queue_packets) == ("queue", pytest.approx(30))
    with pytest.raises(MayflyError, match="must be of the queue and the drop law"):
        linear(Fluid(1000.0, (Group(10, 0.05),), Overflow(), buffer_packets=50))


def test_the_roots_for_fixed_drops_are_those_of_lambert():
    """Zhao 2004, II.B: for a fixed drop rate the equilibrium is stable."""
    at = FIXED.equilibrium()
    rtt, a = at.rtts_s[0], 1 / (at.rtts_s[0] * at.windows[0])
    windows = [lambertw(-a * rtt * math.exp(a * rtt), branch) / rtt - a for branch in (0, -1, 1, 2)]
    queue = -0.99 * at.rates_pps[0] / rtt / 1000
    expected = sorted([*windows, queue], key=lambda s: -s.real)
    np.testing.assert_allclose(roots(linear(FIXED, at), 5), expected, rtol=1e-9)
    assert margins(linear(FIXED, at)).gain == math.inf


@pytest.mark.parametrize("flows", [1, 30, 1000])
@pytest.mark.parametrize("drops", [1e-5, 0.01, 0.5])
def test_fixed_drops_are_stable_whatever_else(flows, drops):
    model = Fluid(flows * 3.0, (Group(flows, 0.1),), FixedDrops(drops), nonresponsive_pps=flows * 0.5)
    if model.equilibrium().bound == "queue":
        assert roots(linear(model)).real.max() < 0


def test_every_root_solves_the_characteristic_equation():
    for model in (CALM, SWINGING, ZHAO, replace(CALM, groups=(Group(20, 0.04), Group(20, 0.09)))):
        system = linear(model)
        for root in roots(system):
            matrix, _ = system.characteristic(root)
            assert np.linalg.svd(matrix, compute_uv=False)[-1] < 1e-8 * np.linalg.norm(matrix)
        assert roots(system, 1) == pytest.approx(roots(system, 1, nodes=48), rel=1e-9)


def test_small_deviations_decay_and_swing_as_the_rightmost_root_says():
    at = CALM.equilibrium()
    first, second = roots(linear(CALM, at), 2)
    moved = CALM.trajectory(3.0, [at.windows[0] * (1 + 1e-4), at.queue_packets, at.queue_packets], step_s=0.004)
    later = moved.times_s > 1.2
    t, deviation = moved.times_s[later], moved.queue_packets[later] - at.queue_packets
    both = [f(s) for s in (first, second) for f in (lambda s: np.exp(s * t).real, lambda s: np.exp(s * t).imag)]
    one = np.stack(both[:2], axis=1)
    fit = one @ np.linalg.lstsq(one, deviation, rcond=None)[0]
    # What the next roots leave after 1.2 s, and the square of the deviation.
    left = math.exp((second.real - first.real) * 1.2) + 1e-3
    assert np.abs(deviation - fit).max() < 3 * left * np.abs(deviation).max()


@pytest.mark.parametrize("model", [CALM, ZHAO], ids=["calm", "zhao"])
def test_margins_lead_to_the_imaginary_axis(model):
    system = linear(model)
    found = margins(system)
    omega = found.crossover_rad_s
    if math.isfinite(found.phase_rad):
        late = system.loop(np.array([omega]))[0] * np.exp(-1j * omega * found.delay_s)
        assert late == pytest.approx(-1, abs=1e-8)
    if math.isfinite(found.gain):
        stronger = replace(system, sensed=system.sensed * found.gain)
        assert roots(stronger, 1)[0].real == pytest.approx(0, abs=1e-6)
        assert roots(replace(system, sensed=system.sensed * found.gain * 1.01), 1)[0].real > 0
    assert margins(linear(SWINGING)).gain < 1 < margins(linear(CALM)).gain


def test_beyond_the_critical_round_trip_time_the_queue_swings():
    critical = critical_rtt(CALM, bounds_s=(0.1, 0.4))
    at = replace(CALM, groups=(Group(40, critical),))
    assert roots(linear(at), 1)[0].real == pytest.approx(0, abs=1e-6)
    for factor, swings in ((0.8, False), (1.25, True)):
        model = replace(CALM, groups=(Group(40, critical * factor),))
        rest = model.equilibrium()
        start = [rest.windows[0] * 1.01, rest.queue_packets, rest.queue_packets]
        moved = model.trajectory(40 * critical, start, step_s=critical * factor / 2).queue_packets
        early, late = (np.ptp(part) for part in np.array_split(moved, 4)[1::2])
        assert (late > early) == swings


def test_fixed_drops_over_time_and_a_drop_tail_buffer():
    at = FIXED.equilibrium()
    wave = FIXED.trajectory(
        20.0, [*at.windows, at.queue_packets, 0.0], step_s=0.02, drop_share=lambda t: 0.01 + 0.001 * math.sin(t)
    )
    settled = wave.queue_packets[wave.times_s > 13]
    # The response to a small wave is that of the linear system.
    system = linear(FIXED, at)
    s = 1j
    decay = np.exp(-s * system.delays_s)
    matrix = s * np.eye(2) - system.present - np.tensordot(decay, system.delayed, 1)
    response = np.linalg.solve(matrix, system.drops_now + decay @ system.drops_delayed)[1]
    assert np.ptp(settled) / 2 == pytest.approx(abs(response) * 0.001, rel=0.02)
    tail = Fluid(1000.0, (Group(10, 0.05),), Overflow(), buffer_packets=50).trajectory(20.0, step_s=0.01)
    assert tail.queue_packets.min() >= 0 and tail.queue_packets.max() <= 50
    late = tail.times_s > 10
    assert 0 < tail.loss[late].mean() < 0.2 and tail.psi.max() == 0


SCENE = """
duration = "220s"
warm_up = "40s"
[network]
rate = "80mbit"
delay = "{delay}ms"
access_rate = "10gbit"
access_delay = "0s"
exit_delay = "0s"
buffer = 2000
reverse_buffer = 100000
[tcp]
mss = 960
receiver_window = 1000
delayed_ack = "0s"
recovery = "sack"
[workload]
senders = 100
receivers = 100
permanent = [{{ flows = {flows}, spread = "2s", users = {flows}, group = "tcp" }}]
cbr = [{{ rate = "800kbit", packet = 1000, flows = 20, spread = "2s", users = 20 }}]
"""


@pytest.mark.slow
@pytest.mark.parametrize(("model", "over", "under"), [(CALM, 1.21, 0.88), (SWINGING, None, None)])
def test_the_packet_simulator_beside_the_model(tmp_path, model, over, under):
    """The table of docs/models/tcp-fluid.md; 3 % for one run."""
    group, law = model.groups[0], model.drops
    path = tmp_path / "red.toml"
    path.write_text(SCENE.format(delay=group.rtt_s * 500, flows=group.flows))
    label = f"red(min_th={law.min_th},max_th={law.max_th},max_p={law.max_p},weight={law.weight})"
    row = mayfly.run(mayfly.load_scenario(path), label).summary["disciplines"][0]
    tcp = next(part for part in row["classes"] if part["group"] == "tcp")
    at = model.equilibrium()
    if over is not None:
        assert at.queue_packets / row["queue_mean_packets"] == pytest.approx(over, abs=0.04)
        slower = model.equilibrium(lambda p, rtt: float(pftk_rate(p, rtt)))
        assert slower.queue_packets / row["queue_mean_packets"] == pytest.approx(under, abs=0.04)
        assert 1 - at.psi == pytest.approx(tcp["share"], abs=0.003)
        return
    moved = model.trajectory(80.0, step_s=0.05)
    late = moved.times_s > 40
    assert moved.queue_packets[late].mean() == pytest.approx(row["queue_mean_packets"], rel=0.1)
    assert at.queue_packets / row["queue_mean_packets"] > 1.3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Group(0, 0.1), "flows = 0: must be above 0"),
        (lambda: Group(1, -0.1), "rtt_s = -0.1: must be above 0"),
        (lambda: Group(1, 0.1, elsewhere=1), "elsewhere = 1: must be from 0 to below 1"),
        (lambda: Group(1, 0.1, per_ack=0), "per_ack = 0: must be a whole number from 1"),
        (lambda: Fluid(0, (Group(1, 0.1),)), "capacity_pps = 0: must be above 0"),
        (lambda: Fluid(1, ()), "must be one group of TCP flows or more"),
        (lambda: Fluid(1, (Group(1, 0.1),), nonresponsive_pps=-1), "nonresponsive_pps = -1: must be 0 or more"),
        (lambda: FixedDrops(1.0), "drops = 1: must be from 0 to below 1"),
        (lambda: Red(10, 5), "min_th = 10: must be from 0 to below max_th, 5 packets"),
        (lambda: Red(1, 5, weight=1.0), "weight = 1: must be above 0, at most 0.999999"),
        (lambda: Red(1, 5, spacing="odd"), "spacing = odd: must be uniform or wait"),
        (lambda: FIXED.trajectory(1.0, step_s=1.0), "step_s = 1: must be above 0, at most the shortest rtt_s"),
        (lambda: FIXED.trajectory(-1.0), "duration_s = -1: must be above 0"),
        (lambda: FIXED.trajectory(1.0, [1.0]), "must be a window per group, a queue and an average, 0 or more"),
        (
            lambda: Fluid(10.0, (Group(1, 0.1),), FixedDrops(0.1), nonresponsive_pps=20).equilibrium(),
            "nonresponsive_pps = 20: must be below capacity_pps",
        ),
    ],
)
def test_bad_input_is_refused_with_its_value_and_bound(call, message):
    with pytest.raises(MayflyError) as refused:
        call()
    assert message in str(refused.value)


def told(*words: str) -> str:
    result = CliRunner().invoke(app, ["model", "fluid", *words], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.exception
    return result.stdout


def test_the_command_tells_equilibrium_and_stability(tmp_path):
    words = ["--rate", "28mbit", "--tcp", "35", "--rtt", "100ms", "--nonresponsive", "22mbit", "--buffer", "60"]
    words += ["--window", "64", "--spacing", "wait"]
    document = json.loads(told(*words, "--json"))
    at = ZHAO.equilibrium()
    assert document["equilibrium"]["queue_packets"] == pytest.approx(at.queue_packets)
    assert document["equilibrium"]["nonresponsive_share"] == pytest.approx(at.psi)
    assert document["stable"] is True and document["roots"][0]["real"] < 0 and document["margins"]["delay_s"] > 0
    table = tmp_path / "way.csv"
    document = json.loads(told(*words, "--duration", "10s", "--trajectory", str(table), "--json"))
    assert document["trajectory"]["queue_mean_packets"] == pytest.approx(at.queue_packets, rel=0.01)
    samples = pl.read_csv(table)
    assert samples["queue_packets"][-1] == pytest.approx(at.queue_packets, rel=0.01)
    page = tmp_path / "way.html"
    assert "small deviations decay" in told(*words, "--duration", "2s", "--trajectory", str(page))
    assert "Window of a flow" in page.read_text(encoding="utf-8")


def test_the_command_takes_groups_and_losses_elsewhere():
    document = json.loads(
        told("--tcp", "10,5", "--rtt", "50ms,100ms", "--elsewhere", "0,1%", "--drops", "2%", "--json")
    )
    windows = [group["window"] for group in document["equilibrium"]["groups"]]
    assert windows == pytest.approx([10, math.sqrt(2 / 0.03)])
    assert document["stable"] is None and "link not full" in told("--drops", "2%", "--tcp", "5")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--red", "1,2"], "red = 1,2: must be three numbers"),
        (["--drops", "101%"], "drops = '101%': must be a probability from 0 to below 1"),
        (["--tcp", "1,2,3", "--rtt", "1ms,2ms"], "rtt = 2 values: must be one, or 3 as of the others"),
        (["--packet", "0"], "packet = 0: must be from 41 to 65535 bytes"),
        (["--trajectory", "x.csv"], "trajectory = x.csv: must end in .csv or .html, and be given with duration"),
        (["--duration", "100h"], "must be above 0, at most a million steps"),
        (["--nonresponsive", "many"], "nonresponsive = 'many': must be a rate"),
    ],
)
def test_the_command_refuses_in_one_line(words, message):
    result = CliRunner().invoke(app, ["model", "fluid", *words])
    assert isinstance(result.exception, MayflyError) and message in str(result.exception)


def test_an_answer_without_a_duration_has_no_trajectory_to_sample():
    with pytest.raises(MayflyError, match="duration: must be given"):
        fluid_answer(FIXED, 1500).samples()
