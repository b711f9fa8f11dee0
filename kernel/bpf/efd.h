/* SPDX-License-Identifier: GPL-2.0 */
/* What user space and the BPF qdisc share: bounds and the layout of its maps. */
#ifndef MAYFLY_BPF_EFD_H
#define MAYFLY_BPF_EFD_H

#define EFD_DEVICES 256
#define EFD_QUEUES 1024
#define EFD_FLOWS 65536
#define EFD_LIMIT_PKTS 1000
#define EFD_LIMIT_PKTS_MAX 1048576 /* as the bound of sch_efd */
#define EFD_RATE_BPS_MIN 8000 /* a packet of 1500 bytes takes 1.5 s at most */
#define EFD_THRESHOLD_BYTES 30000 /* 20 packets of 1500 bytes */

/**
 * struct efd_settings - options of the qdiscs of a device; a value out of its
 * bounds counts as the nearest one within
 * @threshold_bytes: what goes first of every fragment, above 0
 * @rate_bps: bits per second handed out, EFD_RATE_BPS_MIN at least, 0 for as many
 *	as the device takes
 * @limit_pkts: of the buffer, 1 to EFD_LIMIT_PKTS_MAX
 * @unused: 0
 */
struct efd_settings {
	__u64 threshold_bytes;
	__u64 rate_bps;
	__u32 limit_pkts;
	__u32 unused;
};

/**
 * struct efd_counters - where a qdisc is and what it did
 * @ifindex: its device
 * @handle: its handle
 * @parent: its parent, all ones for none
 * @high_pkts: packets waiting in the high class
 * @low_pkts: packets waiting in the low class
 * @flows: fragments now
 * @flows_max: most fragments at a time
 * @unused: 0
 * @fragments: fragments begun
 * @pushed_out: packets that waited and went for one of higher priority
 * @full: arriving packets dropped
 * @bypassed: packets that found the flow table full
 */
struct efd_counters {
	__u32 ifindex;
	__u32 handle;
	__u32 parent;
	__u32 high_pkts;
	__u32 low_pkts;
	__u32 flows;
	__u32 flows_max;
	__u32 unused;
	__u64 fragments;
	__u64 pushed_out;
	__u64 full;
	__u64 bypassed;
};

#endif
