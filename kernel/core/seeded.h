/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A seeded hash from keys to 64 bits; crates/qdisc/src/parts/hash.rs.
 *
 * Principle: two folded 128-bit multiplications by odd numbers that nobody else
 * knows, so that nobody can aim keys at one slot.
 */
#ifndef MAYFLY_SEEDED_H
#define MAYFLY_SEEDED_H

#include "types.h"

struct mf_seeded {
	u64 first;
	u64 second;
};

/* Both halves of a product, folded. */
static inline u64 mf_fold(u64 a, u64 b)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 product = (unsigned __int128)a * b;

	return (u64)product ^ (u64)(product >> 64);
#else
	u64 low = (u64)(u32)a * (u32)b, high = (a >> 32) * (b >> 32);
	u64 one = (a >> 32) * (u32)b, other = (b >> 32) * (u32)a;
	u64 middle = (low >> 32) + (u32)one + (u32)other;

	high += (one >> 32) + (other >> 32) + (middle >> 32);
	return ((middle << 32) | (u32)low) ^ high;
#endif
}

static inline void mf_seeded_init(struct mf_seeded *hash, const u64 *seed)
{
	*hash = (struct mf_seeded){ .first = seed[0], .second = seed[1] | 1 };
}

static inline u64 mf_seeded_hash(const struct mf_seeded *hash, u64 key)
{
	return mf_fold(mf_fold(key ^ hash->first, 0x9e3779b97f4a7c15ULL),
		       hash->second);
}

#endif
