/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Entries in ascending order of a tag, to within the width of a bucket;
 * crates/qdisc/src/parts/tag_ring.rs.
 *
 * Principle: a ring of buckets, each a list in order of arrival, and a word with a
 * bit per bucket. Tags beyond the ring wait in its last bucket: who takes an entry
 * out compares its tag with the bucket and puts it back when it is not due.
 * Cost: O(1). Source: Saeed et al. 2019, III.
 */
#ifndef MAYFLY_TAG_RING_H
#define MAYFLY_TAG_RING_H

#include "types.h"

/* No entry. */
#define MF_NO_ENTRY 0xffffU

/* Where an entry is: behind and before others of its bucket, and that. */
struct mf_place {
	u16 after;
	u16 before;
	u8 bucket;
};

/* First and last entry of a bucket. */
struct mf_ends {
	u16 first;
	u16 last;
};

/**
 * struct mf_tags - what a ring remembers beside the ends of its buckets
 * @used: a bit for each bucket with entries
 * @base: number of the lowest bucket that may be in use; they are numbered by tag
 */
struct mf_tags {
	u64 used;
	s64 base;
};

/**
 * struct mf_ring - a ring, put together where it is used
 * @tags: what it remembers
 * @ends: of each bucket
 * @places: the place of entry 0
 * @stride: from one place to the next, bytes
 * @buckets: 64, or a power of two up to 32
 */
struct mf_ring {
	struct mf_tags *tags;
	struct mf_ends *ends;
	void *places;
	u32 stride;
	u32 buckets;
};

static __always_inline struct mf_place *mf_place_of(struct mf_ring ring,
						    u16 entry)
{
	return (struct mf_place *)((u8 *)ring.places + (size_t)entry * ring.stride);
}

static __always_inline u32 mf_ring_slot(struct mf_ring ring, s64 bucket)
{
	return (u64)bucket & (ring.buckets - 1);
}

/* Puts @entry at the end of @bucket; later ones may come as low as @floor. */
static __always_inline void mf_ring_push(struct mf_ring ring, u16 entry,
					 s64 bucket, s64 floor)
{
	struct mf_tags *tags = ring.tags;
	struct mf_place *place = mf_place_of(ring, entry);
	u32 at;

	if (!tags->used)
		tags->base = floor < bucket ? floor : bucket;
	if (bucket < tags->base)
		bucket = tags->base;
	else if (bucket > tags->base + ring.buckets - 1)
		bucket = tags->base + ring.buckets - 1;
	at = mf_ring_slot(ring, bucket);
	place->before = ring.ends[at].last;
	place->bucket = at;
	if (tags->used >> at & 1) {
		mf_place_of(ring, ring.ends[at].last)->after = entry;
	} else {
		ring.ends[at].first = entry;
		tags->used |= 1ULL << at;
	}
	ring.ends[at].last = entry;
}

/* The lowest bucket in use of a ring that is not empty. */
static __always_inline s64 mf_ring_lowest(struct mf_ring ring)
{
	u32 start = mf_ring_slot(ring, ring.tags->base);
	u64 used = ring.tags->used, turned;

	if (ring.buckets == 64)
		turned = used >> start | used << ((64 - start) & 63);
	else
		turned = (used | used << ring.buckets) >> start;
	return ring.tags->base + mf_lowest_bit(turned);
}

/* Takes the first entry of a bucket that has some. */
static __always_inline u16 mf_ring_take(struct mf_ring ring, u32 at)
{
	u16 entry = ring.ends[at].first;

	if (entry == ring.ends[at].last)
		ring.tags->used &= ~(1ULL << at);
	else
		ring.ends[at].first = mf_place_of(ring, entry)->after;
	return entry;
}

/* Takes the first entry of the lowest bucket, which goes to @bucket, or
 * returns MF_NO_ENTRY.
 */
static __always_inline u16 mf_ring_pop(struct mf_ring ring, s64 floor,
				       s64 *bucket)
{
	struct mf_tags *tags = ring.tags;
	s64 low;

	*bucket = 0;
	if (!tags->used)
		return MF_NO_ENTRY;
	*bucket = mf_ring_lowest(ring);
	low = floor < *bucket ? floor : *bucket;
	if (low > tags->base)
		tags->base = low;
	return mf_ring_take(ring, mf_ring_slot(ring, *bucket));
}

/* Takes the first entry of the highest bucket, or returns MF_NO_ENTRY. */
static u16 mf_ring_pop_highest(struct mf_ring ring, s64 *bucket)
{
	u32 n = ring.buckets;

	while (n--) {
		*bucket = ring.tags->base + n;
		if (ring.tags->used >> mf_ring_slot(ring, *bucket) & 1)
			return mf_ring_take(ring, mf_ring_slot(ring, *bucket));
	}
	return MF_NO_ENTRY;
}

/* Takes out @entry, wherever it is. */
static void mf_ring_remove(struct mf_ring ring, u16 entry)
{
	struct mf_place place = *mf_place_of(ring, entry);
	struct mf_ends *ends = &ring.ends[place.bucket];

	if (ends->first == entry) {
		mf_ring_take(ring, place.bucket);
	} else if (ends->last == entry) {
		ends->last = place.before;
	} else {
		mf_place_of(ring, place.before)->after = place.after;
		mf_place_of(ring, place.after)->before = place.before;
	}
}

/* Puts back @entry, which came out of bucket @popped and is due in the later
 * @bucket. A ring that does not reach there moves on as far as it has to, by half
 * its length at most: what comes below it later loses its order.
 */
static void mf_ring_defer(struct mf_ring ring, u16 entry, s64 bucket,
			  s64 popped)
{
	s64 base = popped - ring.buckets / 2;

	mf_step();
	if (base > bucket + 1 - ring.buckets)
		base = bucket + 1 - ring.buckets;
	if (base > ring.tags->base)
		ring.tags->base = base;
	mf_ring_push(ring, entry, bucket, ring.tags->base);
}

#endif
