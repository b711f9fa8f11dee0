"""What `mayfly model fluid` answers: the equilibrium, how it is left, and the way there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.models.queue.answer import finite
from mayfly.models.tcp.fluid import Equilibrium, Fluid, Group, Trajectory
from mayfly.models.tcp.fluid_stability import Margins, linear, margins, roots
from mayfly.models.tcp.laws import pftk_rate
from mayfly.show.notebook import Result

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table


@dataclass(frozen=True, repr=False)
class FluidAnswer(Result):
    """A model, its equilibrium, and small deviations from it.

    Parameters
    ----------
    model : Fluid
        Traffic and queue.
    packet_bytes : int
        Of a packet.
    at : Equilibrium
        Of the model.
    with_timeouts : Equilibrium
        With the rates of PFTK, whose timeout is 1 s, in place of the windows of the model.
    roots : numpy.ndarray, shape (n,)
        Furthest to the right, 1/s; empty where the queue is empty or full.
    margins : Margins or None
        None likewise.
    path : Trajectory or None
        From an empty queue, where asked for.
    """

    model: Fluid
    packet_bytes: int
    at: Equilibrium
    with_timeouts: Equilibrium
    roots: Floats
    margins: Margins | None
    path: Trajectory | None = None

    def document(self) -> dict[str, Any]:
        """All of it for JSON; what is infinite or undefined is null.

        Returns
        -------
        dict
            ``equilibrium, with_timeouts, roots, stable, margins`` and, with a trajectory, its means over the second
            half.
        """
        found: dict[str, Any] = {
            "equilibrium": self._state(self.at),
            "with_timeouts": self._state(self.with_timeouts),
            "stable": bool(self.roots[0].real < 0) if self.roots.size else None,
            "roots": [{"real": root.real, "imag": root.imag} for root in self.roots],
            "margins": None,
        }
        if self.margins is not None:
            names = ("gain", "phase_rad", "delay_s", "crossover_rad_s")
            found["margins"] = {name: finite(float(getattr(self.margins, name))) for name in names}
        if self.path is not None:
            late = self._late(self.path)
            found["trajectory"] = {
                "duration_s": float(self.path.times_s[-1]),
                "queue_mean_packets": float(self.path.queue_packets[late].mean()),
                "queue_deviation_packets": float(self.path.queue_packets[late].std()),
                "loss_mean": float(self.path.loss[late].mean()),
                "psi_mean": float(self.path.psi[late].mean()),
                "step_error_packets": float(self.path.error[-2]),
            }
        return found

    @staticmethod
    def _late(path: Trajectory) -> slice:
        """The second half of a trajectory."""
        return slice(len(path.times_s) // 2, None)

    def _state(self, at: Equilibrium) -> dict[str, Any]:
        bits = self.packet_bytes * 8
        return {
            "bound": at.bound,
            "queue_packets": at.queue_packets,
            "loss": at.loss,
            "nonresponsive_share": at.psi,
            "groups": [
                {"window": window, "rtt_s": rtt, "rate_bps": rate * bits}
                for window, rtt, rate in zip(
                    at.windows.tolist(), at.rtts_s.tolist(), at.rates_pps.tolist(), strict=True
                )
            ],
        }

    def table(self) -> Table:
        """Both equilibria as a rich table."""
        from rich import box
        from rich.table import Table

        found = Table(title="Equilibrium", box=box.SIMPLE_HEAD, title_justify="left")
        found.add_column("")
        columns = {"fluid model": self.at, "with timeouts (PFTK)": self.with_timeouts}
        for head in columns:
            found.add_column(head, justify="right")
        found.add_row("queue (packets)", *(f"{at.queue_packets:.2f}" for at in columns.values()))
        found.add_row("loss at the queue", *(f"{at.loss:.3%}" for at in columns.values()))
        found.add_row("share that does not respond", *(f"{at.psi:.1%}" for at in columns.values()))
        for index, group in enumerate(self.model.groups):
            name = f"{group.flows:g} TCP, {group.rtt_s * 1e3:g} ms"
            found.add_row(f"{name}: window (packets)", *(f"{at.windows[index]:.2f}" for at in columns.values()))
            rates = (at.rates_pps[index] * self.packet_bytes * 8e-6 for at in columns.values())
            found.add_row(f"{name}: rate (Mb/s)", *(f"{rate:.3f}" for rate in rates))
            found.add_row(f"{name}: round trip (ms)", *(f"{at.rtts_s[index] * 1e3:.1f}" for at in columns.values()))
        return found

    def sentences(self) -> list[str]:
        """Stability and the trajectory in words."""
        told = []
        if not self.roots.size:
            told.append(f"held by: {self.at.bound}; small deviations are not linear there")
        else:
            # Where there are roots, there are margins.
            assert self.margins is not None
            first = self.roots[0]
            what = "decay" if first.real < 0 else "grow: the queue swings for ever"
            told.append(f"small deviations {what}: rightmost root {first.real:.4g} + {first.imag:.4g}i per second")
            if np.isfinite(self.margins.gain):
                told.append(f"the drop law may be {self.margins.gain:.3g} times as steep before the queue swings")
            if self.margins.phase_rad > 0 and np.isfinite(self.margins.delay_s):
                told.append(f"its answer may come {self.margins.delay_s * 1e3:.3g} ms later before the queue swings")
        if self.path is not None:
            queue = self.path.queue_packets[self._late(self.path)]
            told.append(
                f"from {self.path.times_s[-1] / 2:g} to {self.path.times_s[-1]:g} s the queue is {queue.mean():.2f} "
                f"packets, deviation {queue.std():.2f}; half the step changes it by {self.path.error[-2]:.2g} at most"
            )
        return told

    def samples(self) -> pl.DataFrame:
        """The trajectory as a table: ``time_s, queue_packets, average_packets, loss, psi, window_1, ...``."""
        import polars as pl

        if self.path is None:
            raise MayflyError("duration: must be given, or there is no trajectory")
        columns = {"time_s": self.path.times_s, "queue_packets": self.path.queue_packets}
        columns |= {"average_packets": self.path.average_packets, "loss": self.path.loss, "psi": self.path.psi}
        return pl.DataFrame(columns | {f"window_{k + 1}": w for k, w in enumerate(self.path.windows.T)})


def fluid_answer(model: Fluid, packet_bytes: int, duration_s: float | None = None) -> FluidAnswer:
    """Equilibrium, stability and perhaps a trajectory.

    Parameters
    ----------
    model : Fluid
        Traffic and queue.
    packet_bytes : int
        Of a packet, above 0.
    duration_s : float, optional
        Of the trajectory, from windows of 1 and an empty queue; none when absent.

    Returns
    -------
    FluidAnswer

    Raises
    ------
    MayflyError
        There is no equilibrium, or a value is out of its bounds.
    """
    at = model.equilibrium()
    per_ack = model.groups[0].per_ack
    slow = model.equilibrium(lambda loss, rtt_s: float(pftk_rate(min(loss, 1.0), rtt_s, per_ack=per_ack)))
    linearised = linear(model, at) if at.bound == "queue" else None
    return FluidAnswer(
        model,
        packet_bytes,
        at,
        slow,
        np.array([]) if linearised is None else roots(linearised),
        None if linearised is None else margins(linearised),
        None if duration_s is None else model.trajectory(duration_s),
    )


def groups_of(
    flows: Sequence[float],
    rtts_s: Sequence[float],
    *,
    window: float,
    elsewhere: Sequence[float] = (0.0,),
    per_ack: int = 1,
) -> tuple[Group, ...]:
    """Groups of TCP flows from lists; a list of one stands for all groups.

    Examples
    --------
    >>> [group.rtt_s for group in groups_of([10, 5], [0.05], window=64)]
    [0.05, 0.05]
    """
    lists = {"tcp": flows, "rtt": rtts_s, "elsewhere": elsewhere}
    count = max(map(len, lists.values()))
    for name, values in lists.items():
        if len(values) not in (1, count):
            raise MayflyError(f"{name} = {len(values)} values: must be one, or {count} as of the others")
    full = [list(values) * (count if len(values) == 1 else 1) for values in lists.values()]
    return tuple(Group(n, rtt, window, lost, per_ack) for n, rtt, lost in zip(*full, strict=True))
