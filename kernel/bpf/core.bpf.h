/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What core/types.h is to the kernel and to user space, to a BPF program: parts of
 * core/ that need no memory and no products of 128 bits compile behind it.
 */
#ifndef MAYFLY_BPF_CORE_H
#define MAYFLY_BPF_CORE_H

#define MAYFLY_TYPES_H /* not that one */

#define U64_MAX (~0ULL)
#define S64_MAX ((s64)(U64_MAX >> 1))

#define check_add_overflow(a, b, d) __builtin_add_overflow(a, b, d)
#define check_sub_overflow(a, b, d) __builtin_sub_overflow(a, b, d)
#define check_mul_overflow(a, b, d) __builtin_mul_overflow(a, b, d)

static inline u64 mf_div64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

#include "../core/codel.h"
#include "../core/shaper.h"

/* As that of core/fixed.c, by Newton's method from above, without a branch: the
 * verifier would follow both ways of each. A half is taken off up to 32 times, then
 * some steps double the digits.
 */
__noinline u64 mf_integer_sqrt(u64 value)
{
	u64 root = 1ULL << 32;
	int step;

	for (step = 0; step < 40; step++)
		root = (root + value / root) >> 1;
	return root - (root > value / root);
}

#endif
