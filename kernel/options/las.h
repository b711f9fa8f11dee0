/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* Options of sch_las; what the columns are, table.h says. */
#ifndef MAYFLY_OPTIONS_LAS_H
#define MAYFLY_OPTIONS_LAS_H

#include "table.h"

#define MF_LAS_LAST 9

#define MF_LAS_OPTIONS(FIELD, OWN) \
	/* | `limit 300`, `300p`, `450kb` | most that waits, packets or bytes; 1 to 1048576 packets | `300p` | */ \
	OWN(TCA_LAS_LIMIT, 1, limit, LIMIT, limit, 300, MF_BOUND_LIMIT("las"), NULL, \
	    "limit PACKETS|SIZE", \
	    "limit\tmost that waits: 300 or 300p packets, 450kb bytes; 1 to 1048576 packets; " \
	    "default 300p") \
	OWN(TCA_LAS_LIMIT_BYTES, 2, limit, LIMIT_BYTES, limit, 0, MF_BOUND_LIMIT_BYTES("las"), \
	    NULL, NULL, NULL) \
	/* | `count bytes`, `acked` | what a flow has moved is measured in: its bytes, or bytes of both directions with those acknowledged | `bytes` | */ \
	OWN(TCA_LAS_COUNT, 3, count, WORD, measure, TC_LAS_BYTES, \
	    MF_BOUND(0, __TC_LAS_COUNT_MAX - 1, "las: count: bytes or acked"), counts, \
	    "count bytes|acked", \
	    "count\twhat a flow has moved is measured in: bytes, or bytes of both directions " \
	    "with those that acknowledgements tell of; default bytes") \
	/* | `half_life 1s`, `never` | time in which what was moved halves, 1 ms to 1000000 s | `never` | */ \
	FIELD(TCA_LAS_HALF_LIFE, 4, half_life, TIME_OR_NEVER, half_life_ns, 0, MF_UNBOUND, NULL, \
	      "half_life TIME|never", \
	      "half_life\ttime in which what was moved halves, 1ms to 1000000s; default never") \
	/* | `visit 5s` | time between looks for idle flows, 1 ms to 1000000 s | `5s` | */ \
	FIELD(TCA_LAS_VISIT, 5, visit, TIME, visit_ns, 5 * MF_S, MF_BOUND_TIME("las", "visit"), \
	      NULL, "visit TIME", \
	      "visit\ttime between looks for idle flows, 1ms to 1000000s; default 5s") \
	/* | `timeout 30s` | idle time after which a flow is forgotten, 1 ms to 1000000 s | `30s` | */ \
	FIELD(TCA_LAS_TIMEOUT, 6, timeout, TIME, timeout_ns, 30 * MF_S, \
	      MF_BOUND_TIME("las", "timeout"), NULL, "timeout TIME", \
	      "timeout\tidle time after which a flow is forgotten, 1ms to 1000000s; default 30s") \
	/* | `flows N` | flows known at a time, up to 1048576, never fewer than one more than packets fit | 16384 | */ \
	FIELD(TCA_LAS_FLOWS, 7, flows, FLOWS, flows, 16384, MF_BOUND_FLOWS("las"), NULL, \
	      "flows NUMBER", \
	      "flows\tflows known at a time, up to 1048576, at least as many as packets; " \
	      "default 16384") \
	/* | `split`, `nosplit` | super-packets into packets of the wire | `split` | */ \
	OWN(TCA_LAS_SPLIT, 8, split, FLAG, split, 1, MF_BOUND_SPLIT("las"), NULL, \
	    "split | nosplit", \
	    "split\tsuper-packets (GSO) into packets of the wire; default split")

#endif
