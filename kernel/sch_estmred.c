// SPDX-License-Identifier: GPL-2.0
/*
 * ESTMRED: random early detection that also estimates what share of its traffic
 * does not respond to drops, and moves to drop-tail while that is much.
 *
 * Cost per packet: that of RED; the estimator runs once per sampling interval,
 * driven by the packets. No flow table.
 * Source: Zhao 2004, ch. II and III; core/estmred.h decides.
 */

/**
 * DOC: sch_estmred
 *
 * RED that estimates what share of its traffic does not respond to drops, the [discipline `estmred`](../disciplines/estmred.md) with `arithmetic=integers`.
 *
 * ```sh
 * tc qdisc add dev eth0 parent 1:1 estmred limit 60000b min 15000b max 45000b avpkt 1000b bandwidth 10mbit delay 50ms
 * tc -s -d qdisc show dev eth0
 * ```
 *
 * {options}
 *
 * Zhao 2004 has a link of 100 ms there and back as `delay 50ms`; so it is here. `change` begins averages and estimator anew; packets that wait stay, but for the
 * last ones beyond a lower limit.
 *
 * `tc -s -d qdisc show` prints all options and adds what the dissertation's Fig. 19 shows; `estm` is the estimate times 2^14, then comes what it stands for. Here
 * after 180 s of UDP at 0.9 of 12 Mb/s beside four TCP flows:
 *
 * ```
 * qdisc estmred 10: parent 1:1 limit 60p min 15p max 45p avpkt 1514b bandwidth 12Mbit rtt 100ms estimate on method default probability 0.1 ...
 *  Sent 269639586 bytes 178109 pkt (dropped 10323, overlimits 10323 requeues 0)
 *  backlog 68Kb 46p requeues 0
 *  marked 0 early 10230 pdrop 93 other 0 average 27.8 estm 13664 = 0.834 sure flows 4.7 estimates 270
 * ```
 *
 * | statistic | meaning |
 * |---|---|
 * | `marked`, `early`, `pdrop`, `other` | packets marked; dropped early, by a full buffer, by a lower limit |
 * | `average` | of the queue, in the unit of `min` and `max` |
 * | `estm` | estimate of the last interval, times 2^14, then as a share |
 * | a word | `sure`, or [why the estimate is doubted](../estimate/methods.md) |
 * | `flows`, `estimates`, `tail` | responsive flows, estimates so far, early drops have ended |
 *
 * Time is taken from the packets: an interval ends with the first packet, or the first look at the statistics, behind it. All is in 64-bit integers; each decision
 * and each estimate is that of the Rust discipline, bit for bit (`tests/kernel_core`).
 *
 * [Figures 22 to 24](estmred-testbed.md) of the dissertation, measured with it.
 */

#include <linux/module.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/inet_ecn.h>
#include <net/netlink.h>

#include "core/estmred.h"
#include "sch_common.h"
#include "uapi/pkt_sch_mayfly.h"

/* What the options are: one value for each attribute. */
struct estmred_values {
	u64 of[TCA_ESTMRED_MAX + 1];
};

struct estmred_sched_data {
	struct mf_sch common;
	struct mf_estmred core;
	struct estmred_values values;
	u64 epoch_ns;		/* the core's time 0 */
	u64 early;
	u64 pdrop;
	u64 other;
};

#define ESTMRED_POLICY(attribute, ...) \
	[attribute] = { .type = NLA_U64 },

static const struct nla_policy estmred_policy[TCA_ESTMRED_MAX + 1] = {
	MF_ESTMRED_OPTIONS(ESTMRED_POLICY, ESTMRED_POLICY)
};

/* Values at first are as in Zhao 2004, Fig. 19, and crates/estimator. */
static const struct mf_option estmred_rows[TCA_ESTMRED_MAX + 1] = {
	MF_ESTMRED_OPTIONS(MF_SCH_OPTION, MF_SCH_OPTION)
};

static const struct mf_options estmred_table = {
	.policy = estmred_policy,
	.options = estmred_rows,
	.max = TCA_ESTMRED_MAX,
	.pad = TCA_ESTMRED_PAD,
};

static void estmred_discard(struct mf_queue *queue, const struct mf_packet *victim,
			    enum mf_fate reason)
{
	struct estmred_sched_data *q =
		container_of(queue, struct estmred_sched_data, core.queue);

	q->other++;
	mf_sch_victim(&q->common, victim);
}

static enum mf_fate estmred_take(struct Qdisc *sch, struct mf_packet *packet,
				 u64 now_ns)
{
	struct estmred_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = packet->handle;
	u8 ecn = packet->ecn;
	enum mf_fate fate;

	/* Whether it can be marked is known before it waits: a shared header cannot. */
	if (q->values.of[TCA_ESTMRED_ECN] && ecn != MF_NOT_ECT &&
	    skb_try_make_writable(skb, skb_network_offset(skb) + sizeof(struct iphdr)))
		packet->ecn = MF_NOT_ECT;
	ecn = packet->ecn;
	fate = mf_estmred_enqueue(&q->core, packet, now_ns - q->epoch_ns);
	if (fate == MF_QUEUED && packet->ecn != ecn)
		INET_ECN_set_ce(skb);
	else if (fate == MF_EARLY)
		q->early++;
	else if (fate == MF_FULL)
		q->pdrop++;
	return fate;
}

static int estmred_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			   struct sk_buff **to_free)
{
	struct estmred_sched_data *q = qdisc_priv(sch);

	return mf_sch_enqueue(&q->common, skb, to_free, true, estmred_take);
}

static struct sk_buff *estmred_dequeue(struct Qdisc *sch)
{
	struct estmred_sched_data *q = qdisc_priv(sch);
	const struct mf_packet *packet = mf_estmred_dequeue(&q->core, ktime_get_ns() - q->epoch_ns);

	return packet ? mf_sch_depart(&q->common, packet) : NULL;
}

static struct sk_buff *estmred_peek(struct Qdisc *sch)
{
	const struct estmred_sched_data *q = qdisc_priv(sch);
	const struct mf_packet *packet = mf_estmred_peek(&q->core);

	return packet ? packet->handle : NULL;
}

/* Puts what @opt says in place of what is in @values. */
static int estmred_parse(struct nlattr *opt, struct estmred_values *values,
			 struct netlink_ext_ack *extack)
{
	u64 in_bytes = values->of[TCA_ESTMRED_BYTES];
	struct nlattr *tb[TCA_ESTMRED_MAX + 1];
	int err = mf_sch_parse(&estmred_table, tb, opt, values->of, extack);

	if (err || values->of[TCA_ESTMRED_BYTES] == in_bytes)
		return err;
	/* Thresholds in another unit are others. */
	if (!tb[TCA_ESTMRED_MIN])
		values->of[TCA_ESTMRED_MIN] = 0;
	if (!tb[TCA_ESTMRED_MAX_TH])
		values->of[TCA_ESTMRED_MAX_TH] = 0;
	return 0;
}

/* Values that each are within their bounds but do not go together. */
static int estmred_check(const struct estmred_values *values, struct netlink_ext_ack *extack)
{
	const u64 *of = values->of;

	if (of[TCA_ESTMRED_MAX_TH] && of[TCA_ESTMRED_MIN] > of[TCA_ESTMRED_MAX_TH]) {
		NL_SET_ERR_MSG(extack, "estmred: min must be at most max");
		return -EINVAL;
	}
	if (!of[TCA_ESTMRED_LIMIT_BYTES] && of[TCA_ESTMRED_LIMIT] > MF_MAX_PKTS) {
		NL_SET_ERR_MSG(extack, "estmred: limit: 1 to 1048576 packets");
		return -EINVAL;
	}
	if (of[TCA_ESTMRED_SAMPLING] && of[TCA_ESTMRED_SAMPLING] < MF_ESTMRED_SHORTEST_NS) {
		NL_SET_ERR_MSG(extack, MF_ESTMRED_SAMPLING_SAYS);
		return -ERANGE;
	}
	if (of[TCA_ESTMRED_BELOW] > of[TCA_ESTMRED_ABOVE]) {
		NL_SET_ERR_MSG(extack, "estmred: below must be at most above");
		return -EINVAL;
	}
	if (of[TCA_ESTMRED_RATE] && of[TCA_ESTMRED_RATE] * 8 < of[TCA_ESTMRED_AVPKT]) {
		NL_SET_ERR_MSG(extack, "estmred: bandwidth below a packet of avpkt in 8 s");
		return -EINVAL;
	}
	return 0;
}

/* @time_ns in seconds times 2^14, to the nearest. */
static s64 estmred_seconds(u64 time_ns)
{
	return div64_u64(time_ns * MF_FX_ONE + NSEC_PER_SEC / 2, NSEC_PER_SEC);
}

static void estmred_options(const struct estmred_values *values,
			    struct mf_estmred_options *options)
{
	const u64 *of = values->of;

	*options = (struct mf_estmred_options){
		MF_ESTMRED_OPTIONS(MF_SCH_FIELD, MF_SCH_NO_FIELD)
		.limit = of[TCA_ESTMRED_LIMIT],
		.limit_in_bytes = of[TCA_ESTMRED_LIMIT_BYTES],
		.red.min_th = of[TCA_ESTMRED_MIN] << MF_RED_AVERAGE_BITS,
		.red.max_th = of[TCA_ESTMRED_MAX_TH] << MF_RED_AVERAGE_BITS,
		.red.mean_packet = of[TCA_ESTMRED_AVPKT],
		.red.seed = get_random_u64(),
		.sampler.mean_packet = of[TCA_ESTMRED_AVPKT],
		.sampler.sampling_ns = of[TCA_ESTMRED_SAMPLING] ?:
				       div64_u64(of[TCA_ESTMRED_RTT] + 1, 3),
		.sampler.settings.propagation = estmred_seconds(of[TCA_ESTMRED_RTT]),
		.sampler.settings.rtt = estmred_seconds(of[TCA_ESTMRED_QUEUED_RTT]),
		.sampler.below = of[TCA_ESTMRED_BELOW],
	};
	/* With a bandwidth the time of idle packets is known from the start. */
	if (of[TCA_ESTMRED_RATE])
		options->red.transmission_ns =
			div64_u64(of[TCA_ESTMRED_AVPKT] * NSEC_PER_SEC,
				  of[TCA_ESTMRED_RATE]) ?: 1;
	/* Without a lower bound it is a tenth below the upper one. */
	if (!of[TCA_ESTMRED_BELOW] && of[TCA_ESTMRED_ABOVE] > MF_ESTMRED_SHARE / 10)
		options->sampler.below = of[TCA_ESTMRED_ABOVE] - MF_ESTMRED_SHARE / 10;
}

static int estmred_change(struct Qdisc *sch, struct nlattr *opt,
			  struct netlink_ext_ack *extack)
{
	struct estmred_sched_data *q = qdisc_priv(sch);
	struct estmred_values values = q->values;
	struct mf_estmred_options options;
	struct mf_estmred_spare spare;
	int err;

	if (!opt)
		return 0;
	err = estmred_parse(opt, &values, extack) ?: estmred_check(&values, extack);
	if (err)
		return err;
	estmred_options(&values, &options);
	err = mf_estmred_spare_init(&spare, &q->core, &options);
	if (err)
		return err;
	sch_tree_lock(sch);
	q->values = values;
	q->common.split = values.of[TCA_ESTMRED_SPLIT];
	q->epoch_ns = ktime_get_ns();
	mf_estmred_change(&q->core, &options, &spare);
	mf_sch_settle(&q->common);
	sch_tree_unlock(sch);
	mf_estmred_spare_free(&spare);
	return 0;
}

static int estmred_init(struct Qdisc *sch, struct nlattr *opt,
			struct netlink_ext_ack *extack)
{
	struct estmred_sched_data *q = qdisc_priv(sch);
	struct mf_estmred_options options;
	int err = 0;

	mf_sch_init(&q->common, sch);
	mf_sch_initial(&estmred_table, q->values.of);
	if (opt)
		err = estmred_parse(opt, &q->values, extack) ?: estmred_check(&q->values, extack);
	if (err)
		return err;
	q->common.split = q->values.of[TCA_ESTMRED_SPLIT];
	q->epoch_ns = ktime_get_ns();
	estmred_options(&q->values, &options);
	return mf_estmred_init(&q->core, &options, estmred_discard);
}

static void estmred_reset(struct Qdisc *sch)
{
	struct estmred_sched_data *q = qdisc_priv(sch);
	const struct mf_packet *packet;

	while ((packet = mf_estmred_dequeue(&q->core, ktime_get_ns() - q->epoch_ns)))
		rtnl_kfree_skbs(packet->handle, packet->handle);
	mf_estmred_reset(&q->core);
	q->epoch_ns = ktime_get_ns();
	q->common.pushed_out = 0;
	q->early = 0;
	q->pdrop = 0;
	q->other = 0;
	sch->q.qlen = 0;
	sch->qstats.backlog = 0;
}

static void estmred_destroy(struct Qdisc *sch)
{
	struct estmred_sched_data *q = qdisc_priv(sch);

	mf_estmred_free(&q->core);
	mf_sch_free(&q->common);
}

static int estmred_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct estmred_sched_data *q = qdisc_priv(sch);

	return mf_sch_dump(&estmred_table, skb, q->values.of);
}

static int estmred_dump_stats(struct Qdisc *sch, struct gnet_dump *dump)
{
	struct estmred_sched_data *q = qdisc_priv(sch);
	struct mf_sampler *sampler = q->core.sampler;
	struct tc_estmred_xstats stats;

	sch_tree_lock(sch);
	stats = (struct tc_estmred_xstats){
		.marked = q->core.queue.stats.marked.pkts,
		.early = q->early,
		.pdrop = q->pdrop,
		.other = q->other,
		.average = q->core.red.average,
	};
	if (sampler) {
		/* Intervals without a packet have ended too. */
		mf_sampler_advance(sampler, ktime_get_ns() - q->epoch_ns,
				   mf_queue_bytes(&q->core.queue));
		stats.estimates = sampler->estimates;
		stats.estm = sampler->last.share;
		stats.flows = sampler->last.flows;
		stats.doubt = sampler->last.doubt;
		stats.tail = sampler->is_tail;
	}
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(dump, &stats, sizeof(stats));
}

static struct Qdisc_ops estmred_qdisc_ops __read_mostly = {
	.id = "estmred",
	.priv_size = sizeof(struct estmred_sched_data),
	.enqueue = estmred_enqueue,
	.dequeue = estmred_dequeue,
	.peek = estmred_peek,
	.init = estmred_init,
	.reset = estmred_reset,
	.destroy = estmred_destroy,
	.change = estmred_change,
	.dump = estmred_dump,
	.dump_stats = estmred_dump_stats,
	.owner = THIS_MODULE,
};

static int __init estmred_module_init(void)
{
	BUILD_BUG_ON(MF_ESTMRED_SHARE != MF_FX_ONE);
	BUILD_BUG_ON((int)MF_METHODS != (int)__TC_ESTMRED_METHOD_MAX);
	BUILD_BUG_ON((int)MF_DOUBTS != (int)__TC_ESTMRED_DOUBT_MAX);
	return register_qdisc(&estmred_qdisc_ops);
}

static void __exit estmred_module_exit(void)
{
	unregister_qdisc(&estmred_qdisc_ops);
}

module_init(estmred_module_init)
module_exit(estmred_module_exit)
MODULE_ALIAS("sch_estmred");
MODULE_ALIAS("net-sch-estmred"); /* what kernels since 6.8 ask for */
MODULE_DESCRIPTION("RED that estimates what does not respond to drops");
MODULE_LICENSE("GPL");
