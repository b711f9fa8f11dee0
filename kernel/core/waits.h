/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long packets waited: two counters for each doubling of the wait.
 */
#ifndef MAYFLY_WAITS_H
#define MAYFLY_WAITS_H

#include "types.h"

/* The first counter is of waits below 16 us, the last one of those from 17 s on. */
#define MF_WAITS 42U
#define MF_WAITS_UNIT 13

/* The counter of a wait. */
static inline u32 mf_waits_of(u64 wait_ns)
{
	u64 units = wait_ns >> MF_WAITS_UNIT;
	u32 octave, counter;

	if (units < 2)
		return 0;
	octave = mf_bits(units) - 2;
	counter = 2 * octave + (units >> octave & 1) + 1;
	return counter < MF_WAITS ? counter : MF_WAITS - 1;
}

/* The least wait, ns, that goes to @counter; also for MF_WAITS, where the last ends. */
static inline u64 mf_waits_from_ns(u32 counter)
{
	if (!counter)
		return 0;
	return (2ULL + (counter - 1) % 2) << ((counter - 1) / 2 + MF_WAITS_UNIT);
}

/**
 * mf_waits_quantile() - the wait that a share of the packets did not exceed
 * @counts: of MF_WAITS counters, up to 2^32 packets all together
 * @percent: the share, 1 to 99
 *
 * Within a counter waits are taken for evenly spread.
 *
 * Return: ns, 0 without packets.
 */
static inline u64 mf_waits_quantile(const u32 *counts, u32 percent)
{
	u64 sum = 0, before = 0, wanted, from_ns;
	u32 counter;

	for (counter = 0; counter < MF_WAITS; counter++)
		sum += counts[counter];
	if (!sum)
		return 0;
	wanted = mf_div64(sum * percent + 99, 100);
	for (counter = 0; before + counts[counter] < wanted; counter++)
		before += counts[counter];
	from_ns = mf_waits_from_ns(counter);
	return from_ns + mf_div64((mf_waits_from_ns(counter + 1) - from_ns) *
				  (wanted - before), counts[counter]);
}

#endif
