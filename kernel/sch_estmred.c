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
 * | option | meaning | default |
 * |---|---|---|
 * | `limit 60`, `60p`, `60000b` | most that waits, packets or bytes | `60000b` |
 * | `min`, `max` | thresholds of the average queue, both in packets or both in bytes | a quarter and three quarters of the limit, in bytes |
 * | `avpkt 1000b` | length of a typical packet | `1000b` |
 * | `bandwidth 10mbit` | of the link | measured from 256 gaps between departures |
 * | `rtt 100ms`, `delay 50ms` | of the flows without queueing, there and back or one way | `100ms` |
 * | `estimate on`, `off` | the estimator; off: RED alone | `on` |
 * | `method NAME` | one of the [methods](../estimate/methods.md) | `default` |
 * | `above SHARE`, `below SHARE` | estimates above and below which it moves to drop-tail and back | 1: never; 0.1 less than `above` |
 * | `probability`, `weight`, `gentle`, `spacing`, `ecn`, `mark_max` | of RED: `max_p`, `weight` and the like there | 0.1, 0.002, `on`, `uniform`, `off`, 1 |
 * | `sampling`, `per_estimate`, `start`, `ticks` | intervals of the estimator, from 10 us, and its clock | a third of `rtt`, 20, 0, 1000 |
 * | `queue_filter`, `drop_filter`, `smoothing` | forgetting factors | 0.4, 0.6, 0 |
 * | `gamma_1`, `gamma_2`, `zero_intervals`, `start_share`, `per_ack`, `queued_rtt` | gains, PZTHD, start, b, R_0 | 5, 0.45, 3, 0.5, 1, by the mean queue |
 * | `split`, `nosplit` | super-packets into packets of the wire | `split` |
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

#define ESTMRED_SHARE MF_FX_ONE		/* 1 times 2^14 */
#define ESTMRED_OLD_MAX 16368		/* 0.999 */
#define ESTMRED_LONGEST_NS (100ULL * NSEC_PER_SEC)
/* An estimator's step takes some 0.2 us: at most a fiftieth of the time. */
#define ESTMRED_SHORTEST_NS (10ULL * NSEC_PER_USEC)
#define ESTMRED_SAMPLING_SAYS "estmred: sampling: 10 us to 100 s, or 0 for a third of rtt"

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

static const struct mf_bound estmred_bounds[TCA_ESTMRED_MAX + 1] = {
	[TCA_ESTMRED_LIMIT_BYTES] = { 0, 1, "estmred: limit: in packets or in bytes" },
	[TCA_ESTMRED_LIMIT] = { 1, U32_MAX,
		"estmred: limit: 1 to 1048576 packets or 4294967295 bytes" },
	[TCA_ESTMRED_BYTES] = { 0, 1, "estmred: min, max: in packets or in bytes" },
	[TCA_ESTMRED_MIN] = { 0, U32_MAX, "estmred: min: at most 4294967295" },
	[TCA_ESTMRED_MAX_TH] = { 0, U32_MAX, "estmred: max: at most 4294967295" },
	[TCA_ESTMRED_AVPKT] = { 1, MF_RED_MEAN_PACKET_MAX,
		"estmred: avpkt: 1 to 1000000000 bytes" },
	[TCA_ESTMRED_PROBABILITY] = { 1, MF_RED_ONE, "estmred: probability: above 0, at most 1" },
	[TCA_ESTMRED_WEIGHT] = { 1, MF_RED_ONE, "estmred: weight: above 0, at most 1" },
	[TCA_ESTMRED_GENTLE] = { 0, 1, "estmred: gentle: on or off" },
	[TCA_ESTMRED_WAIT] = { 0, 1, "estmred: spacing: uniform or wait" },
	[TCA_ESTMRED_ECN] = { 0, 1, "estmred: ecn: on or off" },
	[TCA_ESTMRED_MARK_MAX] = { 0, MF_RED_ONE, "estmred: mark_max: 0 to 1" },
	[TCA_ESTMRED_SPLIT] = { 0, 1, "estmred: split: 0 or 1" },
	[TCA_ESTMRED_ESTIMATE] = { 0, 1, "estmred: estimate: on or off" },
	[TCA_ESTMRED_METHOD] = { 0, __TC_ESTMRED_METHOD_MAX - 1, "estmred: method: one of seven" },
	[TCA_ESTMRED_RATE] = { 0, 50000000000ULL, "estmred: bandwidth: at most 400 Gbit/s" },
	[TCA_ESTMRED_RTT] = { 100000, 60ULL * NSEC_PER_SEC, "estmred: rtt: 0.1 ms to 60 s" },
	[TCA_ESTMRED_QUEUED_RTT] = { 0, ESTMRED_LONGEST_NS, "estmred: queued_rtt: at most 100 s" },
	[TCA_ESTMRED_SAMPLING] = { 0, ESTMRED_LONGEST_NS, ESTMRED_SAMPLING_SAYS },
	[TCA_ESTMRED_PER_ESTIMATE] = { 1, 1000000, "estmred: per_estimate: 1 to 1000000" },
	[TCA_ESTMRED_START] = { 0, NSEC_PER_SEC * 1000000000ULL,
		"estmred: start: at most 1000000000 s" },
	[TCA_ESTMRED_TICKS] = { 1, 1000000, "estmred: ticks: 1 to 1000000 a second" },
	[TCA_ESTMRED_QUEUE_FILTER] = { 0, ESTMRED_OLD_MAX, "estmred: queue_filter: 0 to 0.999" },
	[TCA_ESTMRED_DROP_FILTER] = { 0, ESTMRED_OLD_MAX, "estmred: drop_filter: 0 to 0.999" },
	[TCA_ESTMRED_SMOOTHING] = { 0, ESTMRED_OLD_MAX, "estmred: smoothing: 0 to 0.999" },
	[TCA_ESTMRED_GAMMA_1] = { 0, 1000000 * ESTMRED_SHARE, "estmred: gamma_1: 0 to 1000000" },
	[TCA_ESTMRED_GAMMA_2] = { 2, 2 * ESTMRED_SHARE - 1, "estmred: gamma_2: 0.0002 to 1.999" },
	[TCA_ESTMRED_START_SHARE] = { 0, 16220, "estmred: start_share: 0 to 0.99" },
	[TCA_ESTMRED_PER_ACK] = { ESTMRED_SHARE, 16 * ESTMRED_SHARE, "estmred: per_ack: 1 to 16" },
	[TCA_ESTMRED_ABOVE] = { 0, ESTMRED_SHARE, "estmred: above: 0 to 1" },
	[TCA_ESTMRED_BELOW] = { 0, ESTMRED_SHARE, "estmred: below: 0 to 1" },
	[TCA_ESTMRED_ZERO_INTERVALS] = { 1, 1000000, "estmred: zero_intervals: 1 to 1000000" },
};

/* As in Zhao 2004, Fig. 19, and crates/estimator. */
static const u64 estmred_initial[TCA_ESTMRED_MAX + 1] = {
	[TCA_ESTMRED_LIMIT_BYTES] = 1,
	[TCA_ESTMRED_LIMIT] = 60000,
	[TCA_ESTMRED_BYTES] = 1,
	[TCA_ESTMRED_AVPKT] = 1000,
	[TCA_ESTMRED_PROBABILITY] = MF_RED_ONE / 10,
	[TCA_ESTMRED_WEIGHT] = MF_RED_ONE / 500,
	[TCA_ESTMRED_GENTLE] = 1,
	[TCA_ESTMRED_MARK_MAX] = MF_RED_ONE,
	[TCA_ESTMRED_SPLIT] = 1,
	[TCA_ESTMRED_ESTIMATE] = 1,
	[TCA_ESTMRED_METHOD] = TC_ESTMRED_DEFAULT,
	[TCA_ESTMRED_RTT] = NSEC_PER_SEC / 10,
	[TCA_ESTMRED_PER_ESTIMATE] = 20,
	[TCA_ESTMRED_TICKS] = 1000,
	[TCA_ESTMRED_QUEUE_FILTER] = 6554,
	[TCA_ESTMRED_DROP_FILTER] = 9830,
	[TCA_ESTMRED_GAMMA_1] = 5 * ESTMRED_SHARE,
	[TCA_ESTMRED_GAMMA_2] = 7373,
	[TCA_ESTMRED_START_SHARE] = ESTMRED_SHARE / 2,
	[TCA_ESTMRED_PER_ACK] = ESTMRED_SHARE,
	[TCA_ESTMRED_ABOVE] = ESTMRED_SHARE,
	[TCA_ESTMRED_ZERO_INTERVALS] = 3,
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
	struct nla_policy policy[TCA_ESTMRED_MAX + 1] = { };
	struct nlattr *tb[TCA_ESTMRED_MAX + 1];
	u64 value;
	int err, i;

	for (i = TCA_ESTMRED_LIMIT_BYTES; i <= TCA_ESTMRED_MAX; i++)
		policy[i].type = NLA_U64;
	err = nla_parse_nested(tb, TCA_ESTMRED_MAX, opt, policy, extack);
	if (!err)
		err = mf_sch_check(tb, TCA_ESTMRED_MAX, estmred_bounds, extack);
	if (err)
		return err;
	for (i = TCA_ESTMRED_LIMIT_BYTES; i <= TCA_ESTMRED_MAX; i++) {
		if (!tb[i])
			continue;
		value = nla_get_u64(tb[i]);
		/* Thresholds in another unit are others. */
		if (i == TCA_ESTMRED_BYTES && value != values->of[i]) {
			values->of[TCA_ESTMRED_MIN] = 0;
			values->of[TCA_ESTMRED_MAX_TH] = 0;
		}
		values->of[i] = value;
	}
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
	if (of[TCA_ESTMRED_SAMPLING] && of[TCA_ESTMRED_SAMPLING] < ESTMRED_SHORTEST_NS) {
		NL_SET_ERR_MSG(extack, ESTMRED_SAMPLING_SAYS);
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

static void estmred_red(const u64 *of, struct mf_red_options *red)
{
	*red = (struct mf_red_options){
		.min_th = of[TCA_ESTMRED_MIN] << MF_RED_AVERAGE_BITS,
		.max_th = of[TCA_ESTMRED_MAX_TH] << MF_RED_AVERAGE_BITS,
		.in_bytes = of[TCA_ESTMRED_BYTES],
		.gentle = of[TCA_ESTMRED_GENTLE],
		.wait = of[TCA_ESTMRED_WAIT],
		.ecn = of[TCA_ESTMRED_ECN],
		.max_p = of[TCA_ESTMRED_PROBABILITY],
		.mark_max = of[TCA_ESTMRED_MARK_MAX],
		.weight = of[TCA_ESTMRED_WEIGHT],
		.mean_packet = of[TCA_ESTMRED_AVPKT],
		.seed = get_random_u64(),
	};
	/* With a bandwidth the time of idle packets is known from the start. */
	if (of[TCA_ESTMRED_RATE])
		red->transmission_ns = div64_u64(of[TCA_ESTMRED_AVPKT] * NSEC_PER_SEC,
						 of[TCA_ESTMRED_RATE]) ?: 1;
}

static void estmred_options(const struct estmred_values *values,
			    struct mf_estmred_options *options)
{
	const u64 *of = values->of;

	*options = (struct mf_estmred_options){
		.limit = of[TCA_ESTMRED_LIMIT],
		.limit_in_bytes = of[TCA_ESTMRED_LIMIT_BYTES],
		.estimate = of[TCA_ESTMRED_ESTIMATE],
		.sampler = {
			.method = of[TCA_ESTMRED_METHOD],
			.rate_bytes = of[TCA_ESTMRED_RATE],
			.mean_packet = of[TCA_ESTMRED_AVPKT],
			.sampling_ns = of[TCA_ESTMRED_SAMPLING] ?:
				       div64_u64(of[TCA_ESTMRED_RTT] + 1, 3),
			.start_ns = of[TCA_ESTMRED_START],
			.ticks = of[TCA_ESTMRED_TICKS],
			.above = of[TCA_ESTMRED_ABOVE],
			.below = of[TCA_ESTMRED_BELOW],
			.settings = {
				.propagation = estmred_seconds(of[TCA_ESTMRED_RTT]),
				.rtt = estmred_seconds(of[TCA_ESTMRED_QUEUED_RTT]),
				.per_estimate = of[TCA_ESTMRED_PER_ESTIMATE],
				.queue_filter = of[TCA_ESTMRED_QUEUE_FILTER],
				.drop_filter = of[TCA_ESTMRED_DROP_FILTER],
				.gamma_1 = of[TCA_ESTMRED_GAMMA_1],
				.gamma_2 = of[TCA_ESTMRED_GAMMA_2],
				.zero_intervals = of[TCA_ESTMRED_ZERO_INTERVALS],
				.smoothing = of[TCA_ESTMRED_SMOOTHING],
				.start_share = of[TCA_ESTMRED_START_SHARE],
				.per_ack = of[TCA_ESTMRED_PER_ACK],
			},
		},
	};
	/* Without a lower bound it is a tenth below the upper one. */
	if (!of[TCA_ESTMRED_BELOW] && of[TCA_ESTMRED_ABOVE] > ESTMRED_SHARE / 10)
		options->sampler.below = of[TCA_ESTMRED_ABOVE] - ESTMRED_SHARE / 10;
	estmred_red(of, &options->red);
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
	int err = 0, i;

	mf_sch_init(&q->common, sch);
	for (i = 0; i <= TCA_ESTMRED_MAX; i++)
		q->values.of[i] = estmred_initial[i];
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
	struct nlattr *nest = nla_nest_start_noflag(skb, TCA_OPTIONS);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = TCA_ESTMRED_LIMIT_BYTES; i <= TCA_ESTMRED_MAX; i++) {
		if (nla_put_u64_64bit(skb, i, q->values.of[i], TCA_ESTMRED_PAD)) {
			nla_nest_cancel(skb, nest);
			return -EMSGSIZE;
		}
	}
	return nla_nest_end(skb, nest);
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
