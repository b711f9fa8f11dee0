// SPDX-License-Identifier: GPL-2.0
/*
 * EFD, early flow discard: two classes with strict priority. A flow is known
 * only while a packet of it waits; of that fragment what is below a threshold,
 * in bytes, packets or bytes acknowledged, is high. When the buffer is full the
 * last low packet goes.
 *
 * Cost per packet: O(1); O(log n) where a class is sorted.
 * Source: Chen 2012, Algorithm 3; core/efd.h decides.
 */

/**
 * DOC: sch_efd
 *
 * Early flow discard, the [discipline `efd`](../disciplines/efd.md) and its relatives [`pefd`](../disciplines/pefd.md) (`count packets`) and
 * [`efdack`](../disciplines/efdack.md) (`count acked`).
 *
 * ```sh
 * tc qdisc add dev eth0 root efd limit 100
 * tc qdisc change dev eth0 root efd count packets threshold 20p high las
 * tc -s qdisc show dev eth0
 * ```
 *
 * {options}
 *
 * A sub-flow is what is known of a flow while a packet of it waits. `tc -s qdisc show` adds:
 *
 * | statistic | meaning |
 * |---|---|
 * | `high`, `low` | packets that wait in each class |
 * | `flows`, `max` | sub-flows now, and most at any time |
 * | `fragments` | sub-flows begun so far |
 * | `pushed_out` | packets that waited and had to make room; in `dropped` too |
 * | `bypassed` | packets that found the table of `flows` full |
 *
 * `change` works with packets waiting: those that exceed a lower limit are dropped, the ones of lowest priority; the others keep their class.
 * `sch_efd` is a leaf for any classful parent: an uplink is shaped by `htb` with `efd` below it.
 */

#include <linux/module.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/netlink.h>

#include "core/efd.h"
#include "sch_common.h"
#include "uapi/pkt_sch_mayfly.h"

/* What the options are: one value for each attribute. */
struct efd_values {
	u64 of[TCA_EFD_MAX + 1];
};

struct efd_sched_data {
	struct mf_sch common;
	struct mf_efd core;
	struct efd_values values;
};

static const u8 efd_measures[] = {
	[TC_EFD_BYTES] = MF_BYTES,
	[TC_EFD_PACKETS] = MF_PACKETS,
	[TC_EFD_ACKED] = MF_ADVANCE,
};

static void efd_discard(struct mf_queue *queue, const struct mf_packet *victim,
			enum mf_fate reason)
{
	struct efd_sched_data *q =
		container_of(queue, struct efd_sched_data, core.queue);

	mf_sch_victim(&q->common, victim);
}

static enum mf_fate efd_take(struct Qdisc *sch, struct mf_packet *packet,
			     u64 now_ns)
{
	struct efd_sched_data *q = qdisc_priv(sch);

	return mf_efd_enqueue(&q->core, packet, now_ns);
}

static int efd_enqueue(struct sk_buff *skb, struct Qdisc *sch,
		       struct sk_buff **to_free)
{
	struct efd_sched_data *q = qdisc_priv(sch);

	return mf_sch_enqueue(&q->common, skb, to_free, false, efd_take);
}

static struct sk_buff *efd_dequeue(struct Qdisc *sch)
{
	struct efd_sched_data *q = qdisc_priv(sch);
	const struct mf_packet *packet = mf_efd_dequeue(&q->core, 0);

	return packet ? mf_sch_depart(&q->common, packet) : NULL;
}

static struct sk_buff *efd_peek(struct Qdisc *sch)
{
	const struct efd_sched_data *q = qdisc_priv(sch);
	const struct mf_packet *packet = mf_efd_peek(&q->core);

	return packet ? packet->handle : NULL;
}

static const struct nla_policy efd_policy[TCA_EFD_MAX + 1] = {
	MF_EFD_OPTIONS(MF_SCH_POLICY, MF_SCH_POLICY)
};

static const struct mf_option efd_rows[TCA_EFD_MAX + 1] = {
	MF_EFD_OPTIONS(MF_SCH_OPTION, MF_SCH_OPTION)
};

/* All attributes are of 32 bits or fewer: none aligns others. */
static const struct mf_options efd_table = {
	.policy = efd_policy,
	.options = efd_rows,
	.max = TCA_EFD_MAX,
};

/* Puts what @opt says in place of what is in @values. */
static int efd_parse(struct nlattr *opt, struct efd_values *values,
		     struct netlink_ext_ack *extack)
{
	bool in_pkts = values->of[TCA_EFD_COUNT] == TC_EFD_PACKETS;
	struct nlattr *tb[TCA_EFD_MAX + 1];
	u64 *of = values->of;
	int err = mf_sch_parse(&efd_table, tb, opt, of, extack);

	if (!err)
		err = mf_sch_one_limit(tb, TCA_EFD_LIMIT, of, extack);
	if (err)
		return err;
	/* Bytes of both kinds compare, packets with nothing. */
	if ((of[TCA_EFD_COUNT] == TC_EFD_PACKETS) != in_pkts && !tb[TCA_EFD_THRESHOLD])
		of[TCA_EFD_THRESHOLD] = in_pkts ? MF_EFD_THRESHOLD_BYTES :
						  MF_EFD_THRESHOLD_PKTS;
	return 0;
}

static struct mf_efd_options efd_options(const struct efd_values *values)
{
	const u64 *of = values->of;

	return (struct mf_efd_options){
		MF_EFD_OPTIONS(MF_SCH_FIELD, MF_SCH_NO_FIELD)
		.limit = of[TCA_EFD_LIMIT] ?: of[TCA_EFD_LIMIT_BYTES],
		.limit_in_bytes = of[TCA_EFD_LIMIT_BYTES],
		.measure = efd_measures[of[TCA_EFD_COUNT]],
	};
}

/* A table of connections where @options need one and there is none. */
static int efd_connections(const struct efd_sched_data *q,
			   const struct mf_efd_options *options,
			   struct mf_connections *connections)
{
	*connections = (struct mf_connections){ 0 };
	if (options->measure != MF_ADVANCE || q->common.connections.entries)
		return 0;
	return mf_sch_connections(connections,
				  mf_limit_pkts(options->limit,
						options->limit_in_bytes));
}

static int efd_change(struct Qdisc *sch, struct nlattr *opt,
		      struct netlink_ext_ack *extack)
{
	struct efd_sched_data *q = qdisc_priv(sch);
	struct efd_values values = q->values;
	struct mf_efd_options options;
	struct mf_connections connections;
	struct mf_efd_spare spare;
	int err;

	if (!opt)
		return 0;
	err = efd_parse(opt, &values, extack);
	if (err)
		return err;
	options = efd_options(&values);
	err = efd_connections(q, &options, &connections);
	if (err)
		return err;
	err = mf_efd_spare_init(&spare, &q->core, &options);
	if (err) {
		mf_connections_free(&connections);
		return err;
	}
	sch_tree_lock(sch);
	mf_efd_change(&q->core, &options, &spare);
	/* Without a use for it the table goes: connections age meanwhile. */
	if (options.measure != MF_ADVANCE || connections.entries)
		swap(q->common.connections, connections);
	q->values = values;
	q->common.split = values.of[TCA_EFD_SPLIT];
	mf_sch_settle(&q->common);
	sch_tree_unlock(sch);
	mf_connections_free(&connections);
	mf_efd_spare_free(&spare);
	return 0;
}

static int efd_init(struct Qdisc *sch, struct nlattr *opt,
		    struct netlink_ext_ack *extack)
{
	struct efd_sched_data *q = qdisc_priv(sch);
	struct mf_efd_options options;
	int err = 0;

	mf_sch_init(&q->common, sch);
	mf_sch_initial(&efd_table, q->values.of);
	if (opt)
		err = efd_parse(opt, &q->values, extack);
	if (err)
		return err;
	q->common.split = q->values.of[TCA_EFD_SPLIT];
	options = efd_options(&q->values);
	err = efd_connections(q, &options, &q->common.connections);
	if (err)
		return err;
	return mf_efd_init(&q->core, &options, efd_discard, get_random_u32());
}

static void efd_reset(struct Qdisc *sch)
{
	struct efd_sched_data *q = qdisc_priv(sch);
	const struct mf_packet *packet;

	while ((packet = mf_efd_dequeue(&q->core, 0)))
		rtnl_kfree_skbs(packet->handle, packet->handle);
	mf_efd_reset(&q->core);
	mf_connections_reset(&q->common.connections);
	q->common.pushed_out = 0;
	sch->q.qlen = 0;
	sch->qstats.backlog = 0;
}

static void efd_destroy(struct Qdisc *sch)
{
	struct efd_sched_data *q = qdisc_priv(sch);

	mf_efd_free(&q->core);
	mf_sch_free(&q->common);
}

static int efd_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct efd_sched_data *q = qdisc_priv(sch);

	return mf_sch_dump(&efd_table, skb, q->values.of);
}

static int efd_dump_stats(struct Qdisc *sch, struct gnet_dump *dump)
{
	const struct efd_sched_data *q = qdisc_priv(sch);
	struct tc_efd_xstats stats;

	sch_tree_lock(sch);
	stats = (struct tc_efd_xstats){
		.fragments = q->core.fragments,
		.pushed_out = q->common.pushed_out,
		.bypassed = q->core.bypassed,
		.flows = q->core.flows.len,
		.flows_max = q->core.flows.most,
		.high_pkts = q->core.classes.high.len,
		.low_pkts = q->core.classes.low.len,
	};
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(dump, &stats, sizeof(stats));
}

static struct Qdisc_ops efd_qdisc_ops __read_mostly = {
	.id = "efd",
	.priv_size = sizeof(struct efd_sched_data),
	.enqueue = efd_enqueue,
	.dequeue = efd_dequeue,
	.peek = efd_peek,
	.init = efd_init,
	.reset = efd_reset,
	.destroy = efd_destroy,
	.change = efd_change,
	.dump = efd_dump,
	.dump_stats = efd_dump_stats,
	.owner = THIS_MODULE,
};

static int __init efd_module_init(void)
{
	return register_qdisc(&efd_qdisc_ops);
}

static void __exit efd_module_exit(void)
{
	unregister_qdisc(&efd_qdisc_ops);
}

module_init(efd_module_init)
module_exit(efd_module_exit)
MODULE_ALIAS("sch_efd");
MODULE_ALIAS("net-sch-efd"); /* what kernels since 6.8 ask for */
MODULE_DESCRIPTION("Early flow discard");
MODULE_LICENSE("GPL");
