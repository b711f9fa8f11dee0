/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RED that also estimates what share of its traffic does not respond to drops:
 * crates/qdisc/src/disciplines/estmred.rs in integers.
 *
 * Cost per packet: that of RED and a few additions; the estimator runs once per
 * sampling interval, driven by the packets. Source: Zhao 2004, II and III.
 */
#ifndef MAYFLY_ESTMRED_H
#define MAYFLY_ESTMRED_H

#include "order.h"
#include "red.h"
#include "sampler.h"

/**
 * struct mf_estmred_options - what can be chosen
 * @limit: packets or bytes
 * @limit_in_bytes: which of them
 * @estimate: run the estimator
 * @red: of RED
 * @sampler: of the estimator
 */
struct mf_estmred_options {
	u64 limit;
	bool limit_in_bytes;
	bool estimate;
	struct mf_red_options red;
	struct mf_sampler_options sampler;
};

/**
 * struct mf_estmred - the queue
 * @queue: limit and counters, first
 * @options: as given
 * @pool: entries of waiting packets
 * @order: of arrival
 * @red: the detector
 * @sampler: the estimator; NULL where it is off
 */
struct mf_estmred {
	struct mf_queue queue;
	struct mf_estmred_options options;
	struct mf_pool pool;
	struct mf_order order;
	struct mf_red red;
	struct mf_sampler *sampler;
};

/* What mf_estmred_change() needs beyond what there is. */
struct mf_estmred_spare {
	struct mf_pool pool;
	struct mf_sampler *sampler;
};

/* Begins both anew: averages, counts and what was learned are forgotten. */
static void mf_estmred_begin(struct mf_estmred *estmred)
{
	const struct mf_estmred_options *options = &estmred->options;

	mf_red_init(&estmred->red, &options->red, options->limit, options->limit_in_bytes);
	if (estmred->sampler)
		mf_sampler_init(estmred->sampler, &options->sampler);
}

/**
 * mf_estmred_spare_free() - frees what is left of it
 * @spare: as made, or as mf_estmred_change() left it
 */
static void mf_estmred_spare_free(struct mf_estmred_spare *spare)
{
	mf_pool_free(&spare->pool);
	mf_free(spare->sampler);
	spare->sampler = NULL;
}

/**
 * mf_estmred_spare_init() - allocates what a queue with other options needs
 * @spare: for mf_estmred_change()
 * @estmred: the queue, whose pool is kept where it is large enough
 * @options: the other options
 *
 * Return: 0, or -ENOMEM.
 */
static int mf_estmred_spare_init(struct mf_estmred_spare *spare, const struct mf_estmred *estmred,
				 const struct mf_estmred_options *options)
{
	u32 pkts = mf_limit_pkts(options->limit, options->limit_in_bytes);

	*spare = (struct mf_estmred_spare){ 0 };
	if (pkts > estmred->pool.size && mf_pool_init(&spare->pool, pkts))
		return -ENOMEM;
	if (!options->estimate || estmred->sampler)
		return 0;
	spare->sampler = mf_alloc(1, sizeof(*spare->sampler));
	if (spare->sampler)
		return 0;
	mf_estmred_spare_free(spare);
	return -ENOMEM;
}

/**
 * mf_estmred_free() - frees the memory of an empty queue
 * @estmred: the queue, initialised or all zero
 */
static void mf_estmred_free(struct mf_estmred *estmred)
{
	mf_pool_free(&estmred->pool);
	mf_free(estmred->sampler);
	estmred->sampler = NULL;
}

/**
 * mf_estmred_init() - an empty queue
 * @estmred: the queue, all zero
 * @options: within their bounds
 * @discard: takes packets that a change drops
 *
 * Return: 0, or -ENOMEM.
 */
static int mf_estmred_init(struct mf_estmred *estmred, const struct mf_estmred_options *options,
			   mf_discard_t discard)
{
	struct mf_estmred_spare spare;

	*estmred = (struct mf_estmred){ .options = *options };
	if (mf_estmred_spare_init(&spare, estmred, options))
		return -ENOMEM;
	estmred->queue.discard = discard;
	estmred->pool = spare.pool;
	estmred->sampler = spare.sampler;
	mf_queue_limit(&estmred->queue, options->limit, options->limit_in_bytes);
	mf_order_init(&estmred->order, &estmred->pool, false, 1);
	mf_estmred_begin(estmred);
	return 0;
}

/**
 * mf_estmred_reset() - as good as new
 * @estmred: the queue; nothing may wait
 */
static void mf_estmred_reset(struct mf_estmred *estmred)
{
	estmred->queue.stats = (struct mf_stats){ 0 };
	mf_order_init(&estmred->order, &estmred->pool, false, 1);
	mf_pool_reset(&estmred->pool);
	mf_estmred_begin(estmred);
}

/**
 * mf_estmred_change() - gives a queue other options, packets waiting or not
 * @estmred: the queue
 * @options: the other options, each within its bounds
 * @spare: made for them; to be freed once no lock is held
 *
 * The last packets that exceed a lower limit are dropped. Averages and the
 * estimator begin anew.
 */
static void mf_estmred_change(struct mf_estmred *estmred, const struct mf_estmred_options *options,
			      struct mf_estmred_spare *spare)
{
	struct mf_packet victim;
	struct mf_sampler *sampler;
	u32 slot;

	if (spare->pool.size)
		mf_pool_move(&estmred->pool, &spare->pool);
	if (spare->sampler || !options->estimate) {
		sampler = estmred->sampler;
		estmred->sampler = spare->sampler;
		spare->sampler = sampler;
	}
	mf_queue_limit(&estmred->queue, options->limit, options->limit_in_bytes);
	while (mf_queue_is_over(&estmred->queue)) {
		slot = mf_order_pop_last(&estmred->order);
		victim = mf_pool_entry(&estmred->pool, slot)->packet;
		mf_pool_give(&estmred->pool, slot);
		mf_queue_discard(&estmred->queue, &victim, MF_PUSHED_OUT);
	}
	estmred->options = *options;
	mf_estmred_begin(estmred);
}

/**
 * mf_estmred_enqueue() - takes an arriving packet
 * @estmred: the queue
 * @packet: the packet, marked perhaps
 * @now_ns: time of the call
 *
 * Return: MF_QUEUED, or MF_FULL or MF_EARLY: then the packet is the caller's.
 */
static enum mf_fate mf_estmred_enqueue(struct mf_estmred *estmred, struct mf_packet *packet,
				       u64 now_ns)
{
	struct mf_queue *queue = &estmred->queue;
	struct mf_sampler *sampler = estmred->sampler;
	enum mf_fate fate = mf_queue_receive(queue, packet, now_ns);

	if (fate != MF_QUEUED)
		return fate;
	if (sampler) {
		mf_sampler_advance(sampler, now_ns, mf_queue_bytes(queue));
		sampler->arrivals += packet->len;
		estmred->red.is_tail = sampler->is_tail;
	}
	mf_red_arrive(&estmred->red, queue);
	fate = mf_red_admit(&estmred->red, queue, packet);
	if (fate == MF_QUEUED)
		mf_order_push(&estmred->order, mf_pool_take(&estmred->pool, packet), 0);
	else if (sampler)
		sampler->drops += packet->len;
	return fate;
}

/**
 * mf_estmred_dequeue() - hands out the next packet to send
 * @estmred: the queue
 * @now_ns: time of the call
 *
 * Return: the packet, as it is until the next one comes; NULL when none waits.
 */
static const struct mf_packet *mf_estmred_dequeue(struct mf_estmred *estmred,
						  u64 now_ns)
{
	u32 slot = mf_order_pop_first(&estmred->order);
	bool leaves_some = estmred->order.first != MF_NONE;
	const struct mf_packet *packet;

	estmred->queue.now_ns = now_ns;
	if (!slot)
		return NULL;
	packet = &mf_pool_entry(&estmred->pool, slot)->packet;
	mf_pool_give(&estmred->pool, slot);
	if (estmred->sampler) {
		/* The counters still have the packet among those that wait. */
		mf_sampler_advance(estmred->sampler, now_ns, mf_queue_bytes(&estmred->queue));
		mf_sampler_depart(estmred->sampler, packet->len, leaves_some, now_ns);
	}
	mf_red_depart(&estmred->red, packet->len, leaves_some, now_ns);
	mf_queue_depart(&estmred->queue, packet);
	return packet;
}

/**
 * mf_estmred_peek() - the packet that would be handed out now
 * @estmred: the queue
 *
 * Return: the packet, NULL when none waits.
 */
static const struct mf_packet *mf_estmred_peek(const struct mf_estmred *estmred)
{
	u32 slot = estmred->order.first;

	return slot ? &mf_pool_entry(&estmred->pool, slot)->packet : NULL;
}

#endif
