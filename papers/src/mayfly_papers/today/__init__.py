"""Beyond the papers: is Early Flow Discard still worth deploying in 2026?."""

ID = "today"
TITLE = "Beyond the papers: is Early Flow Discard still worth deploying in 2026?"
ORDER = 140
"""Place in lists of pages."""

KIND = "own"

INTRODUCTION = """\
The experiments behind Chen 2012, Table 4.2, Figures 4.9, 4.11, 4.12, 6.2, 6.6, 6.7 and ch. 9, run again with what
hosts send today (CUBIC, an initial window of 10, SACK, BBR, ECN) beside what queues are today. No paper has printed
values for that: the claims are statements of the thesis put as directions, and those about rivals are ours. Written
by `python -m mayfly_papers today`; `tests/papers/test_today.py` checks the same claims; `mayfly reproduce today` runs
them again and draws the figures.

## The answer

**As the only thing at a congested link, no: take FQ-CoDel or CAKE, which a Linux box has already. As the way to let
short flows go first, EFD is still the quickest that needs no memory of flows, and with a threshold of 80 packets it
beats FQ-CoDel for short and intermediate flows and for the median web page, as long as the link is not overloaded for
good. But it isolates nobody, and it does not shorten the queue.** A form of size-based scheduling that does both is
[below](#size-based-scheduling-in-2026).

*Worth it*

- **Short flows.** On 10 Mb/s with 8 Mb/s offered a transfer up to 20 packets takes 40 ms in the mean with CUBIC,
  under FQ-CoDel 79, CAKE 74, PIE 190, FIFO 556. LAS, which remembers every flow, has 35. With BBR and with ECN it is
  the same ([short-fq-codel](#short-fq-codel)). Behind bulk transfers it is 77 ms against 102, whatever the
  buffer ([bulk-short](#bulk-short)). A fair queue shares the link with what is there; EFD goes past it.
- **Small state.** 5 entries on average, LAS has 536, and at most 6 kB in the simulator's code (35 in overload), where
  FQ-CoDel holds 112 kB of queues ([flow-table](#flow-table)). FQ-CoDel needs a hash of 1024 queues, a time stamp on
  every packet, a clock on dequeue, and a target that fits the rate of the link; EFD needs two queues, a table no
  longer than the buffer, and one number. In Linux a packet costs [the same under
  both](../kernel/index.md#cost-of-a-packet), so this matters to hardware and not to a Linux box.
- **Connections that stay open** are short flows for every answer, 54 ms as over new ones
  ([kept-connections](#kept-connections)).
- **An access point with one queue.** Uploads against downloads are where the rivals fail: 5 uploads get 668 times
  what 5 downloads get under FIFO, 1456 times under FQ-CoDel, 139 under CAKE, 411 under PIE; 9.0 under PEFD, 6.2 under
  EFDACK, 1.03 under LASACK (30 packets; [cell-fairer-than-rivals](#cell-fairer-than-rivals)). Short downloads at 20
  Mb/s take 0.48 s under EFDACK, 0.74 under FQ-CoDel. It is no longer *good* fairness: with 300 packets it is a factor
  of 4.5, since hosts' windows have grown ([cell-fair](#cell-fair)). Plain EFD, which counts bytes, is worse than FIFO,
  871.
- **BBR** suits EFD: it leaves 59 packets in the queue in place of 113, loses 0.3 % in place of 1.0 %, and long flows
  pay 6 % in underload. PIE and DualPI2 do worse with BBR than with CUBIC, as it does not heed their drops.

*Not worth it*

- **Isolation between users.** None. UDP of 5 Mb/s beside three long transfers gets 4.84 under EFD, 4.88 under FIFO,
  2.20 under FQ-CoDel ([isolation-stream](#isolation-stream)). A transfer split over 16 connections is done 2.6 times
  sooner, under FQ-CoDel 3.2, under CAKE, which shares among hosts, 1.1 ([isolation-split](#isolation-split)).
  [Gaming](../how-to/gaming.md) has more of that.
- **The shared queue stays bloated.** Long flows see the whole buffer: 0.13 s with 100 packets, 1.2 s with 1000, under
  FQ-CoDel 0.04 s with either ([bulk-round-trips](#bulk-round-trips)). What shares a connection with a long transfer
  waits with it.
- **Just beyond the threshold** there is a cliff: transfers of 21 to 300 packets take 0.61 s with CUBIC at 8 Mb/s,
  under FQ-CoDel 0.37; with a threshold of 80 packets 0.27 ([middling-fq-codel](#middling-fq-codel),
  [threshold-80](#threshold-80)).
- **HTTP/2**, one connection per page: with a threshold of 20 packets a page takes 1.37 s, FQ-CoDel 1.16, FIFO 2.62,
  LAS 0.47 ([pages-fq-codel](#pages-fq-codel)). With 80 packets it is 0.90.
- **Calls.** 64 and 500 kb/s lose little (0.3 and 1.2 % beside 8 Mb/s), but 1 % of the packets of a call wait for over
  45 ms, under FQ-CoDel 2 ms, and where the link is full a video call of 2.5 Mb/s loses 39 %, as it does under fair
  queues ([stream-fq-codel](#stream-fq-codel), [stream-conference](#stream-conference)). Streams are sent at a
  constant rate here; real calls back off.
- **Long flows** take 9 % longer than under FIFO at 8 Mb/s with CUBIC and 6 % with BBR, 17 and 33 % in overload
  ([long-fifo](#long-fifo)). On a path of 44 ms at 50 Mb/s nothing of that is left ([fast-long](#fast-long)).
- **Lasting overload.** At 10.4 Mb/s for 1000 s the high queue overflows too, and EFD is no surer than FQ-CoDel.
- **ECN** is no use to EFD, which never marks. FQ-CoDel and CAKE with it lose next to nothing.
- **An access point with a queue per station**, as mac80211 has: FIFO in each is fair already, and EFD has nothing
  left to put in order ([cell-n-queue-per-station](#cell-n-queue-per-station)).

*If you deploy it*: PEFD or EFDACK at an access point with one queue; on a wire, below a shaper, `threshold` of 80
packets in place of 20 (120 kB): transfers up to 20 packets do well with 20 and a first window of 10
([initial-window](#initial-window)), longer ones and pages do not ([threshold](#threshold),
[threshold-80](#threshold-80)), and a small buffer, since nothing else bounds what long flows see. Trust the users who
share it.

## Size-based scheduling in 2026

What is right in size-based scheduling is the order: who was sent least goes first. What is wrong with a threshold on
the size of a flow is what it counts. A flow is free to begin, so new ports and split transfers stay below any
threshold; just beyond it there is a cliff; where the link is overloaded, or many are below it, the high queue is a FIFO
again; and nobody is a user.

[LFQ](../disciplines/lfq.md) keeps the order and bounds its memory. A user, and in it a flow, that was sent less than
its share is ahead by what it did not use, up to a lag of 360 and 120 kB; then it shares. There is no class to fall
from, and credit comes from having had less, not from being new.

**Whether it is worth deploying is open.** This page said yes until 2026-11-28, with figures of the arena. They were
measured with a table of 144 users and with at most 100 honest pairs of hosts, and are [withdrawn](../arena.md). With
the default of today, 1024 users, [measured since](../disciplines/lfq.md): up to some 200 busy pairs of hosts on 50
Mbit/s its short transfers take half of what they take under CAKE and FQ-CoDel, or less, and calls lose 0.2 % at most;
in the presets `office`, `home` and `school` its transfers of 21 to 300 packets are the quickest, or even with
FQ-CoDel's. Where most pairs of hosts are new, and offer more than the share of one user, it is the slowest of the
three: they have that share together. Beyond 200 busy pairs CAKE is better for calls. And a host with 16 peers has 3.4
fair shares unless users are told by one side. It is a [Linux module](../kernel/index.md); no one has run it on a link
that carries people. Until somebody has, the answer for a Linux box is FQ-CoDel or CAKE.

Means of [the arena](../arena.md) for the others, with hosts of today and one default for all rows, 3 seeds.
`tests/papers/test_today_arena.py` holds the figures to that page.

| row | fifo | fq_codel | cake | efd |
|---|---:|---:|---:|---:|
| 8 of 10 Mbit/s: transfers of up to 20 packets | 454 ms | 73.6 ms | 68.4 ms | 40.1 ms |
| 8 of 10 Mbit/s: transfers of 21 to 300 packets | 738 ms | 354 ms | 325 ms | 532 ms |
| 8 of 10 Mbit/s: transfers of above 300 packets | 4.69 s | 4.78 s | 4.74 s | 5.23 s |
| 8 of 10 Mbit/s: longest stall of a long transfer | 471 ms | 333 ms | 100.0 ms | 900 ms |
| overload 1.04: transfers of up to 20 packets | 1.28 s | 255 ms | 211 ms | 51.6 ms |
| overload 1.04: transfers of 21 to 300 packets | 1.99 s | 1.42 s | 1.20 s | 1.53 s |
| 100 ms: transfers of above 300 packets | 5.34 s | 7.00 s | 7.83 s | 5.47 s |
| behind bulk, 1000 packets: short transfers | 4.04 s | 116 ms | 124 ms | 95.0 ms |
| behind bulk, 1000 packets: RTT of the bulk | 1.02 s | 37.3 ms | 36.0 ms | 1.18 s |
| pages over HTTP/1.1, median | 2.93 s | 852 ms | 926 ms | 893 ms |
| pages over HTTP/1.1, 95 % | 9.91 s | 4.58 s | 5.12 s | 5.57 s |
| pages over HTTP/2, median | 2.73 s | 1.32 s | 1.27 s | 1.49 s |
| stream of 500 kbit/s: loss | 5.5 % | 0.0 % | 0.1 % | 1.0 % |
| spaced sender, new ports: attacker's fair shares | 2.20 | 2.20 | 1.08 | 2.22 |
| spaced sender, new addresses: attacker's fair shares | 2.20 | 2.20 | 2.21 | 2.22 |
| spaced sender, addresses kept for 0.2 s: attacker's fair shares | 2.20 | 1.95 | 1.99 | 2.21 |
| transfer split in 16: attacker's fair shares | 1.76 | 3.18 | 1.13 | 2.45 |
| short ones in overload: fair share left to long ones | 0.0524 | 0.0248 | 0.286 | 0.0372 |
| cell, 30 packets: lesser direction over the greater | 0.3 % | 0.1 % | 0.9 % | 0.2 % |
| cell, 30 packets: goodput of both | 25.0 Mbit/s | 25.1 Mbit/s | 25.1 Mbit/s | 25.1 Mbit/s |
| memory for flows at 8 of 10 Mbit/s | 0 kB | 112 kB | 125 kB | 6.42 kB |

## In the Linux kernel

The simulator's short flows are the kernel's: in [one run of the wired scenario](../kernel/engine.md#table-42-on-both)
with Linux' own TCP the short class of Table 4.2 takes 617 ms under `fifo`, 147 under `efd` and 153 under `fq_codel`
(simulator 609, 144 and 151), the long class 3.00, 3.37 and 2.99 s (3.55, 3.43 and 3.00). That class reaches far
beyond 20 packets, where EFD and FQ-CoDel are even. [Behind a bulk
transfer](../kernel/index.md#short-transfers-behind-a-bulk-transfer) 40 kB take 74.5 ms under `efd`, 96.5 under
`fq_codel`, 514 under `pfifo`.

## What falls short

DualPI2 and ECN are shown with classic flows only; BBR is version 1; streams do not adapt; rates
are 10 and 50 Mb/s. Memory is that of the simulator's code. Over 802.11n with one queue LASACK is fair but carries 42
Mb/s in place of 95: it sends to the receivers in turn, an aggregate is for one receiver, and so aggregates stay short.
CAKE with a queue per station lets uploads get 22 times what downloads get
because of its target of 5 ms: a station's turn comes later than that, and COBALT drops data as if it stood in a queue.
What words mean is fixed at the head of each module; that of *negligible*, *fair* and *without loss* is that
of the other pages. The rivals have their defaults, also in the cell, where mac80211 takes a target of 20 ms. Run
times are those of a machine shared with others."""
