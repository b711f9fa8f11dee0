// SPDX-License-Identifier: GPL-2.0
/* Numbers times 2^14: products, quotients, roots. */
#include "fixed.h"

/* @value / 2^@bits. */
static s64 mf_fx_halved(s64 value, u32 bits)
{
	u64 rounded = mf_fx_abs(value);

	if (!bits)
		return value;
	rounded = (rounded >> bits) + ((rounded >> (bits - 1)) & 1);
	return value < 0 ? -(s64)rounded : (s64)rounded;
}

/* @value 2^@bits, stopping at the end. */
static s64 mf_fx_doubled(s64 value, u32 bits)
{
	if (mf_fx_abs(value) > (u64)MF_FX_END >> bits)
		return mf_fx_end(value < 0);
	return (s64)((u64)value << bits);
}

/* @a / @b; @b is not 0. */
static s64 mf_fx_quotient(s64 a, s64 b)
{
	u64 over = mf_fx_abs(a), under = mf_fx_abs(b);
	u64 whole = mf_div64(over, under);
	u64 rest = over - whole * under;

	whole += rest >= under - rest;
	if (whole > (u64)MF_FX_END)
		whole = MF_FX_END;
	return (a < 0) == (b < 0) ? (s64)whole : -(s64)whole;
}

/* Bits that @value can be shifted left by without loss, MF_FX_BITS at most. */
static u32 mf_fx_room(s64 value)
{
	u32 bits = mf_bits(mf_fx_abs(value));

	if (bits > 63)
		return 0;
	return 63 - bits < MF_FX_BITS ? 63 - bits : MF_FX_BITS;
}

/**
 * mf_fx_mul() - product
 * @a: a factor
 * @b: the other one
 *
 * Where the product of both is longer than 63 bits, the longer one gives up the
 * missing bits before, and the result is shifted by as many less after.
 *
 * Return: @a times @b
 */
s64 mf_fx_mul(s64 a, s64 b)
{
	bool ordered = mf_fx_abs(a) >= mf_fx_abs(b);
	s64 long_one = ordered ? a : b, short_one = ordered ? b : a;
	u32 given_up;
	s64 product;

	if (!check_mul_overflow(long_one, short_one, &product))
		return mf_fx_held(mf_fx_halved(product, MF_FX_BITS));
	given_up = mf_bits(mf_fx_abs(long_one)) + mf_bits(mf_fx_abs(short_one)) - 63;
	if (given_up <= MF_FX_BITS) {
		product = mf_fx_halved(long_one, given_up) * short_one;
		return mf_fx_held(mf_fx_halved(product, MF_FX_BITS - given_up));
	}
	long_one = mf_fx_halved(long_one, given_up - given_up / 2);
	short_one = mf_fx_halved(short_one, given_up / 2);
	if (check_mul_overflow(long_one, short_one, &product))
		product = mf_fx_end((long_one < 0) != (short_one < 0));
	return mf_fx_held(mf_fx_doubled(product, given_up - MF_FX_BITS));
}

/**
 * mf_fx_div() - quotient
 * @a: dividend
 * @b: divisor; by 0 the quotient is the end
 *
 * A dividend without room for 14 bits more is scaled by what there is; a long
 * divisor is then scaled down by the rest, a short one leaves it to the
 * quotient, which is large.
 *
 * Return: @a / @b
 */
s64 mf_fx_div(s64 a, s64 b)
{
	u32 scale = mf_fx_room(a), rest = MF_FX_BITS - scale;
	s64 over;

	if (!b)
		return mf_fx_end(a < 0);
	over = (s64)((u64)a << scale);
	if (mf_fx_abs(b) >= 1ULL << (2 * MF_FX_BITS))
		return mf_fx_held(mf_fx_quotient(over, mf_fx_halved(b, rest)));
	return mf_fx_held(mf_fx_doubled(mf_fx_quotient(over, b), rest));
}

/**
 * mf_fx_per() - quotient by a whole number
 * @a: dividend
 * @count: above 0
 *
 * Return: @a / @count
 */
s64 mf_fx_per(s64 a, s64 count)
{
	return mf_fx_held(mf_fx_quotient(a, count));
}

/**
 * mf_integer_sqrt() - square root of an integer, by Newton from above
 * @value: any number
 *
 * Return: the largest integer whose square is at most @value
 */
u64 mf_integer_sqrt(u64 value)
{
	u32 bits = mf_bits(value);
	u64 root, next;

	if (!value)
		return 0;
	root = bits > 62 ? U32_MAX : 1ULL << ((bits + 1) / 2);
	for (;;) {
		next = (root + mf_div64(value, root)) / 2;
		if (next >= root)
			return root;
		root = next;
	}
}
EXPORT_SYMBOL_GPL(mf_integer_sqrt);

/**
 * mf_fx_sqrt() - square root
 * @value: any number
 *
 * Return: the root of @value, 0 of a negative one
 */
s64 mf_fx_sqrt(s64 value)
{
	u32 scale;

	if (value <= 0)
		return 0;
	scale = mf_fx_room(value) & ~1U;
	return mf_integer_sqrt((u64)value << scale) << ((MF_FX_BITS - scale) / 2);
}
