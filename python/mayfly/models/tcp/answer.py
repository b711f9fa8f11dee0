"""What `mayfly model tcp` answers: how fast a long transfer is, and how long transfers of given sizes take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.models.efd.flights import flight_count
from mayfly.models.queue.answer import finite
from mayfly.models.tcp.latency import MOST_PACKETS, Latency, Path, Unloaded, latency, unloaded
from mayfly.models.tcp.laws import pftk_rate, square_root_rate
from mayfly.show.notebook import Result

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, repr=False)
class TcpAnswer(Result):
    """Laws of one path.

    Parameters
    ----------
    path : Path
        Of what.
    packet_bytes : int
        Of a packet with data.
    rates_pps : dict of str to float
        Of a long transfer by law, packets per second; no law knows the slowest link.
    alone : Unloaded
        Transfers without loss.
    bursts, independent : Latency
        Transfers with loss, from the SYN to the acknowledgement of the last packet.
    """

    path: Path
    packet_bytes: int
    rates_pps: dict[str, float]
    alone: Unloaded
    bursts: Latency
    independent: Latency

    def document(self) -> dict[str, Any]:
        """All of it for JSON; a rate that is infinite is null.

        Returns
        -------
        dict
            ``rtt_s, loss, throughput`` by law and ``sizes``, each with ``packets, flights, unloaded, latency``, and
            the flights by Chen 2012, Eq. 5.10.
        """
        bits = self.packet_bytes * 8
        return {
            "rtt_s": self.path.rtt_s,
            "loss": self.path.loss,
            "throughput": [
                {"law": law, "packets_per_s": finite(rate), "rate_bps": finite(rate * bits)}
                for law, rate in self.rates_pps.items()
            ],
            "sizes": [self._of(index) for index in range(self.alone.packets.size)],
        }

    @property
    def by_formula(self) -> Floats:
        """Flights by Chen 2012, Eq. 5.10, shape (n,): one packet first, windows of at most that of the receiver."""
        return flight_count(self.alone.packets, int(min(self.path.window, MOST_PACKETS)))

    def _of(self, index: int) -> dict[str, Any]:
        parts = ("handshake_s", "slow_start_s", "first_loss_s", "avoidance_s", "delayed_ack_s", "total_s")
        return {
            "packets": int(self.alone.packets[index]),
            "flights": int(self.alone.flights[index]),
            "flights_by_formula": int(self.by_formula[index]),
            "unloaded": {
                "delivered_s": float(self.alone.delivered_s[index]),
                "closed_s": float(self.alone.closed_s[index]),
            },
            "latency": {
                name: {part: float(getattr(mean, part)[index]) for part in parts}
                for name, mean in (("bursts", self.bursts), ("independent", self.independent))
            },
        }

    def tables(self) -> list[Table]:
        """Rates and latencies as rich tables."""
        from rich import box
        from rich.table import Table

        rates = Table(title="Rate of a long transfer", box=box.SIMPLE_HEAD, title_justify="left")
        rates.add_column("law")
        for head in ("packets per second", "Mb/s"):
            rates.add_column(head, justify="right")
        for law, rate in self.rates_pps.items():
            rates.add_row(law, f"{rate:.2f}", f"{rate * self.packet_bytes * 8e-6:.4g}")
        times = Table(title="Time of transfers (s)", box=box.SIMPLE_HEAD, title_justify="left")
        heads = (
            "packets",
            "flights",
            "by Eq. 5.10",
            "no loss: data there",
            "closed",
            "losses in bursts",
            "independent",
        )
        for head in heads:
            times.add_column(head, justify="right")
        columns = (self.alone.delivered_s, self.alone.closed_s, self.bursts.total_s, self.independent.total_s)
        for index, size in enumerate(self.alone.packets):
            cells = (f"{column[index]:.4g}" for column in columns)
            times.add_row(f"{size:g}", str(self.alone.flights[index]), str(self.by_formula[index]), *cells)
        return [rates, times]

    def sentences(self) -> list[str]:
        """What the columns count."""
        return [
            "flights: from the initial window; by Eq. 5.10: of Chen 2012, after Sikdar et al. 2001, from one packet",
            "data there: from the SYN to the arrival of the last packet; closed: to the end of the FIN exchange",
            "with loss: mean to the acknowledgement of the last packet (in bursts: Cardwell et al. 2000; independent: "
            "losses one by one, repaired by SACK)",
        ]


def tcp_answer(packets: Sequence[float], path: Path, packet_bytes: int) -> TcpAnswer:
    """Rates and latencies of a path.

    Parameters
    ----------
    packets : sequence of float
        Sizes, whole numbers from 1.
    path : Path
        What transfers meet.
    packet_bytes : int
        Of a packet with data, from 41 to 65535.

    Returns
    -------
    TcpAnswer

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Examples
    --------
    >>> found = tcp_answer([20], Path(rtt_s=0.1, loss=0.01), 1500)
    >>> [(law, round(rate, 1)) for law, rate in found.rates_pps.items()][2:]
    [('PFTK, sent', 69.5), ('PFTK, delivered', 65.7)]
    """
    if not 41 <= packet_bytes <= 65_535:
        raise MayflyError(f"packet = {packet_bytes}: must be from 41 to 65535 bytes")
    rates = {
        f"square root, {losses} losses": float(
            square_root_rate(path.loss, path.rtt_s, losses=losses, per_ack=path.per_ack, window=path.window)
        )
        for losses in ("periodic", "random")
    }
    for counted in ("sent", "delivered"):
        rate = pftk_rate(
            path.loss, path.rtt_s, rto_s=path.rto_s, counted=counted, per_ack=path.per_ack, window=path.window
        )
        rates[f"PFTK, {counted}"] = float(rate)
    alone = unloaded(np.asarray(packets), path)
    means = [latency(alone.packets, path, slow_start="counted", losses=kind) for kind in ("bursts", "independent")]
    return TcpAnswer(path, packet_bytes, rates, alone, *means)
