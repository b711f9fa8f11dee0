/* SPDX-License-Identifier: GPL-2.0 */
/* What user space and the BPF qdisc bpf_lfq share: bounds and the layout of its maps. */
#ifndef MAYFLY_BPF_LFQ_H
#define MAYFLY_BPF_LFQ_H

#define LFQ_DEVICES 256
#define LFQ_QUEUES 1024
#define LFQ_USERS 4096
#define LFQ_NEWCOMERS 16384
#define LFQ_FLOWS 65536
#define LFQ_LIMIT_PKTS_MAX 1048576
#define LFQ_BYTES_MAX (1ULL << 40)
#define LFQ_TIME_MAX 1000000000000000ULL /* 1,000,000 s */

enum lfq_by { LFQ_PAIR, LFQ_DST, LFQ_SRC };

/**
 * struct lfq_settings - options of the qdiscs of a device; a value out of its
 * bounds counts as the nearest one within. Where there are none, those of sch_lfq.
 * @rate: bytes per second, 1000 to 125000000000; 0 for as many as the device takes
 * @user_lag: bytes by which a user may be behind
 * @flow_lag: bytes by which a flow in it may be
 * @debt: bytes by which a user may be ahead and its sparse flows still go first
 * @probation_ns: until a new user has standing, if it comes again
 * @target_ns: of CoDel
 * @interval_ns: of CoDel
 * @limit_pkts: of the buffer, 1 to LFQ_LIMIT_PKTS_MAX
 * @overhead: bytes that each packet has on the link beside its IP packet
 * @mpu: least length there
 * @framing: 0, 1 for ATM, 2 for PTM
 * @adjusted: lengths are those of the IP packet with @overhead
 * @by: enum lfq_by
 * @unused: 0
 */
struct lfq_settings {
	__u64 rate;
	__u64 user_lag;
	__u64 flow_lag;
	__u64 debt;
	__u64 probation_ns;
	__u64 target_ns;
	__u64 interval_ns;
	__u32 limit_pkts;
	__s32 overhead;
	__u32 mpu;
	__u8 framing;
	__u8 adjusted;
	__u8 by;
	__u8 unused;
};

/**
 * struct lfq_counters - where a qdisc is and what it did
 * @ifindex: its device
 * @handle: its handle
 * @parent: its parent, all ones for none
 * @users: users that are known
 * @admitted: users that got standing
 * @sharing: of these that found the table full and are newcomers for ever
 * @ahead: packets that went ahead of all users
 * @early: packets dropped by CoDel
 * @pushed_out: packets that waited and had to make room
 * @full: arriving packets dropped
 */
struct lfq_counters {
	__u32 ifindex;
	__u32 handle;
	__u32 parent;
	__u32 users;
	__u64 admitted;
	__u64 sharing;
	__u64 ahead;
	__u64 early;
	__u64 pushed_out;
	__u64 full;
};

#endif
