/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* Netlink attributes and extended statistics of Mayfly's queue disciplines. */
#ifndef MAYFLY_PKT_SCH_H
#define MAYFLY_PKT_SCH_H

#include <linux/types.h>

/* EFD: early flow discard */

enum {
	TCA_EFD_UNSPEC,
	TCA_EFD_LIMIT,		/* u32, packets */
	TCA_EFD_LIMIT_BYTES,	/* u32, bytes; in place of TCA_EFD_LIMIT */
	TCA_EFD_COUNT,		/* u8, enum tc_efd_count */
	TCA_EFD_THRESHOLD,	/* u32, packets with TC_EFD_PACKETS, else bytes */
	TCA_EFD_HIGH,		/* u8, enum tc_efd_order */
	TCA_EFD_LOW,		/* u8, enum tc_efd_order */
	TCA_EFD_FLOWS,		/* u32, 0 for as many as packets */
	TCA_EFD_SPLIT,		/* u8, 0 or 1 */
	__TCA_EFD_MAX
};

#define TCA_EFD_MAX (__TCA_EFD_MAX - 1)

/* What a fragment of a flow is measured in. */
enum tc_efd_count {
	TC_EFD_BYTES,
	TC_EFD_PACKETS,
	TC_EFD_ACKED,		/* bytes of both directions, those acknowledged */
	__TC_EFD_COUNT_MAX
};

/* Order of a class. */
enum tc_efd_order {
	TC_EFD_FIFO,
	TC_EFD_LAS,		/* by what the flow had moved */
	__TC_EFD_ORDER_MAX
};

struct tc_efd_xstats {
	__u64 fragments;	/* begun */
	__u64 pushed_out;	/* packets that had to make room */
	__u64 bypassed;		/* packets that found the flow table full */
	__u32 flows;		/* fragments now */
	__u32 flows_max;	/* at any time */
	__u32 high_pkts;	/* waiting */
	__u32 low_pkts;
};

#endif
