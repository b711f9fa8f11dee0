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
 *
 * ```sh
 * tc qdisc add dev eth0 root lfq
 * tc qdisc change dev eth0 root lfq user dst limit 2000
 * tc -s qdisc show dev eth0
 * ```
 *
 * | option | meaning | default |
 * |---|---|---|
 * | `limit 10240`, `10240p`, `15mb` | most that waits, packets or bytes; 1 to 1048576 packets | `10240p` |
 * | `user pair`, `triple`, `src`, `dst`, `flow`, `mark` | what a user is: a pair of hosts, the same beside the other pairs of both, one host, a flow, a `fwmark` | `pair` |
 * | `weights equal`, `mark` | what a user weighs: all the same, or the `fwmark` of its first packet, 1 to 1000 | `equal` |
 * | `prefix N` | leading bits of an IPv4 address that tell hosts apart, 1 to 32 | 32 |
 * | `prefix6 N` | the same of an IPv6 address, 1 to 128 | 64 |
 * | `user_lag`, `flow_lag` | bytes by which a user, and a flow in it, may be behind, up to 4 GB | 360000b, 120000b |
 * | `debt` | bytes by which a user may be ahead and its sparse flows still go first | 15000b |
 * | `pace` | speed of a clock beside service, 0 to 1 | 0.4 |
 * | `probation` | from when a new user first comes until it has standing, if it comes again, up to 1000000 s; 0: at once | 100ms |
 * | `flows` | flows with a queue of their own, 8 to 32768 | 864 |
 * | `users` | users that are remembered, 8 to 16384 | 144 |
 * | `lag_time` | what the link sends in it bounds lags and debt, 1 ms to 1000000 s | 500ms |
 * | `patience` | a round: who was not served in it gets a packet out of turn, 1 ms to 1000000 s | 50ms |
 * | `target`, `interval`, `mtu` | of CoDel: 1 us to 1000 s; 1 us to 4 s; 1 byte to 1 GB | 5ms, 100ms, 1b |
 * | `ecn`, `noecn` | mark packets of ECN-capable transports instead of dropping them | `ecn` |
 * | `step` | wait beyond which packets with ECT(1) are marked, 1 us to 1000 s | 1ms |
 * | `split`, `nosplit` | super-packets into packets of the wire | `split` |
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
 *
 * All memory is allocated with the queue: 96 bytes a packet of the limit, some 80 a flow, 250 a user, 12 kB for newcomers; 1.1 MB by default. There is
 * no shaper in it: below `htb` or `tbf`, or on the interface that is the bottleneck. Behind NAT the addresses are those after translation. Not there: the
 * simulator's `medium=cell` (an access point schedules airtime itself), a class chosen by `tc filter`, the translation table of conntrack, and a BPF form.
 *
 * A packet costs O(1). The end of a round and the look for who starved take a step for each 64 flows, with weights a round one for each user. After the
 * queue stood still for long CoDel may drop many packets in one call, as that of Linux does.
 *
 * `change` works with packets waiting: those that exceed a lower limit are dropped as when the buffer is full. Another `user`, `weights`, `user_lag`,
 * `flow_lag`, `flows` or `users` begins anew: users and flows are forgotten, and what waits is queued again in the order it would have left. What a
 * parent that shapes has looked at goes next, whatever comes before it has gone.
 */

#include <linux/module.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/inet_ecn.h>
#include <net/netlink.h>

#include "core/lfq.h"
#include "sch_common.h"
#include "uapi/pkt_sch_mayfly.h"

#define LFQ_LIMIT_PKTS 10240
#define LFQ_PREFIX6 64

struct lfq_sched_data {
	struct mf_sch common;
	struct mf_lfq core;
};

static void lfq_discard(struct mf_queue *queue, const struct mf_packet *victim,
			enum mf_fate reason)
{
	struct lfq_sched_data *q =
		container_of(queue, struct lfq_sched_data, core.queue);

	if (reason == MF_EARLY)
		mf_sch_early(&q->common, victim);
	else
		mf_sch_victim(&q->common, victim);
}

static enum mf_fate lfq_take(struct Qdisc *sch, struct mf_packet *packet,
			     u64 now_ns)
{
	struct lfq_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = packet->handle;

	/* Whether it can be marked is known before it waits: a shared header cannot. */
	if (q->core.options.codel.ecn && packet->ecn != MF_NOT_ECT &&
	    skb_try_make_writable(skb, skb_network_offset(skb) + sizeof(struct iphdr)))
		packet->ecn = MF_NOT_ECT;
	return mf_lfq_enqueue(&q->core, packet, now_ns);
}

static int lfq_enqueue(struct sk_buff *skb, struct Qdisc *sch,
		       struct sk_buff **to_free)
{
	struct lfq_sched_data *q = qdisc_priv(sch);

	return mf_sch_enqueue(&q->common, skb, to_free, true, lfq_take);
}

static struct sk_buff *lfq_dequeue(struct Qdisc *sch)
{
	struct lfq_sched_data *q = qdisc_priv(sch);
	struct mf_packet packet;
	struct sk_buff *skb;

	if (!mf_lfq_dequeue(&q->core, ktime_get_ns(), &packet))
		return NULL;
	skb = mf_sch_depart(&q->common, &packet);
	if (packet.ecn == MF_CE)
		INET_ECN_set_ce(skb);
	/* Parents that hear of an empty child forget it, and then once more. */
	if (q->common.gone_pkts && sch->q.qlen)
		mf_sch_settle(&q->common);
	return skb;
}

static struct sk_buff *lfq_peek(struct Qdisc *sch)
{
	struct lfq_sched_data *q = qdisc_priv(sch);
	const struct mf_packet *packet = mf_lfq_peek(&q->core, ktime_get_ns());

	if (q->common.gone_pkts && sch->q.qlen)
		mf_sch_settle(&q->common);
	return packet ? packet->handle : NULL;
}

static const struct nla_policy lfq_policy[TCA_LFQ_MAX + 1] = {
	[TCA_LFQ_LIMIT] = { .type = NLA_U32 },
	[TCA_LFQ_LIMIT_BYTES] = { .type = NLA_U32 },
	[TCA_LFQ_USER] = { .type = NLA_U8 },
	[TCA_LFQ_WEIGHTS] = { .type = NLA_U8 },
	[TCA_LFQ_PREFIX] = { .type = NLA_U32 },
	[TCA_LFQ_PREFIX6] = { .type = NLA_U32 },
	[TCA_LFQ_USER_LAG] = { .type = NLA_U32 },
	[TCA_LFQ_FLOW_LAG] = { .type = NLA_U32 },
	[TCA_LFQ_DEBT] = { .type = NLA_U32 },
	[TCA_LFQ_PACE] = { .type = NLA_U32 },
	[TCA_LFQ_PROBATION] = { .type = NLA_U64 },
	[TCA_LFQ_FLOWS] = { .type = NLA_U32 },
	[TCA_LFQ_USERS] = { .type = NLA_U32 },
	[TCA_LFQ_LAG_TIME] = { .type = NLA_U64 },
	[TCA_LFQ_PATIENCE] = { .type = NLA_U64 },
	[TCA_LFQ_TARGET] = { .type = NLA_U64 },
	[TCA_LFQ_INTERVAL] = { .type = NLA_U64 },
	[TCA_LFQ_MTU] = { .type = NLA_U32 },
	[TCA_LFQ_ECN] = { .type = NLA_U8 },
	[TCA_LFQ_STEP] = { .type = NLA_U64 },
	[TCA_LFQ_SPLIT] = { .type = NLA_U8 },
};

static const struct mf_bound lfq_bounds[TCA_LFQ_MAX + 1] = {
	[TCA_LFQ_LIMIT] = MF_BOUND_LIMIT("lfq"),
	[TCA_LFQ_LIMIT_BYTES] = MF_BOUND_LIMIT_BYTES("lfq"),
	[TCA_LFQ_USER] = { 0, __TC_LFQ_USER_MAX - 1,
			   "lfq: user: pair, triple, dst, src, flow or mark" },
	[TCA_LFQ_WEIGHTS] = { 0, __TC_LFQ_WEIGHTS_MAX - 1,
			      "lfq: weights: equal or mark" },
	[TCA_LFQ_PREFIX] = { 1, 32, "lfq: prefix: 1 to 32" },
	[TCA_LFQ_PREFIX6] = { 1, 128, "lfq: prefix6: 1 to 128" },
	[TCA_LFQ_PACE] = { 0, 1U << MF_LFQ_FRACTION, "lfq: pace: 0 to 1" },
	[TCA_LFQ_PROBATION] = { 0, MF_TIME_MAX,
				"lfq: probation: 0 to 1000000 s" },
	[TCA_LFQ_FLOWS] = { MF_LFQ_FLOWS_MIN, MF_LFQ_FLOWS_MAX,
			    "lfq: flows: 8 to 32768" },
	[TCA_LFQ_USERS] = { MF_LFQ_USERS_MIN, MF_LFQ_USERS_MAX,
			    "lfq: users: 8 to 16384" },
	[TCA_LFQ_LAG_TIME] = MF_BOUND_TIME("lfq", "lag_time"),
	[TCA_LFQ_PATIENCE] = MF_BOUND_TIME("lfq", "patience"),
	[TCA_LFQ_TARGET] = { NSEC_PER_USEC, 1000ULL * NSEC_PER_SEC,
			     "lfq: target: 1 us to 1000 s" },
	[TCA_LFQ_INTERVAL] = { NSEC_PER_USEC, MF_CODEL_INTERVAL_MAX,
			       "lfq: interval: 1 us to 4 s" },
	[TCA_LFQ_MTU] = { 1, 1U << 30, "lfq: mtu: 1 to 1073741824 bytes" },
	[TCA_LFQ_ECN] = { 0, 1, "lfq: ecn: 0 or 1" },
	[TCA_LFQ_STEP] = { NSEC_PER_USEC, 1000ULL * NSEC_PER_SEC,
			   "lfq: step: 1 us to 1000 s" },
	[TCA_LFQ_SPLIT] = MF_BOUND_SPLIT("lfq"),
};

static void lfq_parse_u32(const struct nlattr *attribute, u64 *value)
{
	if (attribute)
		*value = nla_get_u32(attribute);
}

static void lfq_parse_u64(const struct nlattr *attribute, u64 *value)
{
	if (attribute)
		*value = nla_get_u64(attribute);
}

/* Puts what @opt says in place of what is in @options and @common. */
static int lfq_parse(struct nlattr *opt, struct mf_lfq_options *options,
		     struct mf_sch *common, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_LFQ_MAX + 1];
	int err = nla_parse_nested(tb, TCA_LFQ_MAX, opt, lfq_policy, extack);

	if (!err)
		err = mf_sch_check(tb, TCA_LFQ_MAX, lfq_bounds, extack);
	if (!err)
		err = mf_sch_parse_limit(tb[TCA_LFQ_LIMIT],
					 tb[TCA_LFQ_LIMIT_BYTES],
					 &options->limit,
					 &options->limit_in_bytes, extack);
	if (err)
		return err;
	lfq_parse_u32(tb[TCA_LFQ_USER_LAG], &options->user_lag);
	lfq_parse_u32(tb[TCA_LFQ_FLOW_LAG], &options->flow_lag);
	lfq_parse_u32(tb[TCA_LFQ_DEBT], &options->debt);
	lfq_parse_u64(tb[TCA_LFQ_PROBATION], &options->probation_ns);
	lfq_parse_u64(tb[TCA_LFQ_LAG_TIME], &options->lag_time_ns);
	lfq_parse_u64(tb[TCA_LFQ_PATIENCE], &options->patience_ns);
	lfq_parse_u64(tb[TCA_LFQ_STEP], &options->step_ns);
	lfq_parse_u64(tb[TCA_LFQ_TARGET], &options->codel.target_ns);
	lfq_parse_u64(tb[TCA_LFQ_INTERVAL], &options->codel.interval_ns);
	if (tb[TCA_LFQ_USER])
		options->by = nla_get_u8(tb[TCA_LFQ_USER]);
	if (tb[TCA_LFQ_WEIGHTS])
		options->by_mark = nla_get_u8(tb[TCA_LFQ_WEIGHTS]) == TC_LFQ_BY_MARK;
	if (tb[TCA_LFQ_PACE])
		options->pace = nla_get_u32(tb[TCA_LFQ_PACE]);
	if (tb[TCA_LFQ_FLOWS])
		options->flows = nla_get_u32(tb[TCA_LFQ_FLOWS]);
	if (tb[TCA_LFQ_USERS])
		options->users = nla_get_u32(tb[TCA_LFQ_USERS]);
	if (tb[TCA_LFQ_MTU])
		options->codel.mtu = nla_get_u32(tb[TCA_LFQ_MTU]);
	if (tb[TCA_LFQ_ECN])
		options->codel.ecn = nla_get_u8(tb[TCA_LFQ_ECN]);
	if (tb[TCA_LFQ_PREFIX])
		common->prefix = nla_get_u32(tb[TCA_LFQ_PREFIX]);
	if (tb[TCA_LFQ_PREFIX6])
		common->prefix6 = nla_get_u32(tb[TCA_LFQ_PREFIX6]);
	if (tb[TCA_LFQ_SPLIT])
		common->split = nla_get_u8(tb[TCA_LFQ_SPLIT]);
	return 0;
}

static int lfq_change(struct Qdisc *sch, struct nlattr *opt,
		      struct netlink_ext_ack *extack)
{
	struct lfq_sched_data *q = qdisc_priv(sch);
	struct mf_lfq_options options = q->core.options;
	struct mf_sch common = {
		.prefix = q->common.prefix,
		.prefix6 = q->common.prefix6,
		.split = q->common.split,
	};
	struct mf_lfq_spare *spare;
	u64 seeds[MF_LFQ_SEEDS];
	int err;

	if (!opt)
		return 0;
	err = lfq_parse(opt, &options, &common, extack);
	if (err)
		return err;
	spare = mf_alloc(1, sizeof(*spare));
	if (!spare)
		return -ENOMEM;
	get_random_bytes(seeds, sizeof(seeds));
	err = mf_lfq_spare_init(spare, &q->core, &options, seeds);
	if (!err) {
		sch_tree_lock(sch);
		mf_lfq_change(&q->core, &options, spare, ktime_get_ns());
		q->common.prefix = common.prefix;
		q->common.prefix6 = common.prefix6;
		q->common.split = common.split;
		mf_sch_settle(&q->common);
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
	struct mf_lfq_options options = {
		.limit = LFQ_LIMIT_PKTS,
		.user_lag = 360000,
		.flow_lag = 120000,
		.debt = 15000,
		.probation_ns = 100ULL * NSEC_PER_MSEC,
		.lag_time_ns = 500ULL * NSEC_PER_MSEC,
		.patience_ns = 50ULL * NSEC_PER_MSEC,
		.step_ns = NSEC_PER_MSEC,
		.codel = {
			.target_ns = 5ULL * NSEC_PER_MSEC,
			.interval_ns = 100ULL * NSEC_PER_MSEC,
			.mtu = 1,
			.ecn = true,
		},
		.pace = (2U << MF_LFQ_FRACTION) / 5,
		.flows = 864,
		.users = 144,
		/* Prefixes are taken before the core sees an address. */
		.prefix = 32,
		.by = MF_LFQ_PAIR,
	};
	u64 seeds[MF_LFQ_SEEDS];
	int err = 0;

	mf_sch_init(&q->common, sch);
	q->common.hosts = true;
	q->common.prefix = 32;
	q->common.prefix6 = LFQ_PREFIX6;
	if (opt)
		err = lfq_parse(opt, &options, &q->common, extack);
	if (err)
		return err;
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
	q->common.pushed_out = 0;
	q->common.gone_pkts = 0;
	q->common.gone_bytes = 0;
	sch->q.qlen = 0;
	sch->qstats.backlog = 0;
}

static void lfq_destroy(struct Qdisc *sch)
{
	struct lfq_sched_data *q = qdisc_priv(sch);

	mf_lfq_free(&q->core);
	mf_sch_free(&q->common);
}

static int lfq_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct lfq_sched_data *q = qdisc_priv(sch);
	const struct mf_lfq_options *options = &q->core.options;
	u32 limit = options->limit_in_bytes ? TCA_LFQ_LIMIT_BYTES : TCA_LFQ_LIMIT;
	u8 weights = options->by_mark ? TC_LFQ_BY_MARK : TC_LFQ_EQUAL;
	struct nlattr *nest = nla_nest_start_noflag(skb, TCA_OPTIONS);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, limit, options->limit) ||
	    nla_put_u8(skb, TCA_LFQ_USER, options->by) ||
	    nla_put_u8(skb, TCA_LFQ_WEIGHTS, weights) ||
	    nla_put_u32(skb, TCA_LFQ_PREFIX, q->common.prefix) ||
	    nla_put_u32(skb, TCA_LFQ_PREFIX6, q->common.prefix6) ||
	    nla_put_u32(skb, TCA_LFQ_USER_LAG, options->user_lag) ||
	    nla_put_u32(skb, TCA_LFQ_FLOW_LAG, options->flow_lag) ||
	    nla_put_u32(skb, TCA_LFQ_DEBT, options->debt) ||
	    nla_put_u32(skb, TCA_LFQ_PACE, options->pace) ||
	    nla_put_u64_64bit(skb, TCA_LFQ_PROBATION, options->probation_ns,
			      TCA_LFQ_PAD) ||
	    nla_put_u32(skb, TCA_LFQ_FLOWS, options->flows) ||
	    nla_put_u32(skb, TCA_LFQ_USERS, options->users) ||
	    nla_put_u64_64bit(skb, TCA_LFQ_LAG_TIME, options->lag_time_ns,
			      TCA_LFQ_PAD) ||
	    nla_put_u64_64bit(skb, TCA_LFQ_PATIENCE, options->patience_ns,
			      TCA_LFQ_PAD) ||
	    nla_put_u64_64bit(skb, TCA_LFQ_TARGET, options->codel.target_ns,
			      TCA_LFQ_PAD) ||
	    nla_put_u64_64bit(skb, TCA_LFQ_INTERVAL, options->codel.interval_ns,
			      TCA_LFQ_PAD) ||
	    nla_put_u32(skb, TCA_LFQ_MTU, options->codel.mtu) ||
	    nla_put_u8(skb, TCA_LFQ_ECN, options->codel.ecn) ||
	    nla_put_u64_64bit(skb, TCA_LFQ_STEP, options->step_ns,
			      TCA_LFQ_PAD) ||
	    nla_put_u8(skb, TCA_LFQ_SPLIT, q->common.split)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}

static int lfq_dump_stats(struct Qdisc *sch, struct gnet_dump *dump)
{
	const struct lfq_sched_data *q = qdisc_priv(sch);
	const struct mf_lfq *core = &q->core;
	struct tc_lfq_xstats stats;

	sch_tree_lock(sch);
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
	};
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(dump, &stats, sizeof(stats));
}

static struct Qdisc_ops lfq_qdisc_ops __read_mostly = {
	.id = "lfq",
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
MODULE_DESCRIPTION("Lagged fair queueing");
MODULE_LICENSE("GPL");
