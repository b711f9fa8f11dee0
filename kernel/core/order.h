/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waiting packets, in a pool made beforehand, in order of arrival or sorted by
 * a key: what crates/qdisc/src/parts/order.rs and the queues of classes.rs are.
 *
 * Principle: a doubly linked list over the indices of the pool; where it is
 * sorted, with a treap beside it, a search tree by key that is a heap by
 * random weights. A packet goes behind those of equal key.
 * Keys may be numbers that fade (decay.h): they are all halved by one count that
 * goes up, since halving keeps their order.
 * Cost per packet: O(1) at either end; sorted, O(log n) expected to insert.
 */
#ifndef MAYFLY_ORDER_H
#define MAYFLY_ORDER_H

#include "decay.h"
#include "packet.h"

/**
 * struct mf_entry - a packet that waits
 * @packet: its descriptor
 * @key: what it was sorted by when it came
 * @flow: its entry in the flow table, MF_NONE where it has none
 * @prev: the packet before it
 * @next: the packet behind it; in a free entry, the next free one
 * @left: root of the packets before it, below it in the treap
 * @right: root of the packets behind it, below it in the treap
 * @parent: the entry above it in the treap
 * @weight: not above that of the parent
 * @faded: that of the order when the packet came
 */
struct mf_entry {
	struct mf_packet packet;
	u64 key;
	u32 flow;
	u32 prev;
	u32 next;
	u32 left;
	u32 right;
	u32 parent;
	u32 weight;
	u32 faded;
};

/**
 * struct mf_pool - entries for the packets of one queue
 * @entries: @size + 1 of them, the first one never used
 * @size: packets it holds
 * @used: entries that were used at any time: those up to this index
 * @free: first of the used ones that are free
 */
struct mf_pool {
	struct mf_entry *entries;
	u32 size;
	u32 used;
	u32 free;
};

int mf_pool_init(struct mf_pool *pool, u32 size);
void mf_pool_free(struct mf_pool *pool);
void mf_pool_reset(struct mf_pool *pool);
void mf_pool_move(struct mf_pool *pool, struct mf_pool *larger);

/**
 * struct mf_order - packets of a pool in their order
 * @pool: where they are; several orders may share one
 * @first: to be sent next
 * @last: to be dropped first
 * @len: packets
 * @root: of the treap, where sorted
 * @random: state of the generator of weights
 * @faded: how often all keys were halved so far, modulo 2^32
 * @sorted: by key, else in order of arrival
 */
struct mf_order {
	struct mf_pool *pool;
	u32 first;
	u32 last;
	u32 len;
	u32 root;
	u32 random;
	u32 faded;
	bool sorted;
};

void mf_order_init(struct mf_order *order, struct mf_pool *pool, bool sorted,
		   u32 seed);
void mf_order_sort(struct mf_order *order, u32 slot);

static inline struct mf_entry *mf_pool_entry(const struct mf_pool *pool,
					     u32 slot)
{
	return &pool->entries[slot];
}

/* What the packet of @entry is sorted by now. */
static inline u64 mf_order_key(const struct mf_order *order,
			       const struct mf_entry *entry)
{
	return mf_inflated_faded(entry->key, order->faded - entry->faded);
}

/**
 * mf_pool_take() - puts a packet into a pool
 * @pool: the pool
 * @packet: the packet
 *
 * Return: its index, MF_NONE when the pool is full.
 */
static inline u32 mf_pool_take(struct mf_pool *pool, const struct mf_packet *packet)
{
	u32 slot = pool->free;

	if (slot)
		pool->free = pool->entries[slot].next;
	else if (pool->used < pool->size)
		slot = ++pool->used;
	else
		return MF_NONE;
	pool->entries[slot].packet = *packet;
	pool->entries[slot].flow = MF_NONE;
	return slot;
}

/**
 * mf_pool_give() - frees the entry of a packet
 * @pool: the pool
 * @slot: index of the packet, which is in no order any more; its descriptor stays
 *	until the entry is taken again
 */
static inline void mf_pool_give(struct mf_pool *pool, u32 slot)
{
	pool->entries[slot].next = pool->free;
	pool->free = slot;
}

/* The place of @slot in the treap goes to @heir, which may be MF_NONE. */
static inline void mf_order_replace(struct mf_order *order, u32 slot, u32 heir)
{
	struct mf_entry *entries = order->pool->entries;
	u32 parent = entries[slot].parent;

	if (!parent)
		order->root = heir;
	else if (entries[parent].left == slot)
		entries[parent].left = heir;
	else
		entries[parent].right = heir;
	if (heir)
		entries[heir].parent = parent;
}

/* Puts @slot between @prev and @next of the list. */
static inline void mf_order_link(struct mf_order *order, u32 slot, u32 prev, u32 next)
{
	struct mf_entry *entries = order->pool->entries;

	entries[slot].prev = prev;
	entries[slot].next = next;
	if (prev)
		entries[prev].next = slot;
	else
		order->first = slot;
	if (next)
		entries[next].prev = slot;
	else
		order->last = slot;
	order->len++;
}

/**
 * mf_order_push() - puts a packet into its place
 * @order: the order
 * @slot: index of the packet in the pool
 * @key: what it is sorted by: behind every packet of the same or a smaller one
 */
static inline void mf_order_push(struct mf_order *order, u32 slot, u64 key)
{
	struct mf_entry *entry = mf_pool_entry(order->pool, slot);

	entry->key = key;
	entry->faded = order->faded;
	if (order->sorted)
		mf_order_sort(order, slot);
	else
		mf_order_link(order, slot, order->last, MF_NONE);
}

/**
 * mf_order_pop_first() - takes the packet to be sent next out of the order
 * @order: the order
 *
 * Return: its index, still in the pool; MF_NONE when there is none.
 */
static inline u32 mf_order_pop_first(struct mf_order *order)
{
	struct mf_entry *entries = order->pool->entries;
	u32 slot = order->first;

	if (!slot)
		return MF_NONE;
	if (order->sorted)
		mf_order_replace(order, slot, entries[slot].right);
	order->first = entries[slot].next;
	if (order->first)
		entries[order->first].prev = MF_NONE;
	else
		order->last = MF_NONE;
	order->len--;
	return slot;
}

/**
 * mf_order_pop_last() - takes the packet to be dropped first out of the order
 * @order: the order
 *
 * Return: its index, still in the pool; MF_NONE when there is none.
 */
static inline u32 mf_order_pop_last(struct mf_order *order)
{
	struct mf_entry *entries = order->pool->entries;
	u32 slot = order->last;

	if (!slot)
		return MF_NONE;
	if (order->sorted)
		mf_order_replace(order, slot, entries[slot].left);
	order->last = entries[slot].prev;
	if (order->last)
		entries[order->last].next = MF_NONE;
	else
		order->first = MF_NONE;
	order->len--;
	return slot;
}

#endif
