/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every flow seen lately has moved: the flow table of LAS, LARS and
 * Run2C; crates/qdisc/src/parts/flow_table.rs.
 *
 * Principle: flows are listed by when they were last seen. At every multiple
 * of an interval those go that were idle for too long; one with a packet
 * waiting never goes. Unlike that of crates/qdisc the table is bounded: where
 * it is full the flow that was idle longest is forgotten early.
 * Cost per packet: O(1); a visit, what it removes and the flows that wait.
 */
#ifndef MAYFLY_ATTAINED_H
#define MAYFLY_ATTAINED_H

#include "flow_table.h"

/**
 * struct mf_attained - flows seen lately
 * @flows: the table
 * @visit_ns: interval at which idle flows are looked for
 * @timeout_ns: idle time after which a flow is forgotten
 * @next_ns: when they are looked for next
 * @oldest: the flow seen least lately
 * @newest: the flow seen last
 * @evicted: flows forgotten early
 */
struct mf_attained {
	struct mf_flow_table flows;
	u64 visit_ns;
	u64 timeout_ns;
	u64 next_ns;
	u32 oldest;
	u32 newest;
	u64 evicted;
};

int mf_attained_init(struct mf_attained *attained, u32 size, u64 visit_ns,
		     u64 timeout_ns);
void mf_attained_reset(struct mf_attained *attained);
void mf_attained_change(struct mf_attained *attained, u32 size, u64 visit_ns,
			u64 timeout_ns, struct mf_flow_table *spare);
void mf_attained_collect(struct mf_attained *attained, u64 now_ns);
u32 mf_attained_enter(struct mf_attained *attained, u64 key, u64 now_ns);
void mf_attained_leave(struct mf_attained *attained, u32 index, u64 now_ns);
void mf_attained_push_out(struct mf_attained *attained, u32 index);

/* First of every enqueue and dequeue: looks for idle flows when it is time. */
static inline void mf_attained_visit(struct mf_attained *attained, u64 now_ns)
{
	if (now_ns >= attained->next_ns)
		mf_attained_collect(attained, now_ns);
}

/* What the flow of @key has moved; nothing when it is not known. */
static inline const struct mf_volume *
mf_attained_volume(const struct mf_attained *attained, u64 key)
{
	/* The first entry of the table is never used: all zero. */
	return &mf_flow_entry(&attained->flows,
			      mf_flow_find(&attained->flows, key))->volume;
}

#endif
