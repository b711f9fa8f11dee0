// SPDX-License-Identifier: GPL-2.0
/*
 * Run2C: the first bytes of every flow go before everything else. Run2CACK
 * counts both directions of a connection.
 *
 * Cost per packet: O(1).
 * Source: Avrachenkov et al. 2004; Chen 2012, 6.4; core/run2c.h decides.
 */

/**
 * DOC: sch_run2c
 *
 * Run2C, the [discipline `run2c`](../disciplines/run2c.md) and its relative [`run2cack`](../disciplines/run2cack.md) (`count acked`): two
 * classes with strict priority; the first bytes of every flow are high.
 *
 * ```sh
 * tc qdisc add dev eth0 root run2c limit 100 threshold 30kb
 * tc qdisc change dev eth0 root run2c count acked
 * tc -s qdisc show dev eth0
 * ```
 *
 * {options}
 *
 * With `count bytes` TCP data tells by its sequence number how much came before it, bare acknowledgements are high, and only other packets are
 * counted. Where the connection was open before the queue was made, or was idle for 300 s, the first number seen counts as the beginning.
 *
 * `tc -s qdisc show` adds:
 *
 * | statistic | meaning |
 * |---|---|
 * | `high`, `low` | packets that wait in each class |
 * | `flows`, `max` | flows counted now, and most at any time |
 * | `evicted` | flows forgotten before their time, because the table was full |
 * | `pushed_out` | packets that waited and had to make room; in `dropped` too |
 *
 * `change` works with packets waiting: those that exceed a lower limit are dropped, the last low ones first; the others keep their class.
 * Another `count` forgets all flows and counts what waits again.
 *
 * **The threshold is one of whole flows.** Twenty transfers of 40 kB, one a second, beside one that never ends (10 Mbit/s, round trip 20 ms, limit
 * 100, CUBIC, Linux 6.1) take 73.9 to 75.0 ms with `threshold 60kb`, and 161 to 566 ms with the default of 30,000 bytes: their last packets wait
 * behind the bulk transfer, and are the first to be dropped. Under `fq_codel` they take 96 to 98 ms, under `pfifo` 317 to 1,051.
 */

#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/netlink.h>

#include "core/run2c.h"
#include "sch_common.h"
#include "uapi/pkt_sch_mayfly.h"

/* What the options are: one value for each attribute. */
struct run2c_values {
	u64 of[TCA_RUN2C_MAX + 1];
};

struct run2c_sched_data {
	struct mf_sch common;
	struct mf_run2c core;
	struct run2c_values values;
};

static void run2c_discard(struct mf_queue *queue, const struct mf_packet *victim,
			  enum mf_fate reason)
{
	struct run2c_sched_data *q =
		container_of(queue, struct run2c_sched_data, core.queue);

	mf_sch_victim(&q->common, victim);
}

static enum mf_fate run2c_take(struct Qdisc *sch, struct mf_packet *packet,
			       u64 now_ns)
{
	struct run2c_sched_data *q = qdisc_priv(sch);

	return mf_run2c_enqueue(&q->core, packet, now_ns);
}

static int run2c_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			 struct sk_buff **to_free)
{
	struct run2c_sched_data *q = qdisc_priv(sch);

	return mf_sch_enqueue(&q->common, skb, to_free, true, run2c_take);
}

static struct sk_buff *run2c_dequeue(struct Qdisc *sch)
{
	struct run2c_sched_data *q = qdisc_priv(sch);
	const struct mf_packet *packet = mf_run2c_dequeue(&q->core, ktime_get_ns());

	return packet ? mf_sch_depart(&q->common, packet) : NULL;
}

static struct sk_buff *run2c_peek(struct Qdisc *sch)
{
	const struct run2c_sched_data *q = qdisc_priv(sch);
	const struct mf_packet *packet = mf_run2c_peek(&q->core);

	return packet ? packet->handle : NULL;
}

static const struct nla_policy run2c_policy[TCA_RUN2C_MAX + 1] = {
	MF_RUN2C_OPTIONS(MF_SCH_POLICY, MF_SCH_POLICY)
};

static const struct mf_option run2c_rows[TCA_RUN2C_MAX + 1] = {
	MF_RUN2C_OPTIONS(MF_SCH_OPTION, MF_SCH_OPTION)
};

static const struct mf_options run2c_table = {
	.policy = run2c_policy,
	.options = run2c_rows,
	.max = TCA_RUN2C_MAX,
	.pad = TCA_RUN2C_PAD,
};

/* Puts what @opt says in place of what is in @values. */
static int run2c_parse(struct nlattr *opt, struct run2c_values *values,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_RUN2C_MAX + 1];
	int err = mf_sch_parse(&run2c_table, tb, opt, values->of, extack);

	if (!err)
		err = mf_sch_one_limit(tb, TCA_RUN2C_LIMIT, values->of, extack);
	return err;
}

static struct mf_run2c_options run2c_options(const struct run2c_values *values)
{
	const u64 *of = values->of;

	return (struct mf_run2c_options){
		MF_RUN2C_OPTIONS(MF_SCH_FIELD, MF_SCH_NO_FIELD)
		.limit = of[TCA_RUN2C_LIMIT] ?: of[TCA_RUN2C_LIMIT_BYTES],
		.limit_in_bytes = of[TCA_RUN2C_LIMIT_BYTES],
		.both = of[TCA_RUN2C_COUNT] == TC_LAS_ACKED,
	};
}

static int run2c_change(struct Qdisc *sch, struct nlattr *opt,
			struct netlink_ext_ack *extack)
{
	struct run2c_sched_data *q = qdisc_priv(sch);
	struct run2c_values values = q->values;
	struct mf_run2c_options options;
	struct mf_run2c_spare spare;
	int err;

	if (!opt)
		return 0;
	err = run2c_parse(opt, &values, extack);
	if (err)
		return err;
	options = run2c_options(&values);
	err = mf_run2c_spare_init(&spare, &q->core, &options);
	if (err)
		return err;
	sch_tree_lock(sch);
	mf_run2c_change(&q->core, &options, &spare, ktime_get_ns());
	q->values = values;
	q->common.split = values.of[TCA_RUN2C_SPLIT];
	mf_sch_settle(&q->common);
	sch_tree_unlock(sch);
	mf_run2c_spare_free(&spare);
	return 0;
}

static int run2c_init(struct Qdisc *sch, struct nlattr *opt,
		      struct netlink_ext_ack *extack)
{
	struct run2c_sched_data *q = qdisc_priv(sch);
	struct mf_run2c_options options;
	int err = 0;

	mf_sch_init(&q->common, sch);
	mf_sch_initial(&run2c_table, q->values.of);
	if (opt)
		err = run2c_parse(opt, &q->values, extack);
	if (err)
		return err;
	q->common.split = q->values.of[TCA_RUN2C_SPLIT];
	options = run2c_options(&q->values);
	/* Data tells its class by its progress, whatever is counted. */
	err = mf_sch_connections(&q->common.connections,
				 mf_limit_pkts(options.limit,
					       options.limit_in_bytes));
	if (err)
		return err;
	return mf_run2c_init(&q->core, &options, run2c_discard);
}

static void run2c_reset(struct Qdisc *sch)
{
	struct run2c_sched_data *q = qdisc_priv(sch);
	const struct mf_packet *packet;

	while ((packet = mf_run2c_dequeue(&q->core, 0)))
		rtnl_kfree_skbs(packet->handle, packet->handle);
	mf_run2c_reset(&q->core);
	mf_connections_reset(&q->common.connections);
	q->common.pushed_out = 0;
	sch->q.qlen = 0;
	sch->qstats.backlog = 0;
}

static void run2c_destroy(struct Qdisc *sch)
{
	struct run2c_sched_data *q = qdisc_priv(sch);

	mf_run2c_free(&q->core);
	mf_sch_free(&q->common);
}

static int run2c_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct run2c_sched_data *q = qdisc_priv(sch);

	return mf_sch_dump(&run2c_table, skb, q->values.of);
}

static int run2c_dump_stats(struct Qdisc *sch, struct gnet_dump *dump)
{
	const struct run2c_sched_data *q = qdisc_priv(sch);
	struct tc_run2c_xstats stats;

	sch_tree_lock(sch);
	stats = (struct tc_run2c_xstats){
		.pushed_out = q->common.pushed_out,
		.evicted = q->core.attained.evicted,
		.flows = q->core.attained.flows.len,
		.flows_max = q->core.attained.flows.most,
		.high_pkts = q->core.classes.high.len,
		.low_pkts = q->core.classes.low.len,
	};
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(dump, &stats, sizeof(stats));
}

static struct Qdisc_ops run2c_qdisc_ops __read_mostly = {
	.id = "run2c",
	.priv_size = sizeof(struct run2c_sched_data),
	.enqueue = run2c_enqueue,
	.dequeue = run2c_dequeue,
	.peek = run2c_peek,
	.init = run2c_init,
	.reset = run2c_reset,
	.destroy = run2c_destroy,
	.change = run2c_change,
	.dump = run2c_dump,
	.dump_stats = run2c_dump_stats,
	.owner = THIS_MODULE,
};

static int __init run2c_module_init(void)
{
	return register_qdisc(&run2c_qdisc_ops);
}

static void __exit run2c_module_exit(void)
{
	unregister_qdisc(&run2c_qdisc_ops);
}

module_init(run2c_module_init)
module_exit(run2c_module_exit)
MODULE_ALIAS("sch_run2c");
MODULE_ALIAS("net-sch-run2c"); /* what kernels since 6.8 ask for */
MODULE_DESCRIPTION("Run2C: the first bytes of every flow go first");
MODULE_LICENSE("GPL");
