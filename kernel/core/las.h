/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Least attained service, whatever it counts: LAS, LASACK and LARS.
 *
 * Principle: a packet is stamped with what its flow has moved before it; the
 * smallest stamp is served, ties in order of arrival. When the buffer is full
 * the arriving packet gets its stamp, then the packet of largest stamp goes.
 * With a half-life what was moved fades; see decay.h.
 * Cost per packet: two look-ups and O(log n) in a sorted queue.
 * Source: Rai 2003, sections 2 and 6; decisions as crates/qdisc/src/disciplines/las.rs and
 * lars.rs.
 */
#ifndef MAYFLY_LAS_H
#define MAYFLY_LAS_H

#include "attained.h"
#include "classes.h"
#include "decay.h"

/**
 * struct mf_las_options - parameters of least attained service
 * @limit: of the buffer, above 0
 * @visit_ns: interval at which idle flows are looked for, above 0
 * @timeout_ns: idle time after which a flow is forgotten
 * @half_life_ns: time in which what was moved halves, 0 where it does not fade
 * @flows: flows known at a time, more than packets fit or as many
 * @measure: what is counted: MF_BYTES, MF_ADVANCE or MF_WHOLE
 * @limit_in_bytes: the limit is in bytes, else in packets
 */
struct mf_las_options {
	u64 limit;
	u64 visit_ns;
	u64 timeout_ns;
	u64 half_life_ns;
	u32 flows;
	u8 measure;
	bool limit_in_bytes;
};

/**
 * struct mf_las - a queue with least attained service
 * @queue: limit and counters
 * @options: as given
 * @order: the packets that wait
 * @pool: their entries
 * @attained: what their flows have moved, inflated where it fades: as it was
 *	when the flow was last written
 * @decay: where it does
 */
struct mf_las {
	struct mf_queue queue;
	struct mf_las_options options;
	struct mf_order order;
	struct mf_pool pool;
	struct mf_attained attained;
	struct mf_decay decay;
};

/* Arrays for options that need larger ones, made before the queue is locked. */
struct mf_las_spare {
	struct mf_pool pool;
	struct mf_flow_table flows;
};

static u32 mf_las_flows(const struct mf_las_options *options)
{
	u32 pkts = mf_limit_pkts(options->limit, options->limit_in_bytes);

	/* One more than packets fit, so that there is always an idle flow. */
	return options->flows > pkts ? options->flows : pkts + 1;
}

/**
 * mf_las_free() - frees the memory of a queue
 * @las: the queue, all zero or empty: packets are not handed back
 */
static void mf_las_free(struct mf_las *las)
{
	mf_pool_free(&las->pool);
	mf_flow_table_free(&las->attained.flows);
}

/**
 * mf_las_init() - makes an empty queue
 * @las: the queue
 * @options: its parameters, each within its bounds
 * @discard: takes packets that waited and go without being sent
 * @seed: any number; no decision depends on it
 *
 * Return: 0, or -ENOMEM.
 */
static int mf_las_init(struct mf_las *las, const struct mf_las_options *options,
		       mf_discard_t discard, u32 seed)
{
	*las = (struct mf_las){
		.queue.discard = discard,
		.options = *options,
	};
	mf_queue_limit(&las->queue, options->limit, options->limit_in_bytes);
	mf_order_init(&las->order, &las->pool, true, seed);
	if (options->half_life_ns)
		mf_decay_init(&las->decay, options->half_life_ns);
	if (!mf_pool_init(&las->pool, las->queue.limit_pkts) &&
	    !mf_attained_init(&las->attained, mf_las_flows(options),
			      options->visit_ns, options->timeout_ns))
		return 0;
	mf_las_free(las);
	return -ENOMEM;
}

/**
 * mf_las_reset() - forgets packets, flows and counters
 * @las: the queue; its packets are the caller's
 */
static void mf_las_reset(struct mf_las *las)
{
	las->queue.stats = (struct mf_stats){ 0 };
	mf_order_init(&las->order, &las->pool, true, las->order.random);
	mf_pool_reset(&las->pool);
	mf_attained_reset(&las->attained);
}

/**
 * mf_las_spare_free() - frees what is left of it
 * @spare: as made, or as mf_las_change() left it
 */
static void mf_las_spare_free(struct mf_las_spare *spare)
{
	mf_pool_free(&spare->pool);
	mf_flow_table_free(&spare->flows);
}

/**
 * mf_las_spare_init() - allocates what other options need
 * @spare: for mf_las_change()
 * @las: the queue
 * @options: the other options
 *
 * Return: 0, or -ENOMEM.
 */
static int mf_las_spare_init(struct mf_las_spare *spare, const struct mf_las *las,
			     const struct mf_las_options *options)
{
	u32 pkts = mf_limit_pkts(options->limit, options->limit_in_bytes);
	u32 flows = mf_las_flows(options);

	*spare = (struct mf_las_spare){ 0 };
	if (pkts > las->pool.size && mf_pool_init(&spare->pool, pkts))
		return -ENOMEM;
	if (flows <= las->attained.flows.room ||
	    !mf_flow_table_init(&spare->flows, flows))
		return 0;
	mf_las_spare_free(spare);
	return -ENOMEM;
}

/* Goes on in time: flows and packets are halved when they are next looked at.
 * What falls below the smallest number becomes zero and ties, first come first
 * served. The count of halvings wraps around: a packet would have to wait for
 * 2^32 half-lives to look young again, an idle flow is forgotten before.
 */
static void mf_las_fade(struct mf_las *las, u64 now_ns)
{
	u64 halvings = mf_decay_advance(&las->decay, now_ns);

	las->order.faded += halvings < MF_HALVINGS_MAX ? halvings :
							 MF_HALVINGS_MAX;
}

/* What @flow has moved as of now. */
static u64 mf_las_moved(const struct mf_las *las, const struct mf_flow *flow)
{
	return mf_inflated_faded(flow->volume.count,
				 las->order.faded - flow->faded);
}

/* Its volume, brought up to now, to be moved on. */
static struct mf_volume *mf_las_volume(const struct mf_las *las, u32 index)
{
	struct mf_flow *flow = mf_flow_entry(&las->attained.flows, index);

	flow->volume.count = mf_las_moved(las, flow);
	flow->faded = las->order.faded;
	return &flow->volume;
}

/* Counts @packet, of a flow that has moved @volume before; returns its stamp. */
static u64 mf_las_count(const struct mf_las *las, struct mf_volume *volume,
			const struct mf_packet *packet, u64 now_ns)
{
	enum mf_measure measure = las->options.measure;
	u64 stamp = volume->count;
	u64 moved;

	if (!las->options.half_life_ns) {
		stamp = mf_volume_rank(measure, volume, packet);
		mf_volume_add(measure, volume, packet);
		return stamp;
	}
	moved = mf_volume_moved(measure, volume, packet);
	mf_volume_note(measure, volume, packet);
	moved = mf_decay_inflated(&las->decay, moved, now_ns);
	volume->count = mf_inflated_sum(stamp, moved);
	/* What an acknowledgement tells was moved before it. */
	return measure != MF_BYTES && packet->kind == MF_ACK ? volume->count :
							       stamp;
}

/* Drops the packet of largest stamp, which is the last one of its flow. */
static void mf_las_push_out(struct mf_las *las)
{
	u32 slot = mf_order_pop_last(&las->order);
	struct mf_entry *entry = mf_pool_entry(&las->pool, slot);
	struct mf_packet victim = entry->packet;
	struct mf_volume *volume = mf_las_volume(las, entry->flow);

	mf_step();
	if (!las->options.half_life_ns)
		mf_volume_take_back(las->options.measure, volume, &victim);
	else if (las->options.measure == MF_BYTES || victim.kind != MF_ACK)
		/* sums are rounded */
		volume->count = mf_order_key(&las->order, entry);
	mf_attained_push_out(&las->attained, entry->flow);
	mf_pool_give(&las->pool, slot);
	mf_queue_discard(&las->queue, &victim, MF_PUSHED_OUT);
}

/* Counts the packet of @slot and puts it into its place. */
static void mf_las_push(struct mf_las *las, u32 slot, u64 now_ns)
{
	struct mf_entry *entry = mf_pool_entry(&las->pool, slot);
	u64 key = mf_volume_flow(las->options.measure, &entry->packet);
	struct mf_volume *volume;

	entry->flow = mf_attained_enter(&las->attained, key, now_ns);
	volume = mf_las_volume(las, entry->flow);
	mf_order_push(&las->order, slot,
		      mf_las_count(las, volume, &entry->packet, now_ns));
}

/* Forgets all flows and counts what waits anew, in the order it would leave. */
static void mf_las_recount(struct mf_las *las, u64 now_ns)
{
	u32 slot = las->order.first;
	u64 evicted = las->attained.evicted;
	u32 next;

	mf_order_init(&las->order, &las->pool, true, las->order.random);
	mf_attained_reset(&las->attained);
	las->attained.evicted = evicted;
	las->decay = (struct mf_decay){ 0 };
	if (las->options.half_life_ns) {
		mf_decay_init(&las->decay, las->options.half_life_ns);
		mf_las_fade(las, now_ns);
	}
	for (; slot; slot = next) {
		next = mf_pool_entry(&las->pool, slot)->next;
		mf_las_push(las, slot, now_ns);
	}
}

/**
 * mf_las_change() - gives a queue other options, packets waiting or not
 * @las: the queue
 * @options: the other options, each within its bounds
 * @spare: made for them; to be freed once no lock is held
 * @now_ns: time of the call
 *
 * Packets that exceed a lower limit are dropped, those of largest stamp. Where
 * something else is counted, or fades at another pace, flows begin anew.
 */
static void mf_las_change(struct mf_las *las, const struct mf_las_options *options,
			  struct mf_las_spare *spare, u64 now_ns)
{
	bool recount = options->measure != las->options.measure ||
		       options->half_life_ns != las->options.half_life_ns;

	if (spare->pool.size)
		mf_pool_move(&las->pool, &spare->pool);
	mf_queue_limit(&las->queue, options->limit, options->limit_in_bytes);
	while (mf_queue_is_over(&las->queue))
		mf_las_push_out(las);
	mf_attained_change(&las->attained, mf_las_flows(options),
			   options->visit_ns, options->timeout_ns,
			   &spare->flows);
	las->options = *options;
	if (recount)
		mf_las_recount(las, now_ns);
}

/* Makes room for @packet; false, and nobody went, if it cannot. */
static bool mf_las_make_room(struct mf_las *las, const struct mf_packet *packet,
			     u64 now_ns)
{
	u64 key = mf_volume_flow(las->options.measure, packet);
	const struct mf_flow *flow = mf_attained_known(&las->attained, key);
	struct mf_volume volume = flow->volume;
	u64 stamp, victims, left;

	volume.count = mf_las_moved(las, flow);
	stamp = mf_las_count(las, &volume, packet, now_ns);
	victims = mf_order_victims(&las->order, &las->queue, stamp, packet->len);
	for (left = victims; left; left--)
		mf_las_push_out(las);
	return victims > 0;
}

/**
 * mf_las_enqueue() - takes an arriving packet
 * @las: the queue
 * @packet: the packet
 * @now_ns: time of the call
 *
 * Return: MF_QUEUED, or MF_FULL: then the packet is still the caller's.
 */
static enum mf_fate mf_las_enqueue(struct mf_las *las, struct mf_packet *packet,
				   u64 now_ns)
{
	if (mf_queue_receive(&las->queue, packet, now_ns) != MF_QUEUED)
		return MF_FULL;
	if (las->options.half_life_ns)
		mf_las_fade(las, now_ns);
	mf_attained_visit(&las->attained, now_ns);
	if (mf_queue_is_full(&las->queue, packet->len) &&
	    !mf_las_make_room(las, packet, now_ns))
		return mf_queue_refuse(&las->queue, packet, MF_FULL);
	mf_queue_accept(&las->queue, packet);
	mf_las_push(las, mf_pool_take(&las->pool, packet), now_ns);
	return MF_QUEUED;
}

/**
 * mf_las_dequeue() - hands out the next packet to send
 * @las: the queue
 * @now_ns: time of the call
 *
 * Return: the packet, as it is until the next one comes; NULL when none waits.
 */
static const struct mf_packet *mf_las_dequeue(struct mf_las *las,
					      u64 now_ns)
{
	const struct mf_packet *packet;
	struct mf_entry *entry;
	u32 slot;

	las->queue.now_ns = now_ns;
	mf_attained_visit(&las->attained, now_ns);
	slot = mf_order_pop_first(&las->order);
	if (!slot)
		return NULL;
	entry = mf_pool_entry(&las->pool, slot);
	packet = &entry->packet;
	mf_attained_leave(&las->attained, entry->flow, now_ns);
	mf_pool_give(&las->pool, slot);
	mf_queue_depart(&las->queue, packet);
	return packet;
}

/**
 * mf_las_peek() - the packet that would be handed out now
 * @las: the queue
 *
 * Return: the packet, NULL when none waits.
 */
static const struct mf_packet *mf_las_peek(const struct mf_las *las)
{
	u32 slot = las->order.first;

	return slot ? &mf_pool_entry(&las->pool, slot)->packet : NULL;
}

#endif
