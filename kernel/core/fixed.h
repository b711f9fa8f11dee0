/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Integers that stand for numbers times 2^14, as crates/estimator/src/fixed.rs:
 * results are rounded to the nearest, halves away from zero; what would be too
 * long for 64 bits gives up low bits first, or stops at the end.
 * Source: Zhao 2004, III.A.2.
 */
#ifndef MAYFLY_FIXED_H
#define MAYFLY_FIXED_H

#include "types.h"

#define MF_FX_BITS 14
#define MF_FX_ONE ((s64)1 << MF_FX_BITS)
/* Symmetric, so that every number can be negated. */
#define MF_FX_END S64_MAX
/* Beyond this a sample is refused: 2^40. */
#define MF_FX_LARGEST ((s64)1 << (40 + MF_FX_BITS))

s64 mf_fx_mul(s64 a, s64 b);
s64 mf_fx_div(s64 a, s64 b);
s64 mf_fx_per(s64 a, s64 count);
s64 mf_fx_sqrt(s64 value);
u64 mf_integer_sqrt(u64 value);

static inline s64 mf_fx_held(s64 value)
{
	return value < -MF_FX_END ? -MF_FX_END : value;
}

static inline s64 mf_fx_end(bool negative)
{
	return negative ? -MF_FX_END : MF_FX_END;
}

static inline u64 mf_fx_abs(s64 value)
{
	return value < 0 ? -(u64)value : (u64)value;
}

static inline s64 mf_fx_add(s64 a, s64 b)
{
	s64 sum;

	return check_add_overflow(a, b, &sum) ? mf_fx_end(a < 0) : mf_fx_held(sum);
}

static inline s64 mf_fx_sub(s64 a, s64 b)
{
	s64 rest;

	return check_sub_overflow(a, b, &rest) ? mf_fx_end(a < 0) : mf_fx_held(rest);
}

/* @a times a whole number. */
static inline s64 mf_fx_times(s64 a, s64 count)
{
	s64 product;

	if (check_mul_overflow(a, count, &product))
		return mf_fx_end((a < 0) != (count < 0));
	return mf_fx_held(product);
}

static inline s64 mf_fx_min(s64 a, s64 bound)
{
	return a > bound ? bound : a;
}

static inline s64 mf_fx_max(s64 a, s64 bound)
{
	return a < bound ? bound : a;
}

/* @a over @b, both whole. */
static inline s64 mf_fx_ratio(s64 a, s64 b)
{
	return mf_fx_div(a, b);
}

/* w = factor w_old + (1 - factor) a (Zhao 2004, II.C). */
static inline s64 mf_fx_filter(s64 old, s64 value, s64 factor)
{
	return mf_fx_add(mf_fx_mul(factor, old),
			 mf_fx_mul(mf_fx_sub(MF_FX_ONE, factor), value));
}

#endif
