/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* Options of sch_run2c; what the columns are, table.h says. */
#ifndef MAYFLY_OPTIONS_RUN2C_H
#define MAYFLY_OPTIONS_RUN2C_H

#include "table.h"

#define MF_RUN2C_LAST 9

#define MF_RUN2C_OPTIONS(FIELD, OWN) \
	/* | `limit 300`, `300p`, `450kb` | most that waits, packets or bytes; 1 to 1048576 packets | `300p` | */ \
	OWN(TCA_RUN2C_LIMIT, 1, limit, LIMIT, limit, 300, MF_BOUND_LIMIT("run2c"), NULL, \
	    "limit PACKETS|SIZE", \
	    "limit\tmost that waits: 300 or 300p packets, 450kb bytes; 1 to 1048576 packets; " \
	    "default 300p") \
	OWN(TCA_RUN2C_LIMIT_BYTES, 2, limit, LIMIT_BYTES, limit, 0, \
	    MF_BOUND_LIMIT_BYTES("run2c"), NULL, NULL, NULL) \
	/* | `count bytes`, `acked` | what a flow has moved is measured in: its bytes, or bytes of both directions with those acknowledged | `bytes` | */ \
	OWN(TCA_RUN2C_COUNT, 3, count, WORD, both, TC_LAS_BYTES, \
	    MF_BOUND(0, __TC_LAS_COUNT_MAX - 1, "run2c: count: bytes or acked"), counts, \
	    "count bytes|acked", \
	    "count\twhat a flow has moved is measured in: bytes, or bytes of both directions " \
	    "with those that acknowledgements tell of; default bytes") \
	/* | `threshold 30000b` | bytes that go first of every flow | 30000 bytes | */ \
	FIELD(TCA_RUN2C_THRESHOLD, 4, threshold, SIZE, threshold, 30000, \
	      MF_BOUND(1, U32_MAX, "run2c: threshold: 1 to 4294967295 bytes"), NULL, \
	      "threshold SIZE", \
	      "threshold\tbytes that go first of every flow; default 30000b") \
	/* | `visit 5s` | time between looks for idle flows, 1 ms to 1000000 s | `5s` | */ \
	FIELD(TCA_RUN2C_VISIT, 5, visit, TIME, visit_ns, 5 * MF_S, \
	      MF_BOUND_TIME("run2c", "visit"), NULL, "visit TIME", \
	      "visit\ttime between looks for idle flows, 1ms to 1000000s; default 5s") \
	/* | `timeout 30s` | idle time after which a flow is forgotten, 1 ms to 1000000 s | `30s` | */ \
	FIELD(TCA_RUN2C_TIMEOUT, 6, timeout, TIME, timeout_ns, 30 * MF_S, \
	      MF_BOUND_TIME("run2c", "timeout"), NULL, "timeout TIME", \
	      "timeout\tidle time after which a flow is forgotten, 1ms to 1000000s; default 30s") \
	/* | `flows N` | flows counted at a time, up to 1048576, never fewer than one more than packets fit | 16384 | */ \
	FIELD(TCA_RUN2C_FLOWS, 7, flows, FLOWS, flows, 16384, MF_BOUND_FLOWS("run2c"), NULL, \
	      "flows NUMBER", \
	      "flows\tflows known at a time, up to 1048576, at least as many as packets; " \
	      "default 16384") \
	/* | `split`, `nosplit` | super-packets into packets of the wire | `split` | */ \
	OWN(TCA_RUN2C_SPLIT, 8, split, FLAG, split, 1, MF_BOUND_SPLIT("run2c"), NULL, \
	    "split | nosplit", \
	    "split\tsuper-packets (GSO) into packets of the wire; default split")

#endif
