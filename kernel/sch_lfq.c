// SPDX-License-Identifier: GPL-2.0
/*
 * LFQ, lagged fair queueing: users share the link, and the flows of a user what it
 * gets; who was silent comes back a bounded lag behind, so that the first bytes of
 * a flow go first.
 *
 * Cost per packet: O(1); O(log users) for one that has to make room.
 * Source: Mayfly; core/lfq.h decides.
 */

/**
 * DOC: sch_lfq
 *
 * Lagged fair queueing, the [discipline `lfq`](../disciplines/lfq.md): least attained service with a short memory, with a user in front of
 * the flow. Users share the link, and the flows of a user share what it gets. What has sent less than its share goes first, up to a lag.
 * It shapes by itself, so that one line is enough:
 *
 * ```sh
 * tc qdisc replace dev eth0 root lfq bandwidth 19mbit docsis nat
 * tc qdisc change dev eth0 root lfq bandwidth 12mbit
 * tc -s qdisc show dev eth0
 * ```
 *
 * The other direction is shaped where it comes in, with the packets led through an `ifb`: `mayfly qdisc load --both-ways eth0 --down 95mbit --up
 * 19mbit` does both, or in one line
 *
 * ```sh
 * ip link add ifb4eth0 type ifb && ip link set ifb4eth0 up && tc qdisc add dev eth0 clsact && tc filter add dev eth0 ingress matchall action mirred egress redirect dev ifb4eth0 && tc qdisc replace dev ifb4eth0 root lfq bandwidth 95mbit ingress user dst nat
 * ```
 *
 * {options}
 *
 * `tc -s qdisc show` adds:
 *
 * | statistic | meaning |
 * |---|---|
 * | `users`, `flows` | users and flows with packets waiting now |
 * | `newcomers` | packets of new users that wait now |
 * | `charge` | what a byte is charged as now; above 1 where the link is slow |
 * | `admitted`, `sharing` | users that got standing; of these those that found the table full and share a slot |
 * | `bypassed` | flows that began without a slot of their own |
 * | `ahead`, `fed` | packets that went ahead of all users, and out of turn because they had waited for a round |
 * | `early`, `marked` | packets dropped, and marked, by CoDel and the step |
 * | `pushed_out` | packets that waited and had to make room; in `dropped` too |
 * | `table_used`, `table_users` | users that are remembered, and slots for them |
 * | `memory_used` | memory of the packets that wait, bytes |
 * | `wait_p50_us`, `wait_p95_us` | waits that 50 and 95 % of all packets did not exceed, within a counter |
 * | `waits` | with `-j`: packets by how long they waited, two counters for each doubling |
 * | `top` | up to 16 users, those that sent most lately first: bytes and packets sent, drops, marks, what waits, waits of late, credit: bytes by which it is behind its share, below 0 ahead of it. A user that was forgotten begins anew. |
 *
 * A filter chooses the class of a packet (`tc filter add dev eth0 parent 1: protocol ip u32 match ip src 10.0.0.0/24 flowid 1:5`), with every
 * classifier that the kernel has; the minor number of the class is the user with `user class`. Actions of filters work with every `user`. The packets
 * of a tunnel are one flow between its ends.
 *
 * A limit in time follows the bandwidth. The shaper's time for a byte is rounded by less than 7 parts in a million up to 100 Gbit/s. A caller that is
 * late makes up for 20 ms and no more. CAKE's `autorate-ingress` has no counterpart: how fast packets come says what a link can carry only while
 * somebody else's queue is full, which is what a shaper is there to prevent. `tc qdisc change ... bandwidth` loses no packet but with a limit in time, and
 * takes effect within the packet in transmission, for a program that measures the delay of the link. With `ingress` what is dropped takes its time too, but a
 * packet goes one and a half times its own time after the one before whatever was dropped: no flood stops the link.
 *
 * All memory but that of the packets is allocated with the queue: 96 bytes a packet of the limit, some 80 a flow, 450 a user, 12 kB for newcomers;
 * 1.5 MB by default. Not there: the simulator's `medium=cell` (an access point schedules airtime itself).
 *
 * Below `mq` every transmit queue has an lfq of its own: a user whose flows are in several of them has as many shares. At the root there is one
 * queue, and one lock.
 *
 * A packet costs O(1). The end of a round and the look for who starved take a step for each 64 flows, with weights a round one for each user. After the
 * queue stood still for long CoDel may drop many packets in one call, as that of Linux does.
 *
 * `change` works with packets waiting: those that exceed a lower limit are dropped as when the buffer is full. Another `user`, `weights`, `dscp`, `user_lag`,
 * `flow_lag`, `flows` or `users` begins anew: users and flows are forgotten, and what waits is queued again in the order it would have left, with the
 * mark or weight that it came with. With other options what a parent that shapes has looked at goes next, whatever comes before it has gone.
 */

#include <linux/module.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/inet_ecn.h>
#include <net/netlink.h>
#include <net/pkt_cls.h>

#include "core/lfq.h"
#include "core/shaper.h"
#include "sch_common.h"
#include "uapi/pkt_sch_mayfly.h"

/* What a limit in time comes to at least, bytes: two packets of Ethernet. */
#define LFQ_LEAST (2U * 1514)
#define LFQ_DSCPS 64

/**
 * struct lfq_settings - options, and those of them that the core does not know
 * @of: one value for each attribute
 * @framed: how long packets are on the link
 * @rate: of the shaper, bytes/s; 0: none
 * @memlimit: most memory of packets that wait, bytes
 * @dscp: weights of code points
 * @user: enum tc_lfq_user
 * @weights: enum tc_lfq_weights
 * @prefix: bits of an IPv4 address that tell hosts apart
 * @prefix6: of an IPv6 address
 * @split: super-packets are split
 * @nat: addresses are those before translation
 * @ingress: what is dropped has used the link too
 */
struct lfq_settings {
	u64 of[TCA_LFQ_MAX + 1];
	struct mf_framed framed;
	u64 rate;
	u32 memlimit;
	u16 dscp[LFQ_DSCPS];
	u8 user;
	u8 weights;
	u8 prefix;
	u8 prefix6;
	bool split;
	bool nat;
	bool ingress;
};

/**
 * struct lfq_sched_data - a queue
 * @common: what the disciplines share
 * @core: what decides
 * @settings: as given
 * @shaper: says when the link is free
 * @watchdog: calls then
 * @filter_list: filters of tc
 * @block: in which they are
 * @memory: of packets that wait, bytes
 * @class: of the packet that comes
 */
struct lfq_sched_data {
	struct mf_sch common;
	struct mf_lfq core;
	struct lfq_settings settings;
	struct mf_shaper shaper;
	struct qdisc_watchdog watchdog;
	struct tcf_proto __rcu *filter_list;
	struct tcf_block *block;
	u32 memory;
	u32 class;
};

/* Of the user that a tally is of. */
struct lfq_name {
	struct mf_name ends;
	u32 mark;
};

static void lfq_discard(struct mf_queue *queue, const struct mf_packet *victim,
			enum mf_fate reason)
{
	struct lfq_sched_data *q =
		container_of(queue, struct lfq_sched_data, core.queue);
	const struct sk_buff *skb = victim->handle;

	q->memory -= skb->truesize;
	if (q->settings.ingress)
		mf_shaper_is_wasted(&q->shaper, victim->len, queue->now_ns);
	if (reason == MF_EARLY)
		mf_sch_early(&q->common, victim);
	else
		mf_sch_victim(&q->common, victim);
}

/* How long @skb is on the link, bytes; of a super-packet all that it stands for. */
static u32 lfq_framed(const struct lfq_sched_data *q, const struct sk_buff *skb)
{
	const struct mf_framed *framed = &q->settings.framed;
	u32 header = skb_network_offset(skb), len = qdisc_pkt_len(skb);
	u32 pkts = 1;

	/* Its packets are taken for equally long; guests do not say how many. */
	if (skb_is_gso(skb))
		pkts = skb_shinfo(skb)->gso_segs ?:
			DIV_ROUND_UP(skb->len, skb_shinfo(skb)->gso_size);
	if (pkts > 1)
		return mf_framed_len(framed, len / pkts, header) * pkts;
	return mf_framed_len(framed, len, header);
}

static u8 lfq_dscp(const struct sk_buff *skb)
{
	__be16 head;
	const __be16 *ip = skb_header_pointer(skb, skb_network_offset(skb),
					      sizeof(head), &head);

	if (!ip)
		return 0;
	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_IP):
		return ntohs(*ip) >> 2 & 0x3f;
	case htons(ETH_P_IPV6):
		return ntohs(*ip) >> 6 & 0x3f;
	default:
		return 0;
	}
}

static enum mf_fate lfq_take(struct Qdisc *sch, struct mf_packet *packet,
			     u64 now_ns)
{
	struct lfq_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = packet->handle;
	enum mf_fate fate;
	u32 memory;

	packet->len = lfq_framed(q, skb);
	if (q->settings.user == TC_LFQ_CLASS)
		packet->mark = q->class;
	if (q->settings.weights == TC_LFQ_BY_DSCP)
		packet->mark = q->settings.dscp[lfq_dscp(skb)];
	/* Whether it can be marked is known before it waits: a shared header cannot. */
	if (q->core.options.codel.ecn && packet->ecn != MF_NOT_ECT &&
	    skb_try_make_writable(skb, skb_network_offset(skb) + sizeof(struct iphdr)))
		packet->ecn = MF_NOT_ECT;
	/* A header of its own may have taken more. */
	memory = skb->truesize;
	if (unlikely(memory > q->settings.memlimit))
		return MF_FULL;
	if (!sch->q.qlen)
		mf_shaper_wakes(&q->shaper, now_ns);
	q->core.queue.now_ns = now_ns;
	while (unlikely(q->memory + memory > q->settings.memlimit) &&
	       q->core.backlogged)
		mf_lfq_push_out(&q->core);
	fate = mf_lfq_enqueue(&q->core, packet, now_ns);
	if (fate == MF_QUEUED)
		q->memory += memory;
	else if (q->settings.ingress)
		mf_shaper_is_wasted(&q->shaper, packet->len, now_ns);
	return fate;
}

/* Asks the filters of tc for the class of @skb; false if they take the packet, and
 * @result is what enqueue() returns then.
 */
static bool lfq_classify(struct Qdisc *sch, struct sk_buff *skb, int *result)
{
	struct lfq_sched_data *q = qdisc_priv(sch);
	const struct tcf_proto *filter = rcu_dereference_bh(q->filter_list);
	struct tcf_result class = { };

	q->class = 0;
	if (TC_H_MAJ(skb->priority) == sch->handle)
		q->class = TC_H_MIN(skb->priority);
	if (!filter)
		return true;
	*result = NET_XMIT_SUCCESS | __NET_XMIT_BYPASS;
	switch (tcf_classify(skb, NULL, filter, &class, false)) {
	case TC_ACT_STOLEN:
	case TC_ACT_QUEUED:
	case TC_ACT_TRAP:
		*result = NET_XMIT_SUCCESS | __NET_XMIT_STOLEN;
		return false;
	case TC_ACT_SHOT:
		return false;
	case TC_ACT_UNSPEC:
		return true;
	default:
		q->class = TC_H_MIN(class.classid);
		return true;
	}
}

static int lfq_enqueue(struct sk_buff *skb, struct Qdisc *sch,
		       struct sk_buff **to_free)
{
	struct lfq_sched_data *q = qdisc_priv(sch);
	int result;

	if (lfq_classify(sch, skb, &result))
		return mf_sch_enqueue(&q->common, skb, to_free, true, lfq_take);
	if (result & __NET_XMIT_BYPASS)
		qdisc_qstats_drop(sch);
	__qdisc_drop(skb, to_free);
	return result;
}

/* The link is free, or calls when it is. */
static bool lfq_may_send(struct Qdisc *sch, u64 now_ns)
{
	struct lfq_sched_data *q = qdisc_priv(sch);

	if (mf_shaper_is_free(&q->shaper, now_ns))
		return true;
	if (sch->q.qlen) {
		qdisc_qstats_overlimit(sch);
		qdisc_watchdog_schedule_ns(&q->watchdog,
					   mf_shaper_next_ns(&q->shaper));
	}
	return false;
}

/* The user of @packet, which was taken just now, has a name from now on. */
static void lfq_name(struct lfq_sched_data *q, const struct mf_packet *packet)
{
	struct mf_lfq_tally *tally = &q->core.tallies[q->core.served];
	struct lfq_name *name = (struct lfq_name *)tally->name;

	BUILD_BUG_ON(sizeof(*name) > sizeof(tally->name));
	if (likely(tally->is_named))
		return;
	mf_sch_name(&q->common, packet->handle, &name->ends);
	name->mark = packet->mark;
	tally->is_named = true;
}

static struct sk_buff *lfq_dequeue(struct Qdisc *sch)
{
	struct lfq_sched_data *q = qdisc_priv(sch);
	bool was_held = q->core.holds;
	struct mf_packet *packet = &q->common.packet;
	u64 now_ns = ktime_get_ns();
	struct sk_buff *skb;

	/* What a parent has been shown goes. */
	if (!was_held && !lfq_may_send(sch, now_ns))
		return NULL;
	if (!mf_lfq_dequeue(&q->core, now_ns, packet))
		return NULL;
	/* While the packet still counts: parents that hear of an empty child forget
	 * it, and then once more.
	 */
	if (q->common.gone_pkts)
		mf_sch_settle(&q->common);
	if (!was_held)
		lfq_name(q, packet);
	mf_shaper_is_used(&q->shaper, packet->len, now_ns);
	skb = mf_sch_depart(&q->common, packet);
	q->memory -= skb->truesize;
	if (packet->ecn == MF_CE)
		INET_ECN_set_ce(skb);
	return skb;
}

static struct sk_buff *lfq_peek(struct Qdisc *sch)
{
	struct lfq_sched_data *q = qdisc_priv(sch);
	bool was_held = q->core.holds;
	u64 now_ns = ktime_get_ns();
	const struct mf_packet *packet;

	if (!was_held && !lfq_may_send(sch, now_ns))
		return NULL;
	packet = mf_lfq_peek(&q->core, now_ns);
	if (packet && !was_held)
		lfq_name(q, packet);
	if (q->common.gone_pkts)
		mf_sch_settle(&q->common);
	return packet ? packet->handle : NULL;
}

#define MF_POLICY_OTHER NLA_POLICY_EXACT_LEN(LFQ_DSCPS * sizeof(u16))

static const struct nla_policy lfq_policy[TCA_LFQ_MAX + 1] = {
	MF_LFQ_OPTIONS(MF_SCH_POLICY, MF_SCH_POLICY)
};

static const struct mf_option lfq_rows[TCA_LFQ_MAX + 1] = {
	MF_LFQ_OPTIONS(MF_SCH_OPTION, MF_SCH_OPTION)
};

static const struct mf_options lfq_table = {
	.policy = lfq_policy,
	.options = lfq_rows,
	.max = TCA_LFQ_MAX,
	.pad = TCA_LFQ_PAD,
};

static int lfq_parse_link(struct nlattr *const *tb, u64 *of,
			  struct netlink_ext_ack *extack)
{
	s32 overhead = of[TCA_LFQ_OVERHEAD];

	if (of[TCA_LFQ_BANDWIDTH] && of[TCA_LFQ_BANDWIDTH] < MF_SHAPER_RATE_MIN) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_LFQ_BANDWIDTH],
				    "lfq: bandwidth: 8 kbit/s to 1 Tbit/s");
		return -ERANGE;
	}
	if (tb[TCA_LFQ_RAW] && tb[TCA_LFQ_OVERHEAD]) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_LFQ_RAW],
				    "lfq: raw or an overhead, not both");
		return -EINVAL;
	}
	if (tb[TCA_LFQ_RAW])
		of[TCA_LFQ_OVERHEAD] = 0;
	if (tb[TCA_LFQ_OVERHEAD]) {
		of[TCA_LFQ_RAW] = 0;
		if (overhead < -64 || overhead > 256) {
			NL_SET_ERR_MSG_ATTR(extack, tb[TCA_LFQ_OVERHEAD],
					    "lfq: overhead: -64 to 256 bytes");
			return -ERANGE;
		}
	}
	return 0;
}

static int lfq_parse_limit(struct nlattr *const *tb, u64 *of,
			   struct netlink_ext_ack *extack)
{
	bool in_time = tb[TCA_LFQ_LIMIT_TIME];

	if (in_time && (tb[TCA_LFQ_LIMIT] || tb[TCA_LFQ_LIMIT_BYTES])) {
		NL_SET_ERR_MSG(extack, "lfq: limit: in packets, bytes or time, not in two of them");
		return -EINVAL;
	}
	if (in_time) {
		of[TCA_LFQ_LIMIT] = 0;
		of[TCA_LFQ_LIMIT_BYTES] = 0;
	} else if (tb[TCA_LFQ_LIMIT] || tb[TCA_LFQ_LIMIT_BYTES]) {
		of[TCA_LFQ_LIMIT_TIME] = 0;
	}
	return mf_sch_one_limit(tb, TCA_LFQ_LIMIT, of, extack);
}

static int lfq_parse_users(struct nlattr *const *tb,
			   struct lfq_settings *settings,
			   struct netlink_ext_ack *extack)
{
	u64 user = settings->of[TCA_LFQ_USER], weights = settings->of[TCA_LFQ_WEIGHTS];
	int code;

	if (tb[TCA_LFQ_DSCP])
		memcpy(settings->dscp, nla_data(tb[TCA_LFQ_DSCP]),
		       sizeof(settings->dscp));
	for (code = 0; code < LFQ_DSCPS; code++) {
		if (settings->dscp[code] && settings->dscp[code] <= MF_LFQ_HEAVIEST)
			continue;
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_LFQ_DSCP],
				    "lfq: dscp: weights are 1 to 1000");
		return -ERANGE;
	}
	/* A packet has one number: it says who it is of, or what it weighs. */
	if (weights != TC_LFQ_EQUAL &&
	    (user == TC_LFQ_CLASS ||
	     (user == TC_LFQ_MARK && weights == TC_LFQ_BY_DSCP))) {
		NL_SET_ERR_MSG(extack,
			       "lfq: users by class weigh the same, users by mark do not go by dscp");
		return -EINVAL;
	}
#if !IS_ENABLED(CONFIG_NF_CONNTRACK)
	if (settings->of[TCA_LFQ_NAT]) {
		NL_SET_ERR_MSG(extack, "lfq: nat: this kernel has no connection tracking");
		return -EOPNOTSUPP;
	}
#endif
	return 0;
}

/* The options that the core does not know, of their values. */
static void lfq_settle(struct lfq_settings *settings)
{
	const u64 *of = settings->of;

	settings->framed = (struct mf_framed){
		.overhead = of[TCA_LFQ_OVERHEAD],
		.mpu = of[TCA_LFQ_MPU],
		.framing = of[TCA_LFQ_FRAMING],
		.adjusted = !of[TCA_LFQ_RAW],
	};
	settings->rate = of[TCA_LFQ_BANDWIDTH];
	settings->memlimit = of[TCA_LFQ_MEMLIMIT];
	settings->user = of[TCA_LFQ_USER];
	settings->weights = of[TCA_LFQ_WEIGHTS];
	settings->prefix = of[TCA_LFQ_PREFIX];
	settings->prefix6 = of[TCA_LFQ_PREFIX6];
	settings->split = of[TCA_LFQ_SPLIT];
	settings->nat = of[TCA_LFQ_NAT];
	settings->ingress = of[TCA_LFQ_INGRESS];
}

/* Puts what @opt says in place of what is in @settings. */
static int lfq_parse(struct nlattr *opt, struct lfq_settings *settings,
		     struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_LFQ_MAX + 1];
	u64 *of = settings->of;
	int err = mf_sch_parse(&lfq_table, tb, opt, of, extack);

	if (!err)
		err = lfq_parse_link(tb, of, extack);
	if (!err)
		err = lfq_parse_limit(tb, of, extack);
	if (!err)
		err = lfq_parse_users(tb, settings, extack);
	if (err)
		return err;
	if (of[TCA_LFQ_LIMIT_TIME] && !of[TCA_LFQ_BANDWIDTH]) {
		NL_SET_ERR_MSG(extack, "lfq: limit: a time needs a bandwidth");
		return -EINVAL;
	}
	lfq_settle(settings);
	return 0;
}

/* The options of the core. A limit in time is one in bytes, of the rate. Prefixes are
 * taken before the core sees an address: it has them whole.
 */
static struct mf_lfq_options lfq_options(const struct lfq_settings *settings)
{
	const u64 *of = settings->of;
	u64 bytes = div_u64(settings->rate * div_u64(of[TCA_LFQ_LIMIT_TIME], NSEC_PER_USEC),
			    USEC_PER_SEC);
	struct mf_lfq_options options = {
		MF_LFQ_OPTIONS(MF_SCH_FIELD, MF_SCH_NO_FIELD)
		.limit = of[TCA_LFQ_LIMIT] ?: of[TCA_LFQ_LIMIT_BYTES],
		.limit_in_bytes = !of[TCA_LFQ_LIMIT],
		.prefix = 32,
		.by = settings->user == TC_LFQ_CLASS ? MF_LFQ_MARK : settings->user,
		.by_mark = settings->weights != TC_LFQ_EQUAL,
	};

	if (of[TCA_LFQ_LIMIT_TIME])
		options.limit = clamp_t(u64, bytes, LFQ_LEAST, U32_MAX);
	return options;
}

/* From now on @settings count. */
static void lfq_apply(struct lfq_sched_data *q,
		      const struct lfq_settings *settings)
{
	if (q->shaper.rate != settings->rate)
		mf_shaper_set(&q->shaper, settings->rate, ktime_get_ns());
	q->settings = *settings;
	q->common.prefix = settings->prefix;
	q->common.prefix6 = settings->prefix6;
	q->common.split = settings->split;
	q->common.nat = settings->nat;
}

static int lfq_change(struct Qdisc *sch, struct nlattr *opt,
		      struct netlink_ext_ack *extack)
{
	struct lfq_sched_data *q = qdisc_priv(sch);
	struct lfq_settings settings = q->settings;
	struct mf_lfq_options options;
	struct mf_lfq_spare *spare;
	u64 seeds[MF_LFQ_SEEDS];
	int err;

	if (!opt)
		return 0;
	err = lfq_parse(opt, &settings, extack);
	if (err)
		return err;
	options = lfq_options(&settings);
	options.marks = q->core.options.marks;
	/* The numbers on packets mean something else: users are others. */
	if (settings.user != q->settings.user ||
	    settings.weights != q->settings.weights ||
	    memcmp(settings.dscp, q->settings.dscp, sizeof(settings.dscp)))
		options.marks++;
	spare = mf_alloc(1, sizeof(*spare));
	if (!spare)
		return -ENOMEM;
	get_random_bytes(seeds, sizeof(seeds));
	err = mf_lfq_spare_init(spare, &q->core, &options, seeds);
	if (!err) {
		sch_tree_lock(sch);
		lfq_apply(q, &settings);
		mf_lfq_change(&q->core, &options, spare, ktime_get_ns());
		while (q->memory > settings.memlimit && q->core.backlogged)
			mf_lfq_push_out(&q->core);
		mf_sch_settle(&q->common);
		/* It may be free sooner now. */
		if (sch->q.qlen)
			qdisc_watchdog_schedule_ns(&q->watchdog,
						   mf_shaper_next_ns(&q->shaper));
		sch_tree_unlock(sch);
		mf_lfq_spare_free(spare);
	}
	mf_free(spare);
	return err;
}

static int lfq_init(struct Qdisc *sch, struct nlattr *opt,
		    struct netlink_ext_ack *extack)
{
	struct lfq_sched_data *q = qdisc_priv(sch);
	struct lfq_settings settings = { };
	struct mf_lfq_options options;
	u64 seeds[MF_LFQ_SEEDS];
	int code, err;

	qdisc_watchdog_init(&q->watchdog, sch);
	mf_sch_init(&q->common, sch);
	q->common.hosts = true;
	for (code = 0; code < LFQ_DSCPS; code++)
		settings.dscp[code] = 1;
	mf_sch_initial(&lfq_table, settings.of);
	lfq_settle(&settings);
	if (opt) {
		err = lfq_parse(opt, &settings, extack);
		if (err)
			return err;
	}
	options = lfq_options(&settings);
	err = tcf_block_get(&q->block, &q->filter_list, sch, extack);
	if (err)
		return err;
	lfq_apply(q, &settings);
	get_random_bytes(seeds, sizeof(seeds));
	return mf_lfq_init(&q->core, &options, lfq_discard, seeds);
}

static void lfq_reset(struct Qdisc *sch)
{
	struct lfq_sched_data *q = qdisc_priv(sch);
	struct mf_packet packet;

	/* At no time: CoDel drops nothing. */
	while (mf_lfq_dequeue(&q->core, 0, &packet))
		rtnl_kfree_skbs(packet.handle, packet.handle);
	mf_lfq_reset(&q->core);
	qdisc_watchdog_cancel(&q->watchdog);
	q->shaper.free_ns = 0;
	q->memory = 0;
	q->common.pushed_out = 0;
	q->common.gone_pkts = 0;
	q->common.gone_bytes = 0;
	sch->q.qlen = 0;
	sch->qstats.backlog = 0;
}

static void lfq_destroy(struct Qdisc *sch)
{
	struct lfq_sched_data *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	tcf_block_put(q->block);
	mf_lfq_free(&q->core);
	mf_sch_free(&q->common);
}

/* The option of attribute @i, in its own way where it is no number, or not always there. */
static int lfq_put(struct sk_buff *skb, const struct lfq_settings *settings, int i)
{
	switch (i) {
	case TCA_LFQ_OVERHEAD:
		if (!settings->framed.adjusted)
			return 0;
		return nla_put_s32(skb, TCA_LFQ_OVERHEAD, settings->framed.overhead);
	case TCA_LFQ_RAW:
		if (settings->framed.adjusted)
			return 0;
		return nla_put_flag(skb, TCA_LFQ_RAW);
	case TCA_LFQ_DSCP:
		if (settings->weights != TC_LFQ_BY_DSCP)
			return 0;
		return nla_put(skb, TCA_LFQ_DSCP, sizeof(settings->dscp), settings->dscp);
	default:
		return mf_sch_put(&lfq_table, skb, i, settings->of[i]);
	}
}

/* Attributes that come first, as they did when they were fewer; then by number. */
static const u8 lfq_first[] = {
	TCA_LFQ_LIMIT_TIME, TCA_LFQ_LIMIT, TCA_LFQ_LIMIT_BYTES, TCA_LFQ_BANDWIDTH,
	TCA_LFQ_INGRESS, TCA_LFQ_MPU, TCA_LFQ_FRAMING, TCA_LFQ_OVERHEAD, TCA_LFQ_RAW,
	TCA_LFQ_USER, TCA_LFQ_WEIGHTS, TCA_LFQ_PREFIX, TCA_LFQ_PREFIX6, TCA_LFQ_NAT,
	TCA_LFQ_DSCP, TCA_LFQ_MEMLIMIT,
};

static int lfq_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct lfq_sched_data *q = qdisc_priv(sch);
	struct nlattr *nest = nla_nest_start_noflag(skb, TCA_OPTIONS);
	int i, err = 0;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(lfq_first) && !err; i++)
		err = lfq_put(skb, &q->settings, lfq_first[i]);
	for (i = 1; i <= TCA_LFQ_MAX && !err; i++)
		if (!memchr(lfq_first, i, sizeof(lfq_first)))
			err = lfq_put(skb, &q->settings, i);
	if (!err)
		return nla_nest_end(skb, nest);
	nla_nest_cancel(skb, nest);
	return -EMSGSIZE;
}

/* Of waits of all packets: the counters may be too large for a quantile. */
static u32 lfq_waits_us(const u64 *waits, u32 percent)
{
	u32 counts[MF_WAITS], shift = 0, counter;
	u64 sum = 0;

	for (counter = 0; counter < MF_WAITS; counter++)
		sum += waits[counter];
	while (sum >> shift > U32_MAX)
		shift++;
	for (counter = 0; counter < MF_WAITS; counter++)
		counts[counter] = waits[counter] >> shift;
	return div_u64(mf_waits_quantile(counts, percent), NSEC_PER_USEC);
}

static u32 lfq_user_waits_us(const struct mf_lfq_tally *tally, u32 percent)
{
	u32 counts[MF_WAITS], counter;

	for (counter = 0; counter < MF_WAITS; counter++)
		counts[counter] = tally->waits[counter];
	return div_u64(mf_waits_quantile(counts, percent), NSEC_PER_USEC);
}

static u64 lfq_lately(const struct mf_lfq_tally *tally, u32 age)
{
	return age - tally->age < 64 ? tally->lately >> (age - tally->age) : 0;
}

/* Users that sent most lately into @top, TC_LFQ_TOP of them; returns how many. */
static u32 lfq_top(const struct mf_lfq *core, u32 age, u16 *top)
{
	u32 len = 0, user, at;
	u64 lately;

	for (user = 0; user <= core->newcomers; user++) {
		if (!core->tallies[user].is_named)
			continue;
		lately = lfq_lately(&core->tallies[user], age);
		if (len == TC_LFQ_TOP &&
		    lately <= lfq_lately(&core->tallies[top[len - 1]], age))
			continue;
		if (len < TC_LFQ_TOP)
			len++;
		for (at = len - 1; at; at--) {
			if (lately <= lfq_lately(&core->tallies[top[at - 1]], age))
				break;
			top[at] = top[at - 1];
		}
		top[at] = user;
	}
	return len;
}

static void lfq_user_stats(const struct lfq_sched_data *q, u16 user,
			   struct tc_lfq_user_stats *stats)
{
	const struct mf_lfq *core = &q->core;
	const struct mf_standing_set *set;
	const struct mf_lfq_tally *tally = &core->tallies[user];
	const struct lfq_name *name = (const struct lfq_name *)tally->name;
	const struct mf_lfq_user *own = &core->users[user];
	s64 most = core->user_lag.bytes;

	*stats = (struct tc_lfq_user_stats){
		.bytes = tally->bytes,
		.packets = tally->pkts,
		.drops = tally->drops,
		.marks = tally->marks,
		.credit = min(core->clock.bytes - own->tag, most),
		.backlog = min_t(u64, own->bytes, U32_MAX),
		.flows = own->flows,
		.wait_p50_us = lfq_user_waits_us(tally, 50),
		.wait_p95_us = lfq_user_waits_us(tally, 95),
		.what = TC_LFQ_NEWCOMERS,
		.by = q->settings.user,
	};
	if (user == core->newcomers)
		return;
	set = &core->user_slots.sets[user / MF_WAYS];
	stats->what = set->shared >> user % MF_WAYS & 1 ? TC_LFQ_SHARED :
							  TC_LFQ_ONE_USER;
	memcpy(stats->from, name->ends.from, sizeof(stats->from));
	memcpy(stats->to, name->ends.to, sizeof(stats->to));
	stats->source = name->ends.source;
	stats->destination = name->ends.destination;
	stats->family = name->ends.family;
	stats->protocol = name->ends.ip_proto;
	stats->mark = name->mark;
}

static u32 lfq_users_known(const struct mf_lfq *core)
{
	u32 known = 0, set;

	for (set = 0; set < core->user_slots.sets_len; set++)
		known += hweight8(core->user_slots.sets[set].held);
	return known;
}

static int lfq_dump_stats(struct Qdisc *sch, struct gnet_dump *dump)
{
	const struct lfq_sched_data *q = qdisc_priv(sch);
	const struct mf_lfq *core = &q->core;
	struct nlattr *nest = nla_nest_start_noflag(dump->skb, TCA_STATS_APP);
	u32 age, len, at;
	struct tc_lfq_user_stats user;
	struct tc_lfq_xstats stats;
	u16 top[TC_LFQ_TOP];

	BUILD_BUG_ON(TC_LFQ_WAITS != MF_WAITS);
	if (!nest)
		return -EMSGSIZE;
	sch_tree_lock(sch);
	age = ktime_get_ns() >> 30;
	stats = (struct tc_lfq_xstats){
		.pushed_out = q->common.pushed_out,
		.early = core->counts.early,
		.marked = core->queue.stats.marked.pkts,
		.admitted = core->counts.admitted,
		.sharing = core->counts.sharing,
		.bypassed = core->counts.bypassed,
		.ahead = core->counts.ahead,
		.fed = core->counts.fed,
		.users = core->backlogged,
		.flows = core->waiting,
		.newcomers = core->users[core->newcomers].pkts,
		.charge = core->scale.now,
		.table_users = core->newcomers,
		.table_used = lfq_users_known(core),
		.memory = q->memory,
		.wait_p50_us = lfq_waits_us(core->waits, 50),
		.wait_p95_us = lfq_waits_us(core->waits, 95),
	};
	if (nla_put(dump->skb, TCA_LFQ_STATS_TOTAL, sizeof(stats), &stats) ||
	    nla_put(dump->skb, TCA_LFQ_STATS_WAITS, sizeof(core->waits), core->waits))
		goto cancel;
	len = lfq_top(core, age, top);
	for (at = 0; at < len; at++) {
		lfq_user_stats(q, top[at], &user);
		/* The last ones are left out where there is no room. */
		if (nla_put(dump->skb, TCA_LFQ_STATS_USER, sizeof(user), &user))
			break;
	}
	sch_tree_unlock(sch);
	nla_nest_end(dump->skb, nest);
	return 0;
cancel:
	sch_tree_unlock(sch);
	nla_nest_cancel(dump->skb, nest);
	return -EMSGSIZE;
}

/* Classes are only names for filters to give. */
static struct Qdisc *lfq_leaf(struct Qdisc *sch, unsigned long arg)
{
	return NULL;
}

static unsigned long lfq_find(struct Qdisc *sch, u32 classid)
{
	return 0;
}

static unsigned long lfq_bind(struct Qdisc *sch, unsigned long parent, u32 classid)
{
	return 0;
}

static void lfq_unbind(struct Qdisc *sch, unsigned long class)
{
}

static struct tcf_block *lfq_tcf_block(struct Qdisc *sch, unsigned long class,
				       struct netlink_ext_ack *extack)
{
	struct lfq_sched_data *q = qdisc_priv(sch);

	return class ? NULL : q->block;
}

static void lfq_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
}

static const struct Qdisc_class_ops lfq_class_ops = {
	.leaf = lfq_leaf,
	.find = lfq_find,
	.tcf_block = lfq_tcf_block,
	.bind_tcf = lfq_bind,
	.unbind_tcf = lfq_unbind,
	.walk = lfq_walk,
};

static struct Qdisc_ops lfq_qdisc_ops __read_mostly = {
	.id = "lfq",
	.cl_ops = &lfq_class_ops,
	.priv_size = sizeof(struct lfq_sched_data),
	.enqueue = lfq_enqueue,
	.dequeue = lfq_dequeue,
	.peek = lfq_peek,
	.init = lfq_init,
	.reset = lfq_reset,
	.destroy = lfq_destroy,
	.change = lfq_change,
	.dump = lfq_dump,
	.dump_stats = lfq_dump_stats,
	.owner = THIS_MODULE,
};

static int __init lfq_module_init(void)
{
	return register_qdisc(&lfq_qdisc_ops);
}

static void __exit lfq_module_exit(void)
{
	unregister_qdisc(&lfq_qdisc_ops);
}

module_init(lfq_module_init)
module_exit(lfq_module_exit)
MODULE_ALIAS("sch_lfq");
/* What kernels since 6.8 ask for. */
MODULE_ALIAS("net-sch-lfq");
MODULE_DESCRIPTION("Lagged fair queueing");
MODULE_LICENSE("GPL");
