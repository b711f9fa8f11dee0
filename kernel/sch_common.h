/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What Mayfly's queue disciplines share between the kernel and their cores:
 * flow keys, progress, super-packets, victims, counters.
 */
#ifndef MAYFLY_SCH_COMMON_H
#define MAYFLY_SCH_COMMON_H

#include <linux/in6.h>
#include <linux/ktime.h>
#include <linux/siphash.h>
#include <linux/skbuff.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "core/connections.h"
#include "core/queue.h"
#include "options/table.h"

/**
 * struct mf_sch - part of the private data of every queue discipline
 * @sch: the queue discipline
 * @key: of the flow hash, random
 * @connections: progress of TCP connections, where the core asks for it
 * @packet: the packet that comes, or leaves: on the stack it would be cleared first
 * @to_free: list for packets dropped during the present enqueue, else NULL
 * @pushed_out: packets that had to make room
 * @gone_pkts: victims that the parents do not know of yet
 * @gone_bytes: of these
 * @split: super-packets are split into packets of the wire
 * @hosts: the core asks for hosts and marks
 * @nat: addresses and ports are those before translation, as conntrack has them
 * @prefix: leading bits of an IPv4 address that tell hosts apart
 * @prefix6: the same of an IPv6 address
 */
struct mf_sch {
	struct Qdisc *sch;
	siphash_key_t key;
	struct mf_connections connections;
	struct mf_packet packet;
	struct sk_buff **to_free;
	u64 pushed_out;
	u32 gone_pkts;
	u32 gone_bytes;
	bool split;
	bool hosts;
	bool nat;
	u8 prefix;
	u8 prefix6;
};

/**
 * struct mf_name - the ends of a packet, for who reads
 * @from: address of the sender; of IPv4 the first four bytes; cut to the prefix
 * @to: of the receiver
 * @source: port of the sender, 0 where there is none
 * @destination: port of the receiver
 * @family: AF_INET, AF_INET6 or 0
 * @ip_proto: protocol behind IP
 */
struct mf_name {
	u8 from[sizeof(struct in6_addr)];
	u8 to[sizeof(struct in6_addr)];
	u16 source;
	u16 destination;
	u8 family;
	u8 ip_proto;
};

/* The core's enqueue. */
typedef enum mf_fate (*mf_sch_take_t)(struct Qdisc *sch,
				      struct mf_packet *packet, u64 now_ns);

/**
 * struct mf_bound - what an option may be
 * @least: smallest value
 * @most: largest value
 * @says: both, behind the names of the queue discipline and the option
 */
struct mf_bound {
	u64 least;
	u64 most;
	const char *says;
};

/**
 * struct mf_option - an option, in an array by attribute
 * @initial: its value unless somebody says otherwise
 * @bound: what it may be; a value below the least is none, and is not shown
 */
struct mf_option {
	u64 initial;
	struct mf_bound bound;
};

/**
 * struct mf_options - the options of a queue discipline
 * @policy: by attribute
 * @options: by attribute
 * @max: the last attribute
 * @pad: attribute that aligns others
 */
struct mf_options {
	const struct nla_policy *policy;
	const struct mf_option *options;
	int max;
	int pad;
};

/* A row of a table of options (options/table.h): as an element of both arrays, and as
 * an initialiser of the core's options, of values @of.
 */
#define MF_SCH_POLICY(attribute, number, name, kind, ...) \
	[attribute] = MF_POLICY_##kind,
#define MF_SCH_OPTION(attribute, number, name, kind, field, initial_, bound_, ...) \
	[attribute] = { .initial = (initial_), .bound = bound_ },
#define MF_SCH_FIELD(attribute, number, name, kind, field, ...) \
	.field = of[attribute],
#define MF_SCH_NO_FIELD(...)

#define MF_POLICY_LIMIT { .type = NLA_U32 }
#define MF_POLICY_LIMIT_BYTES { .type = NLA_U32 }
#define MF_POLICY_FLOWS { .type = NLA_U32 }
#define MF_POLICY_SIZE { .type = NLA_U32 }
#define MF_POLICY_TIME { .type = NLA_U64 }
#define MF_POLICY_TIME_OR_NEVER { .type = NLA_U64 }
#define MF_POLICY_DURATION { .type = NLA_U64 }
#define MF_POLICY_LIMIT_TIME { .type = NLA_U64 }
#define MF_POLICY_RATE { .type = NLA_U64 }
#define MF_POLICY_NUMBER { .type = NLA_U32 }
#define MF_POLICY_SIGNED { .type = NLA_S32 }
#define MF_POLICY_SHARE { .type = NLA_U32 }
#define MF_POLICY_PRESENT { .type = NLA_FLAG }
#define MF_POLICY_BARE_WORD { .type = NLA_U8 }
#define MF_POLICY_WORD { .type = NLA_U8 }
#define MF_POLICY_FLAG { .type = NLA_U8 }

void mf_sch_init(struct mf_sch *common, struct Qdisc *sch);
void mf_sch_free(struct mf_sch *common);
int mf_sch_connections(struct mf_connections *connections, u32 pkts);
void mf_sch_initial(const struct mf_options *table, u64 *of);
int mf_sch_parse(const struct mf_options *table, struct nlattr **tb,
		 struct nlattr *opt, u64 *of, struct netlink_ext_ack *extack);
int mf_sch_one_limit(struct nlattr *const *tb, int attribute, u64 *of,
		     struct netlink_ext_ack *extack);
int mf_sch_put(const struct mf_options *table, struct sk_buff *skb,
	       int attribute, u64 value);
int mf_sch_dump(const struct mf_options *table, struct sk_buff *skb,
		const u64 *of);
void mf_sch_describe(struct mf_sch *common, const struct sk_buff *skb,
		     struct mf_packet *packet, u64 now_ns);
void mf_sch_name(const struct mf_sch *common, const struct sk_buff *skb,
		 struct mf_name *name);
void mf_sch_victim(struct mf_sch *common, const struct mf_packet *victim);
void mf_sch_early(struct mf_sch *common, const struct mf_packet *victim);
void mf_sch_settle(struct mf_sch *common);
int mf_sch_split(struct mf_sch *common, struct sk_buff *skb, u64 now_ns,
		 mf_sch_take_t take);

/* Time for the core; free of charge where only connections would ask for it. */
static inline u64 mf_sch_now_ns(const struct mf_sch *common, bool timed)
{
	return timed || common->connections.entries ? ktime_get_ns() : 0;
}

/* Offers one packet, of the wire, to the core; returns NET_XMIT_. */
static __always_inline int mf_sch_offer(struct mf_sch *common,
					struct sk_buff *skb, u64 now_ns,
					mf_sch_take_t take)
{
	struct Qdisc *sch = common->sch;

	mf_sch_describe(common, skb, &common->packet, now_ns);
	if (take(sch, &common->packet, now_ns) != MF_QUEUED) {
		qdisc_qstats_overlimit(sch);
		return qdisc_drop(skb, sch, common->to_free);
	}
	qdisc_qstats_backlog_inc(sch, skb);
	sch->q.qlen++;
	return NET_XMIT_SUCCESS;
}

/**
 * mf_sch_enqueue() - all that an enqueue() does
 * @common: of the queue discipline
 * @skb: the packet
 * @to_free: list of packets to be freed once no lock is held
 * @timed: the core asks for the time
 * @take: the core's enqueue
 *
 * Return: NET_XMIT_SUCCESS or NET_XMIT_DROP.
 */
static __always_inline int mf_sch_enqueue(struct mf_sch *common,
					  struct sk_buff *skb,
					  struct sk_buff **to_free, bool timed,
					  mf_sch_take_t take)
{
	u64 now_ns = mf_sch_now_ns(common, timed);
	int result;

	common->to_free = to_free;
	if (common->split && skb_is_gso(skb))
		result = mf_sch_split(common, skb, now_ns, take);
	else
		result = mf_sch_offer(common, skb, now_ns, take);
	if (unlikely(common->gone_pkts))
		mf_sch_settle(common);
	common->to_free = NULL;
	return result;
}

/* A packet that the core hands out leaves to be sent. */
static inline struct sk_buff *mf_sch_depart(struct mf_sch *common,
					    const struct mf_packet *packet)
{
	struct sk_buff *skb = packet->handle;
	struct Qdisc *sch = common->sch;

	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	qdisc_bstats_update(sch, skb);
	return skb;
}

#endif
