"""How a telephone call over the network sounds: the E-model of ITU-T G.107 (06/2015), from delay and loss to MOS.

Principle: each impairment takes points from a rating R, and what is left is read as the opinion that listeners would
have in the mean. All parameters but delay and loss have the defaults of G.107, Table 3; the codec is G.711 with
concealment of lost packets (G.113, Table I.3: Ie = 0, Bpl = 25.1).

Playout: a receiver holds every packet until its deadline, and what comes later counts as lost. The buffer is ideal and
adapts once in each window of 10 s of the call: of the deadlines that 90, 95, 98, 99, 99.5 and 100 % of the packets meet
which arrive there, it has the one with the highest rating. The delay from mouth to ear is that deadline and the 20 ms
that fill a packet. A real buffer, which does not know what comes, does no better.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from mayfly.arrays import Floats
from mayfly.metrics.intervals import on_mos_scale, student_ci95
from mayfly.metrics.playout import one_way_delays

PACKET_S = 0.02
"""Speech in a packet, s."""

WINDOW_S = 10.0
"""Time between two adaptations of the playout buffer, s."""

PLAYOUT_QUANTILES = (0.9, 0.95, 0.98, 0.99, 0.995, 1.0)
"""Shares of the arriving packets that the playout buffer may wait for."""

G711_IE, G711_BPL = 0.0, 25.1
"""G.711 with packet-loss concealment (ITU-T G.113, Appendix I)."""


@dataclass(frozen=True)
class Line:
    """Parameters of the E-model that are not delay or loss: the defaults of G.107, Table 3.

    Parameters
    ----------
    slr, rlr, stmr, lstr, ds, dr : float
        Loudness ratings of sending, receiving, side tone and listener's side tone, dB, and the factors D.
    telr, wepl : float
        Talker's echo loudness rating and weighted echo path loss, dB.
    qdu : float
        Quantisation distortion units.
    nc, nfor : float
        Noise of the circuit and of the floor of the receiver, dBm0p and dBmp.
    ps, pr : float
        Room noise at either end, dB(A).
    """

    slr: float = 8.0
    rlr: float = 2.0
    stmr: float = 15.0
    lstr: float = 18.0
    ds: float = 3.0
    dr: float = 3.0
    telr: float = 65.0
    wepl: float = 110.0
    qdu: float = 1.0
    nc: float = -70.0
    nfor: float = -64.0
    ps: float = 35.0
    pr: float = 35.0

    @property
    def noise(self) -> float:
        """No: sum of all noise at the point of 0 dBr (G.107, equations 7-3 to 7-6)."""
        olr = self.slr + self.rlr
        nos = self.ps - self.slr - self.ds - 100 + 0.004 * (self.ps - olr - self.ds - 14) ** 2
        pre = self.pr + 10 * math.log10(1 + 10 ** ((10 - self.lstr) / 10))
        nor = self.rlr - 121 + pre + 0.008 * (pre - 35) ** 2
        nfo = self.nfor + self.rlr
        return 10 * math.log10(sum(math.pow(10, level / 10) for level in (self.nc, nos, nor, nfo)))

    @property
    def signal(self) -> float:
        """Ro: signal over noise (equation 7-2)."""
        return 15 - 1.5 * (self.slr + self.noise)

    def simultaneous(self) -> float:
        """Is: what comes with the voice itself (equations 7-8 to 7-17), the side tone without delay."""
        olr = self.slr + self.rlr
        x = olr + 0.2 * (64 + self.noise - self.rlr)
        too_loud = 20 * ((1 + (x / 8) ** 8) ** (1 / 8) - x / 8)
        stmr = -10 * math.log10(10 ** (-self.stmr / 10) + 10 ** (-self.telr / 10))
        side_tone = (
            12 * (1 + ((stmr - 13) / 6) ** 8) ** (1 / 8)
            - 28 * (1 + ((stmr + 1) / 19.4) ** 35) ** (1 / 35)
            - 13 * (1 + ((stmr - 3) / 33) ** 13) ** (1 / 13)
            + 29
        )
        q = 37 - 15 * math.log10(self.qdu)
        g = 1.07 + 0.258 * q + 0.0602 * q**2
        y, z = (self.signal - 100) / 15 + 46 / 8.4 - g / 9, 46 / 30 - g / 40
        return float(too_loud + side_tone + 15 * math.log10(1 + 10**y + 10**z))

    def delayed(self, delay_ms: float) -> float:
        """Id: talker's echo, listener's echo and delay itself (equations 7-18 to 7-28).

        Parameters
        ----------
        delay_ms : float
            Ta, one way from mouth to ear, ms; T is the same, and Tr, the round trip of an echo, twice as long.

        Returns
        -------
        float
            Points of R.
        """
        echo = (
            self.telr - 40 * math.log10((1 + delay_ms / 10) / (1 + delay_ms / 150)) + 6 * math.exp(-0.3 * delay_ms**2)
        )
        over = -1.5 * (self.noise - self.rlr) - (80 + 2.5 * (echo - 14))
        talker = (over / 2 + math.sqrt(over**2 / 4 + 100) - 1) * (1 - math.exp(-delay_ms))
        over = self.signal - 10.5 * (self.wepl + 7) * (2 * delay_ms + 1) ** -0.25
        listener = over / 2 + math.sqrt(over**2 / 4 + 169)
        return float(talker + listener + _pure_delay(delay_ms))


def _pure_delay(delay_ms: float) -> float:
    """Idd: too long a delay without any echo (equations 7-27, 7-28, sensitivity sT = 1, mT = 100 ms)."""
    if delay_ms <= 100:
        return 0.0
    x = math.log2(delay_ms / 100)
    return float(25 * ((1 + x**6) ** (1 / 6) - 3 * (1 + (x / 3) ** 6) ** (1 / 6) + 2))


DEFAULTS = Line()


def rating(delay_ms: float, loss: float, ie: float = G711_IE, bpl: float = G711_BPL, line: Line = DEFAULTS) -> float:
    """Rating of a connection, R.

    Parameters
    ----------
    delay_ms : float
        One way from mouth to ear, ms, >= 0.
    loss : float
        Share of the packets that are lost or late, at random (BurstR = 1), 0 to 1.
    ie, bpl : float
        Impairment of the codec, and its robustness to loss (G.113).
    line : Line
        Everything else.

    Returns
    -------
    float
        ``R = Ro - Is - Id - Ie,eff`` with ``Ie,eff = Ie + (95 - Ie) Ppl / (Ppl + Bpl)``, Ppl in per cent (equations
        7-1 and 7-29); the advantage factor A is 0.

    Examples
    --------
    >>> round(rating(0.0, 0.0), 1), round(rating(150.0, 0.01), 1)
    (93.2, 85.9)
    """
    percent = 100 * loss
    codec = ie + (95 - ie) * percent / (percent + bpl)
    return line.signal - line.simultaneous() - line.delayed(delay_ms) - codec


def opinion(r: float) -> float:
    """Mean opinion score of a rating, 1 to 4.5 (G.107, Annex B, equation B-4).

    Examples
    --------
    >>> round(opinion(93.2), 2), opinion(-3.0), opinion(100.0)
    (4.41, 1.0, 4.5)
    """
    if r <= 0:
        return 1.0
    if r >= 100:
        return 4.5
    # Between 0 and 6.5 the cubic falls a little below 1.
    return max(1.0, 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6)


def smoothed_jitter_s(delays_s: Floats) -> float | None:
    """Mean interarrival jitter.

    Parameters
    ----------
    delays_s : ndarray, shape (n_packets,)
        One-way delays in order of sending, s; NaN for a packet that did not arrive.

    Returns
    -------
    float or None
        Seconds, the mean over the packets that arrived of ``J += (|D| - J) / 16`` (RFC 3550, 6.4.1), D the difference
        of the delays of two that arrived one after the other; None below two.

    Examples
    --------
    >>> smoothed_jitter_s(np.array([0.01, 0.01, 0.026, np.nan]))
    0.0005
    """
    arrived = delays_s[~np.isnan(delays_s)]
    if arrived.size < 2:
        return None
    # J is an exponential average with weight 1/16, from 0 on.
    own = pl.Series(np.abs(np.diff(arrived, prepend=arrived[0]))).ewm_mean(alpha=1 / 16, adjust=False)
    return float(own[1:].to_numpy().mean())


def call_windows(packets: pl.DataFrame) -> pl.DataFrame:
    """A call in one direction, window by window of the playout buffer.

    Parameters
    ----------
    packets : polars.DataFrame, shape (n_packets, ...)
        ``sent_s`` and ``received_s`` (null for those lost) of one flow in one run.

    Returns
    -------
    polars.DataFrame, shape (n_windows, 4)
        ``window`` from 0, ``playout_s`` (null where nothing arrived), ``missing`` (share lost or late), ``r``. A last
        window of less than half the length counts with the one before it.
    """
    ordered = packets.select("sent_s", "received_s").sort("sent_s")
    delays = _delays(ordered)
    sent = ordered["sent_s"].to_numpy()
    whole = max(round((sent[-1] - sent[0]) / WINDOW_S), 1) if sent.size else 0
    place = np.minimum(((sent - sent[0]) / WINDOW_S).astype(np.int64), whole - 1) if sent.size else sent
    rows: list[dict[str, float | int | None]] = []
    for window in range(whole):
        own = delays[place == window]
        arrived = own[~np.isnan(own)]
        if arrived.size == 0:
            rows.append({"window": window, "playout_s": None, "missing": 1.0, "r": 0.0})
            continue
        deadlines = [float(one) for one in np.quantile(arrived, PLAYOUT_QUANTILES, method="inverted_cdf")]
        shares = [1.0 - float((arrived <= deadline).sum()) / own.size for deadline in deadlines]
        ratings = [rating(1e3 * (at + PACKET_S), share) for at, share in zip(deadlines, shares, strict=True)]
        r, playout, missing = max(zip(ratings, deadlines, shares, strict=True))
        rows.append({"window": window, "playout_s": playout, "missing": missing, "r": r})
    kinds = {"window": pl.Int64, "playout_s": pl.Float64, "missing": pl.Float64, "r": pl.Float64}
    return pl.DataFrame(rows, schema=kinds)


def call_direction(packets: pl.DataFrame) -> dict[str, float | None]:
    """A call in one direction in figures.

    Parameters
    ----------
    packets : polars.DataFrame, shape (n_packets, ...)
        As of :func:`call_windows`, of one or more runs; then with ``replication``.

    Returns
    -------
    dict
        ``delay_ms`` (mean of the network, one way), ``jitter_ms``, ``loss`` (share lost in the network), ``late``
        (share that came after its deadline), ``mos`` (mean over the windows).
    """
    runs = _runs(packets)
    windows = pl.concat([call_windows(run) for run in runs])
    delays = np.concatenate([_delays(run) for run in runs])
    jitters = [value for run in runs if (value := smoothed_jitter_s(_delays(run))) is not None]
    lost = float(np.isnan(delays).mean())
    arrived = delays[~np.isnan(delays)]
    missing = windows["missing"].mean()
    return {
        "delay_ms": 1e3 * float(arrived.mean()) if arrived.size else None,
        "jitter_ms": 1e3 * sum(jitters) / len(jitters) if jitters else None,
        "loss": lost,
        "late": max(float(missing) - lost, 0.0) if isinstance(missing, float) else None,
        "mos": _mean_opinion(windows["r"].to_list()),
    }


def call_row(down: pl.DataFrame, up: pl.DataFrame) -> dict[str, Any] | None:
    """A call in both directions.

    Parameters
    ----------
    down, up : polars.DataFrame
        As of :func:`call_direction`.

    Returns
    -------
    dict or None
        ``down``, ``up``; ``mos`` of the worse one, and ``mos_ci95``, Student's t over its windows. None without
        packets.
    """
    if down.height == 0 or up.height == 0:
        return None
    ways = {"down": call_direction(down), "up": call_direction(up)}
    worse = min(ways, key=lambda way: ways[way]["mos"] or 0.0)
    packets = down if worse == "down" else up
    opinions = [opinion(r) for run in _runs(packets) for r in call_windows(run)["r"]]
    return {**ways, "mos": ways[worse]["mos"], "mos_ci95": on_mos_scale(student_ci95(opinions))}


def captured_row(calls: pl.DataFrame) -> dict[str, Any] | None:
    """Several calls of a capture.

    Parameters
    ----------
    calls : polars.DataFrame, shape (n_packets, ...)
        ``connection_id``, ``direction``, ``sent_s``, ``received_s``, and ``replication`` where there are several.

    Returns
    -------
    dict or None
        ``calls``, how many; ``down``, ``up`` and ``mos`` as of :func:`call_row`, each figure the mean over the calls,
        and ``mos_ci95``, Student's t over them; of one call over its windows. None without one that has packets in both
        directions.
    """
    if calls.height == 0:
        return None
    keys = [name for name in ("replication", "connection_id") if name in calls.columns]
    rows = []
    for packets in calls.partition_by(keys, maintain_order=True):
        down, up = (packets.filter(direction=way) for way in ("down", "up"))
        if row := call_row(down.drop("direction"), up.drop("direction")):
            rows.append(row)
    if not rows:
        return None
    means = {way: {name: _mean(row[way][name] for row in rows) for name in rows[0][way]} for way in ("down", "up")}
    opinions = [row["mos"] for row in rows if row["mos"] is not None]
    ends = student_ci95(opinions) if len(rows) > 1 else rows[0]["mos_ci95"]
    return {"calls": len(rows), **means, "mos": _mean(opinions), "mos_ci95": ends}


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _runs(packets: pl.DataFrame) -> list[pl.DataFrame]:
    """The packets of each replication, in order of sending."""
    if "replication" not in packets.columns:
        return [packets.sort("sent_s")]
    return packets.sort("replication", "sent_s").partition_by("replication", maintain_order=True)


def _delays(packets: pl.DataFrame) -> Floats:
    """One-way delays of the packets of one flow in one run, s."""
    return one_way_delays(packets.select("sent_s", "received_s", flow_id=pl.lit(0)))


def _mean_opinion(ratings: list[float]) -> float | None:
    return sum(map(opinion, ratings)) / len(ratings) if ratings else None
