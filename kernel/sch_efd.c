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
 * | option | meaning | default |
 * |---|---|---|
 * | `limit 300`, `300p`, `450kb` | most that waits, packets or bytes; 1 to 1048576 packets | `300p` |
 * | `threshold 30000b`, `20p` | what goes first of every sub-flow of a flow | 30000 bytes, or 20 packets with `count packets` |
 * | `count bytes`, `packets`, `acked` | what a sub-flow is measured in; a threshold with `p` says `packets` | `bytes` |
 * | `high fifo`, `las`, `low fifo`, `las` | order of a class: of arrival, or by what the flow had moved | `fifo` |
 * | `flows N` | most sub-flows at a time, up to 1048576; a packet that would begin one more goes low; 0: as many as packets | 0 |
 * | `split`, `nosplit` | super-packets into packets of the wire | `split` |
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

#define EFD_LIMIT_PKTS 300
#define EFD_THRESHOLD_PKTS 20
#define EFD_THRESHOLD_BYTES (EFD_THRESHOLD_PKTS * 1500)

struct efd_sched_data {
	struct mf_sch common;
	struct mf_efd core;
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
	[TCA_EFD_LIMIT] = { .type = NLA_U32 },
	[TCA_EFD_LIMIT_BYTES] = { .type = NLA_U32 },
	[TCA_EFD_COUNT] = { .type = NLA_U8 },
	[TCA_EFD_THRESHOLD] = { .type = NLA_U32 },
	[TCA_EFD_HIGH] = { .type = NLA_U8 },
	[TCA_EFD_LOW] = { .type = NLA_U8 },
	[TCA_EFD_FLOWS] = { .type = NLA_U32 },
	[TCA_EFD_SPLIT] = { .type = NLA_U8 },
};

static const struct mf_bound efd_bounds[TCA_EFD_MAX + 1] = {
	[TCA_EFD_LIMIT] = MF_BOUND_LIMIT("efd"),
	[TCA_EFD_LIMIT_BYTES] = MF_BOUND_LIMIT_BYTES("efd"),
	[TCA_EFD_COUNT] = { 0, __TC_EFD_COUNT_MAX - 1,
			    "efd: count: bytes, packets or acked" },
	[TCA_EFD_THRESHOLD] = { 1, U32_MAX, "efd: threshold: 1 to 4294967295" },
	[TCA_EFD_HIGH] = { 0, __TC_EFD_ORDER_MAX - 1, "efd: high: fifo or las" },
	[TCA_EFD_LOW] = { 0, __TC_EFD_ORDER_MAX - 1, "efd: low: fifo or las" },
	[TCA_EFD_FLOWS] = MF_BOUND_FLOWS("efd"),
	[TCA_EFD_SPLIT] = MF_BOUND_SPLIT("efd"),
};

static void efd_parse_count(struct nlattr *attribute,
			    struct mf_efd_options *options)
{
	u8 measure = efd_measures[nla_get_u8(attribute)];

	/* Bytes of both kinds compare, packets with nothing. */
	if ((measure == MF_PACKETS) != (options->measure == MF_PACKETS))
		options->threshold = measure == MF_PACKETS ?
			EFD_THRESHOLD_PKTS : EFD_THRESHOLD_BYTES;
	options->measure = measure;
}

/* Puts what @opt says in place of what is in @options and @split. */
static int efd_parse(struct nlattr *opt, struct mf_efd_options *options,
		     bool *split, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_EFD_MAX + 1];
	int err = nla_parse_nested(tb, TCA_EFD_MAX, opt, efd_policy, extack);

	if (!err)
		err = mf_sch_check(tb, TCA_EFD_MAX, efd_bounds, extack);
	if (err)
		return err;
	err = mf_sch_parse_limit(tb[TCA_EFD_LIMIT], tb[TCA_EFD_LIMIT_BYTES],
				 &options->limit, &options->limit_in_bytes,
				 extack);
	if (err)
		return err;
	if (tb[TCA_EFD_COUNT])
		efd_parse_count(tb[TCA_EFD_COUNT], options);
	if (tb[TCA_EFD_THRESHOLD])
		options->threshold = nla_get_u32(tb[TCA_EFD_THRESHOLD]);
	if (tb[TCA_EFD_HIGH])
		options->high_sorted = nla_get_u8(tb[TCA_EFD_HIGH]) == TC_EFD_LAS;
	if (tb[TCA_EFD_LOW])
		options->low_sorted = nla_get_u8(tb[TCA_EFD_LOW]) == TC_EFD_LAS;
	if (tb[TCA_EFD_FLOWS])
		options->flows = nla_get_u32(tb[TCA_EFD_FLOWS]);
	if (tb[TCA_EFD_SPLIT])
		*split = nla_get_u8(tb[TCA_EFD_SPLIT]);
	return 0;
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
	struct mf_efd_options options = q->core.options;
	struct mf_connections connections;
	bool split = q->common.split;
	struct mf_efd_spare spare;
	int err;

	if (!opt)
		return 0;
	err = efd_parse(opt, &options, &split, extack);
	if (err)
		return err;
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
	q->common.split = split;
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
	struct mf_efd_options options = {
		.limit = EFD_LIMIT_PKTS,
		.measure = MF_BYTES,
		.threshold = EFD_THRESHOLD_BYTES,
	};
	int err = 0;

	mf_sch_init(&q->common, sch);
	if (opt)
		err = efd_parse(opt, &options, &q->common.split, extack);
	if (err)
		return err;
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
	const struct mf_efd_options *options = &q->core.options;
	u8 count = options->measure == MF_BYTES ? TC_EFD_BYTES :
		   options->measure == MF_PACKETS ? TC_EFD_PACKETS : TC_EFD_ACKED;
	u32 limit = options->limit_in_bytes ? TCA_EFD_LIMIT_BYTES : TCA_EFD_LIMIT;
	struct nlattr *nest = nla_nest_start_noflag(skb, TCA_OPTIONS);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, limit, options->limit) ||
	    nla_put_u8(skb, TCA_EFD_COUNT, count) ||
	    nla_put_u32(skb, TCA_EFD_THRESHOLD, options->threshold) ||
	    nla_put_u8(skb, TCA_EFD_HIGH, options->high_sorted ? TC_EFD_LAS : TC_EFD_FIFO) ||
	    nla_put_u8(skb, TCA_EFD_LOW, options->low_sorted ? TC_EFD_LAS : TC_EFD_FIFO) ||
	    nla_put_u32(skb, TCA_EFD_FLOWS, options->flows) ||
	    nla_put_u8(skb, TCA_EFD_SPLIT, q->common.split)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
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
