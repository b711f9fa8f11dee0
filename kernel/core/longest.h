/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The longest of many queues; crates/qdisc/src/parts/longest_queue.rs.
 *
 * Principle: a heap with one entry per queue whose key is at least its length. A
 * queue that grows beyond its key gets a new one, a queue that shrinks keeps its
 * key until it comes to the top, where the key is put right.
 * Cost: O(log queues) per key that is raised or put right; each is put right at
 * most once for each packet that came or went.
 */
#ifndef MAYFLY_LONGEST_H
#define MAYFLY_LONGEST_H

#include "types.h"

/**
 * struct mf_longest - queues by their length
 * @heap: numbers of queues, the longest first, of equals the smallest number
 * @places: by queue: where it is in @heap, and 1; 0 where it is not
 * @keys: by queue
 * @len: queues in @heap
 * @queues: most of them
 */
struct mf_longest {
	u16 *heap;
	u32 *places;
	u64 *keys;
	u32 len;
	u32 queues;
};

static void mf_longest_free(struct mf_longest *longest)
{
	mf_free(longest->heap);
	mf_free(longest->places);
	mf_free(longest->keys);
	*longest = (struct mf_longest){ 0 };
}

/* Returns 0, or -ENOMEM; then there is nothing to be freed. */
static int mf_longest_init(struct mf_longest *longest, u32 queues)
{
	*longest = (struct mf_longest){ .queues = queues };
	longest->heap = mf_alloc(queues, sizeof(*longest->heap));
	longest->places = mf_alloc(queues, sizeof(*longest->places));
	longest->keys = mf_alloc(queues, sizeof(*longest->keys));
	if (longest->heap && longest->places && longest->keys)
		return 0;
	mf_longest_free(longest);
	return -ENOMEM;
}

static void mf_longest_reset(struct mf_longest *longest)
{
	longest->len = 0;
	memset(longest->places, 0, longest->queues * sizeof(*longest->places));
	memset(longest->keys, 0, longest->queues * sizeof(*longest->keys));
}

static bool mf_longest_is_before(const struct mf_longest *longest, u16 a, u16 b)
{
	u64 one = longest->keys[a], other = longest->keys[b];

	return one > other || (one == other && a < b);
}

static void mf_longest_put(struct mf_longest *longest, u32 at, u16 queue)
{
	longest->heap[at] = queue;
	longest->places[queue] = at + 1;
}

static void mf_longest_rise(struct mf_longest *longest, u32 at, u16 queue)
{
	u32 above;

	for (; at; at = above) {
		above = (at - 1) / 2;
		if (!mf_longest_is_before(longest, queue, longest->heap[above]))
			break;
		mf_step();
		mf_longest_put(longest, at, longest->heap[above]);
	}
	mf_longest_put(longest, at, queue);
}

/* The top of the heap becomes @queue. */
static void mf_longest_sink(struct mf_longest *longest, u16 queue)
{
	u32 at = 0, below;

	for (; (below = 2 * at + 1) < longest->len; at = below) {
		if (below + 1 < longest->len &&
		    mf_longest_is_before(longest, longest->heap[below + 1],
					 longest->heap[below]))
			below++;
		if (!mf_longest_is_before(longest, longest->heap[below], queue))
			break;
		mf_step();
		mf_longest_put(longest, at, longest->heap[below]);
	}
	mf_longest_put(longest, at, queue);
}

/* @queue has grown to @length. */
static inline void mf_longest_grew(struct mf_longest *longest, u16 queue,
				   u64 length)
{
	u32 place = longest->places[queue];

	if (length <= longest->keys[queue])
		return;
	longest->keys[queue] = length;
	mf_longest_rise(longest, place ? place - 1 : longest->len++, queue);
}

/* The top turned out to be of @length. */
static void mf_longest_put_right(struct mf_longest *longest, u64 length)
{
	u16 queue = longest->heap[0];

	longest->keys[queue] = length;
	if (!length) {
		longest->places[queue] = 0;
		if (!--longest->len)
			return;
		queue = longest->heap[longest->len];
	}
	mf_longest_sink(longest, queue);
}

#endif
