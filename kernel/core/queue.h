/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The accounting that all cores share, in packets and bytes, so that
 *   received = enqueued + dropped before, which is not counted once more
 *   backlog  = enqueued - dequeued - dropped after
 * Same as crates/qdisc/src/base.rs.
 */
#ifndef MAYFLY_QUEUE_H
#define MAYFLY_QUEUE_H

#include "packet.h"

/* Shortest packet a limit in bytes makes room for: IPv4 and TCP headers. */
#define MF_MIN_LEN 40U
/* Most packets that any queue holds: the pool is of this size at most. */
#define MF_MAX_PKTS (1U << 20)
/* Most packets that go for an arriving one: a limit in bytes and a size table
 * could ask for any number. A packet of 160 kB has no more behind it that are
 * MF_MIN_LEN long; crates/qdisc, which has no longer ones, has no bound.
 */
#define MF_MAX_VICTIMS 4096U

/**
 * enum mf_fate - what became of a packet
 * @MF_QUEUED: it waits
 * @MF_FULL: dropped on arrival, there was no room
 * @MF_PUSHED_OUT: waited and had to make room
 * @MF_EARLY: dropped by active queue management
 */
enum mf_fate { MF_QUEUED, MF_FULL, MF_PUSHED_OUT, MF_EARLY };

/* Packets and bytes. */
struct mf_count {
	u64 pkts;
	u64 bytes;
};

/* Counters since the queue was made or reset. */
struct mf_stats {
	struct mf_count enqueued;
	struct mf_count dropped_before;
	struct mf_count dropped_after;
	struct mf_count marked;
	struct mf_count dequeued;
};

struct mf_queue;

/* Takes a packet that waited and goes without being sent. */
typedef void (*mf_discard_t)(struct mf_queue *queue,
			     const struct mf_packet *victim,
			     enum mf_fate reason);

/**
 * struct mf_queue - limit and counters of a queue
 * @now_ns: time of the present call
 * @limit_bytes: most bytes that wait, U64_MAX where the limit is in packets
 * @limit_pkts: most packets that wait; where the limit is in bytes, as many
 *	as the pool holds
 * @stats: counters
 * @discard: called for every victim, during enqueue or change
 * @sorted: the last accepted packet was sorted into one of two classes
 * @high: into the high one
 * @fresh: it began an entry of the flow table
 */
struct mf_queue {
	u64 now_ns;
	u64 limit_bytes;
	u32 limit_pkts;
	struct mf_stats stats;
	mf_discard_t discard;
	bool sorted;
	bool high;
	bool fresh;
};

static inline void mf_count_add(struct mf_count *count, u32 len)
{
	count->pkts++;
	count->bytes += len;
}

static inline u64 mf_queue_pkts(const struct mf_queue *queue)
{
	const struct mf_stats *s = &queue->stats;

	return s->enqueued.pkts - s->dequeued.pkts - s->dropped_after.pkts;
}

static inline u64 mf_queue_bytes(const struct mf_queue *queue)
{
	const struct mf_stats *s = &queue->stats;

	return s->enqueued.bytes - s->dequeued.bytes - s->dropped_after.bytes;
}

/* Would one more packet of @len bytes exceed the limit once @gone had left? */
static inline bool mf_queue_is_full_without(const struct mf_queue *queue,
					    u32 len, struct mf_count gone)
{
	return mf_queue_pkts(queue) - gone.pkts >= queue->limit_pkts ||
	       mf_queue_bytes(queue) - gone.bytes + len > queue->limit_bytes;
}

/* Would one more packet of @len bytes exceed the limit? */
static inline bool mf_queue_is_full(const struct mf_queue *queue, u32 len)
{
	return mf_queue_is_full_without(queue, len, (struct mf_count){ 0 });
}

/* Does the backlog exceed the limit, as after the limit was lowered? */
static inline bool mf_queue_is_over(const struct mf_queue *queue)
{
	return mf_queue_pkts(queue) > queue->limit_pkts ||
	       mf_queue_bytes(queue) > queue->limit_bytes;
}

u32 mf_limit_pkts(u64 limit, bool bytes);
void mf_queue_limit(struct mf_queue *queue, u64 limit, bool bytes);
enum mf_fate mf_queue_refuse(struct mf_queue *queue,
			     const struct mf_packet *packet,
			     enum mf_fate reason);
void mf_queue_discard(struct mf_queue *queue, const struct mf_packet *victim,
		      enum mf_fate reason);

/**
 * mf_queue_receive() - first of every enqueue
 * @queue: the queue
 * @packet: the arriving packet
 * @now_ns: time of the call
 *
 * Return: MF_FULL, and the packet counted as dropped, when it exceeds the
 * limit by itself: nobody else has to go for it. Else MF_QUEUED: go on.
 */
static inline enum mf_fate mf_queue_receive(struct mf_queue *queue,
					    struct mf_packet *packet, u64 now_ns)
{
	packet->arrival_ns = now_ns;
	queue->now_ns = now_ns;
	queue->sorted = false;
	if (packet->len > queue->limit_bytes)
		return mf_queue_refuse(queue, packet, MF_FULL);
	return MF_QUEUED;
}

/* The arriving packet enters the queue. */
static inline void mf_queue_accept(struct mf_queue *queue,
				   const struct mf_packet *packet)
{
	mf_count_add(&queue->stats.enqueued, packet->len);
}

/* A packet leaves to be sent. */
static inline void mf_queue_depart(struct mf_queue *queue,
				   const struct mf_packet *packet)
{
	mf_count_add(&queue->stats.dequeued, packet->len);
}

/* How the accepted packet was sorted, for disciplines with two classes. */
static inline void mf_queue_note(struct mf_queue *queue, bool high, bool fresh)
{
	queue->sorted = true;
	queue->high = high;
	queue->fresh = fresh;
}

#endif
