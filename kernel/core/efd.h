/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Early flow discard, whatever it counts: EFD, PEFD and EFDACK.
 *
 * Principle: a flow is in the table only while a packet of it waits, so a
 * connection falls into fragments. A packet is high while the volume of its
 * fragment before it is below the threshold, low afterwards. When the buffer is
 * full the packet of lowest priority goes.
 * Cost per packet: O(1), one look-up; O(log n) where a class is sorted.
 * Source: Chen 2012, Algorithm 3; decisions as crates/qdisc/src/parts/early_discard.rs.
 */
#ifndef MAYFLY_EFD_H
#define MAYFLY_EFD_H

#include "classes.h"
#include "flow_table.h"

/**
 * struct mf_efd_options - parameters of early flow discard
 * @limit: of the buffer, above 0
 * @limit_in_bytes: the limit is in bytes, else in packets
 * @measure: what is counted: MF_BYTES, MF_PACKETS or MF_ADVANCE
 * @threshold: what goes first of every fragment, above 0
 * @high_sorted: the high class is sorted by volume
 * @low_sorted: the low class is sorted by volume
 * @flows: most fragments at a time, 0 for as many as packets fit; a packet
 *	that would begin one more goes into the low class
 */
struct mf_efd_options {
	u64 limit;
	u64 threshold;
	u32 flows;
	u8 measure;
	bool limit_in_bytes;
	bool high_sorted;
	bool low_sorted;
};

/**
 * struct mf_efd - a queue with early flow discard
 * @queue: limit and counters
 * @options: as given
 * @classes: the packets that wait
 * @pool: their entries
 * @flows: their fragments
 * @fragments: fragments begun so far
 * @bypassed: packets that found the flow table full
 */
struct mf_efd {
	struct mf_queue queue;
	struct mf_efd_options options;
	struct mf_classes classes;
	struct mf_pool pool;
	struct mf_flow_table flows;
	u64 fragments;
	u64 bypassed;
};

/* Arrays for options that need larger ones, made before the queue is locked. */
struct mf_efd_spare {
	struct mf_pool pool;
	struct mf_flow_table flows;
};

static u32 mf_efd_flows(const struct mf_efd_options *options)
{
	u32 pkts = mf_limit_pkts(options->limit, options->limit_in_bytes);

	/* More than packets there are no fragments; one more place, so that a
	 * packet that finds packets of as many flows finds a table not full.
	 */
	return options->flows && options->flows <= pkts ? options->flows :
							  pkts + 1;
}

/**
 * mf_efd_free() - frees the memory of a queue
 * @efd: the queue, all zero or empty: packets are not handed back
 */
static void mf_efd_free(struct mf_efd *efd)
{
	mf_pool_free(&efd->pool);
	mf_flow_table_free(&efd->flows);
}

/**
 * mf_efd_init() - makes an empty queue
 * @efd: the queue
 * @options: its parameters, each within its bounds
 * @discard: takes packets that waited and go without being sent
 * @seed: any number; no decision depends on it
 *
 * Return: 0, or -ENOMEM.
 */
static int mf_efd_init(struct mf_efd *efd, const struct mf_efd_options *options,
		       mf_discard_t discard, u32 seed)
{
	struct mf_classes *classes = &efd->classes;

	*efd = (struct mf_efd){
		.queue.discard = discard,
		.options = *options,
	};
	mf_queue_limit(&efd->queue, options->limit, options->limit_in_bytes);
	mf_order_init(&classes->high, &efd->pool, options->high_sorted, seed);
	mf_order_init(&classes->low, &efd->pool, options->low_sorted, ~seed);
	if (!mf_pool_init(&efd->pool, efd->queue.limit_pkts) &&
	    !mf_flow_table_init(&efd->flows, mf_efd_flows(options)))
		return 0;
	mf_efd_free(efd);
	return -ENOMEM;
}

/**
 * mf_efd_reset() - forgets packets, flows and counters
 * @efd: the queue; its packets are the caller's
 */
static void mf_efd_reset(struct mf_efd *efd)
{
	struct mf_classes *classes = &efd->classes;

	efd->queue.stats = (struct mf_stats){ 0 };
	efd->fragments = 0;
	efd->bypassed = 0;
	mf_order_init(&classes->high, &efd->pool, classes->high.sorted,
		      classes->high.random);
	mf_order_init(&classes->low, &efd->pool, classes->low.sorted,
		      classes->low.random);
	mf_pool_reset(&efd->pool);
	mf_flow_table_reset(&efd->flows);
}

/**
 * mf_efd_spare_free() - frees what is left of it
 * @spare: as made, or as mf_efd_change() left it
 */
static void mf_efd_spare_free(struct mf_efd_spare *spare)
{
	mf_pool_free(&spare->pool);
	mf_flow_table_free(&spare->flows);
}

/**
 * mf_efd_spare_init() - allocates what other options need
 * @spare: for mf_efd_change()
 * @efd: the queue
 * @options: the other options
 *
 * Return: 0, or -ENOMEM.
 */
static int mf_efd_spare_init(struct mf_efd_spare *spare, const struct mf_efd *efd,
			     const struct mf_efd_options *options)
{
	u32 pkts = mf_limit_pkts(options->limit, options->limit_in_bytes);
	u32 flows = mf_efd_flows(options);

	*spare = (struct mf_efd_spare){ 0 };
	if (pkts > efd->pool.size && mf_pool_init(&spare->pool, pkts))
		return -ENOMEM;
	if (flows <= efd->flows.room || !mf_flow_table_init(&spare->flows, flows))
		return 0;
	mf_efd_spare_free(spare);
	return -ENOMEM;
}

/* Algorithm 3, lines 46-52: the packet of @slot leaves, sent or pushed out. */
static void mf_efd_leave(struct mf_efd *efd, u32 slot, bool pushed_out)
{
	struct mf_entry *entry = mf_pool_entry(&efd->pool, slot);
	struct mf_flow *flow;

	if (!entry->flow)
		return;
	flow = mf_flow_entry(&efd->flows, entry->flow);
	if (!--flow->queued)
		mf_flow_remove(&efd->flows, entry->flow);
	else if (pushed_out)
		mf_volume_take_back(efd->options.measure, &flow->volume,
				    &entry->packet);
}

/* Drops the packet of lowest priority. */
static void mf_efd_push_out(struct mf_efd *efd)
{
	u32 slot = mf_classes_pop_last(&efd->classes);
	struct mf_packet victim = mf_pool_entry(&efd->pool, slot)->packet;

	mf_step();
	mf_efd_leave(efd, slot, true);
	mf_pool_give(&efd->pool, slot);
	mf_queue_discard(&efd->queue, &victim, MF_PUSHED_OUT);
}

/* Counts the packets that wait anew, in the order they will leave. */
static void mf_efd_recount(struct mf_efd *efd, const struct mf_order *order)
{
	enum mf_measure measure = efd->options.measure;
	struct mf_entry *entry;
	struct mf_flow *flow;
	u32 slot;
	u64 key;

	for (slot = order->first; slot; slot = entry->next) {
		entry = mf_pool_entry(&efd->pool, slot);
		key = mf_volume_flow(measure, &entry->packet);
		entry->flow = mf_flow_find(&efd->flows, key);
		if (!entry->flow)
			entry->flow = mf_flow_insert(&efd->flows, key);
		if (!entry->flow)
			continue;
		flow = mf_flow_entry(&efd->flows, entry->flow);
		mf_volume_add(measure, &flow->volume, &entry->packet);
		flow->queued++;
	}
}

/**
 * mf_efd_change() - gives a queue other options, packets waiting or not
 * @efd: the queue
 * @options: the other options, each within its bounds
 * @spare: made for them; to be freed once no lock is held
 *
 * Packets that exceed a lower limit are dropped, those of lowest priority. The
 * others keep class and mark. Another measure counts what waits anew.
 */
static void mf_efd_change(struct mf_efd *efd, const struct mf_efd_options *options,
			  struct mf_efd_spare *spare)
{
	bool recount = options->measure != efd->options.measure;

	if (spare->pool.size)
		mf_pool_move(&efd->pool, &spare->pool);
	if (spare->flows.room)
		mf_flow_table_move(&efd->flows, &spare->flows);
	efd->flows.size = mf_efd_flows(options);
	mf_queue_limit(&efd->queue, options->limit, options->limit_in_bytes);
	while (mf_queue_is_over(&efd->queue))
		mf_efd_push_out(efd);
	mf_classes_sort(&efd->classes.high, options->high_sorted);
	mf_classes_sort(&efd->classes.low, options->low_sorted);
	efd->options = *options;
	if (recount) {
		mf_flow_table_reset(&efd->flows);
		mf_efd_recount(efd, &efd->classes.high);
		mf_efd_recount(efd, &efd->classes.low);
	}
}

/* Makes room for a packet of @len bytes; false, and nobody went, if it cannot. */
static bool mf_efd_make_room(struct mf_efd *efd, bool high, u64 volume, u32 len)
{
	u64 victims = mf_classes_victims(&efd->classes, &efd->queue, high,
					 volume, len);
	u64 left;

	for (left = victims; left; left--)
		mf_efd_push_out(efd);
	return victims > 0;
}

/* Volume that @packet ranks by, its fragment at @index or not begun. */
static u64 mf_efd_rank(const struct mf_efd *efd, u32 index,
		       const struct mf_packet *packet)
{
	static const struct mf_volume none;
	const struct mf_volume *volume = &none;

	if (index)
		volume = &mf_flow_entry(&efd->flows, index)->volume;
	else if (mf_flow_table_is_full(&efd->flows))
		return efd->options.threshold; /* behind all that are known */
	return mf_volume_rank(efd->options.measure, volume, packet);
}

/* Begins a fragment where there is none and counts the packet of @slot in it. */
static void mf_efd_count(struct mf_efd *efd, u32 slot, u32 index, u64 key)
{
	struct mf_entry *entry = mf_pool_entry(&efd->pool, slot);
	struct mf_flow *flow;

	if (!index)
		index = mf_flow_insert(&efd->flows, key);
	entry->flow = index;
	if (!index) {
		efd->bypassed++;
		return;
	}
	flow = mf_flow_entry(&efd->flows, index);
	mf_volume_add(efd->options.measure, &flow->volume, &entry->packet);
	if (!flow->queued++)
		efd->fragments++;
}

/**
 * mf_efd_enqueue() - takes an arriving packet
 * @efd: the queue
 * @packet: the packet
 * @now_ns: time of the call
 *
 * Return: MF_QUEUED, or MF_FULL: then the packet is still the caller's.
 */
static enum mf_fate mf_efd_enqueue(struct mf_efd *efd, struct mf_packet *packet,
				   u64 now_ns)
{
	u64 key = mf_volume_flow(efd->options.measure, packet);
	u64 volume;
	u32 index, slot;
	bool high;

	if (mf_queue_receive(&efd->queue, packet, now_ns) != MF_QUEUED)
		return MF_FULL;
	index = mf_flow_find(&efd->flows, key);
	volume = mf_efd_rank(efd, index, packet);
	high = volume < efd->options.threshold;
	if (mf_queue_is_full(&efd->queue, packet->len)) {
		/* Algorithm 3, lines 8, 23, 37; the entry of line 4 would go. */
		if (!mf_efd_make_room(efd, high, volume, packet->len))
			return mf_queue_refuse(&efd->queue, packet, MF_FULL);
		/* The table may have room now; after a change of the threshold
		 * it may even be the last packets of this flow that went.
		 */
		index = mf_flow_find(&efd->flows, key);
		volume = mf_efd_rank(efd, index, packet);
		high = volume < efd->options.threshold;
	}
	mf_queue_accept(&efd->queue, packet);
	slot = mf_pool_take(&efd->pool, packet);
	mf_efd_count(efd, slot, index, key);
	mf_queue_note(&efd->queue, high,
		      mf_pool_entry(&efd->pool, slot)->flow && !index);
	mf_order_push(high ? &efd->classes.high : &efd->classes.low, slot,
		      volume);
	return MF_QUEUED;
}

/**
 * mf_efd_dequeue() - hands out the next packet to send
 * @efd: the queue
 * @now_ns: time of the call
 *
 * Return: the packet, as it is until the next one comes; NULL when none waits.
 */
static const struct mf_packet *mf_efd_dequeue(struct mf_efd *efd,
					      u64 now_ns)
{
	u32 slot = mf_classes_pop(&efd->classes);
	const struct mf_packet *packet;

	efd->queue.now_ns = now_ns;
	if (!slot)
		return NULL;
	packet = &mf_pool_entry(&efd->pool, slot)->packet;
	mf_efd_leave(efd, slot, false);
	mf_pool_give(&efd->pool, slot);
	mf_queue_depart(&efd->queue, packet);
	return packet;
}

/**
 * mf_efd_peek() - the packet that would be handed out now
 * @efd: the queue
 *
 * Return: the packet, NULL when none waits.
 */
static const struct mf_packet *mf_efd_peek(const struct mf_efd *efd)
{
	u32 slot = mf_classes_first(&efd->classes);

	return slot ? &mf_pool_entry(&efd->pool, slot)->packet : NULL;
}

#endif
