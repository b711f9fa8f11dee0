// SPDX-License-Identifier: GPL-2.0
/*
 * Early flow discard as a BPF qdisc, "bpf_efd": for kernels >= 6.16 with
 * CONFIG_NET_SCH_BPF, where no module may or can be loaded.
 *
 * Principle: as core/efd.h with volumes in bytes and both classes in
 * order of arrival (Chen 2012, Algorithm 3). A BPF qdisc can only be the root of
 * a device or a child of mq, takes no options of tc and shows no counters there:
 * it has a shaper of its own, its options are in the map efd_settings, keyed by
 * interface index (0 for all others) and obeyed from the next packet on, and
 * its counters in efd_queues, keyed by qdisc.
 * Cost per packet: O(1), two look-ups of the queue and two of the flow.
 *
 * Bounds: maps are written by whoever may (CAP_BPF and CAP_NET_ADMIN, or the
 * owner of a pinned map), and nobody looks at values before they are there. So
 * every value is held to its bounds where it is read, and none of them makes a
 * loop longer: a packet pushes out one other at most, and only a reset goes over
 * all that wait. Reads of headers are checked by the kernel (dynptr): an offset
 * that a broken packet gives leads to a key, never past the packet. Entries of
 * efd_queues and efd_flows that user space writes or deletes can make counters
 * wrong; packets are held by their lists, not by these.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "efd.h"
#include "packet.bpf.h"

#define NS_PER_S 1000000000ULL
/* How late a timer may be without loss of rate; less than what a packet takes. */
#define SLACK_NS 1000000ULL
#define FOREVER (2 * EFD_LIMIT_PKTS_MAX) /* packets, more than wait anywhere */

#define node_of(link) \
	((struct waiting *)((void *)(link) - __builtin_offsetof(struct waiting, link)))

char _license[] SEC("license") = "GPL";

struct flow {
	__u64 bytes;
	__u32 queued;
	__u32 unused;
};

/* A packet that waits; queue 0 in @key: it found the flow table full. */
struct waiting {
	struct flow_key key;
	__u32 len;
	struct sk_buff __kptr *skb;
	struct bpf_list_node link;
};

struct queue {
	struct efd_counters counters; /* first: what user space reads */
	__u64 next_ns; /* when the link is free */
	struct bpf_spin_lock lock;
	struct bpf_list_head high __contains(waiting, link);
	struct bpf_list_head low __contains(waiting, link);
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, EFD_DEVICES);
	__type(key, __u32);
	__type(value, struct efd_settings);
} efd_settings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, EFD_QUEUES);
	__type(key, __u64);
	__type(value, struct queue);
} efd_queues SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, EFD_FLOWS);
	__type(key, struct flow_key);
	__type(value, struct flow);
} efd_flows SEC(".maps");

static const struct efd_settings defaults = {
	.limit_pkts = EFD_LIMIT_PKTS,
	.threshold_bytes = EFD_THRESHOLD_BYTES,
};

static struct queue *queue_of(struct Qdisc *sch)
{
	__u64 key = (__u64)sch;

	return bpf_map_lookup_elem(&efd_queues, &key);
}

static const struct efd_settings *settings_of(const struct queue *queue)
{
	__u32 ifindex = queue->counters.ifindex;
	const struct efd_settings *settings;

	settings = bpf_map_lookup_elem(&efd_settings, &ifindex);
	if (settings)
		return settings;
	ifindex = 0;
	settings = bpf_map_lookup_elem(&efd_settings, &ifindex);
	return settings ?: &defaults;
}

/* Each is read once, since user space may write it meanwhile. */
static __u32 limit_of(const struct efd_settings *settings)
{
	__u32 limit = settings->limit_pkts;

	barrier_var(limit);
	if (!limit)
		return 1;
	return limit < EFD_LIMIT_PKTS_MAX ? limit : EFD_LIMIT_PKTS_MAX;
}

/* With a rate near 0 the next packet would have to wait for hours, and a higher
 * one could not take effect before.
 */
static __u64 rate_of(const struct efd_settings *settings)
{
	__u64 rate = settings->rate_bps;

	barrier_var(rate);
	return rate && rate < EFD_RATE_BPS_MIN ? EFD_RATE_BPS_MIN : rate;
}

/* Algorithm 3, lines 46-52: a packet leaves, sent or pushed out. */
static void leave(struct queue *queue, const struct flow_key *key, __u32 len,
		  bool pushed_out)
{
	struct flow *flow;

	if (!key->queue)
		return;
	flow = bpf_map_lookup_elem(&efd_flows, key);
	if (!flow)
		return;
	/* 0 only where user space wrote it: below that it would stay for ever. */
	if (flow->queued < 2) {
		bpf_map_delete_elem(&efd_flows, key);
		queue->counters.flows--;
		return;
	}
	flow->queued--;
	if (pushed_out)
		flow->bytes -= len;
}

/* Takes the node out of what counts packets, frees it and hands out the packet. */
static struct sk_buff *open(struct Qdisc *sch, struct queue *queue,
			    struct bpf_list_node *link, bool high,
			    bool pushed_out)
{
	struct waiting *node = node_of(link);
	struct flow_key key = node->key; /* a look-up takes no key of a node */
	struct sk_buff *skb;
	__u32 len = node->len;

	leave(queue, &key, len, pushed_out);
	if (high)
		queue->counters.high_pkts--;
	else
		queue->counters.low_pkts--;
	sch->q.qlen--;
	sch->qstats.backlog -= len;
	skb = bpf_kptr_xchg(&node->skb, NULL);
	bpf_obj_drop_impl(node, NULL);
	return skb;
}

/* Drops the packet of lowest priority, the last low one. */
static bool push_out(struct Qdisc *sch, struct queue *queue,
		     struct bpf_sk_buff_ptr *to_free)
{
	struct bpf_list_node *link;
	struct sk_buff *skb;

	bpf_spin_lock(&queue->lock);
	link = bpf_list_pop_back(&queue->low);
	bpf_spin_unlock(&queue->lock);
	if (!link)
		return false;
	skb = open(sch, queue, link, false, true);
	if (skb)
		bpf_qdisc_skb_drop(skb, to_free);
	sch->qstats.drops++;
	queue->counters.pushed_out++;
	return true;
}

/* Counts a packet in its fragment, begun where there is none. The table is one for
 * all qdiscs, 65536 entries: a flood of new flows at one of them makes packets of
 * new flows low at all of them, until it has gone.
 */
static void count(struct queue *queue, struct flow_key *key, __u32 len)
{
	struct flow *flow = bpf_map_lookup_elem(&efd_flows, key);
	struct flow begun = { .bytes = len, .queued = 1 };

	if (flow) {
		flow->bytes += len;
		flow->queued++;
	} else if (bpf_map_update_elem(&efd_flows, key, &begun, BPF_NOEXIST)) {
		key->queue = 0;
		queue->counters.bypassed++;
	} else {
		queue->counters.fragments++;
		if (++queue->counters.flows > queue->counters.flows_max)
			queue->counters.flows_max = queue->counters.flows;
	}
}

static bool is_high(const struct flow_key *key,
		    const struct efd_settings *settings)
{
	struct flow *flow = bpf_map_lookup_elem(&efd_flows, key);

	return !flow || flow->bytes < settings->threshold_bytes;
}

SEC("struct_ops")
int BPF_PROG(efd_enqueue, struct sk_buff *skb, struct Qdisc *sch,
	     struct bpf_sk_buff_ptr *to_free)
{
	struct queue *queue = queue_of(sch);
	const struct efd_settings *settings;
	__u32 len = wire_len(skb);
	struct waiting *node;
	struct flow_key key;
	bool high;

	if (!queue)
		goto drop;
	settings = settings_of(queue);
	read_key(&key, skb, (__u64)sch);
	high = is_high(&key, settings);
	if (sch->q.qlen >= limit_of(settings)) {
		/* Algorithm 3, lines 8, 23 and 37. */
		if (!high || !push_out(sch, queue, to_free)) {
			sch->qstats.overlimits++;
			queue->counters.full++;
			goto drop;
		}
		high = is_high(&key, settings);
	}
	node = bpf_obj_new_impl(bpf_core_type_id_local(struct waiting), NULL);
	if (!node)
		goto drop;
	count(queue, &key, len);
	if (!key.queue)
		high = false;
	node->key = key;
	node->len = len;
	skb = bpf_kptr_xchg(&node->skb, skb);
	if (skb)
		bpf_qdisc_skb_drop(skb, to_free);
	bpf_spin_lock(&queue->lock);
	if (high)
		bpf_list_push_back_impl(&queue->high, &node->link, NULL, 0);
	else
		bpf_list_push_back_impl(&queue->low, &node->link, NULL, 0);
	bpf_spin_unlock(&queue->lock);
	if (high)
		queue->counters.high_pkts++;
	else
		queue->counters.low_pkts++;
	sch->q.qlen++;
	sch->qstats.backlog += len;
	return NET_XMIT_SUCCESS;
drop:
	sch->qstats.drops++;
	bpf_qdisc_skb_drop(skb, to_free);
	return NET_XMIT_DROP;
}

static struct bpf_list_node *pop(struct queue *queue, bool *high)
{
	struct bpf_list_node *link;

	bpf_spin_lock(&queue->lock);
	link = bpf_list_pop_front(&queue->high);
	bpf_spin_unlock(&queue->lock);
	*high = link;
	if (link)
		return link;
	bpf_spin_lock(&queue->lock);
	link = bpf_list_pop_front(&queue->low);
	bpf_spin_unlock(&queue->lock);
	return link;
}

SEC("struct_ops")
struct sk_buff *BPF_PROG(efd_dequeue, struct Qdisc *sch)
{
	struct queue *queue = queue_of(sch);
	__u64 now_ns, rate_bps;
	struct bpf_list_node *link;
	struct sk_buff *skb;
	bool high;

	if (!queue || !sch->q.qlen)
		return NULL;
	rate_bps = rate_of(settings_of(queue));
	now_ns = bpf_ktime_get_ns();
	if (rate_bps && queue->next_ns > now_ns) {
		bpf_qdisc_watchdog_schedule(sch, queue->next_ns, 0);
		return NULL;
	}
	link = pop(queue, &high);
	if (!link)
		return NULL;
	skb = open(sch, queue, link, high, false);
	if (!skb)
		return NULL;
	if (rate_bps) {
		if (queue->next_ns + SLACK_NS < now_ns)
			queue->next_ns = now_ns;
		/* Packets are shorter than 2^31 bytes: the product fits. */
		queue->next_ns += (__u64)wire_len(skb) * 8 * NS_PER_S / rate_bps;
	}
	bpf_qdisc_bstats_update(sch, skb);
	return skb;
}

SEC("struct_ops")
int BPF_PROG(efd_init, struct Qdisc *sch, struct nlattr *opt,
	     struct netlink_ext_ack *extack)
{
	__u64 key = (__u64)sch;
	struct queue queue = {
		.counters.ifindex = sch->dev_queue->dev->ifindex,
		.counters.handle = sch->handle,
		.counters.parent = sch->parent,
	};

	return bpf_map_update_elem(&efd_queues, &key, &queue, BPF_NOEXIST);
}

/* Bounded by what may wait; the kernel frees what a list still has when destroy
 * deletes the queue.
 */
static void drain(struct Qdisc *sch, struct queue *queue)
{
	struct bpf_list_node *link;
	struct sk_buff *skb;
	bool high;
	int left;

	bpf_for(left, 0, FOREVER) {
		link = pop(queue, &high);
		if (!link)
			break;
		skb = open(sch, queue, link, high, false);
		if (skb)
			bpf_kfree_skb(skb);
	}
	queue->next_ns = 0;
}

SEC("struct_ops")
void BPF_PROG(efd_reset, struct Qdisc *sch)
{
	struct queue *queue = queue_of(sch);

	if (queue)
		drain(sch, queue);
}

SEC("struct_ops")
void BPF_PROG(efd_destroy, struct Qdisc *sch)
{
	__u64 key = (__u64)sch;

	bpf_map_delete_elem(&efd_queues, &key);
}

SEC(".struct_ops")
struct Qdisc_ops bpf_efd = {
	.enqueue = (void *)efd_enqueue,
	.dequeue = (void *)efd_dequeue,
	.init = (void *)efd_init,
	.reset = (void *)efd_reset,
	.destroy = (void *)efd_destroy,
	.id = "bpf_efd",
};
