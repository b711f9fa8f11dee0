// SPDX-License-Identifier: GPL-2.0
/* The accounting that all cores share. */
#include "queue.h"

/**
 * mf_limit_pkts() - packets that a pool must hold for a limit
 * @limit: packets, or bytes
 * @bytes: the limit is in bytes
 *
 * Return: for a limit in bytes as many of the shortest packets as fit;
 * MF_MAX_PKTS at most.
 */
u32 mf_limit_pkts(u64 limit, bool bytes)
{
	if (bytes) {
		/* A 64-bit quotient, but the kernel of a 32-bit machine has none. */
		limit = limit >= (u64)MF_MAX_PKTS * MF_MIN_LEN ?
			MF_MAX_PKTS : (u32)limit / MF_MIN_LEN + 1;
	}
	return limit < MF_MAX_PKTS ? limit : MF_MAX_PKTS;
}
EXPORT_SYMBOL_GPL(mf_limit_pkts);

/**
 * mf_queue_limit() - sets the limit; who lowers it drops what is over
 * @queue: the queue
 * @limit: packets, or bytes
 * @bytes: the limit is in bytes
 */
void mf_queue_limit(struct mf_queue *queue, u64 limit, bool bytes)
{
	queue->limit_pkts = mf_limit_pkts(limit, bytes);
	queue->limit_bytes = bytes ? limit : U64_MAX;
}
EXPORT_SYMBOL_GPL(mf_queue_limit);

/**
 * mf_queue_refuse() - the arriving packet is dropped without having waited
 * @queue: the queue
 * @packet: the arriving packet
 * @reason: why
 *
 * Return: @reason, the fate of the packet, which stays with the caller.
 */
enum mf_fate mf_queue_refuse(struct mf_queue *queue,
			     const struct mf_packet *packet,
			     enum mf_fate reason)
{
	mf_count_add(&queue->stats.dropped_before, packet->len);
	return reason;
}
EXPORT_SYMBOL_GPL(mf_queue_refuse);

/**
 * mf_queue_discard() - a packet that waited is dropped
 * @queue: the queue
 * @victim: the packet, which goes to the owner of the queue
 * @reason: why
 */
void mf_queue_discard(struct mf_queue *queue, const struct mf_packet *victim,
		      enum mf_fate reason)
{
	mf_count_add(&queue->stats.dropped_after, victim->len);
	queue->discard(queue, victim, reason);
}
EXPORT_SYMBOL_GPL(mf_queue_discard);
