/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* Netlink attributes and extended statistics of Mayfly's queue disciplines. */
#ifndef MAYFLY_PKT_SCH_H
#define MAYFLY_PKT_SCH_H

#include <linux/types.h>

#include "../options/efd.h"
#include "../options/estmred.h"
#include "../options/las.h"
#include "../options/lfq.h"
#include "../options/run2c.h"

/* EFD: early flow discard */

enum {
	TCA_EFD_UNSPEC,
	MF_EFD_OPTIONS(MF_ATTRIBUTE, MF_ATTRIBUTE)
	__TCA_EFD_MAX = MF_EFD_LAST + 1
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

/* ESTMRED: RED with an estimator of the traffic that does not respond to drops */

/* All attributes are u64. */
enum {
	TCA_ESTMRED_UNSPEC,
	TCA_ESTMRED_PAD,
	MF_ESTMRED_OPTIONS(MF_ATTRIBUTE, MF_ATTRIBUTE)
	__TCA_ESTMRED_MAX = MF_ESTMRED_LAST + 1
};

#define TCA_ESTMRED_MAX (__TCA_ESTMRED_MAX - 1)

enum tc_estmred_method {
	TC_ESTMRED_DEFAULT,
	TC_ESTMRED_RESPONSE,
	TC_ESTMRED_BASIC,
	TC_ESTMRED_P0,
	TC_ESTMRED_LOSS,
	TC_ESTMRED_MULTIHOP,
	TC_ESTMRED_CBR,
	__TC_ESTMRED_METHOD_MAX
};

/* Why an estimate should not be relied on. */
enum tc_estmred_doubt {
	TC_ESTMRED_SURE,
	TC_ESTMRED_NO_ARRIVALS,
	TC_ESTMRED_NEVER_DROPPED,
	TC_ESTMRED_NO_DROPS,
	TC_ESTMRED_START,
	TC_ESTMRED_UNCERTAIN,
	TC_ESTMRED_COLLINEAR,
	TC_ESTMRED_BOUNDED,
	TC_ESTMRED_COARSE,
	TC_ESTMRED_FAULTY,
	__TC_ESTMRED_DOUBT_MAX
};

struct tc_estmred_xstats {
	__u64 marked;		/* packets */
	__u64 early;		/* dropped before the buffer was full */
	__u64 pdrop;		/* dropped because it was */
	__u64 other;		/* dropped by a change of the limit */
	__u64 average;		/* queue, packets or bytes, times 2^20 */
	__u64 estimates;	/* told so far */
	__u64 flows;		/* responsive ones, times 2^14 */
	__u32 estm;		/* share that does not respond, times 2^14 */
	__u8 doubt;		/* enum tc_estmred_doubt */
	__u8 tail;		/* early drops have ended */
	__u16 reserved;
};

/* LAS: least attained service; LASACK with TC_LAS_ACKED, LARS with a half-life */

enum {
	TCA_LAS_UNSPEC,
	MF_LAS_OPTIONS(MF_ATTRIBUTE, MF_ATTRIBUTE)
	TCA_LAS_PAD = 9,
	__TCA_LAS_MAX = MF_LAS_LAST + 1
};

#define TCA_LAS_MAX (__TCA_LAS_MAX - 1)

/* What a flow has moved is measured in. */
enum tc_las_count {
	TC_LAS_BYTES,
	TC_LAS_ACKED,		/* bytes of both directions, those acknowledged */
	__TC_LAS_COUNT_MAX
};

struct tc_las_xstats {
	__u64 pushed_out;	/* packets that had to make room */
	__u64 evicted;		/* flows forgotten early: the table was full */
	__u32 flows;		/* known now */
	__u32 flows_max;	/* at any time */
};

/* Run2C: two classes split at a number of bytes; Run2CACK with TC_LAS_ACKED */

enum {
	TCA_RUN2C_UNSPEC,
	MF_RUN2C_OPTIONS(MF_ATTRIBUTE, MF_ATTRIBUTE)
	TCA_RUN2C_PAD = 9,
	__TCA_RUN2C_MAX = MF_RUN2C_LAST + 1
};

#define TCA_RUN2C_MAX (__TCA_RUN2C_MAX - 1)

struct tc_run2c_xstats {
	__u64 pushed_out;	/* packets that had to make room */
	__u64 evicted;		/* flows forgotten early: the table was full */
	__u32 flows;		/* known now */
	__u32 flows_max;	/* at any time */
	__u32 high_pkts;	/* waiting */
	__u32 low_pkts;
};

/* LFQ: lagged fair queueing */

enum {
	TCA_LFQ_UNSPEC,
	TCA_LFQ_PAD,
	MF_LFQ_OPTIONS(MF_ATTRIBUTE, MF_ATTRIBUTE)
	__TCA_LFQ_MAX = MF_LFQ_LAST + 1
};

#define TCA_LFQ_MAX (__TCA_LFQ_MAX - 1)

/* What a user is. */
enum tc_lfq_user {
	TC_LFQ_PAIR,
	TC_LFQ_TRIPLE,
	TC_LFQ_DST,
	TC_LFQ_SRC,
	TC_LFQ_FLOW,
	TC_LFQ_MARK,
	TC_LFQ_CLASS,
	__TC_LFQ_USER_MAX
};

/* What a user weighs. */
enum tc_lfq_weights {
	TC_LFQ_EQUAL,
	TC_LFQ_BY_MARK,
	TC_LFQ_BY_DSCP,
	__TC_LFQ_WEIGHTS_MAX
};

/* What the link makes of a packet. */
enum tc_lfq_framing {
	TC_LFQ_NOATM,
	TC_LFQ_ATM,
	TC_LFQ_PTM,
	__TC_LFQ_FRAMING_MAX
};

/* Statistics: attributes in TCA_STATS_APP. */
enum {
	TCA_LFQ_STATS_UNSPEC,
	TCA_LFQ_STATS_TOTAL,	/* struct tc_lfq_xstats */
	TCA_LFQ_STATS_WAITS,	/* u64 for each counter: packets that waited so long */
	TCA_LFQ_STATS_USER,	/* struct tc_lfq_user_stats; several */
	__TCA_LFQ_STATS_MAX
};

#define TCA_LFQ_STATS_MAX (__TCA_LFQ_STATS_MAX - 1)

/* Counters of waits: the first is of those below 2^14 ns. Counter 1 + 2 k + h begins
 * at (2 + h) << (k + 13) ns; the last one does not end.
 */
#define TC_LFQ_WAITS 42

/* Users that are told of, those with most bytes lately first. */
#define TC_LFQ_TOP 16

/* One user, since it has a slot. */
struct tc_lfq_user_stats {
	__u8 from[16];		/* address of a sender; of IPv4 the first four */
	__u8 to[16];		/* of the receiver */
	__u64 bytes;		/* that were sent */
	__u64 packets;		/* of these */
	__u64 drops;		/* packets */
	__u64 marks;		/* packets */
	__s64 credit;		/* bytes behind the clock; below 0: ahead of it */
	__u32 backlog;		/* bytes */
	__u32 flows;		/* that wait now */
	__u32 wait_p50_us;	/* of the packets that were sent lately */
	__u32 wait_p95_us;
	__u32 mark;		/* of the packet that was looked at, or its class */
	__u16 source;		/* port of the sender */
	__u16 destination;	/* of the receiver */
	__u8 family;		/* AF_INET, AF_INET6 or 0 */
	__u8 protocol;		/* behind IP */
	__u8 what;		/* enum tc_lfq_user_what */
	__u8 by;		/* enum tc_lfq_user */
	__u8 pad[4];
};

enum tc_lfq_user_what {
	TC_LFQ_ONE_USER,
	TC_LFQ_SHARED,		/* several share a slot */
	TC_LFQ_NEWCOMERS	/* all that have no standing yet */
};

struct tc_lfq_xstats {
	__u64 pushed_out;	/* packets that had to make room */
	__u64 early;		/* packets dropped by CoDel */
	__u64 marked;		/* packets */
	__u64 admitted;		/* users that got standing */
	__u64 sharing;		/* of these without a slot of their own */
	__u64 bypassed;		/* flows that began without a slot */
	__u64 ahead;		/* packets that went ahead of all users */
	__u64 fed;		/* packets of flows that had starved */
	__u32 users;		/* with packets now */
	__u32 flows;		/* that wait now */
	__u32 newcomers;	/* packets of new users that wait now */
	__u32 charge;		/* of a byte, in sixteenths */
	__u32 table_users;	/* slots of users */
	__u32 table_used;	/* of these in use */
	__u32 memory;		/* bytes of packets that wait */
	__u32 wait_p50_us;	/* of all packets that were sent */
	__u32 wait_p95_us;
	__u32 pad;
};

#endif
