/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bytes that fade, written so that what waits need not be counted anew as time
 * goes; the reasons are in crates/qdisc/src/parts/decay.rs, which comes to the same
 * bits.
 *
 * A number is zero or at least 2^-1022, in the format of binary64, rounded
 * towards zero. None is negative, so they sort as their bits do.
 */
#ifndef MAYFLY_DECAY_H
#define MAYFLY_DECAY_H

#include "types.h"

/**
 * struct mf_decay - what a byte weighs at any time
 * @half_life_ns: time in which all that was sent halves
 * @per_half_life: 2^63 over the half-life shifted by @shift
 * @since_ns: when the present half-life began
 * @half_lives: half-lives from the epoch until then
 * @shift: times are shifted right by it: 31 bits are left of the half-life
 */
struct mf_decay {
	u64 half_life_ns;
	u64 per_half_life;
	u64 since_ns;
	u64 half_lives;
	u32 shift;
};

void mf_decay_init(struct mf_decay *decay, u64 half_life_ns);
u64 mf_decay_advance(struct mf_decay *decay, u64 now_ns);
u64 mf_decay_inflated(const struct mf_decay *decay, u64 bytes, u64 now_ns);
u64 mf_inflated_sum(u64 a, u64 b);
u64 mf_inflated_halved(u64 inflated, u64 times);

/* Numbers are below 2^1024 and become zero below 2^-1022: halved as often, or
 * more, all of them are zero.
 */
#define MF_HALVINGS_MAX 2048U

/* What is left of a number, or of a count that does not fade, after @halvings. */
static inline u64 mf_inflated_faded(u64 inflated, u32 halvings)
{
	return halvings ? mf_inflated_halved(inflated, halvings) : inflated;
}

#endif
