/* SPDX-License-Identifier: GPL-2.0 */
/* Flows that a core knows, as crates/qdisc counts them. */
#ifndef MAYFLY_KNOWN_H
#define MAYFLY_KNOWN_H

#include "../core/attained.h"

/* Entries of the table without those that were given up and are still in it. */
static inline u32 known_flows(const struct mf_attained *attained)
{
	u32 count = attained->flows.len, index;
	const struct mf_flow *flow;

	if (attained->visited_ns < attained->timeout_ns)
		return count;
	for (index = attained->oldest; index; index = flow->newer) {
		flow = mf_flow_entry(&attained->flows, index);
		count -= mf_attained_is_over(attained, flow);
	}
	return count;
}

#endif
