/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ways to tell responsive from other traffic: the integer form of
 * crates/estimator/src/methods, one enum where Rust has generics.
 * Numbers are times 2^14 unless they count.
 */
#ifndef MAYFLY_METHODS_H
#define MAYFLY_METHODS_H

#include "signals.h"

/* In the order of crates/estimator/src/registry.rs. */
enum mf_method_id {
	MF_METHOD_DEFAULT,
	MF_METHOD_RESPONSE,
	MF_METHOD_BASIC,
	MF_METHOD_P0,
	MF_METHOD_LOSS,
	MF_METHOD_MULTIHOP,
	MF_METHOD_CBR,
	MF_METHODS
};

/* Why an estimate should not be relied on; Reason of crates/estimator. */
enum mf_doubt {
	MF_SURE,
	MF_NO_ARRIVALS,
	MF_NEVER_DROPPED,
	MF_NO_DROPS,
	MF_START,
	MF_UNCERTAIN,
	MF_COLLINEAR,
	MF_BOUNDED,
	MF_COARSE,
	MF_FAULTY,
	MF_DOUBTS
};

/**
 * struct mf_loads - what a method knows after a sampling interval
 * @responsive: packets of responsive flows in a round trip (z)
 * @flows: responsive flows (N_s)
 * @share: of what came that does not respond, where @has_share: it goes before
 *	the load then
 * @has_share: the method finds the share without the load
 * @doubt: enum mf_doubt
 */
struct mf_loads {
	s64 responsive;
	s64 flows;
	s64 share;
	bool has_share;
	enum mf_doubt doubt;
};

/* Elements of beta at most. */
#define MF_REGRESSORS 3

/**
 * struct mf_responsive - beta, of which the first two are N_s and z^2 / N_s
 * @beta: at least 0
 * @has_begun: beta has a value
 * @is_bounded: the last update was stopped at a bound
 * @seen: sampling intervals since the first drop, until beta begins
 * @arrivals: in them
 * @drops: in them
 * @squares: sum of the squared deviations of p: what is left of the start
 */
struct mf_responsive {
	s64 beta[MF_REGRESSORS];
	bool has_begun;
	bool is_bounded;
	s64 seen;
	s64 arrivals;
	s64 drops;
	s64 squares;
};

/**
 * struct mf_published - the published methods
 * @id: which
 * @responsive: beta
 * @load: z, once something was said
 * @flows: then
 * @has_load: it was
 */
struct mf_published {
	enum mf_method_id id;
	struct mf_responsive responsive;
	s64 load;
	s64 flows;
	bool has_load;
};

bool mf_published_update(struct mf_published *method, const struct mf_signals *signals,
			 const struct mf_est_settings *settings, struct mf_loads *loads);

/* A power of two. */
#define MF_LINE 256

/**
 * struct mf_line - sums since the beginning by sampling interval
 * @sums: arrivals, drops, queue
 * @at: the last interval
 * @known: intervals since the last gap, as far as they are held
 */
struct mf_line {
	s64 sums[MF_LINE][3];
	u32 at;
	u32 known;
};

/* Means with an exponential memory, as sums over @count intervals. */
struct mf_past {
	s64 sums[3];
	s64 means[3];
	s64 count;
};

/* Round trips in sampling intervals. */
struct mf_windows {
	s64 compared;
	s64 averaged;
	s64 delay;
	s64 block;
};

/* Sums of a block: drops, fall of arrivals, rise of the queue. */
struct mf_block {
	s64 intervals;
	s64 near;
	s64 sums[3];
	s64 products[3];
	s64 totals[3];
};

/* Means over the blocks. */
struct mf_learned {
	s64 blocks;
	s64 answer;
	s64 expected;
	s64 rest;
	s64 amplitude;
	s64 flows;
	s64 error;
	bool has_flows;
};

/**
 * struct mf_response - how arrivals answer drops, learned block by block
 * @line: the last sampling intervals
 * @slow: means of the past
 * @windows: over which sums run
 * @block: the present one
 * @learned: of all blocks
 * @seen: sampling intervals
 * @stale: sampling intervals since @last was found
 * @last: what was said
 * @has_last: something was
 */
struct mf_response {
	struct mf_line line;
	struct mf_past slow;
	struct mf_windows windows;
	struct mf_block block;
	struct mf_learned learned;
	s64 seen;
	s64 stale;
	struct mf_loads last;
	bool has_last;
};

void mf_response_init(struct mf_response *response);
bool mf_response_update(struct mf_response *response, const struct mf_signals *signals,
			const struct mf_est_settings *settings, struct mf_loads *loads);

#endif
