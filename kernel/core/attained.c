// SPDX-License-Identifier: GPL-2.0
/* What every flow seen lately has moved. */
#include "attained.h"

/**
 * mf_attained_init() - allocates a table
 * @attained: the table
 * @size: flows it shall hold, more than packets ever wait
 * @visit_ns: interval at which idle flows are looked for, above 0
 * @timeout_ns: idle time after which a flow is forgotten
 *
 * Return: 0, or -ENOMEM.
 */
int mf_attained_init(struct mf_attained *attained, u32 size, u64 visit_ns,
		     u64 timeout_ns)
{
	*attained = (struct mf_attained){
		.visit_ns = visit_ns,
		.timeout_ns = timeout_ns,
		.next_ns = visit_ns,
	};
	return mf_flow_table_init(&attained->flows, size);
}
EXPORT_SYMBOL_GPL(mf_attained_init);

/**
 * mf_attained_reset() - forgets every flow
 * @attained: the table
 */
void mf_attained_reset(struct mf_attained *attained)
{
	mf_flow_table_reset(&attained->flows);
	attained->oldest = MF_NONE;
	attained->newest = MF_NONE;
	attained->evicted = 0;
	attained->reaps = false;
}
EXPORT_SYMBOL_GPL(mf_attained_reset);

static void mf_attained_forget(struct mf_attained *attained, u32 index)
{
	mf_step();
	mf_attained_unlink(attained, index);
	mf_flow_remove(&attained->flows, index);
}

/* Forgets the flow that became idle first, early unless it is over. There is
 * one: fewer flows wait than the table holds.
 */
static void mf_attained_evict(struct mf_attained *attained)
{
	u32 index = attained->oldest;

	if (!mf_attained_is_over(attained, mf_flow_entry(&attained->flows, index)))
		attained->evicted++;
	mf_attained_forget(attained, index);
}

/* Forgets every flow that is over, wherever it is in the list. */
static void mf_attained_purge(struct mf_attained *attained)
{
	u32 index, newer;

	for (index = attained->oldest; index; index = newer) {
		struct mf_flow *flow = mf_flow_entry(&attained->flows, index);

		newer = flow->newer;
		if (mf_attained_is_over(attained, flow))
			mf_attained_forget(attained, index);
	}
	attained->reaps = false;
}

/**
 * mf_attained_change() - gives a table other bounds
 * @attained: the table; flows keep their indices
 * @size: flows it shall hold, more than packets ever wait
 * @visit_ns: interval at which idle flows are looked for, above 0
 * @timeout_ns: idle time after which a flow is forgotten
 * @spare: an unused table of @size, all zero where the present one has room
 */
void mf_attained_change(struct mf_attained *attained, u32 size, u64 visit_ns,
			u64 timeout_ns, struct mf_flow_table *spare)
{
	/* By the old bounds: the new ones must not bring anybody back. */
	mf_attained_purge(attained);
	if (spare->room)
		mf_flow_table_move(&attained->flows, spare);
	attained->flows.size = size;
	while (attained->flows.len > size)
		mf_attained_evict(attained);
	attained->visit_ns = visit_ns;
	attained->timeout_ns = timeout_ns;
	attained->next_ns = 0;
}
EXPORT_SYMBOL_GPL(mf_attained_change);

/**
 * mf_attained_collect() - gives up flows that were idle for too long
 * @attained: the table
 * @now_ns: time of the call
 */
void mf_attained_collect(struct mf_attained *attained, u64 now_ns)
{
	/* The last multiple of the interval, not now: what a timer would have
	 * removed by then.
	 */
	attained->visited_ns = mf_div64(now_ns, attained->visit_ns) *
			       attained->visit_ns;
	attained->next_ns = attained->visited_ns + attained->visit_ns;
	attained->visits++;
	attained->reaps = true;
}
EXPORT_SYMBOL_GPL(mf_attained_collect);

/**
 * mf_attained_reap() - takes some flows that were given up out of the table
 * @attained: the table
 *
 * A call adds one flow at most: they go faster than they come.
 */
void mf_attained_reap(struct mf_attained *attained)
{
	u32 left;

	for (left = MF_ATTAINED_REAPED; left; left--) {
		u32 index = attained->oldest;

		if (!index || !mf_attained_is_over(attained,
						   mf_flow_entry(&attained->flows, index))) {
			attained->reaps = false;
			return;
		}
		mf_attained_forget(attained, index);
	}
}
EXPORT_SYMBOL_GPL(mf_attained_reap);

/**
 * mf_attained_begin() - a flow begins that is not known
 * @attained: the table
 * @over: its entry where it was given up, else MF_NONE
 * @key: of the flow
 *
 * Return: its index.
 */
u32 mf_attained_begin(struct mf_attained *attained, u32 over, u64 key)
{
	if (over)
		mf_attained_forget(attained, over);
	else if (mf_flow_table_is_full(&attained->flows))
		mf_attained_evict(attained);
	return mf_flow_insert(&attained->flows, key);
}
EXPORT_SYMBOL_GPL(mf_attained_begin);

/**
 * mf_attained_push_out() - the last packet of a flow is dropped
 * @attained: the table
 * @index: of its flow, whose volume the caller has taken back
 *
 * A flow of which nothing else came is as good as one that never came. Another
 * one is idle since it was last seen, but its turn to give way comes as if it
 * had been seen now.
 */
void mf_attained_push_out(struct mf_attained *attained, u32 index)
{
	struct mf_flow *flow = mf_flow_entry(&attained->flows, index);

	if (--flow->queued)
		return;
	if (mf_volume_is_none(&flow->volume)) {
		mf_flow_remove(&attained->flows, index);
		return;
	}
	flow->spared = attained->visits;
	mf_attained_append(attained, index);
}
EXPORT_SYMBOL_GPL(mf_attained_push_out);
