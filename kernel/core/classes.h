/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two classes with strict priority, each in order of arrival or sorted by the
 * volume its packets are marked with; crates/qdisc/src/parts/classes.rs.
 */
#ifndef MAYFLY_CLASSES_H
#define MAYFLY_CLASSES_H

#include "order.h"
#include "queue.h"

/* A high and a low class of waiting packets, in one pool. */
struct mf_classes {
	struct mf_order high;
	struct mf_order low;
};

u64 mf_order_victims(const struct mf_order *order, const struct mf_queue *queue,
		     u64 key, u32 len);
u64 mf_classes_victims(const struct mf_classes *classes,
		       const struct mf_queue *queue, bool high, u64 volume,
		       u32 len);
void mf_classes_sort(struct mf_order *order, bool sorted);

/* Index of the packet to be sent next; still in the pool. */
static inline u32 mf_classes_pop(struct mf_classes *classes)
{
	u32 slot = mf_order_pop_first(&classes->high);

	return slot ? slot : mf_order_pop_first(&classes->low);
}

/* Index of the packet of lowest priority; still in the pool. */
static inline u32 mf_classes_pop_last(struct mf_classes *classes)
{
	u32 slot = mf_order_pop_last(&classes->low);

	return slot ? slot : mf_order_pop_last(&classes->high);
}

/* Index of the packet that would be sent next. */
static inline u32 mf_classes_first(const struct mf_classes *classes)
{
	return classes->high.first ? classes->high.first : classes->low.first;
}

#endif
