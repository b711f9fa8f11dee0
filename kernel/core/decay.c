// SPDX-License-Identifier: GPL-2.0
/* Bytes that fade; crates/qdisc/src/parts/decay.rs says why. */
#include "decay.h"

/* Half-lives between two epochs: 2^512 times 2^64 bytes is in range. */
#define MF_EPOCH 512U
/* 1 in fixed point, and 1/2, 1/6, 1/24, ln 2 times 2^32. */
#define MF_ONE (1ULL << 31)
#define MF_HALF 0x40000000ULL
#define MF_SIXTH 0x15555555ULL
#define MF_TWENTY_FOURTH 0x05555555ULL
#define MF_LN_2 0xb17217f8ULL
/* The leading bit of a number, which its bits leave out. */
#define MF_LEADING (1ULL << 52)

/* 2^(i/16) in fixed point. */
static const u32 mf_sixteenths[16] = {
	0x80000000, 0x85aac368, 0x8b95c1e4, 0x91c3d374,
	0x9837f052, 0x9ef53261, 0xa5fed6aa, 0xad583eea,
	0xb504f334, 0xbd08a39f, 0xc5672a11, 0xce248c15,
	0xd744fccb, 0xe0ccdeec, 0xeac0c6e8, 0xf5257d15,
};

/**
 * mf_decay_init() - with an epoch at zero
 * @decay: what a byte weighs
 * @half_life_ns: time in which all that was sent halves, above 0
 */
void mf_decay_init(struct mf_decay *decay, u64 half_life_ns)
{
	u32 bits = mf_bits(half_life_ns);

	*decay = (struct mf_decay){
		.half_life_ns = half_life_ns,
		.shift = bits > 31 ? bits - 31 : 0,
	};
	decay->per_half_life = mf_div64(1ULL << 63,
					half_life_ns >> decay->shift);
}
EXPORT_SYMBOL_GPL(mf_decay_init);

/**
 * mf_decay_advance() - goes on in time
 * @decay: what a byte weighs
 * @now_ns: not before the last call
 *
 * Return: how often everything inflated is to be halved, mostly not at all.
 */
u64 mf_decay_advance(struct mf_decay *decay, u64 now_ns)
{
	u64 passed, halvings;

	if (now_ns - decay->since_ns < decay->half_life_ns)
		return 0;
	passed = mf_div64(now_ns - decay->since_ns, decay->half_life_ns);
	decay->since_ns += passed * decay->half_life_ns;
	decay->half_lives += passed;
	if (decay->half_lives < MF_EPOCH)
		return 0;
	halvings = decay->half_lives;
	decay->half_lives = 0;
	return halvings;
}
EXPORT_SYMBOL_GPL(mf_decay_advance);

/* 2^(elapsed / half-life) in fixed point, 1 or more and below 2. */
static u64 mf_decay_weight(const struct mf_decay *decay, u64 elapsed_ns)
{
	u64 age = ((elapsed_ns >> decay->shift) * decay->per_half_life) >> 31;
	u64 rest, series;

	if (age > U32_MAX)
		age = U32_MAX;
	/* e^rest by its series, for rest below ln(2) / 16. */
	rest = ((age & 0x0fffffff) * MF_LN_2) >> 33;
	series = MF_SIXTH + ((rest * MF_TWENTY_FOURTH) >> 31);
	series = MF_HALF + ((rest * series) >> 31);
	series = MF_ONE + ((rest * series) >> 31);
	series = MF_ONE + ((rest * series) >> 31);
	return (mf_sixteenths[age >> 28] * series) >> 31;
}

/**
 * mf_decay_inflated() - what bytes weigh
 * @decay: gone on to @now_ns
 * @bytes: bytes sent now; of counts above 2^32 the first 32 bits tell
 * @now_ns: time of the last mf_decay_advance()
 *
 * Return: the bits of the number.
 */
u64 mf_decay_inflated(const struct mf_decay *decay, u64 bytes, u64 now_ns)
{
	u64 weight = mf_decay_weight(decay, now_ns - decay->since_ns);
	u32 bits = mf_bits(bytes);
	u32 excess = bits > 32 ? bits - 32 : 0;
	u64 significand = (bytes >> excess) * weight;
	u32 top = mf_bits(significand) - 1;

	if (!significand)
		return 0;
	significand = top > 52 ? significand >> (top - 52) :
				 significand << (52 - top);
	return ((1023 - 31 + excess + decay->half_lives + top) << 52) +
	       (significand - MF_LEADING);
}
EXPORT_SYMBOL_GPL(mf_decay_inflated);

static u64 mf_inflated_significand(u64 inflated)
{
	return (inflated & (MF_LEADING - 1)) | MF_LEADING;
}

/**
 * mf_inflated_sum() - adds two numbers
 * @a: bits of one
 * @b: bits of the other
 *
 * Return: the bits of their sum.
 */
u64 mf_inflated_sum(u64 a, u64 b)
{
	u64 large = a > b ? a : b;
	u64 small = a > b ? b : a;
	u64 exponent = large >> 52;
	u64 shift = exponent - (small >> 52);
	u64 sum, carry;

	if (!small || shift > 52)
		return large;
	sum = mf_inflated_significand(large) +
	      (mf_inflated_significand(small) >> shift);
	carry = sum >> 53;
	return ((exponent + carry) << 52) + ((sum >> carry) - MF_LEADING);
}
EXPORT_SYMBOL_GPL(mf_inflated_sum);

/**
 * mf_inflated_halved() - halves a number again and again
 * @inflated: its bits
 * @times: how often
 *
 * Return: the bits of what is left; zero when that is below 2^-1022.
 */
u64 mf_inflated_halved(u64 inflated, u64 times)
{
	return inflated >> 52 > times ? inflated - (times << 52) : 0;
}
EXPORT_SYMBOL_GPL(mf_inflated_halved);
