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

/* Puts @slot into the treap at the end where @end is and nobody is beyond it; those
 * of lower weight on the way up go below it.
 */
static void mf_order_sort_end(struct mf_order *order, u32 slot, u32 end, bool last)
{
	struct mf_entry *entries = order->pool->entries;
	struct mf_entry *entry = &entries[slot];
	u32 above = end, below = MF_NONE;

	while (above && entries[above].weight < entry->weight) {
		mf_step();
		below = above;
		above = entries[above].parent;
	}
	entry->parent = above;
	entry->left = last ? below : MF_NONE;
	entry->right = last ? MF_NONE : below;
	if (below)
		entries[below].parent = slot;
	if (!above)
		order->root = slot;
	else if (last)
		entries[above].right = slot;
	else
		entries[above].left = slot;
}

/* Puts @slot into the treap between others. */
static void mf_order_sort_between(struct mf_order *order, u32 slot, u64 key)
{
	struct mf_entry *entries = order->pool->entries;
	struct mf_entry *entry = &entries[slot];
	u32 above = mf_order_above(order, key);

	entry->left = MF_NONE;
	entry->right = MF_NONE;
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

/**
 * mf_order_sort() - puts a packet into its place in a sorted order
 * @order: the order
 * @slot: index of the packet in the pool, whose key is set
 */
void mf_order_sort(struct mf_order *order, u32 slot)
{
	struct mf_entry *entries = order->pool->entries;
	u32 first = order->first, last = order->last;
	u64 key = entries[slot].key;

	entries[slot].weight = mf_order_draw(order);
	/* Both ends first: where most packets go. */
	if (!last || mf_order_key(order, &entries[last]) <= key) {
		mf_order_sort_end(order, slot, last, true);
		mf_order_link(order, slot, last, MF_NONE);
	} else if (key < mf_order_key(order, &entries[first])) {
		mf_order_sort_end(order, slot, first, false);
		mf_order_link(order, slot, MF_NONE, first);
	} else {
		mf_order_sort_between(order, slot, key);
	}
}
EXPORT_SYMBOL_GPL(mf_order_sort);
