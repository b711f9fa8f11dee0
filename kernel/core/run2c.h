/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Run2C: the first bytes of every flow go before everything else.
 *
 * Principle: a packet is high while fewer than a threshold of bytes of its flow
 * came before it, low afterwards; strict priority, each class in order of
 * arrival. TCP data tells these bytes itself, by its sequence number; bare
 * acknowledgements are high; other packets are counted. Counted by connection,
 * all packets are, both ways. A high packet that finds the buffer full takes
 * the place of the last low one.
 * Cost per packet: O(1); one look-up for packets that are counted.
 * Source: Avrachenkov et al. 2004; Chen 2012, 6.4; decisions as
 * crates/qdisc/src/disciplines/run2c.rs and run2cack.rs.
 */
#ifndef MAYFLY_RUN2C_H
#define MAYFLY_RUN2C_H

#include "attained.h"
#include "classes.h"

/**
 * struct mf_run2c_options - parameters of Run2C
 * @limit: of the buffer, above 0
 * @threshold: bytes that go first, above 0
 * @visit_ns: interval at which idle flows are looked for, above 0
 * @timeout_ns: idle time after which a flow is forgotten
 * @flows: flows known at a time, more than packets fit or as many
 * @limit_in_bytes: the limit is in bytes, else in packets
 * @both: both directions of a connection count: Run2CACK
 */
struct mf_run2c_options {
	u64 limit;
	u64 threshold;
	u64 visit_ns;
	u64 timeout_ns;
	u32 flows;
	bool limit_in_bytes;
	bool both;
};

/**
 * struct mf_run2c - a queue with Run2C
 * @queue: limit and counters
 * @options: as given
 * @classes: the packets that wait
 * @pool: their entries
 * @attained: flows of packets that are counted
 */
struct mf_run2c {
	struct mf_queue queue;
	struct mf_run2c_options options;
	struct mf_classes classes;
	struct mf_pool pool;
	struct mf_attained attained;
};

/* Arrays for options that need larger ones, made before the queue is locked. */
struct mf_run2c_spare {
	struct mf_pool pool;
	struct mf_flow_table flows;
};

int mf_run2c_init(struct mf_run2c *run2c,
		  const struct mf_run2c_options *options, mf_discard_t discard);
void mf_run2c_free(struct mf_run2c *run2c);
void mf_run2c_reset(struct mf_run2c *run2c);
int mf_run2c_spare_init(struct mf_run2c_spare *spare,
			const struct mf_run2c *run2c,
			const struct mf_run2c_options *options);
void mf_run2c_spare_free(struct mf_run2c_spare *spare);
void mf_run2c_change(struct mf_run2c *run2c,
		     const struct mf_run2c_options *options,
		     struct mf_run2c_spare *spare, u64 now_ns);
enum mf_fate mf_run2c_enqueue(struct mf_run2c *run2c, struct mf_packet *packet,
			      u64 now_ns);
bool mf_run2c_dequeue(struct mf_run2c *run2c, u64 now_ns,
		      struct mf_packet *packet);
const struct mf_packet *mf_run2c_peek(const struct mf_run2c *run2c);

#endif
