"""Laws of links that vary: each a section of parameters, and a draw.

They have the shape that measurements report of such links, not the values of any one of them: what a source says and
what was chosen stands with each. A trace of your own link says more.
"""

import zlib
from typing import ClassVar, Protocol

import numpy as np
from pydantic import Field

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.fields import Delay, Rate, Seconds, Section, as_written
from mayfly.link_trace.trace import LinkTrace, of_steps
from mayfly.text.nearest import did_you_mean

STEP_S = 0.1
"""Length of a step of what varies all the time, s."""

MOST_DURATION_S = 86_400.0


class Kind(Protocol):
    """A law with its parameters."""

    about: ClassVar[str]

    def drawn(self, random: np.random.Generator, duration_s: float) -> tuple[Floats, Floats, Floats]:
        """Begin (s), rate (bit/s) and added delay (s) of each step."""


def walk(random: np.random.Generator, count: int, step_s: float, memory_s: float) -> Floats:
    """A stationary autoregression of order one, with mean 0 and variance 1, whose memory fades in ``memory_s``."""
    keep = float(np.exp(-step_s / memory_s))
    noise = random.standard_normal(count)
    found = np.empty(count)
    found[0] = noise[0]
    for row in range(1, count):
        found[row] = keep * found[row - 1] + np.sqrt(1 - keep * keep) * noise[row]
    return found


def steps(duration_s: float, step_s: float = STEP_S) -> Floats:
    """Begins of equal steps, s."""
    return np.arange(max(int(duration_s / step_s + 1e-9), 1), dtype=np.float64) * step_s


def silenced(
    at: Floats, rates: Floats, delays: Floats, gaps: list[tuple[float, float]]
) -> tuple[Floats, Floats, Floats]:
    """The same with outages: begin and length of each, s."""
    # To the nanosecond, so that no two instants become one when they are written.
    at = np.round(at, 9)
    edges = [(round(begin, 9), round(begin + length, 9)) for begin, length in gaps]
    inside = [edge for pair in edges for edge in pair if 0 <= edge < at[-1] + STEP_S]
    marks = np.unique(np.concatenate((at, inside)))
    place = np.searchsorted(at, marks, side="right") - 1
    silent = np.zeros(len(marks), dtype=bool)
    for begin, end in edges:
        silent |= (marks >= begin) & (marks < end)
    return marks, np.where(silent, 0.0, rates[place]), delays[place]


def instants(random: np.random.Generator, every_s: float, duration_s: float) -> Floats:
    """Instants of a Poisson process, s."""
    return np.sort(random.random(random.poisson(duration_s / every_s)) * duration_s)


class Lte(Section):
    """A cellular link: its rate walks at random, and sticks at zero.

    The law is that of Sprout (Winstein, Sivaraman, Balakrishnan, NSDI 2013, section 3.1): the rate is a Brownian motion
    of 200 packets/s per root of a second, between 0 and 1000 packets of 1500 bytes a second; once at 0 it stays there
    for an exponential time of mean 1 s. `mean` scales it.
    """

    about: ClassVar[str] = "cellular: a rate that walks at random and sticks at zero (Sprout, 2013)"
    mean: Rate | None = Field(None, description="mean rate, in place of what the walk gives: about 5.5 Mbit/s")
    volatility: float = Field(200.0, gt=0, le=1e4, description="of the walk, packets/s per root of a second")
    most: float = Field(1000.0, gt=1, le=1e6, description="largest rate, packets/s")
    stuck: Seconds = Field(as_written("1s"), gt=0, le=600, description="mean length of an outage")

    def drawn(self, random: np.random.Generator, duration_s: float) -> tuple[Floats, Floats, Floats]:
        at = steps(duration_s)
        noise = random.standard_normal(len(at)) * self.volatility * np.sqrt(STEP_S)
        leaves = random.random(len(at)) < 1 - np.exp(-STEP_S / self.stuck)
        rate, found = self.most / 2, np.empty(len(at))
        for row in range(len(at)):
            if rate > 0:
                rate = rate + noise[row]
                # Reflected at the top, absorbed at the bottom.
                rate = max(2 * self.most - rate if rate > self.most else rate, 0.0)
            elif leaves[row]:
                rate = abs(noise[row])
            found[row] = rate
        return at, found * 1500 * 8, np.zeros(len(at))


class FiveG(Section):
    """5G with a small cell: fast while it is seen, slow while something stands before it.

    Blocked and free times take turns, as measured on millimetre waves (Narayanan et al., WWW 2020 and SIGCOMM 2021: a
    factor of 10 and more between them, within a second). Times and rates are chosen, not theirs.
    """

    about: ClassVar[str] = "5G small cell: free and blocked take turns, a factor of ten apart"
    mean: Rate | None = Field(None, description="mean rate, in place of what the states give")
    free: Rate = Field(as_written("400mbit"), description="median rate while the cell is seen")
    blocked: Rate = Field(as_written("30mbit"), description="median rate while it is not")
    free_time: Seconds = Field(as_written("5s"), gt=0, le=3600, description="mean time between two blockages")
    blocked_time: Seconds = Field(as_written("1s"), gt=0, le=3600, description="mean length of a blockage")
    spread: float = Field(0.25, ge=0, le=3, description="deviation of the logarithm of the rate within a state")
    memory: Seconds = Field(as_written("500ms"), gt=0, le=3600, description="memory of the rate within a state")
    handover_every: Seconds = Field(as_written("30s"), gt=0, le=3600, description="mean time between two handovers")
    interruption: Seconds = Field(as_written("50ms"), ge=0, le=60, description="outage at a handover")

    def drawn(self, random: np.random.Generator, duration_s: float) -> tuple[Floats, Floats, Floats]:
        at = steps(duration_s)
        share = self.free_time / (self.free_time + self.blocked_time)
        leaves = 1 - np.exp(-STEP_S / np.array([self.blocked_time, self.free_time]))
        draws = random.random(len(at))
        state = np.empty(len(at), dtype=int)
        now = int(draws[0] < share)
        for row in range(len(at)):
            if row and draws[row] < leaves[now]:
                now = 1 - now
            state[row] = now
        medians = np.array([float(self.blocked), float(self.free)])[state]
        rates = medians * np.exp(self.spread * walk(random, len(at), STEP_S, self.memory))
        gaps = [(float(when), self.interruption) for when in instants(random, self.handover_every, duration_s)]
        return silenced(at, rates, np.zeros(len(at)), gaps)


class Starlink(Section):
    """A satellite network that assigns satellites anew every 15 s: rate and delay jump then.

    The period of 15 s, at whose ends delay and rate change for all users at once, is that of Tanveer et al. (CoNEXT
    2023) and Mohan et al. (WWW 2024), who also report short losses at some of the changes. Rates, delays and the share
    of changes with an interruption are chosen.
    """

    about: ClassVar[str] = "satellites that change every 15 s: rate and delay jump, some changes interrupt"
    mean: Rate = Field(as_written("100mbit"), description="mean rate")
    every: Seconds = Field(as_written("15s"), gt=0, le=3600, description="time between two changes")
    spread: float = Field(0.35, ge=0, le=3, description="deviation of the logarithm of the rate from change to change")
    within: float = Field(0.15, ge=0, le=3, description="the same within the time between two changes")
    memory: Seconds = Field(as_written("1s"), gt=0, le=3600, description="memory of the rate between two changes")
    delay: Delay = Field(as_written("20ms"), description="added delay is drawn from 0 to this at each change")
    interrupts: float = Field(0.3, ge=0, le=1, description="share of changes with an interruption")
    interruption: Seconds = Field(as_written("100ms"), ge=0, le=60, description="mean length of one")
    obstructed_every: Seconds = Field(as_written("120s"), gt=0, le=86_400, description="mean time between obstructions")
    obstructed: Seconds = Field(as_written("2s"), ge=0, le=600, description="mean length of an obstruction")

    def drawn(self, random: np.random.Generator, duration_s: float) -> tuple[Floats, Floats, Floats]:
        at = steps(duration_s)
        count = int(duration_s / self.every) + 2
        interval = (at / self.every + 1e-9).astype(int)
        level = np.exp(self.spread * random.standard_normal(count))[interval]
        rates = level * np.exp(self.within * walk(random, len(at), STEP_S, self.memory))
        delays = (self.delay * random.random(count))[interval]
        lengths = random.exponential(self.interruption, count) * (random.random(count) < self.interrupts)
        gaps = [(n * self.every, float(lengths[n])) for n in range(1, count) if lengths[n] > 0]
        blocked = instants(random, self.obstructed_every, duration_s)
        gaps += [
            (float(when), float(length))
            for when, length in zip(blocked, random.exponential(self.obstructed, len(blocked)), strict=True)
        ]
        return silenced(at, rates, delays, gaps)


class Dsl(Section):
    """A DSL line: one rate for long, small steps of seamless rate adaptation, and rarely a retraining without service.

    Seamless rate adaptation and retraining are those of ITU-T G.993.2 (VDSL2); how often, how long and how far they go
    depends on the line, and is chosen.
    """

    about: ClassVar[str] = "DSL: one rate, small steps, and a gap of half a minute when the line retrains"
    mean: Rate = Field(as_written("50mbit"), description="mean rate while there is service")
    adapts_every: Seconds = Field(as_written("30s"), gt=0, le=86_400, description="mean time between two small steps")
    adapts: float = Field(0.03, ge=0, le=1, description="largest share of the rate of a small step")
    retrains_every: Seconds = Field(as_written("300s"), gt=0, le=864_000, description="mean time between retrainings")
    retraining: Seconds = Field(as_written("30s"), ge=0, le=3600, description="time without service of a retraining")
    least: float = Field(0.6, gt=0, le=1, description="smallest share of the best rate after a retraining")

    def drawn(self, random: np.random.Generator, duration_s: float) -> tuple[Floats, Floats, Floats]:
        small = instants(random, self.adapts_every, duration_s)
        large = instants(random, self.retrains_every, duration_s)
        at, rates, level = [0.0], [1.0], 1.0
        changes = sorted([(float(when), False) for when in small] + [(float(when), True) for when in large])
        blind = 0.0
        for when, retrains in changes:
            if when <= blind:
                continue
            if retrains:
                level = self.least + (1 - self.least) * random.random()
                # A retraining that the end of the trace would cut is moved before it.
                at += [when, min(when + self.retraining, duration_s)]
                rates += [0.0, level]
                blind = when + self.retraining
            else:
                level = min(max(level * (1 + self.adapts * (2 * random.random() - 1)), self.least), 1.0)
                at.append(when)
                rates.append(level)
        kept = [row for row, when in enumerate(at) if when < duration_s]
        served = [rates[row] for row in kept]
        mean = float(np.mean([rate for rate in served if rate > 0]))
        return np.array([at[row] for row in kept]), np.array(served) * self.mean / mean, np.zeros(len(kept))


class Wifi(Section):
    """A Wi-Fi uplink: rate adaptation moves between modulations, others take airtime, bursts of interference stop it.

    The rates are those of one spatial stream in 20 MHz of IEEE 802.11n (Table 20-30, long guard interval), times the
    efficiency of aggregated frames; how they change is a birth-death chain, as rate adaptation tries neighbours first.
    Its times, the airtime of others and the bursts are chosen.
    """

    about: ClassVar[str] = "Wi-Fi uplink: modulations of 802.11n, airtime of others, bursts of interference"
    mean: Rate | None = Field(None, description="mean rate, in place of what modulation and airtime give")
    dwell: Seconds = Field(as_written("1s"), gt=0, le=3600, description="mean time at one modulation")
    pull: float = Field(0.6, gt=0, lt=1, description="chance that the next modulation is faster, below the top")
    efficiency: float = Field(0.7, gt=0, le=1, description="share of the physical rate that packets get")
    busy: float = Field(0.3, ge=0, le=0.95, description="mean share of airtime that others take")
    memory: Seconds = Field(as_written("2s"), gt=0, le=3600, description="memory of that share")
    burst_every: Seconds = Field(as_written("10s"), gt=0, le=3600, description="mean time between bursts")
    burst: Seconds = Field(as_written("80ms"), ge=0, le=60, description="mean length of a burst, without any sending")

    def drawn(self, random: np.random.Generator, duration_s: float) -> tuple[Floats, Floats, Floats]:
        table = np.array([6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0]) * 1e6
        at = steps(duration_s)
        moves = random.random(len(at)) < 1 - np.exp(-STEP_S / self.dwell)
        faster = random.random(len(at)) < self.pull
        now, states = 5, np.empty(len(at), dtype=int)
        for row in range(len(at)):
            if row and moves[row]:
                now = min(max(now + (1 if faster[row] else -1), 0), len(table) - 1)
            states[row] = now
        # A logistic of the walk, around the mean share.
        odds = self.busy / (1 - self.busy) * np.exp(walk(random, len(at), STEP_S, self.memory))
        rates = table[states] * self.efficiency / (1 + odds)
        begins = instants(random, self.burst_every, duration_s)
        gaps = list(zip(begins.tolist(), random.exponential(self.burst, len(begins)).tolist(), strict=True))
        return silenced(at, rates, np.zeros(len(at)), gaps)


KINDS: dict[str, type[Section]] = {"lte": Lte, "5g": FiveG, "starlink": Starlink, "dsl": Dsl, "wifi": Wifi}
"""Laws by the name that a command line gives them."""


def make(kind: str, duration_s: float = 60.0, seed: int = 1, parameters: dict[str, object] | None = None) -> LinkTrace:
    """Draws a trace.

    Parameters
    ----------
    kind : str
        One of :data:`KINDS`.
    duration_s : float
        Length, 1 s to a day.
    seed : int
        Of the draw: the same seed, the same trace.
    parameters : dict, optional
        Fields of the law.

    Returns
    -------
    LinkTrace

    Raises
    ------
    MayflyError
        No such law or parameter, or a value out of its bounds.

    Examples
    --------
    >>> trace = make("starlink", 45.0, seed=3, parameters={"mean": "80mbit"})
    >>> round(trace.mean_bps / 1e6), trace.period_s
    (80, 45.0)
    """
    if kind not in KINDS:
        raise MayflyError(f"kind = {kind}: {did_you_mean(kind, list(KINDS)) or 'must be one of ' + ', '.join(KINDS)}")
    if not 1.0 <= duration_s <= MOST_DURATION_S:
        raise MayflyError(f"duration = {duration_s:g}: must be from 1 s to a day")
    if not 0 <= seed <= 2**63 - 1:
        raise MayflyError(f"seed = {seed}: must be from 0 to 2^63 - 1")
    law = _checked(kind, parameters or {})
    random = np.random.default_rng([seed, zlib.crc32(kind.encode())])
    at, rates, delays = law.drawn(random, duration_s)
    lasts = np.diff(np.append(at, duration_s))
    mean_bps = float(np.dot(rates, lasts)) / duration_s
    if mean_bps == 0:
        raise MayflyError(
            f"{kind}: without service for all of {duration_s:g} s: must have another seed, or last longer"
        )
    wanted = law.mean  # type: ignore[attr-defined]
    # The rate of a DSL line is that of its service, whatever its retrainings take away.
    scale = 1.0 if wanted is None or kind == "dsl" else wanted / mean_bps
    return of_steps(kind, at, rates * scale, duration_s, delays)


def _checked(kind: str, parameters: dict[str, object]) -> Kind:
    from pydantic import ValidationError

    law = KINDS[kind]
    try:
        return law.model_validate(parameters)  # type: ignore[return-value]
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    name = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        near = did_you_mean(name, list(law.model_fields)) or f"must be one of {', '.join(law.model_fields)}"
        raise MayflyError(f"{kind}: {name}: no such parameter; {near}")
    reason = first["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    raise MayflyError(f"{kind}: {name} = {first['input']!r}: {reason[:1].lower()}{reason[1:]}")
