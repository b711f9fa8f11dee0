/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The law of CoDel; crates/qdisc/src/parts/codel.rs. RFC 8289, section 5.
 *
 * Whoever has the queue looks at the head, takes, drops and marks: see lfq.h.
 */
#ifndef MAYFLY_CODEL_H
#define MAYFLY_CODEL_H

#include "fixed.h"

/* Longest interval, ns: its square has 64 bits. */
#define MF_CODEL_INTERVAL_MAX 4000000000ULL

/**
 * struct mf_codel_law - constants of section 5.3
 * @target_ns: time in the queue that is acceptable
 * @interval_ns: how long it may be exceeded, up to MF_CODEL_INTERVAL_MAX
 * @mtu: nothing is dropped while no more than this waits behind, bytes
 * @ecn: packets are marked where they can be
 */
struct mf_codel_law {
	u64 target_ns;
	u64 interval_ns;
	u32 mtu;
	bool ecn;
};

/**
 * struct mf_codel - state of a queue, section 5.2
 * @first_above_ns: when it will have been above the target for an interval, or 0
 * @drop_next_ns: next drop, or what would have been the next one
 * @count: drops in the present or last dropping state, on top of what it began with
 * @last_count: what @count began with
 * @dropping: whether it is in that state
 */
struct mf_codel {
	u64 first_above_ns;
	u64 drop_next_ns;
	u32 count;
	u32 last_count;
	bool dropping;
};

static inline u64 mf_later(u64 time_ns, u64 span_ns)
{
	return time_ns > U64_MAX - span_ns ? U64_MAX : time_ns + span_ns;
}

static inline u64 mf_since(u64 then_ns, u64 now_ns)
{
	return now_ns > then_ns ? now_ns - then_ns : 0;
}

/* Section 5.6, control_law: interval / sqrt(count), rounded down. */
static u64 mf_codel_following(const struct mf_codel_law *law, u64 time_ns,
			      u32 count)
{
	u64 square = mf_div64(law->interval_ns * law->interval_ns, count);

	return mf_later(time_ns, mf_integer_sqrt(square));
}

/* Section 5.6, dodequeue: may the head, which came at @arrival_ns with @behind
 * bytes behind it, be dropped? Without a head @behind is 0.
 */
static bool mf_codel_may_drop(struct mf_codel *codel,
			      const struct mf_codel_law *law, u64 arrival_ns,
			      u64 behind, u64 now_ns)
{
	if (mf_since(arrival_ns, now_ns) < law->target_ns || behind <= law->mtu) {
		codel->first_above_ns = 0;
		return false;
	}
	if (!codel->first_above_ns) {
		codel->first_above_ns = mf_later(now_ns, law->interval_ns);
		return false;
	}
	return now_ns >= codel->first_above_ns;
}

/* Section 5.5, the last branch: dropping begins. */
static void mf_codel_begin(struct mf_codel *codel,
			   const struct mf_codel_law *law, u64 now_ns)
{
	u32 delta = codel->count - codel->last_count;
	bool recent = mf_since(codel->drop_next_ns, now_ns) <
		      16 * law->interval_ns;

	codel->dropping = true;
	codel->count = delta > 1 && recent ? delta : 1;
	codel->last_count = codel->count;
	codel->drop_next_ns = mf_codel_following(law, now_ns, codel->count);
}

/* The last packet is sent, nothing waits behind it. */
static inline void mf_codel_last_is_sent(struct mf_codel *codel)
{
	codel->first_above_ns = 0;
	codel->dropping = false;
}

#endif
