// SPDX-License-Identifier: GPL-2.0
/*
 * LAS, least attained service: the flow that has sent least goes first, and the
 * packet whose flow has sent most is dropped first. LASACK counts both
 * directions of a connection, LARS lets what was moved fade.
 *
 * Cost per packet: O(log n) of the packets that wait.
 * Source: Rai 2003, sections 2 and 6; core/las.h decides.
 */

/**
 * DOC: sch_las
 *
 * Least attained service, the [discipline `las`](../disciplines/las.md) and its relatives [`lasack`](../disciplines/lasack.md)
 * (`count acked`) and [`lars`](../disciplines/lars.md) (`half_life`): the packet whose flow has moved least goes first, and the packet whose
 * flow has moved most is dropped first.
 *
 * ```sh
 * tc qdisc add dev eth0 root las limit 100
 * tc qdisc change dev eth0 root las half_life 1s count acked
 * tc -s qdisc show dev eth0
 * ```
 *
 * {options}
 *
 * | in the simulator | in the kernel |
 * |---|---|
 * | `las` | `las` |
 * | `lasack` | `las count acked` |
 * | `lars` | `las half_life 1s` |
 * | `lars(count=acknowledged)` | `las half_life 1s count acked` |
 *
 * `tc -s qdisc show` adds:
 *
 * | statistic | meaning |
 * |---|---|
 * | `flows`, `max` | flows known now, and most at any time |
 * | `evicted` | flows forgotten before their time, because the table was full |
 * | `pushed_out` | packets that waited and had to make room; in `dropped` too |
 *
 * The table of flows is bounded, which that of the simulator is not: where it is full, the flow that was idle longest gives way, and starts at
 * nothing when it comes back; one whose last packet was pushed out is idle from then on. A flow with a packet waiting never goes. A sender that opens
 * flow after flow therefore makes long flows look new after `flows` of them; `evicted` shows it. An entry takes 64 bytes.
 *
 * What a packet costs does not grow with the flows: one is forgotten in constant time, whatever waits; flows that were idle for too long are unknown at
 * once and leave the table eight with a packet, so that `flows` may count some of them for a while; what fades is halved when it is next looked at.
 *
 * `change` works with packets waiting: those that exceed a lower limit are dropped, the ones of largest stamp. Another `count` or `half_life`
 * begins anew: all flows are forgotten, and what waits is counted again in the order it would have left.
 *
 * Twenty transfers of 40 kB, one a second, beside one that never ends (10 Mbit/s, round trip 20 ms, limit 100, CUBIC, Linux 6.1) take 73.9 to
 * 75.0 ms under `las`, `las count acked` and `las half_life 1s`; under `fq_codel` 96 to 98, under `pfifo` 317 to 1,051.
 */

#include <linux/module.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/netlink.h>

#include "core/las.h"
#include "sch_common.h"
#include "uapi/pkt_sch_mayfly.h"

/* What the options are: one value for each attribute. */
struct las_values {
	u64 of[TCA_LAS_MAX + 1];
};

struct las_sched_data {
	struct mf_sch common;
	struct mf_las core;
	struct las_values values;
};

static void las_discard(struct mf_queue *queue, const struct mf_packet *victim,
			enum mf_fate reason)
{
	struct las_sched_data *q =
		container_of(queue, struct las_sched_data, core.queue);

	mf_sch_victim(&q->common, victim);
}

static enum mf_fate las_take(struct Qdisc *sch, struct mf_packet *packet,
			     u64 now_ns)
{
	struct las_sched_data *q = qdisc_priv(sch);

	return mf_las_enqueue(&q->core, packet, now_ns);
}

static int las_enqueue(struct sk_buff *skb, struct Qdisc *sch,
		       struct sk_buff **to_free)
{
	struct las_sched_data *q = qdisc_priv(sch);

	return mf_sch_enqueue(&q->common, skb, to_free, true, las_take);
}

static struct sk_buff *las_dequeue(struct Qdisc *sch)
{
	struct las_sched_data *q = qdisc_priv(sch);
	const struct mf_packet *packet = mf_las_dequeue(&q->core, ktime_get_ns());

	return packet ? mf_sch_depart(&q->common, packet) : NULL;
}

static struct sk_buff *las_peek(struct Qdisc *sch)
{
	const struct las_sched_data *q = qdisc_priv(sch);
	const struct mf_packet *packet = mf_las_peek(&q->core);

	return packet ? packet->handle : NULL;
}

static const struct nla_policy las_policy[TCA_LAS_MAX + 1] = {
	MF_LAS_OPTIONS(MF_SCH_POLICY, MF_SCH_POLICY)
};

static const struct mf_option las_rows[TCA_LAS_MAX + 1] = {
	MF_LAS_OPTIONS(MF_SCH_OPTION, MF_SCH_OPTION)
};

static const struct mf_options las_table = {
	.policy = las_policy,
	.options = las_rows,
	.max = TCA_LAS_MAX,
	.pad = TCA_LAS_PAD,
};

static int las_check_half_life(struct nlattr *attribute, u64 half_life_ns,
			       struct netlink_ext_ack *extack)
{
	if (!half_life_ns || (half_life_ns >= MF_TIME_MIN &&
			      half_life_ns <= MF_TIME_MAX))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attribute,
			    "las: half_life: 1 ms to 1000000 s, or 0 for never");
	return -ERANGE;
}

/* Puts what @opt says in place of what is in @values. */
static int las_parse(struct nlattr *opt, struct las_values *values,
		     struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_LAS_MAX + 1];
	int err = mf_sch_parse(&las_table, tb, opt, values->of, extack);

	if (!err)
		err = mf_sch_one_limit(tb, TCA_LAS_LIMIT, values->of, extack);
	if (!err && tb[TCA_LAS_HALF_LIFE])
		err = las_check_half_life(tb[TCA_LAS_HALF_LIFE],
					  values->of[TCA_LAS_HALF_LIFE], extack);
	return err;
}

static struct mf_las_options las_options(const struct las_values *values)
{
	const u64 *of = values->of;

	return (struct mf_las_options){
		MF_LAS_OPTIONS(MF_SCH_FIELD, MF_SCH_NO_FIELD)
		.limit = of[TCA_LAS_LIMIT] ?: of[TCA_LAS_LIMIT_BYTES],
		.limit_in_bytes = of[TCA_LAS_LIMIT_BYTES],
		/* What fades counts no bytes that may be long ago: see volume.h. */
		.measure = of[TCA_LAS_COUNT] == TC_LAS_BYTES ? MF_BYTES :
			   of[TCA_LAS_HALF_LIFE] ? MF_ADVANCE : MF_WHOLE,
	};
}

/* A table of connections where @options need one and there is none. */
static int las_connections(const struct las_sched_data *q,
			   const struct mf_las_options *options,
			   struct mf_connections *connections)
{
	*connections = (struct mf_connections){ 0 };
	if (options->measure == MF_BYTES || q->common.connections.entries)
		return 0;
	return mf_sch_connections(connections,
				  mf_limit_pkts(options->limit,
						options->limit_in_bytes));
}

static int las_change(struct Qdisc *sch, struct nlattr *opt,
		      struct netlink_ext_ack *extack)
{
	struct las_sched_data *q = qdisc_priv(sch);
	struct las_values values = q->values;
	struct mf_las_options options;
	struct mf_connections connections;
	struct mf_las_spare spare;
	int err;

	if (!opt)
		return 0;
	err = las_parse(opt, &values, extack);
	if (err)
		return err;
	options = las_options(&values);
	err = las_connections(q, &options, &connections);
	if (err)
		return err;
	err = mf_las_spare_init(&spare, &q->core, &options);
	if (err) {
		mf_connections_free(&connections);
		return err;
	}
	sch_tree_lock(sch);
	mf_las_change(&q->core, &options, &spare, ktime_get_ns());
	/* Without a use for it the table goes: connections age meanwhile. */
	if (options.measure == MF_BYTES || connections.entries)
		swap(q->common.connections, connections);
	q->values = values;
	q->common.split = values.of[TCA_LAS_SPLIT];
	mf_sch_settle(&q->common);
	sch_tree_unlock(sch);
	mf_connections_free(&connections);
	mf_las_spare_free(&spare);
	return 0;
}

static int las_init(struct Qdisc *sch, struct nlattr *opt,
		    struct netlink_ext_ack *extack)
{
	struct las_sched_data *q = qdisc_priv(sch);
	struct mf_las_options options;
	int err = 0;

	mf_sch_init(&q->common, sch);
	mf_sch_initial(&las_table, q->values.of);
	if (opt)
		err = las_parse(opt, &q->values, extack);
	if (err)
		return err;
	q->common.split = q->values.of[TCA_LAS_SPLIT];
	options = las_options(&q->values);
	err = las_connections(q, &options, &q->common.connections);
	if (err)
		return err;
	return mf_las_init(&q->core, &options, las_discard, get_random_u32());
}

static void las_reset(struct Qdisc *sch)
{
	struct las_sched_data *q = qdisc_priv(sch);
	const struct mf_packet *packet;

	while ((packet = mf_las_dequeue(&q->core, 0)))
		rtnl_kfree_skbs(packet->handle, packet->handle);
	mf_las_reset(&q->core);
	mf_connections_reset(&q->common.connections);
	q->common.pushed_out = 0;
	sch->q.qlen = 0;
	sch->qstats.backlog = 0;
}

static void las_destroy(struct Qdisc *sch)
{
	struct las_sched_data *q = qdisc_priv(sch);

	mf_las_free(&q->core);
	mf_sch_free(&q->common);
}

static int las_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct las_sched_data *q = qdisc_priv(sch);

	return mf_sch_dump(&las_table, skb, q->values.of);
}

static int las_dump_stats(struct Qdisc *sch, struct gnet_dump *dump)
{
	const struct las_sched_data *q = qdisc_priv(sch);
	struct tc_las_xstats stats;

	sch_tree_lock(sch);
	stats = (struct tc_las_xstats){
		.pushed_out = q->common.pushed_out,
		.evicted = q->core.attained.evicted,
		.flows = q->core.attained.flows.len,
		.flows_max = q->core.attained.flows.most,
	};
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(dump, &stats, sizeof(stats));
}

static struct Qdisc_ops las_qdisc_ops __read_mostly = {
	.id = "las",
	.priv_size = sizeof(struct las_sched_data),
	.enqueue = las_enqueue,
	.dequeue = las_dequeue,
	.peek = las_peek,
	.init = las_init,
	.reset = las_reset,
	.destroy = las_destroy,
	.change = las_change,
	.dump = las_dump,
	.dump_stats = las_dump_stats,
	.owner = THIS_MODULE,
};

static int __init las_module_init(void)
{
	return register_qdisc(&las_qdisc_ops);
}

static void __exit las_module_exit(void)
{
	unregister_qdisc(&las_qdisc_ops);
}

module_init(las_module_init)
module_exit(las_module_exit)
MODULE_ALIAS("sch_las");
MODULE_ALIAS("net-sch-las"); /* what kernels since 6.8 ask for */
MODULE_DESCRIPTION("Least attained service");
MODULE_LICENSE("GPL");
