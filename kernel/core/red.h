/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random early detection in integers: crates/qdisc/src/parts/red_fixed.rs.
 *
 * Principle: each arrival moves an average of the queue; between two thresholds
 * a packet is dropped, or marked, with a probability that rises with it.
 * Cost per packet: O(1), one 64-bit division where drops are due.
 * Source: Floyd and Jacobson 1993; Floyd 2000 (gentle); RFC 3168, section 7.
 */
#ifndef MAYFLY_RED_H
#define MAYFLY_RED_H

#include "queue.h"

/* Bits behind the point: of the average, of probabilities, of time per byte. */
#define MF_RED_AVERAGE_BITS 20
#define MF_RED_SHARE_BITS 31
#define MF_RED_BYTE_BITS 16
#define MF_RED_ONE (1ULL << MF_RED_SHARE_BITS)
/* Largest queue that thresholds go by, packets or bytes. */
#define MF_RED_LARGEST (1ULL << 41)
/* Longest time that is measured: with MF_RED_BYTE_BITS it fits. */
#define MF_RED_LONGEST_NS ((1ULL << 47) - 1)
#define MF_RED_MEAN_PACKET_MAX 1000000000U

/**
 * struct mf_red_options - what can be chosen
 * @min_th: average from which packets are dropped, times 2^20, in packets or
 *	bytes; 0: a third of @max_th, a quarter of the limit without
 * @max_th: average at which the probability is @max_p; 0: three times @min_th
 * @in_bytes: the average is one of bytes; the probability goes with the length
 * @gentle: beyond @max_th the probability rises to 1 at twice @max_th
 * @wait: from one drop to the next 1/p to 2/p packets, else 1 to 1/p
 * @ecn: mark who understands it instead of dropping
 * @max_p: probability at @max_th, times 2^31
 * @mark_max: probability above which packets are dropped and no more marked
 * @weight: of the present queue in the average, times 2^31
 * @mean_packet: length of a typical packet, bytes, at least 1
 * @transmission_ns: time to send a typical packet; 0: measured
 * @seed: of the random numbers
 */
struct mf_red_options {
	u64 min_th;
	u64 max_th;
	bool in_bytes;
	bool gentle;
	bool wait;
	bool ecn;
	u32 max_p;
	u32 mark_max;
	u32 weight;
	u32 mean_packet;
	u64 transmission_ns;
	u64 seed;
};

/**
 * struct mf_red - the average, and the decision by it
 * @options: as given
 * @min_th: times 2^20
 * @max_th: times 2^20
 * @cut: bits that averages give up in ratios
 * @average: times 2^20
 * @since: packets, or bytes, since the last drop or mark
 * @is_tail: nothing is dropped early
 * @left_some: packets waited behind the last that left
 * @per_byte: ns to send a byte, times 2^16; 0 while unknown
 * @departed_ns: when the last one left
 * @length: its bytes
 * @random: state of the generator
 */
struct mf_red {
	struct mf_red_options options;
	u64 min_th;
	u64 max_th;
	u32 cut;
	u64 average;
	u64 since;
	bool is_tail;
	bool left_some;
	u64 per_byte;
	u64 departed_ns;
	u64 length;
	u64 random;
};

void mf_red_init(struct mf_red *red, const struct mf_red_options *options,
		 u64 limit, bool limit_in_bytes);
void mf_red_arrive(struct mf_red *red, const struct mf_queue *queue);
enum mf_fate mf_red_admit(struct mf_red *red, struct mf_queue *queue,
			  struct mf_packet *packet);
void mf_red_depart(struct mf_red *red, u32 len, bool leaves_some, u64 now_ns);

#endif
