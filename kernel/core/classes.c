// SPDX-License-Identifier: GPL-2.0
/* Two classes with strict priority. */
#include "classes.h"

/* Goes on from the tail of @order, over packets of a key above @volume where
 * @some is set, adding them up in @gone. True once one of @len bytes would fit.
 */
static bool mf_classes_count(const struct mf_order *order,
			     const struct mf_queue *queue, bool some,
			     u64 volume, u32 len, struct mf_count *gone)
{
	const struct mf_entry *entry;
	u32 slot;

	/* In order of arrival nobody is behind a packet that comes now. */
	if (some && !order->sorted)
		return false;
	for (slot = order->last; slot; slot = entry->prev) {
		entry = mf_pool_entry(order->pool, slot);
		mf_step();
		if ((some && mf_order_key(order, entry) <= volume) ||
		    gone->pkts == MF_MAX_VICTIMS)
			return false;
		mf_count_add(gone, entry->packet.len);
		if (!mf_queue_is_full_without(queue, len, *gone))
			return true;
	}
	return false;
}

/**
 * mf_order_victims() - how many have to go for an arriving packet
 * @order: the packets that wait, sorted
 * @queue: limit and backlog, which is full
 * @key: of the arriving packet
 * @len: its length, bytes
 *
 * Return: packets to be taken from the tail; 0 when all that are behind the
 * place of the packet would not be enough, or more than MF_MAX_VICTIMS had to go.
 */
u64 mf_order_victims(const struct mf_order *order, const struct mf_queue *queue,
		     u64 key, u32 len)
{
	struct mf_count gone = { 0 };

	if (mf_classes_count(order, queue, true, key, len, &gone))
		return gone.pkts;
	return 0;
}
EXPORT_SYMBOL_GPL(mf_order_victims);

/**
 * mf_classes_victims() - how many have to go for an arriving packet
 * @classes: the classes
 * @queue: limit and backlog, which is full
 * @high: the packet is high
 * @volume: it is marked with
 * @len: its length, bytes
 *
 * Return: packets to be taken from the tail of the low class, then of the high
 * one; 0 when all that are behind the place of the packet would not be enough,
 * or more than MF_MAX_VICTIMS had to go.
 */
u64 mf_classes_victims(const struct mf_classes *classes,
		       const struct mf_queue *queue, bool high, u64 volume,
		       u32 len)
{
	struct mf_count gone = { 0 };

	if (mf_classes_count(&classes->low, queue, !high, volume, len, &gone))
		return gone.pkts;
	if (high &&
	    mf_classes_count(&classes->high, queue, true, volume, len, &gone))
		return gone.pkts;
	return 0;
}
EXPORT_SYMBOL_GPL(mf_classes_victims);

/**
 * mf_classes_sort() - makes a class sorted, or no longer
 * @order: the class; its packets stay in the order they are in where it is to
 *	be that of arrival, else they are sorted by their keys
 * @sorted: by key, else in order of arrival
 */
void mf_classes_sort(struct mf_order *order, bool sorted)
{
	u32 slot = order->first;
	struct mf_order anew;
	u32 next;

	if (order->sorted == sorted)
		return;
	mf_order_init(&anew, order->pool, sorted, order->random);
	for (; slot; slot = next) {
		struct mf_entry *entry = mf_pool_entry(order->pool, slot);

		next = entry->next;
		mf_order_push(&anew, slot, mf_order_key(order, entry));
	}
	*order = anew;
}
EXPORT_SYMBOL_GPL(mf_classes_sort);
