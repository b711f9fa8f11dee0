/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Options of sch_estmred; what the columns are, table.h says. Kinds are those of
 * tc/q_estmred.c. Column words is RANGE(bits, least, most) for numbers: how many bits are
 * behind the point, and what tc takes, in the unit of the command line. Usage says the
 * part of help too.
 */
#ifndef MAYFLY_OPTIONS_ESTMRED_H
#define MAYFLY_OPTIONS_ESTMRED_H

#include "table.h"

#define MF_ESTMRED_LAST 33

/* 1 times 2^14, 0.999, the longest and the shortest interval. */
#define MF_ESTMRED_SHARE 16384
#define MF_ESTMRED_OLD_MAX 16368
#define MF_ESTMRED_LONGEST_NS (100 * MF_S)
/* An estimator's step takes some 0.2 us: at most a fiftieth of the time. */
#define MF_ESTMRED_SHORTEST_NS (10 * MF_US)
#define MF_ESTMRED_SAMPLING_SAYS "estmred: sampling: 10 us to 100 s, or 0 for a third of rtt"

/* All attributes are u64. */
#define MF_ESTMRED_OPTIONS(FIELD, OWN) \
	/* | `limit 60`, `60p`, `60000b` | most that waits, packets or bytes | `60000b` | */ \
	OWN(TCA_ESTMRED_LIMIT, 3, limit, SIZE, limit, 60000, \
	    MF_BOUND(1, U32_MAX, "estmred: limit: 1 to 1048576 packets or 4294967295 bytes"), NULL, \
	    MAIN("limit PACKETS|SIZE"), \
	    "limit\tmost that waits: 60 or 60p packets, 60000b bytes; 1 to 1048576 packets; " \
	    "default 60000b") \
	OWN(TCA_ESTMRED_LIMIT_BYTES, 2, limit, UNIT, limit_in_bytes, 1, \
	    MF_BOUND(0, 1, "estmred: limit: in packets or in bytes"), NULL, NULL, NULL) \
	/* | `min`, `max` | thresholds of the average queue, both in packets or both in bytes | a quarter and three quarters of the limit, in bytes | */ \
	OWN(TCA_ESTMRED_MIN, 5, min, SIZE, red.min_th, 0, \
	    MF_BOUND(0, U32_MAX, "estmred: min: at most 4294967295"), NULL, \
	    MAIN("min PACKETS|SIZE"), \
	    "min, max\tthresholds of the average, both in packets (15) or both in bytes " \
	    "(15000b); default a quarter and three quarters of the limit, in bytes") \
	OWN(TCA_ESTMRED_MAX_TH, 6, max, SIZE, red.max_th, 0, \
	    MF_BOUND(0, U32_MAX, "estmred: max: at most 4294967295"), NULL, \
	    MAIN("max PACKETS|SIZE"), NULL) \
	FIELD(TCA_ESTMRED_BYTES, 4, min, UNIT, red.in_bytes, 1, \
	      MF_BOUND(0, 1, "estmred: min, max: in packets or in bytes"), NULL, NULL, NULL) \
	/* | `avpkt 1000b` | length of a typical packet | `1000b` | */ \
	OWN(TCA_ESTMRED_AVPKT, 7, avpkt, SIZE, red.mean_packet, 1000, \
	    MF_BOUND(1, MF_RED_MEAN_PACKET_MAX, "estmred: avpkt: 1 to 1000000000 bytes"), NULL, \
	    MAIN("avpkt BYTES"), \
	    "avpkt\tlength of a typical packet; default 1000b") \
	/* | `bandwidth 10mbit` | of the link | measured from 256 gaps between departures | */ \
	FIELD(TCA_ESTMRED_RATE, 17, bandwidth, RATE, sampler.rate_bytes, 0, \
	      MF_BOUND(0, 50000000000ULL, "estmred: bandwidth: at most 400 Gbit/s"), \
	      RANGE(0, 0, 50e9), MAIN("bandwidth RATE"), \
	      "bandwidth\tof the link; default: measured from the first departures") \
	/* | `rtt 100ms`, `delay 50ms` | of the flows without queueing, there and back or one way | `100ms` | */ \
	OWN(TCA_ESTMRED_RTT, 18, rtt, TIME, sampler.settings.propagation, MF_S / 10, \
	    MF_BOUND(100 * MF_US, 60 * MF_S, "estmred: rtt: 0.1 ms to 60 s"), RANGE(0, 1e-4, 60), \
	    MAIN("rtt TIME | delay TIME"), \
	    "rtt, delay\tof the flows without queueing, there and back, or one way; default 100ms") \
	/* | `estimate on`, `off` | the estimator; off: RED alone | `on` | */ \
	FIELD(TCA_ESTMRED_ESTIMATE, 15, estimate, WORD, estimate, 1, \
	      MF_BOUND(0, 1, "estmred: estimate: on or off"), switches, \
	      MAIN("estimate on|off"), \
	      "estimate\toff: RED alone") \
	/* | `method NAME` | one of the [methods](../estimate/methods.md) | `default` | */ \
	FIELD(TCA_ESTMRED_METHOD, 16, method, WORD, sampler.method, TC_ESTMRED_DEFAULT, \
	      MF_BOUND(0, __TC_ESTMRED_METHOD_MAX - 1, "estmred: method: one of seven"), methods, \
	      MAIN("method NAME"), NULL) \
	/* | `above SHARE`, `below SHARE` | estimates above and below which it moves to drop-tail and back | 1: never; 0.1 less than `above` | */ \
	/* | `probability`, `weight`, `gentle`, `spacing`, `ecn`, `mark_max` | of RED: `max_p`, `weight` and the like there | 0.1, 0.002, `on`, `uniform`, `off`, 1 | */ \
	FIELD(TCA_ESTMRED_PROBABILITY, 8, probability, NUMBER, red.max_p, MF_RED_ONE / 10, \
	      MF_BOUND(1, MF_RED_ONE, "estmred: probability: above 0, at most 1"), \
	      RANGE(31, 1e-6, 1), RED("probability P"), NULL) \
	FIELD(TCA_ESTMRED_WEIGHT, 9, weight, NUMBER, red.weight, MF_RED_ONE / 500, \
	      MF_BOUND(1, MF_RED_ONE, "estmred: weight: above 0, at most 1"), \
	      RANGE(31, 1e-6, 1), RED("weight W"), NULL) \
	FIELD(TCA_ESTMRED_GENTLE, 10, gentle, WORD, red.gentle, 1, \
	      MF_BOUND(0, 1, "estmred: gentle: on or off"), switches, RED("gentle on|off"), NULL) \
	FIELD(TCA_ESTMRED_WAIT, 11, spacing, WORD, red.wait, 0, \
	      MF_BOUND(0, 1, "estmred: spacing: uniform or wait"), spacings, \
	      RED("spacing uniform|wait"), NULL) \
	FIELD(TCA_ESTMRED_ECN, 12, ecn, WORD, red.ecn, 0, \
	      MF_BOUND(0, 1, "estmred: ecn: on or off"), switches, RED("ecn on|off"), NULL) \
	FIELD(TCA_ESTMRED_MARK_MAX, 13, mark_max, NUMBER, red.mark_max, MF_RED_ONE, \
	      MF_BOUND(0, MF_RED_ONE, "estmred: mark_max: 0 to 1"), RANGE(31, 0, 1), \
	      RED("mark_max P"), NULL) \
	/* | `sampling`, `per_estimate`, `start`, `ticks` | intervals of the estimator, from 10 us, and its clock | a third of `rtt`, 20, 0, 1000 | */ \
	/* | `queue_filter`, `drop_filter`, `smoothing` | forgetting factors | 0.4, 0.6, 0 | */ \
	/* | `gamma_1`, `gamma_2`, `zero_intervals`, `start_share`, `per_ack`, `queued_rtt` | gains, PZTHD, start, b, R_0 | 5, 0.45, 3, 0.5, 1, by the mean queue | */ \
	OWN(TCA_ESTMRED_QUEUED_RTT, 19, queued_rtt, TIME, sampler.settings.rtt, 0, \
	    MF_BOUND(0, MF_ESTMRED_LONGEST_NS, "estmred: queued_rtt: at most 100 s"), \
	    RANGE(0, 0, 100), ESTIMATOR("queued_rtt TIME"), NULL) \
	OWN(TCA_ESTMRED_SAMPLING, 20, sampling, TIME, sampler.sampling_ns, 0, \
	    MF_BOUND(0, MF_ESTMRED_LONGEST_NS, MF_ESTMRED_SAMPLING_SAYS), RANGE(0, 1e-5, 100), \
	    ESTIMATOR("sampling TIME"), \
	    "sampling\tinterval of the estimator, 10us to 100s; default 0: a third of rtt") \
	FIELD(TCA_ESTMRED_PER_ESTIMATE, 21, per_estimate, COUNT, sampler.settings.per_estimate, 20, \
	      MF_BOUND(1, 1000000, "estmred: per_estimate: 1 to 1000000"), RANGE(0, 1, 1e6), \
	      ESTIMATOR("per_estimate N"), NULL) \
	FIELD(TCA_ESTMRED_START, 22, start, TIME, sampler.start_ns, 0, \
	      MF_BOUND(0, 1000000000 * MF_S, "estmred: start: at most 1000000000 s"), \
	      RANGE(0, 0, 1e9), ESTIMATOR("start TIME"), NULL) \
	FIELD(TCA_ESTMRED_TICKS, 23, ticks, COUNT, sampler.ticks, 1000, \
	      MF_BOUND(1, 1000000, "estmred: ticks: 1 to 1000000 a second"), RANGE(0, 1, 1e6), \
	      ESTIMATOR("ticks N"), NULL) \
	FIELD(TCA_ESTMRED_QUEUE_FILTER, 24, queue_filter, NUMBER, sampler.settings.queue_filter, 6554, \
	      MF_BOUND(0, MF_ESTMRED_OLD_MAX, "estmred: queue_filter: 0 to 0.999"), \
	      RANGE(14, 0, 0.999), ESTIMATOR("queue_filter A"), NULL) \
	FIELD(TCA_ESTMRED_DROP_FILTER, 25, drop_filter, NUMBER, sampler.settings.drop_filter, 9830, \
	      MF_BOUND(0, MF_ESTMRED_OLD_MAX, "estmred: drop_filter: 0 to 0.999"), \
	      RANGE(14, 0, 0.999), ESTIMATOR("drop_filter A"), NULL) \
	FIELD(TCA_ESTMRED_SMOOTHING, 26, smoothing, NUMBER, sampler.settings.smoothing, 0, \
	      MF_BOUND(0, MF_ESTMRED_OLD_MAX, "estmred: smoothing: 0 to 0.999"), \
	      RANGE(14, 0, 0.999), ESTIMATOR("smoothing A"), NULL) \
	FIELD(TCA_ESTMRED_GAMMA_1, 27, gamma_1, NUMBER, sampler.settings.gamma_1, \
	      5 * MF_ESTMRED_SHARE, \
	      MF_BOUND(0, 1000000ULL * MF_ESTMRED_SHARE, "estmred: gamma_1: 0 to 1000000"), \
	      RANGE(14, 0, 1e6), ESTIMATOR("gamma_1 G"), NULL) \
	FIELD(TCA_ESTMRED_GAMMA_2, 28, gamma_2, NUMBER, sampler.settings.gamma_2, 7373, \
	      MF_BOUND(2, 2 * MF_ESTMRED_SHARE - 1, "estmred: gamma_2: 0.0002 to 1.999"), \
	      RANGE(14, 0.0002, 1.999), ESTIMATOR("gamma_2 G"), NULL) \
	FIELD(TCA_ESTMRED_ZERO_INTERVALS, 33, zero_intervals, COUNT, \
	      sampler.settings.zero_intervals, 3, \
	      MF_BOUND(1, 1000000, "estmred: zero_intervals: 1 to 1000000"), RANGE(0, 1, 1e6), \
	      ESTIMATOR("zero_intervals N"), NULL) \
	FIELD(TCA_ESTMRED_START_SHARE, 29, start_share, NUMBER, sampler.settings.start_share, \
	      MF_ESTMRED_SHARE / 2, \
	      MF_BOUND(0, 16220, "estmred: start_share: 0 to 0.99"), RANGE(14, 0, 0.99), \
	      ESTIMATOR("start_share SHARE"), NULL) \
	FIELD(TCA_ESTMRED_PER_ACK, 30, per_ack, NUMBER, sampler.settings.per_ack, \
	      MF_ESTMRED_SHARE, \
	      MF_BOUND(MF_ESTMRED_SHARE, 16 * MF_ESTMRED_SHARE, "estmred: per_ack: 1 to 16"), \
	      RANGE(14, 1, 16), ESTIMATOR("per_ack N"), NULL) \
	FIELD(TCA_ESTMRED_ABOVE, 31, above, NUMBER, sampler.above, MF_ESTMRED_SHARE, \
	      MF_BOUND(0, MF_ESTMRED_SHARE, "estmred: above: 0 to 1"), RANGE(14, 0, 1), \
	      MAIN("above SHARE"), \
	      "above\tshare that does not respond above which it is drop-tail; default 1: never") \
	OWN(TCA_ESTMRED_BELOW, 32, below, NUMBER, sampler.below, 0, \
	    MF_BOUND(0, MF_ESTMRED_SHARE, "estmred: below: 0 to 1"), RANGE(14, 0, 1), \
	    MAIN("below SHARE"), \
	    "below\tshare below which it is RED again; default 0.1 less than above") \
	/* | `split`, `nosplit` | super-packets into packets of the wire | `split` | */ \
	OWN(TCA_ESTMRED_SPLIT, 14, split, FLAG, split, 1, MF_BOUND_SPLIT("estmred"), NULL, \
	    MAIN("RED ] [ ESTIMATOR ] [ split | nosplit"), NULL)

#endif
