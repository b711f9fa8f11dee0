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
}
EXPORT_SYMBOL_GPL(mf_attained_reset);

static void mf_attained_unlink(struct mf_attained *attained, u32 index)
{
	struct mf_flow *flow = mf_flow_entry(&attained->flows, index);

	if (flow->older)
		mf_flow_entry(&attained->flows, flow->older)->newer = flow->newer;
	else
		attained->oldest = flow->newer;
	if (flow->newer)
		mf_flow_entry(&attained->flows, flow->newer)->older = flow->older;
	else
		attained->newest = flow->older;
}

static void mf_attained_append(struct mf_attained *attained, u32 index)
{
	struct mf_flow *flow = mf_flow_entry(&attained->flows, index);

	flow->newer = MF_NONE;
	flow->older = attained->newest;
	if (attained->newest)
		mf_flow_entry(&attained->flows, attained->newest)->newer = index;
	else
		attained->oldest = index;
	attained->newest = index;
}

static void mf_attained_forget(struct mf_attained *attained, u32 index)
{
	mf_attained_unlink(attained, index);
	mf_flow_remove(&attained->flows, index);
}

/* The flow of @index was seen. */
static void mf_attained_see(struct mf_attained *attained, u32 index, u64 now_ns)
{
	mf_flow_entry(&attained->flows, index)->last_ns = now_ns;
	if (index == attained->newest)
		return;
	mf_attained_unlink(attained, index);
	mf_attained_append(attained, index);
}

/* Forgets the flow that was idle longest. Those that wait and were seen before
 * it are passed over: under a limit of some 1000 packets never many.
 */
static void mf_attained_evict(struct mf_attained *attained)
{
	u32 index = attained->oldest;

	while (mf_flow_entry(&attained->flows, index)->queued)
		index = mf_flow_entry(&attained->flows, index)->newer;
	mf_attained_forget(attained, index);
	attained->evicted++;
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
 * mf_attained_collect() - forgets flows that were idle for too long
 * @attained: the table
 * @now_ns: time of the call
 */
void mf_attained_collect(struct mf_attained *attained, u64 now_ns)
{
	/* The last multiple of the interval, not now: what a timer would have
	 * removed by then.
	 */
	u64 visit_ns = mf_div64(now_ns, attained->visit_ns) * attained->visit_ns;
	u32 index, newer;

	attained->next_ns = visit_ns + attained->visit_ns;
	for (index = attained->oldest; index; index = newer) {
		struct mf_flow *flow = mf_flow_entry(&attained->flows, index);

		newer = flow->newer;
		if (flow->last_ns > visit_ns ||
		    visit_ns - flow->last_ns < attained->timeout_ns)
			return;
		if (!flow->queued)
			mf_attained_forget(attained, index);
	}
}
EXPORT_SYMBOL_GPL(mf_attained_collect);

/**
 * mf_attained_enter() - a packet enters the queue
 * @attained: the table
 * @key: of its flow
 * @now_ns: time of the call
 *
 * Return: index of its flow, whose volume is the caller's to move on.
 */
u32 mf_attained_enter(struct mf_attained *attained, u64 key, u64 now_ns)
{
	u32 index = mf_flow_find(&attained->flows, key);

	if (index) {
		mf_attained_see(attained, index, now_ns);
	} else {
		if (mf_flow_table_is_full(&attained->flows))
			mf_attained_evict(attained);
		index = mf_flow_insert(&attained->flows, key);
		mf_flow_entry(&attained->flows, index)->last_ns = now_ns;
		mf_attained_append(attained, index);
	}
	mf_flow_entry(&attained->flows, index)->queued++;
	return index;
}
EXPORT_SYMBOL_GPL(mf_attained_enter);

/**
 * mf_attained_leave() - a packet leaves to be sent
 * @attained: the table
 * @index: of its flow
 * @now_ns: time of the call
 */
void mf_attained_leave(struct mf_attained *attained, u32 index, u64 now_ns)
{
	mf_flow_entry(&attained->flows, index)->queued--;
	mf_attained_see(attained, index, now_ns);
}
EXPORT_SYMBOL_GPL(mf_attained_leave);

/**
 * mf_attained_push_out() - the last packet of a flow is dropped
 * @attained: the table
 * @index: of its flow, whose volume the caller has taken back
 *
 * A flow of which nothing else came is as good as one that never came.
 */
void mf_attained_push_out(struct mf_attained *attained, u32 index)
{
	struct mf_flow *flow = mf_flow_entry(&attained->flows, index);

	if (!--flow->queued && mf_volume_is_none(&flow->volume))
		mf_attained_forget(attained, index);
}
EXPORT_SYMBOL_GPL(mf_attained_push_out);
