/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Least attained service, whatever it counts: LAS, LASACK and LARS.
 *
 * Principle: a packet is stamped with what its flow has moved before it; the
 * smallest stamp is served, ties in order of arrival. When the buffer is full
 * the arriving packet gets its stamp, then the packet of largest stamp goes.
 * With a half-life what was moved fades; see decay.h.
 * Cost per packet: two look-ups and O(log n) in a sorted queue.
 * Source: Rai 2003, sections 2 and 6; decisions as crates/qdisc/src/disciplines/las.rs and
 * lars.rs.
 */
#ifndef MAYFLY_LAS_H
#define MAYFLY_LAS_H

#include "attained.h"
#include "classes.h"
#include "decay.h"

/**
 * struct mf_las_options - parameters of least attained service
 * @limit: of the buffer, above 0
 * @visit_ns: interval at which idle flows are looked for, above 0
 * @timeout_ns: idle time after which a flow is forgotten
 * @half_life_ns: time in which what was moved halves, 0 where it does not fade
 * @flows: flows known at a time, more than packets fit or as many
 * @measure: what is counted: MF_BYTES, MF_ADVANCE or MF_WHOLE
 * @limit_in_bytes: the limit is in bytes, else in packets
 */
struct mf_las_options {
	u64 limit;
	u64 visit_ns;
	u64 timeout_ns;
	u64 half_life_ns;
	u32 flows;
	u8 measure;
	bool limit_in_bytes;
};

/**
 * struct mf_las - a queue with least attained service
 * @queue: limit and counters
 * @options: as given
 * @order: the packets that wait
 * @pool: their entries
 * @attained: what their flows have moved, inflated where it fades
 * @decay: where it does
 */
struct mf_las {
	struct mf_queue queue;
	struct mf_las_options options;
	struct mf_order order;
	struct mf_pool pool;
	struct mf_attained attained;
	struct mf_decay decay;
};

/* Arrays for options that need larger ones, made before the queue is locked. */
struct mf_las_spare {
	struct mf_pool pool;
	struct mf_flow_table flows;
};

int mf_las_init(struct mf_las *las, const struct mf_las_options *options,
		mf_discard_t discard, u32 seed);
void mf_las_free(struct mf_las *las);
void mf_las_reset(struct mf_las *las);
int mf_las_spare_init(struct mf_las_spare *spare, const struct mf_las *las,
		      const struct mf_las_options *options);
void mf_las_spare_free(struct mf_las_spare *spare);
void mf_las_change(struct mf_las *las, const struct mf_las_options *options,
		   struct mf_las_spare *spare, u64 now_ns);
enum mf_fate mf_las_enqueue(struct mf_las *las, struct mf_packet *packet,
			    u64 now_ns);
bool mf_las_dequeue(struct mf_las *las, u64 now_ns, struct mf_packet *packet);
const struct mf_packet *mf_las_peek(const struct mf_las *las);

#endif
