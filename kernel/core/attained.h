/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every flow seen lately has moved: the flow table of LAS, LARS and
 * Run2C; crates/qdisc/src/parts/flow_table.rs.
 *
 * Principle: flows of which no packet waits are listed in the order in which
 * they became idle; one with a packet waiting is not in the list. At every
 * multiple of an interval those are given up that were idle for too long: they
 * are as unknown from then on, and a few of them leave the table with each call.
 * Unlike that of crates/qdisc the table is bounded: where it is full the first
 * of the list is forgotten early.
 * Cost per packet: O(1), whatever waits and whatever is given up.
 */
#ifndef MAYFLY_ATTAINED_H
#define MAYFLY_ATTAINED_H

#include "flow_table.h"

/* Flows that leave the table with a call at most. */
#define MF_ATTAINED_REAPED 8U

/**
 * struct mf_attained - flows seen lately
 * @flows: the table
 * @visit_ns: interval at which idle flows are looked for
 * @timeout_ns: idle time after which a flow is forgotten
 * @next_ns: when they are looked for next
 * @visited_ns: when they were looked for
 * @visits: how often they were, modulo 2^32
 * @oldest: the flow that became idle first
 * @newest: the one that did so last
 * @reaps: some that were given up may be in the table
 * @evicted: flows forgotten early
 */
struct mf_attained {
	struct mf_flow_table flows;
	u64 visit_ns;
	u64 timeout_ns;
	u64 next_ns;
	u64 visited_ns;
	u32 visits;
	u32 oldest;
	u32 newest;
	bool reaps;
	u64 evicted;
};

int mf_attained_init(struct mf_attained *attained, u32 size, u64 visit_ns,
		     u64 timeout_ns);
void mf_attained_reset(struct mf_attained *attained);
void mf_attained_change(struct mf_attained *attained, u32 size, u64 visit_ns,
			u64 timeout_ns, struct mf_flow_table *spare);
void mf_attained_collect(struct mf_attained *attained, u64 now_ns);
void mf_attained_reap(struct mf_attained *attained);
u32 mf_attained_begin(struct mf_attained *attained, u32 over, u64 key);
void mf_attained_push_out(struct mf_attained *attained, u32 index);

/* Was @flow idle for too long at the last look, and is as good as unknown? */
static inline bool mf_attained_is_over(const struct mf_attained *attained,
				       const struct mf_flow *flow)
{
	return !flow->queued && flow->last_ns <= attained->visited_ns &&
	       attained->visited_ns - flow->last_ns >= attained->timeout_ns &&
	       flow->spared != attained->visits;
}

/* First of every enqueue and dequeue: looks for idle flows when it is time. */
static inline void mf_attained_visit(struct mf_attained *attained, u64 now_ns)
{
	if (now_ns >= attained->next_ns)
		mf_attained_collect(attained, now_ns);
	if (attained->reaps)
		mf_attained_reap(attained);
}

/* Takes the flow of @index, which is idle, out of the list. */
static inline void mf_attained_unlink(struct mf_attained *attained, u32 index)
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

/* The flow of @index is idle from now on. */
static inline void mf_attained_append(struct mf_attained *attained, u32 index)
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

/**
 * mf_attained_enter() - a packet enters the queue
 * @attained: the table
 * @key: of its flow
 * @now_ns: time of the call
 *
 * Return: index of its flow, whose volume is the caller's to move on.
 */
static inline u32 mf_attained_enter(struct mf_attained *attained, u64 key, u64 now_ns)
{
	u32 index = mf_flow_find(&attained->flows, key);
	struct mf_flow *flow = mf_flow_entry(&attained->flows, index);

	if (!index || mf_attained_is_over(attained, flow)) {
		index = mf_attained_begin(attained, index, key);
		flow = mf_flow_entry(&attained->flows, index);
	} else if (!flow->queued) {
		mf_attained_unlink(attained, index);
	}
	flow->last_ns = now_ns;
	flow->queued++;
	return index;
}

/**
 * mf_attained_leave() - a packet leaves to be sent
 * @attained: the table
 * @index: of its flow
 * @now_ns: time of the call
 */
static inline void mf_attained_leave(struct mf_attained *attained, u32 index,
				     u64 now_ns)
{
	struct mf_flow *flow = mf_flow_entry(&attained->flows, index);

	flow->last_ns = now_ns;
	if (!--flow->queued)
		mf_attained_append(attained, index);
}

/* The flow of @key; one that has moved nothing when it is not known. */
static inline const struct mf_flow *
mf_attained_known(const struct mf_attained *attained, u64 key)
{
	u32 index = mf_flow_find(&attained->flows, key);
	const struct mf_flow *flow = mf_flow_entry(&attained->flows, index);

	/* The first entry of the table is never used: all zero. */
	return mf_attained_is_over(attained, flow) ?
		mf_flow_entry(&attained->flows, MF_NONE) : flow;
}

#endif
