/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Run2C: the first bytes of every flow go before everything else.
 *
 * Principle: a packet is high while fewer than a threshold of bytes of its flow
 * came before it, low afterwards; strict priority, each class in order of
 * arrival. TCP data tells these bytes itself, by its sequence number; bare
 * acknowledgements are high; other packets are counted. Counted by connection,
 * all packets are, both ways. A high packet that finds the buffer full takes
 * the place of the last low one.
 * Cost per packet: O(1); one look-up for packets that are counted.
 * Source: Avrachenkov et al. 2004; Chen 2012, 6.4; decisions as
 * crates/qdisc/src/disciplines/run2c.rs and run2cack.rs.
 */
#ifndef MAYFLY_RUN2C_H
#define MAYFLY_RUN2C_H

#include "attained.h"
#include "classes.h"

/**
 * struct mf_run2c_options - parameters of Run2C
 * @limit: of the buffer, above 0
 * @threshold: bytes that go first, above 0
 * @visit_ns: interval at which idle flows are looked for, above 0
 * @timeout_ns: idle time after which a flow is forgotten
 * @flows: flows known at a time, more than packets fit or as many
 * @limit_in_bytes: the limit is in bytes, else in packets
 * @both: both directions of a connection count: Run2CACK
 */
struct mf_run2c_options {
	u64 limit;
	u64 threshold;
	u64 visit_ns;
	u64 timeout_ns;
	u32 flows;
	bool limit_in_bytes;
	bool both;
};

/**
 * struct mf_run2c - a queue with Run2C
 * @queue: limit and counters
 * @options: as given
 * @classes: the packets that wait
 * @pool: their entries
 * @attained: flows of packets that are counted
 */
struct mf_run2c {
	struct mf_queue queue;
	struct mf_run2c_options options;
	struct mf_classes classes;
	struct mf_pool pool;
	struct mf_attained attained;
};

/* Arrays for options that need larger ones, made before the queue is locked. */
struct mf_run2c_spare {
	struct mf_pool pool;
	struct mf_flow_table flows;
};

static u32 mf_run2c_flows(const struct mf_run2c_options *options)
{
	u32 pkts = mf_limit_pkts(options->limit, options->limit_in_bytes);

	/* One more than packets fit, so that there is always an idle flow. */
	return options->flows > pkts ? options->flows : pkts + 1;
}

static void mf_run2c_empty(struct mf_run2c *run2c)
{
	mf_order_init(&run2c->classes.high, &run2c->pool, false, 0);
	mf_order_init(&run2c->classes.low, &run2c->pool, false, 0);
}

/**
 * mf_run2c_free() - frees the memory of a queue
 * @run2c: the queue, all zero or empty: packets are not handed back
 */
static void mf_run2c_free(struct mf_run2c *run2c)
{
	mf_pool_free(&run2c->pool);
	mf_flow_table_free(&run2c->attained.flows);
}

/**
 * mf_run2c_init() - makes an empty queue
 * @run2c: the queue
 * @options: its parameters, each within its bounds
 * @discard: takes packets that waited and go without being sent
 *
 * Return: 0, or -ENOMEM.
 */
static int mf_run2c_init(struct mf_run2c *run2c,
			 const struct mf_run2c_options *options, mf_discard_t discard)
{
	*run2c = (struct mf_run2c){
		.queue.discard = discard,
		.options = *options,
	};
	mf_queue_limit(&run2c->queue, options->limit, options->limit_in_bytes);
	mf_run2c_empty(run2c);
	if (!mf_pool_init(&run2c->pool, run2c->queue.limit_pkts) &&
	    !mf_attained_init(&run2c->attained, mf_run2c_flows(options),
			      options->visit_ns, options->timeout_ns))
		return 0;
	mf_run2c_free(run2c);
	return -ENOMEM;
}

/**
 * mf_run2c_reset() - forgets packets, flows and counters
 * @run2c: the queue; its packets are the caller's
 */
static void mf_run2c_reset(struct mf_run2c *run2c)
{
	run2c->queue.stats = (struct mf_stats){ 0 };
	mf_run2c_empty(run2c);
	mf_pool_reset(&run2c->pool);
	mf_attained_reset(&run2c->attained);
}

/**
 * mf_run2c_spare_free() - frees what is left of it
 * @spare: as made, or as mf_run2c_change() left it
 */
static void mf_run2c_spare_free(struct mf_run2c_spare *spare)
{
	mf_pool_free(&spare->pool);
	mf_flow_table_free(&spare->flows);
}

/**
 * mf_run2c_spare_init() - allocates what other options need
 * @spare: for mf_run2c_change()
 * @run2c: the queue
 * @options: the other options
 *
 * Return: 0, or -ENOMEM.
 */
static int mf_run2c_spare_init(struct mf_run2c_spare *spare,
			       const struct mf_run2c *run2c,
			       const struct mf_run2c_options *options)
{
	u32 pkts = mf_limit_pkts(options->limit, options->limit_in_bytes);
	u32 flows = mf_run2c_flows(options);

	*spare = (struct mf_run2c_spare){ 0 };
	if (pkts > run2c->pool.size && mf_pool_init(&spare->pool, pkts))
		return -ENOMEM;
	if (flows <= run2c->attained.flows.room ||
	    !mf_flow_table_init(&spare->flows, flows))
		return 0;
	mf_run2c_spare_free(spare);
	return -ENOMEM;
}

/* What packets are counted by, where they are. */
static enum mf_measure mf_run2c_measure(const struct mf_run2c *run2c)
{
	return run2c->options.both ? MF_WHOLE : MF_BYTES;
}

/* Is @packet counted, or does it tell by itself? */
static bool mf_run2c_counts(const struct mf_run2c *run2c,
			    const struct mf_packet *packet)
{
	return run2c->options.both || packet->kind == MF_UDP;
}

/* Is @packet high, of a flow that has moved @volume before it? */
static bool mf_run2c_is_high(const struct mf_run2c *run2c,
			     const struct mf_volume *volume,
			     const struct mf_packet *packet)
{
	u64 before = 0;

	if (mf_run2c_counts(run2c, packet))
		before = mf_volume_rank(mf_run2c_measure(run2c), volume, packet);
	else if (packet->kind == MF_DATA)
		before = packet->progress;
	return before < run2c->options.threshold;
}

/* Drops the last low packet; where there is none the last high one, which only
 * a lower limit asks for.
 */
static void mf_run2c_push_out(struct mf_run2c *run2c)
{
	u32 slot = mf_classes_pop_last(&run2c->classes);
	struct mf_entry *entry = mf_pool_entry(&run2c->pool, slot);
	struct mf_packet victim = entry->packet;
	struct mf_flow *flow;

	mf_step();
	if (entry->flow) {
		flow = mf_flow_entry(&run2c->attained.flows, entry->flow);
		/* A connection is past the threshold without it, too. */
		if (!run2c->options.both)
			mf_volume_take_back(MF_BYTES, &flow->volume, &victim);
		mf_attained_push_out(&run2c->attained, entry->flow);
	}
	mf_pool_give(&run2c->pool, slot);
	mf_queue_discard(&run2c->queue, &victim, MF_PUSHED_OUT);
}

/* Counts the packet of @slot where it is to be; tells whether it is high. */
static bool mf_run2c_count(struct mf_run2c *run2c, u32 slot, u64 now_ns)
{
	enum mf_measure measure = mf_run2c_measure(run2c);
	struct mf_entry *entry = mf_pool_entry(&run2c->pool, slot);
	struct mf_volume *volume;
	bool high;

	entry->flow = MF_NONE;
	if (!mf_run2c_counts(run2c, &entry->packet))
		return mf_run2c_is_high(run2c, NULL, &entry->packet);
	entry->flow = mf_attained_enter(&run2c->attained,
					mf_volume_flow(measure, &entry->packet),
					now_ns);
	volume = &mf_flow_entry(&run2c->attained.flows, entry->flow)->volume;
	high = mf_run2c_is_high(run2c, volume, &entry->packet);
	mf_volume_add(measure, volume, &entry->packet);
	return high;
}

static void mf_run2c_recount(struct mf_run2c *run2c,
			     const struct mf_order *order, u64 now_ns)
{
	u32 slot;

	for (slot = order->first; slot;
	     slot = mf_pool_entry(&run2c->pool, slot)->next)
		mf_run2c_count(run2c, slot, now_ns);
}

/**
 * mf_run2c_change() - gives a queue other options, packets waiting or not
 * @run2c: the queue
 * @options: the other options, each within its bounds
 * @spare: made for them; to be freed once no lock is held
 * @now_ns: time of the call
 *
 * Packets that exceed a lower limit are dropped, the last low ones first. The
 * others keep their class. Where something else is counted flows begin anew.
 */
static void mf_run2c_change(struct mf_run2c *run2c,
			    const struct mf_run2c_options *options,
			    struct mf_run2c_spare *spare, u64 now_ns)
{
	bool recount = options->both != run2c->options.both;
	u64 evicted;

	if (spare->pool.size)
		mf_pool_move(&run2c->pool, &spare->pool);
	mf_queue_limit(&run2c->queue, options->limit, options->limit_in_bytes);
	while (mf_queue_is_over(&run2c->queue))
		mf_run2c_push_out(run2c);
	mf_attained_change(&run2c->attained, mf_run2c_flows(options),
			   options->visit_ns, options->timeout_ns,
			   &spare->flows);
	run2c->options = *options;
	if (recount) {
		evicted = run2c->attained.evicted;
		mf_attained_reset(&run2c->attained);
		run2c->attained.evicted = evicted;
		mf_run2c_recount(run2c, &run2c->classes.high, now_ns);
		mf_run2c_recount(run2c, &run2c->classes.low, now_ns);
	}
}

/* Makes room for @packet; false, and nobody went, if it cannot. */
static bool mf_run2c_make_room(struct mf_run2c *run2c,
			       const struct mf_packet *packet)
{
	u64 key = mf_volume_flow(mf_run2c_measure(run2c), packet);
	const struct mf_volume *volume =
		&mf_attained_known(&run2c->attained, key)->volume;
	u64 victims, left;

	if (!mf_run2c_is_high(run2c, volume, packet))
		return false;
	victims = mf_classes_victims(&run2c->classes, &run2c->queue, true, 0,
				     packet->len);
	for (left = victims; left; left--)
		mf_run2c_push_out(run2c);
	return victims > 0;
}

/**
 * mf_run2c_enqueue() - takes an arriving packet
 * @run2c: the queue
 * @packet: the packet
 * @now_ns: time of the call
 *
 * Return: MF_QUEUED, or MF_FULL: then the packet is still the caller's.
 */
static enum mf_fate mf_run2c_enqueue(struct mf_run2c *run2c, struct mf_packet *packet,
				     u64 now_ns)
{
	struct mf_classes *classes = &run2c->classes;
	u32 slot;
	bool high;

	if (mf_queue_receive(&run2c->queue, packet, now_ns) != MF_QUEUED)
		return MF_FULL;
	mf_attained_visit(&run2c->attained, now_ns);
	if (mf_queue_is_full(&run2c->queue, packet->len) &&
	    !mf_run2c_make_room(run2c, packet))
		return mf_queue_refuse(&run2c->queue, packet, MF_FULL);
	mf_queue_accept(&run2c->queue, packet);
	slot = mf_pool_take(&run2c->pool, packet);
	high = mf_run2c_count(run2c, slot, now_ns);
	mf_queue_note(&run2c->queue, high, false);
	mf_order_push(high ? &classes->high : &classes->low, slot, 0);
	return MF_QUEUED;
}

/**
 * mf_run2c_dequeue() - hands out the next packet to send
 * @run2c: the queue
 * @now_ns: time of the call
 *
 * Return: the packet, as it is until the next one comes; NULL when none waits.
 */
static const struct mf_packet *mf_run2c_dequeue(struct mf_run2c *run2c,
						u64 now_ns)
{
	const struct mf_packet *packet;
	struct mf_entry *entry;
	u32 slot;

	run2c->queue.now_ns = now_ns;
	mf_attained_visit(&run2c->attained, now_ns);
	slot = mf_classes_pop(&run2c->classes);
	if (!slot)
		return NULL;
	entry = mf_pool_entry(&run2c->pool, slot);
	packet = &entry->packet;
	if (entry->flow)
		mf_attained_leave(&run2c->attained, entry->flow, now_ns);
	mf_pool_give(&run2c->pool, slot);
	mf_queue_depart(&run2c->queue, packet);
	return packet;
}

/**
 * mf_run2c_peek() - the packet that would be handed out now
 * @run2c: the queue
 *
 * Return: the packet, NULL when none waits.
 */
static const struct mf_packet *mf_run2c_peek(const struct mf_run2c *run2c)
{
	u32 slot = mf_classes_first(&run2c->classes);

	return slot ? &mf_pool_entry(&run2c->pool, slot)->packet : NULL;
}

#endif
