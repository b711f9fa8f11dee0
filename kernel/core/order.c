// SPDX-License-Identifier: GPL-2.0
/* Pools of waiting packets, and lists over them, sorted or not. */
#include "order.h"

/**
 * mf_pool_init() - allocates a pool
 * @pool: the pool
 * @size: packets it shall hold
 *
 * Return: 0, or -ENOMEM.
 */
int mf_pool_init(struct mf_pool *pool, u32 size)
{
	*pool = (struct mf_pool){ .size = size };
	pool->entries = mf_alloc((size_t)size + 1, sizeof(*pool->entries));
	return pool->entries ? 0 : -ENOMEM;
}
EXPORT_SYMBOL_GPL(mf_pool_init);

/**
 * mf_pool_free() - frees the memory of a pool
 * @pool: the pool, allocated or all zero
 */
void mf_pool_free(struct mf_pool *pool)
{
	mf_free(pool->entries);
	*pool = (struct mf_pool){ 0 };
}
EXPORT_SYMBOL_GPL(mf_pool_free);

/**
 * mf_pool_reset() - forgets every packet
 * @pool: the pool
 */
void mf_pool_reset(struct mf_pool *pool)
{
	pool->used = 0;
	pool->free = MF_NONE;
}
EXPORT_SYMBOL_GPL(mf_pool_reset);

/**
 * mf_pool_move() - puts a larger array of entries below the packets of a pool
 * @pool: the pool; packets keep their indices
 * @larger: an unused pool, not smaller; has the old array afterwards, to be
 *	freed once no lock is held
 */
void mf_pool_move(struct mf_pool *pool, struct mf_pool *larger)
{
	struct mf_pool old = *pool;

	/* The first entry is never used, so that its index can be MF_NONE. */
	memcpy(larger->entries, old.entries,
	       ((size_t)old.used + 1) * sizeof(*old.entries));
	pool->entries = larger->entries;
	pool->size = larger->size;
	*larger = old;
}
EXPORT_SYMBOL_GPL(mf_pool_move);

/**
 * mf_pool_take() - puts a packet into a pool
 * @pool: the pool
 * @packet: the packet
 *
 * Return: its index, MF_NONE when the pool is full.
 */
u32 mf_pool_take(struct mf_pool *pool, const struct mf_packet *packet)
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
EXPORT_SYMBOL_GPL(mf_pool_take);

/**
 * mf_pool_give() - frees the entry of a packet
 * @pool: the pool
 * @slot: index of the packet, which is in no order any more
 */
void mf_pool_give(struct mf_pool *pool, u32 slot)
{
	pool->entries[slot].next = pool->free;
	pool->free = slot;
}
EXPORT_SYMBOL_GPL(mf_pool_give);

/**
 * mf_order_init() - makes an empty order
 * @order: the order
 * @pool: where its packets are
 * @sorted: by key, else in order of arrival
 * @seed: of the random weights; no decision depends on it
 */
void mf_order_init(struct mf_order *order, struct mf_pool *pool, bool sorted,
		   u32 seed)
{
	*order = (struct mf_order){
		.pool = pool,
		.sorted = sorted,
		.random = seed | 1,
	};
}
EXPORT_SYMBOL_GPL(mf_order_init);

/* Marsaglia's xorshift with 32 bits of state, which is never zero. */
static u32 mf_order_draw(struct mf_order *order)
{
	u32 x = order->random;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	order->random = x;
	return x;
}

/* The place of @slot in the treap goes to @heir, which may be MF_NONE. */
static void mf_order_replace(struct mf_order *order, u32 slot, u32 heir)
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

/* Lifts @slot above its parent: a rotation that keeps the order. */
static void mf_order_lift(struct mf_order *order, u32 slot)
{
	struct mf_entry *entries = order->pool->entries;
	u32 parent = entries[slot].parent;
	u32 child;

	mf_order_replace(order, parent, slot);
	if (entries[parent].left == slot) {
		child = entries[slot].right;
		entries[slot].right = parent;
		entries[parent].left = child;
	} else {
		child = entries[slot].left;
		entries[slot].left = parent;
		entries[parent].right = child;
	}
	entries[parent].parent = slot;
	if (child)
		entries[child].parent = parent;
}

/* The entry below which one of @key belongs, behind those of equal key. */
static u32 mf_order_above(const struct mf_order *order, u64 key)
{
	const struct mf_entry *entries = order->pool->entries;
	u32 above = order->root;

	/* Both ends first: where most packets go. */
	if (mf_order_key(order, &entries[order->last]) <= key)
		return order->last;
	if (key < mf_order_key(order, &entries[order->first]))
		return order->first;
	for (;;) {
		const struct mf_entry *entry = &entries[above];
		u32 below = mf_order_key(order, entry) <= key ? entry->right :
								 entry->left;

		mf_step();
		if (!below)
			return above;
		above = below;
	}
}

/* Puts @slot between @prev and @next of the list. */
static void mf_order_link(struct mf_order *order, u32 slot, u32 prev, u32 next)
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
void mf_order_push(struct mf_order *order, u32 slot, u64 key)
{
	struct mf_entry *entries = order->pool->entries;
	struct mf_entry *entry = &entries[slot];
	u32 above;

	entry->key = key;
	entry->faded = order->faded;
	if (!order->sorted) {
		mf_order_link(order, slot, order->last, MF_NONE);
		return;
	}
	entry->left = MF_NONE;
	entry->right = MF_NONE;
	entry->parent = MF_NONE;
	entry->weight = mf_order_draw(order);
	if (!order->len) {
		order->root = slot;
		mf_order_link(order, slot, MF_NONE, MF_NONE);
		return;
	}
	above = mf_order_above(order, key);
	entry->parent = above;
	if (mf_order_key(order, &entries[above]) <= key) {
		entries[above].right = slot;
		mf_order_link(order, slot, above, entries[above].next);
	} else {
		entries[above].left = slot;
		mf_order_link(order, slot, entries[above].prev, above);
	}
	while (entry->parent && entries[entry->parent].weight < entry->weight) {
		mf_step();
		mf_order_lift(order, slot);
	}
}
EXPORT_SYMBOL_GPL(mf_order_push);

/**
 * mf_order_pop_first() - takes the packet to be sent next out of the order
 * @order: the order
 *
 * Return: its index, still in the pool; MF_NONE when there is none.
 */
u32 mf_order_pop_first(struct mf_order *order)
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
EXPORT_SYMBOL_GPL(mf_order_pop_first);

/**
 * mf_order_pop_last() - takes the packet to be dropped first out of the order
 * @order: the order
 *
 * Return: its index, still in the pool; MF_NONE when there is none.
 */
u32 mf_order_pop_last(struct mf_order *order)
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
EXPORT_SYMBOL_GPL(mf_order_pop_last);
