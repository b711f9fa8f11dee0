"""A flow on its way through the two queues of EFD, the others there in their mean.

Principle: each packet of the flow finds what others have in the queues, on average, and what the flow itself has still
waiting. With the last of these EFD forgets the flow. So the sub-flows are no assumption: they follow from how the
flow's own packets come and go.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mayfly.arrays import Booleans, Floats


@dataclass(frozen=True)
class Others:
    """What the rest of the traffic does to the packets of a flow.

    Parameters
    ----------
    high_load : float
        Load of the high queue, from 0 to below 1.
    high_wait_s : float
        What a packet waits for the packets of others in the high queue, s, when it finds the mean of them.
    rest_s : float
        What a high packet waits for a low one in transmission, s, on average.
    high_work_s : float
        Time to send what the flows of others have still to send through the high queue, waiting or not yet sent, s; at
        least ``high_wait_s``.
    low_wait_s : float
        What a low packet waits for all others, s.
    """

    high_load: float = 0.0
    high_wait_s: float = 0.0
    rest_s: float = 0.0
    high_work_s: float = 0.0
    low_wait_s: float = 0.0

    def low_packet_s(self, packet_s: float) -> float:
        """Time of a low packet at the head of its queue, interrupted by high ones, s."""
        return packet_s / (1 - self.high_load)


class TaggedFlow:
    """The link of a flow: when it is through with each packet.

    Parameters
    ----------
    packet_s, access_s : float
        Time of a packet on the link and on each of the two access links around it, s; the first is above 0.
    threshold : int
        Packets of a sub-flow that go to the high queue.
    others : Others
        The rest of the traffic.

    Notes
    -----
    A packet leaves after what others have there and k packets of its own: t + V + k d + d, with d the time of a packet
    in its queue. V is the same at all times in the low queue: those who leave are replaced. In the high queue, where
    flows stay for a few packets only, others run out: what they have still to send, u, falls by what the flow waits
    for and rises with the load, and V with it; while nothing of the flow is there u goes back to its mean.

    Examples
    --------
    >>> link = TaggedFlow(1.0, 0.0, 2, Others())
    >>> [link(0.0) for _ in range(4)], link.high
    ([1.0, 2.0, 3.0, 4.0], [True, True, True, False])
    >>> link(3.5), link.high[-1]
    (5.0, True)
    """

    def __init__(self, packet_s: float, access_s: float, threshold: int, others: Others):
        self.packet_s, self.access_s, self.threshold, self.others = packet_s, access_s, threshold, others
        self.low_packet_s = others.low_packet_s(packet_s)
        self.arrived: list[float] = []
        self.left: list[float] = []
        self.high: list[bool] = []
        self._entered = self._exited = 0.0
        self._begun = self._counted = self._passed = 0
        # What others have still to send through the high queue, after each packet of the flow.
        self._times, self._work_s = [0.0], [others.high_work_s]

    def __call__(self, now: float) -> float:
        """When a packet that is sent at ``now`` is off the last link, s; in the order of sending."""
        self._entered = max(self._entered, now) + self.access_s
        at, left = self._entered, self.left
        # Begun to be sent, and no more in the queue.
        while self._begun < len(left) and left[self._begun] - self.packet_s <= at:
            self._begun += 1
        waiting = len(left) - self._begun
        self._counted = self._counted + 1 if waiting else 1
        sending_s = max(left[self._begun - 1] - at, 0.0) if self._begun else 0.0
        high = self._counted <= self.threshold
        if high:
            end = self._through_high(at, waiting * self.packet_s + sending_s, self.packet_s)
        else:
            end = at + self.others.low_wait_s + (waiting + 1) * self.low_packet_s + sending_s
            self._keep(end, self._work_s[-1])
        self.arrived.append(at)
        left.append(end)
        self.high.append(high)
        self._exited = max(self._exited, end) + self.access_s
        return self._exited

    def control(self, at: float) -> float:
        """When a packet without data that finds nothing of its flow is sent, s; its own time is left out."""
        return self._through_high(at, 0.0, 0.0)

    def _through_high(self, at: float, own_s: float, packet_s: float) -> float:
        """When a high packet with ``own_s`` of its flow before it is sent, s."""
        others = self.others
        part = self._work_at(at) / others.high_work_s if others.high_work_s > 0 else 1.0
        end = at + others.rest_s + others.high_wait_s * part + own_s + packet_s
        if self.left:
            end = max(end, self.left[-1] + packet_s)
        began, work_s = self._times[-1], self._work_s[-1]
        if at > began:
            began, work_s = at, self._work_at(at)
        self._keep(end, max(work_s - (1 - others.high_load) * (end - began) + packet_s, 0.0))
        return end

    def _keep(self, time: float, work_s: float) -> None:
        self._times.append(time)
        self._work_s.append(work_s)

    def _work_at(self, at: float) -> float:
        """What others have still to send through the high queue, s: between packets, or on the way back to the mean."""
        times, work_s, mean_s = self._times, self._work_s, self.others.high_work_s
        while self._passed < len(times) and times[self._passed] <= at:
            self._passed += 1
        before = max(self._passed - 1, 0)
        if self._passed == len(times):
            return mean_s + (work_s[before] - mean_s) * math.exp(-self.others.high_load * (at - times[before]) / mean_s)
        share = (at - times[before]) / (times[before + 1] - times[before])
        return work_s[before] + share * (work_s[before + 1] - work_s[before])

    def record(self) -> tuple[Booleans, Floats]:
        """Whether each packet was high, and its time in queue and transmission, s; shape (n_packets,) each."""
        return np.array(self.high), np.array(self.left) - np.array(self.arrived)
