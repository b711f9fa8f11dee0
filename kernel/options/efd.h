/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* Options of sch_efd; what the columns are, table.h says. */
#ifndef MAYFLY_OPTIONS_EFD_H
#define MAYFLY_OPTIONS_EFD_H

#include "table.h"

#define MF_EFD_LAST 8

/* With count packets; else in bytes of full packets. */
#define MF_EFD_THRESHOLD_PKTS 20
#define MF_EFD_THRESHOLD_BYTES (MF_EFD_THRESHOLD_PKTS * 1500)

#define MF_EFD_OPTIONS(FIELD, OWN) \
	/* | `limit 300`, `300p`, `450kb` | most that waits, packets or bytes; 1 to 1048576 packets | `300p` | */ \
	OWN(TCA_EFD_LIMIT, 1, limit, LIMIT, limit, 300, MF_BOUND_LIMIT("efd"), NULL, \
	    "limit PACKETS|SIZE", \
	    "limit\tmost that waits: 300 or 300p packets, 450kb bytes; 1 to 1048576 packets; " \
	    "default 300p") \
	OWN(TCA_EFD_LIMIT_BYTES, 2, limit, LIMIT_BYTES, limit, 0, MF_BOUND_LIMIT_BYTES("efd"), \
	    NULL, NULL, NULL) \
	/* | `threshold 30000b`, `20p` | what goes first of every sub-flow of a flow | 30000 bytes, or 20 packets with `count packets` | */ \
	/* | `count bytes`, `packets`, `acked` | what a sub-flow is measured in; a threshold with `p` says `packets` | `bytes` | */ \
	OWN(TCA_EFD_COUNT, 3, count, WORD, measure, TC_EFD_BYTES, \
	    MF_BOUND(0, __TC_EFD_COUNT_MAX - 1, "efd: count: bytes, packets or acked"), counts, \
	    "threshold PACKETS|SIZE ] [ count bytes|packets|acked", \
	    "threshold\twhat goes first of every fragment of a flow: packets with count " \
	    "packets, else bytes; default 20p, 30000b\n" \
	    "count\twhat a fragment is measured in: bytes, packets, or bytes of both " \
	    "directions with those that acknowledgements tell of; default bytes") \
	FIELD(TCA_EFD_THRESHOLD, 4, threshold, SIZE, threshold, MF_EFD_THRESHOLD_BYTES, \
	      MF_BOUND(1, U32_MAX, "efd: threshold: 1 to 4294967295"), NULL, NULL, NULL) \
	/* | `high fifo`, `las`, `low fifo`, `las` | order of a class: of arrival, or by what the flow had moved | `fifo` | */ \
	FIELD(TCA_EFD_HIGH, 5, high, WORD, high_sorted, TC_EFD_FIFO, \
	      MF_BOUND(0, __TC_EFD_ORDER_MAX - 1, "efd: high: fifo or las"), orders, \
	      "high fifo|las", \
	      "high, low\torder of a class: of arrival, or by what the flow had moved; " \
	      "default fifo") \
	FIELD(TCA_EFD_LOW, 6, low, WORD, low_sorted, TC_EFD_FIFO, \
	      MF_BOUND(0, __TC_EFD_ORDER_MAX - 1, "efd: low: fifo or las"), orders, \
	      "low fifo|las", NULL) \
	/* | `flows N` | most sub-flows at a time, up to 1048576; a packet that would begin one more goes low; 0: as many as packets | 0 | */ \
	FIELD(TCA_EFD_FLOWS, 7, flows, FLOWS, flows, 0, MF_BOUND_FLOWS("efd"), NULL, \
	      "flows NUMBER", \
	      "flows\tmost sub-flows at a time, up to 1048576, 0 for as many as packets; " \
	      "default 0") \
	/* | `split`, `nosplit` | super-packets into packets of the wire | `split` | */ \
	OWN(TCA_EFD_SPLIT, 8, split, FLAG, split, 1, MF_BOUND_SPLIT("efd"), NULL, \
	    "split | nosplit", \
	    "split\tsuper-packets (GSO) into packets of the wire; default split")

#endif
