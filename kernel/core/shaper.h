/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A shaper: packets leave no faster than a link would send them, which adds its own
 * framing to each of them.
 *
 * Principle: a clock says when the link is free again; a packet is let go then and
 * moves the clock on by what it takes. No tokens are saved while nothing waits.
 * What was dropped may move the clock too, but not stop the link: a packet goes one
 * and a half times its time after the one before, whatever was dropped since.
 * Cost per packet: O(1), no division.
 */
#ifndef MAYFLY_SHAPER_H
#define MAYFLY_SHAPER_H

#include "types.h"

/* Bits behind the point of a time for a byte, and of the clock. */
#define MF_SHAPER_FRACTION 20
/* Bounds of the rate, bytes/s: 8 kbit/s to 1 Tbit/s; and of a packet, bytes. */
#define MF_SHAPER_RATE_MIN 1000ULL
#define MF_SHAPER_RATE_MAX 125000000000ULL
#define MF_SHAPER_LONGEST (1U << 20)
/* Whoever calls late makes up for so much, ns: timers are late, and then a
 * packet leaves at once. What is lost beyond it is lost: no burst follows a link
 * that stood still.
 */
#define MF_SHAPER_LATE_NS 20000000ULL
/* How far ahead what was dropped may move the clock, ns. */
#define MF_SHAPER_WASTE_NS 20000000ULL

/**
 * enum mf_framing - what the link makes of a packet
 * @MF_NO_FRAMING: nothing
 * @MF_ATM: cells of 53 bytes that carry 48
 * @MF_PTM: 65 bytes for each 64
 */
enum mf_framing { MF_NO_FRAMING, MF_ATM, MF_PTM };

/**
 * struct mf_framed - how long a packet is on the link
 * @overhead: bytes that each packet has more, or less, than its IP packet
 * @mpu: least length, bytes
 * @framing: enum mf_framing
 * @adjusted: lengths are those of the IP packet with @overhead; else of what comes
 */
struct mf_framed {
	s32 overhead;
	u32 mpu;
	u8 framing;
	bool adjusted;
};

/**
 * struct mf_shaper - the clock of a link
 * @rate: bytes/s; 0: does not shape
 * @per_byte: ns for a byte, times 2^MF_SHAPER_FRACTION
 * @free_ns: when the link is free
 * @latest_ns: when a packet may go, whatever was dropped since the last one
 * @fraction: of a ns behind @free_ns
 */
struct mf_shaper {
	u64 rate;
	u64 per_byte;
	u64 free_ns;
	u64 latest_ns;
	u32 fraction;
};

/**
 * mf_framed_len() - how long a packet is on the link
 * @framed: of the link
 * @len: of the packet as it comes, bytes
 * @link_header: of these in front of the IP header
 *
 * Return: bytes.
 */
static inline u32 mf_framed_len(const struct mf_framed *framed, u32 len,
				u32 link_header)
{
	s64 wire = len;

	if (framed->adjusted)
		wire += (s64)framed->overhead - link_header;
	if (wire < (s64)framed->mpu)
		wire = framed->mpu;
	if (wire < 1)
		wire = 1;
	/* 32 bits are enough for what follows: they divide fast everywhere. */
	if (wire > (s64)MF_SHAPER_LONGEST)
		wire = MF_SHAPER_LONGEST;
	if (framed->framing == MF_ATM)
		return ((u32)wire + 47) / 48 * 53;
	if (framed->framing == MF_PTM)
		return (u32)wire + ((u32)wire + 63) / 64;
	return wire;
}

/**
 * mf_shaper_set() - another rate, from now on
 * @shaper: the shaper
 * @rate: bytes/s, MF_SHAPER_RATE_MIN to MF_SHAPER_RATE_MAX; 0: does not shape
 * @now_ns: present time
 *
 * What is left of the packet in transmission goes at the new rate.
 */
static inline void mf_shaper_set(struct mf_shaper *shaper, u64 rate, u64 now_ns)
{
	u64 per_byte = 0, left_ns, bytes = 0;

	if (rate)
		per_byte = mf_div64((1000000000ULL << MF_SHAPER_FRACTION) + rate / 2,
				    rate);
	if (shaper->rate && shaper->free_ns > now_ns) {
		left_ns = shaper->free_ns - now_ns;
		/* The longest packet at the lowest rate at most: 2^41. */
		bytes = mf_div64(left_ns << MF_SHAPER_FRACTION, shaper->per_byte);
	}
	if (!shaper->rate || shaper->free_ns > now_ns) {
		shaper->free_ns = now_ns + (bytes * per_byte >> MF_SHAPER_FRACTION);
		shaper->fraction = 0;
	}
	shaper->latest_ns = shaper->free_ns;
	shaper->rate = rate;
	shaper->per_byte = per_byte;
}

/**
 * mf_shaper_is_free() - whether a packet may go
 * @shaper: the shaper
 * @now_ns: present time
 */
static inline bool mf_shaper_is_free(const struct mf_shaper *shaper, u64 now_ns)
{
	return !shaper->rate || shaper->free_ns <= now_ns ||
	       shaper->latest_ns <= now_ns;
}

/* When a packet may go. */
static inline u64 mf_shaper_next_ns(const struct mf_shaper *shaper)
{
	return shaper->free_ns < shaper->latest_ns ? shaper->free_ns :
						     shaper->latest_ns;
}

/**
 * mf_shaper_wakes() - a packet comes and none waits: nothing was saved
 * @shaper: the shaper
 * @now_ns: present time
 */
static inline void mf_shaper_wakes(struct mf_shaper *shaper, u64 now_ns)
{
	if (shaper->free_ns < now_ns) {
		shaper->free_ns = now_ns;
		shaper->fraction = 0;
	}
}

/* The time that @bytes take, in fractions of a ns: 2^40 times 2^21, it fits. */
static inline u64 mf_shaper_time(const struct mf_shaper *shaper, u32 bytes)
{
	return bytes * shaper->per_byte;
}

static inline void mf_shaper_move(struct mf_shaper *shaper, u64 time)
{
	time += shaper->fraction;
	shaper->free_ns += time >> MF_SHAPER_FRACTION;
	shaper->fraction = time & ((1U << MF_SHAPER_FRACTION) - 1);
}

/**
 * mf_shaper_is_used() - a packet goes
 * @shaper: the shaper
 * @bytes: on the link, up to 53 / 48 of MF_SHAPER_LONGEST
 * @now_ns: present time
 */
static inline void mf_shaper_is_used(struct mf_shaper *shaper, u32 bytes,
				     u64 now_ns)
{
	u64 time = mf_shaper_time(shaper, bytes);

	if (!shaper->rate)
		return;
	if (now_ns > MF_SHAPER_LATE_NS)
		mf_shaper_wakes(shaper, now_ns - MF_SHAPER_LATE_NS);
	mf_shaper_move(shaper, time);
	time >>= MF_SHAPER_FRACTION;
	/* Behind the clock, whose fraction was cut off, where it takes less than a ns. */
	shaper->latest_ns = now_ns + time + time / 2 + 2;
}

/**
 * mf_shaper_is_wasted() - a packet is dropped that has come over the link already
 * @shaper: the shaper
 * @bytes: on the link
 * @now_ns: present time
 */
static inline void mf_shaper_is_wasted(struct mf_shaper *shaper, u32 bytes,
				       u64 now_ns)
{
	if (shaper->rate && shaper->free_ns < now_ns + MF_SHAPER_WASTE_NS)
		mf_shaper_move(shaper, mf_shaper_time(shaper, bytes));
}

#endif
