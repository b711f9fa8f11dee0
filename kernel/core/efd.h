/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Early flow discard, whatever it counts: EFD, PEFD and EFDACK.
 *
 * Principle: a flow is in the table only while a packet of it waits, so a
 * connection falls into fragments. A packet is high while the volume of its
 * fragment before it is below the threshold, low afterwards. When the buffer is
 * full the packet of lowest priority goes.
 * Cost per packet: O(1), one look-up; O(log n) where a class is sorted.
 * Source: Chen 2012, Algorithm 3; decisions as crates/qdisc/src/parts/early_discard.rs.
 */
#ifndef MAYFLY_EFD_H
#define MAYFLY_EFD_H

#include "classes.h"
#include "flow_table.h"

/**
 * struct mf_efd_options - parameters of early flow discard
 * @limit: of the buffer, above 0
 * @limit_in_bytes: the limit is in bytes, else in packets
 * @measure: what is counted: MF_BYTES, MF_PACKETS or MF_ADVANCE
 * @threshold: what goes first of every fragment, above 0
 * @high_sorted: the high class is sorted by volume
 * @low_sorted: the low class is sorted by volume
 * @flows: most fragments at a time, 0 for as many as packets fit; a packet
 *	that would begin one more goes into the low class
 */
struct mf_efd_options {
	u64 limit;
	u64 threshold;
	u32 flows;
	u8 measure;
	bool limit_in_bytes;
	bool high_sorted;
	bool low_sorted;
};

/**
 * struct mf_efd - a queue with early flow discard
 * @queue: limit and counters
 * @options: as given
 * @classes: the packets that wait
 * @pool: their entries
 * @flows: their fragments
 * @fragments: fragments begun so far
 * @bypassed: packets that found the flow table full
 */
struct mf_efd {
	struct mf_queue queue;
	struct mf_efd_options options;
	struct mf_classes classes;
	struct mf_pool pool;
	struct mf_flow_table flows;
	u64 fragments;
	u64 bypassed;
};

/* Arrays for options that need larger ones, made before the queue is locked. */
struct mf_efd_spare {
	struct mf_pool pool;
	struct mf_flow_table flows;
};

int mf_efd_init(struct mf_efd *efd, const struct mf_efd_options *options,
		mf_discard_t discard, u32 seed);
void mf_efd_free(struct mf_efd *efd);
void mf_efd_reset(struct mf_efd *efd);
int mf_efd_spare_init(struct mf_efd_spare *spare, const struct mf_efd *efd,
		      const struct mf_efd_options *options);
void mf_efd_spare_free(struct mf_efd_spare *spare);
void mf_efd_change(struct mf_efd *efd, const struct mf_efd_options *options,
		   struct mf_efd_spare *spare);
enum mf_fate mf_efd_enqueue(struct mf_efd *efd, struct mf_packet *packet,
			    u64 now_ns);
bool mf_efd_dequeue(struct mf_efd *efd, u64 now_ns, struct mf_packet *packet);
const struct mf_packet *mf_efd_peek(const struct mf_efd *efd);

#endif
