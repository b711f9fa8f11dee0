/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the cores need of their surroundings, kernel or user space: integers
 * and memory. The only file of core/ that knows which of the two it is.
 */
#ifndef MAYFLY_TYPES_H
#define MAYFLY_TYPES_H

#ifdef __KERNEL__

#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <linux/types.h>

/* Zeroed memory; never called on the packet path. It counts as that of who asks:
 * limits may be as large as their bounds, in any number of queues.
 */
static inline void *mf_alloc(size_t count, size_t size)
{
	return kvcalloc(count, size, GFP_KERNEL_ACCOUNT);
}

static inline void mf_free(const void *memory)
{
	kvfree(memory);
}

static inline u64 mf_div64(u64 dividend, u64 divisor)
{
	return div64_u64(dividend, divisor);
}

/* Bits that a number takes, 0 to 64. */
static inline u32 mf_bits(u64 number)
{
	return fls64(number);
}

/* The lowest bit of a number that is not 0. */
static inline u32 mf_lowest_bit(u64 number)
{
	return __ffs64(number);
}

#else

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

/* In the kernel, what several cores share is the module mayfly_common. */
#define EXPORT_SYMBOL_GPL(name)
#define U16_MAX UINT16_MAX
#define U32_MAX UINT32_MAX
#define U64_MAX UINT64_MAX
#define S64_MAX INT64_MAX

#define check_add_overflow(a, b, d) __builtin_add_overflow(a, b, d)
#define check_sub_overflow(a, b, d) __builtin_sub_overflow(a, b, d)
#define check_mul_overflow(a, b, d) __builtin_mul_overflow(a, b, d)

static inline u64 mul_u64_u32_shr(u64 a, u32 b, unsigned int shift)
{
	return ((unsigned __int128)a * b) >> shift;
}

static inline void *mf_alloc(size_t count, size_t size)
{
	return calloc(count, size);
}

static inline void mf_free(void *memory)
{
	free(memory);
}

static inline u64 mf_div64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

/* Bits that a number takes, 0 to 64. */
static inline u32 mf_bits(u64 number)
{
	return number ? 64 - __builtin_clzll(number) : 0;
}

/* The lowest bit of a number that is not 0. */
static inline u32 mf_lowest_bit(u64 number)
{
	return __builtin_ctzll(number);
}

#endif

/* What repeats itself counts its repeats where a test asks how many there are:
 * how long a call takes depends on nothing else.
 */
#ifdef MF_COUNT_STEPS
extern u64 mf_steps;
static inline void mf_step(void)
{
	mf_steps++;
}
#else
static inline void mf_step(void)
{
}
#endif

/* Index that stands for none, in pools and tables: zeroed ones are empty. */
#define MF_NONE 0U

#endif
