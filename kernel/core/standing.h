/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A set-associative table whose slots keep what they stand for while nothing
 * waits; crates/qdisc/src/parts/standing_table.rs.
 *
 * Principle: a key hashes to a set of MF_WAYS slots and a fingerprint of 32 bits,
 * and has the slot that bears its fingerprint. A key without one takes a slot that
 * is not busy: of these the first, going round, whose own key has not come back
 * since the last round (CLOCK). Who finds none is told so.
 * Cost per look-up: one hash and MF_WAYS comparisons.
 */
#ifndef MAYFLY_STANDING_H
#define MAYFLY_STANDING_H

#include "seeded.h"

/* Slots per set; a bit of an u8 for each. */
#define MF_WAYS 8U
/* No slot. */
#define MF_NO_SLOT U32_MAX

/**
 * struct mf_standing_set - slots of a set, a bit for each
 * @fingerprints: of their keys
 * @held: stands for a key
 * @busy: in use, not to be given away
 * @back: its key has come back
 * @shared: by keys that found none
 * @hand: slot from which the next place is looked for
 */
struct mf_standing_set {
	u32 fingerprints[MF_WAYS];
	u8 held;
	u8 busy;
	u8 back;
	u8 shared;
	u8 hand;
};

/* Where a key is at home: its set, and what tells the keys of a set apart. */
struct mf_home {
	u32 set;
	u32 fingerprint;
};

struct mf_standing {
	struct mf_seeded hash;
	struct mf_standing_set *sets;
	u32 sets_len;
};

static inline u32 mf_standing_slots(const struct mf_standing *table)
{
	return table->sets_len * MF_WAYS;
}

/* A table of at least @slots slots; returns 0, or -ENOMEM. */
static int mf_standing_init(struct mf_standing *table, u32 slots,
			    const u64 *seed)
{
	*table = (struct mf_standing){ .sets_len = (slots + MF_WAYS - 1) / MF_WAYS };
	mf_seeded_init(&table->hash, seed);
	table->sets = mf_alloc(table->sets_len, sizeof(*table->sets));
	return table->sets ? 0 : -ENOMEM;
}

static void mf_standing_reset(struct mf_standing *table)
{
	memset(table->sets, 0, (size_t)table->sets_len * sizeof(*table->sets));
}

static inline struct mf_home mf_standing_home(const struct mf_standing *table,
					      u64 key)
{
	u64 hash = mf_seeded_hash(&table->hash, key);

	/* The upper half chooses the set. */
	return (struct mf_home){
		.set = ((hash >> 32) * table->sets_len) >> 32,
		.fingerprint = hash,
	};
}

/* One of the slots at @home, always the same one for a key. */
static inline u32 mf_standing_fixed(struct mf_home home)
{
	return home.set * MF_WAYS + home.fingerprint % MF_WAYS;
}

/* The slot of the key at @home, or MF_NO_SLOT. */
static inline u32 mf_standing_find(const struct mf_standing *table,
				   struct mf_home home)
{
	const struct mf_standing_set *set = &table->sets[home.set];
	u32 same = 0, way;

	for (way = 0; way < MF_WAYS; way++)
		same |= (u32)(set->fingerprints[way] == home.fingerprint) << way;
	same &= set->held;
	return same ? home.set * MF_WAYS + mf_lowest_bit(same) : MF_NO_SLOT;
}

/* A slot that is not busy for the key at @home, which has none, or MF_NO_SLOT;
 * from now on it is busy, if @busy.
 */
static inline u32 mf_standing_take(struct mf_standing *table,
				   struct mf_home home, bool busy)
{
	struct mf_standing_set *set = &table->sets[home.set];
	u8 free = ~set->busy, fresh = free & ~set->back, turned;
	u32 way;

	if (!free)
		return MF_NO_SLOT;
	if (fresh)
		free = fresh;
	else
		set->back &= ~free;
	turned = free >> set->hand | free << (MF_WAYS - set->hand);
	way = (mf_lowest_bit(turned) + set->hand) % MF_WAYS;
	set->hand = (way + 1) % MF_WAYS;
	set->fingerprints[way] = home.fingerprint;
	set->held |= 1U << way;
	if (busy)
		set->busy |= 1U << way;
	return home.set * MF_WAYS + way;
}

static inline void mf_standing_came_back(struct mf_standing *table, u32 slot)
{
	table->sets[slot / MF_WAYS].back |= 1U << slot % MF_WAYS;
}

static inline void mf_standing_set_busy(struct mf_standing *table, u32 slot)
{
	table->sets[slot / MF_WAYS].busy |= 1U << slot % MF_WAYS;
}

/* @slot is no longer busy, and nobody shares it. */
static inline void mf_standing_set_free(struct mf_standing *table, u32 slot)
{
	struct mf_standing_set *set = &table->sets[slot / MF_WAYS];
	u8 others = ~(1U << slot % MF_WAYS);

	set->busy &= others;
	set->shared &= others;
}

/* Keys without a slot share @slot from now on, or no longer. */
static inline void mf_standing_set_shared(struct mf_standing *table, u32 slot,
					  bool shared)
{
	struct mf_standing_set *set = &table->sets[slot / MF_WAYS];
	u32 bit = 1U << slot % MF_WAYS;

	set->shared = (set->shared & ~bit) | (shared ? bit : 0);
}

/* Whether the fixed slot of the key at @home is shared. */
static inline bool mf_standing_is_shared(const struct mf_standing *table,
					 struct mf_home home)
{
	return table->sets[home.set].shared >> home.fingerprint % MF_WAYS & 1;
}

#endif
