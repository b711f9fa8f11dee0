/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RED that also estimates what share of its traffic does not respond to drops:
 * crates/qdisc/src/disciplines/estmred.rs in integers.
 *
 * Cost per packet: that of RED and a few additions; the estimator runs once per
 * sampling interval, driven by the packets. Source: Zhao 2004, II and III.
 */
#ifndef MAYFLY_ESTMRED_H
#define MAYFLY_ESTMRED_H

#include "order.h"
#include "red.h"
#include "sampler.h"

/**
 * struct mf_estmred_options - what can be chosen
 * @limit: packets or bytes
 * @limit_in_bytes: which of them
 * @estimate: run the estimator
 * @red: of RED
 * @sampler: of the estimator
 */
struct mf_estmred_options {
	u64 limit;
	bool limit_in_bytes;
	bool estimate;
	struct mf_red_options red;
	struct mf_sampler_options sampler;
};

/**
 * struct mf_estmred - the queue
 * @queue: limit and counters, first
 * @options: as given
 * @pool: entries of waiting packets
 * @order: of arrival
 * @red: the detector
 * @sampler: the estimator; NULL where it is off
 */
struct mf_estmred {
	struct mf_queue queue;
	struct mf_estmred_options options;
	struct mf_pool pool;
	struct mf_order order;
	struct mf_red red;
	struct mf_sampler *sampler;
};

/* What mf_estmred_change() needs beyond what there is. */
struct mf_estmred_spare {
	struct mf_pool pool;
	struct mf_sampler *sampler;
};

int mf_estmred_init(struct mf_estmred *estmred, const struct mf_estmred_options *options,
		    mf_discard_t discard);
void mf_estmred_free(struct mf_estmred *estmred);
void mf_estmred_reset(struct mf_estmred *estmred);
int mf_estmred_spare_init(struct mf_estmred_spare *spare, const struct mf_estmred *estmred,
			  const struct mf_estmred_options *options);
void mf_estmred_spare_free(struct mf_estmred_spare *spare);
void mf_estmred_change(struct mf_estmred *estmred, const struct mf_estmred_options *options,
		       struct mf_estmred_spare *spare);
enum mf_fate mf_estmred_enqueue(struct mf_estmred *estmred, struct mf_packet *packet,
				u64 now_ns);
bool mf_estmred_dequeue(struct mf_estmred *estmred, u64 now_ns, struct mf_packet *packet);
const struct mf_packet *mf_estmred_peek(const struct mf_estmred *estmred);

#endif
