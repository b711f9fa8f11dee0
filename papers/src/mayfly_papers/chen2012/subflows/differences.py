"""Why claims of Chen 2012, 5.1 and 5.3, do not come out as printed, by claim.

Numbers in the reasons that are not in the rows come from runs of their own: the experiment of the claim with the one
change named, EFD (FIFO+FIFO), one seed, 1000 s.
"""

from mayfly_papers.declare.declaration import Difference, Verdict

_PACED = (
    "How far a flow falls apart is a matter of how its packets are spaced when they come to the queue. With hosts at "
    "100, 20 and 10 Mb/s 66, 86 and 98 % of the sub-flows have at most 3 packets with data; with 1 ms on each link "
    "and hosts at 100 Mb/s 88 %, with 10 ms on the bottleneck 83 %, with 50 ms 90 %. "
)

_PIECES = (
    "The mean shrinks while the long flows stay in one piece. If a flow were one large sub-flow and others of next "
    "to no packets, n in all, the square of the CoV would be n (6.03^2 + 1) - 1: for the n = 2.44 of the run 9.5, as "
    "measured. Long flows are broken up where the queue is empty between flights: with 50 ms on the bottleneck the "
    "CoV of the sub-flows is 5.8 beside 6.6 of the flows of that run. "
)

_GAPS = (
    "Sub-flows come in bunches: 71 % of them follow one of the same flow, SYN, ACK and the first data after an empty "
    "round trip, and 39 % of the gaps are below 1 ms, the rest are the times between flows. No law with one mode has "
    "that. Weibull is nearer by distance, lognormal by likelihood (AIC per gap -7.94 beside -7.82). With 1 ms on "
    "each link lognormal is at 0.22 and Weibull at 0.17, with 10 ms on the bottleneck at 0.22 and 0.17. "
)

DIFFERENCES: dict[str, Difference] = {
    "small-subflows-fast-hosts": Difference(
        Verdict.DIFFERS,
        _PACED
        + "Here nothing lies between the hosts and the queue: after flights of 1 and 2 packets a flow always has one "
        "waiting, and is one more sub-flow to its end.",
    ),
    "small-subflows-slow-hosts": Difference(
        Verdict.DIFFERS,
        _PACED
        + "Here a packet of a host takes as long on its own link as on the bottleneck, and meets others only. The 90 "
        "% of the text lie between the two readings.",
    ),
    "subflow-variability-fast-hosts": Difference(Verdict.DIFFERS, _PIECES),
    "subflow-variability-slow-hosts": Difference(
        Verdict.DIFFERS,
        _PIECES
        + "Slow hosts leave many more sub-flows of one packet, and the long ones are still there: flows that meet "
        "keep each other waiting.",
    ),
    "high-queue-slow-hosts": Difference(
        Verdict.DIFFERS,
        "1.41 with FIFO in the high queue, where 1.5 % of the sub-flows have more than 3 packets, 1.19 with LAS, "
        "where 0.8 % have: these few, up to 20 packets, make the CoV.",
    ),
    "idle-times-fast-hosts": Difference(
        Verdict.DIFFERS,
        "Idle times are those of the path, and this one has none but 0.1 ms for a packet on each link of the hosts. "
        "With 1 ms on each link the ratio is 2.5 up to 20 packets, 1.23 from 30 to 299 and 1.02 above: a gap that "
        "closes with size, as printed. The thesis says that its delays are 0.",
    ),
    "idle-times-slow-hosts": Difference(
        Verdict.DIFFERS,
        "A gap of 39 to 41 % up to 20 packets, where half was asked for, and of 9 and 1 % above: as printed in kind.",
    ),
    "arrivals-fast-hosts": Difference(Verdict.DIFFERS, _GAPS),
    "arrivals-slow-hosts": Difference(
        Verdict.DIFFERS,
        _GAPS + "With slow hosts 70 % of the gaps are the transmission of a packet, 1.2 ms, and no law is near.",
    ),
    "flights-model-slow-hosts": Difference(
        Verdict.DIFFERS,
        "Under FIFO the model is 6 % above, which is no merit of the flights: in processor sharing a flow takes its "
        "size over the time left, however it is cut, and the four control packets add what is lacking. Under LAS it "
        "is off by a quarter.",
    ),
    "cuts-law-fast-hosts": Difference(
        Verdict.DIFFERS,
        "0.056 to 0.058, where 0.05 was asked for: sub-flows of a flow are not drawn, most flows have one of 1 "
        "packet, one of 2 and one with the rest. Cut by chance a flow of 6 packets may begin with a large one, which "
        "ends it. With packets spaced by slow hosts the distance is below 0.003. Flights are nearer here (0.045), "
        "far off there (0.75).",
    ),
    "cuts-flows-fast-hosts": Difference(
        Verdict.DIFFERS,
        "By the model LAS is 6 % faster without control packets and 11 % with them, where the simulation has it 2 % "
        "slower. M/G/1 lets the small sub-flows of a flow overtake the large ones of others, and here a third of the "
        "sub-flows has more than 3 packets; where nearly all have one packet (slow hosts) LAS is 25 % slower by the "
        "model too, as the text has it. Which order is better is a matter of the law, not of a CoV close to 1.",
    ),
    "cuts-flows-slow-hosts": Difference(
        Verdict.DIFFERS,
        "LAS is slower by the model, as printed, but no more so without control packets: nearly all sub-flows have "
        "one packet, as control packets have, and these change the ratio of 1.25 by 0.1 %. The simulation has 1.11.",
    ),
    "bracket-fast-hosts": Difference(
        Verdict.DIFFERS,
        "The simulation is below the model without control packets, by 12 % under FIFO and 4 % under LAS. M/G/1 "
        "takes the sub-flows of a flow for independent; they come one after the other and do not meet each other. "
        "Where a single packet came, a SYN, which arrives by chance, waited 0.98 ms, and the FIN behind its own flow "
        "0.26 ms.",
    ),
}
"""Reasons by claim."""
