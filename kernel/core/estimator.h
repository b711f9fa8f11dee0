/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much of the traffic at a queue does not respond to drops (PONRT, Zhao
 * 2004): the integer form of crates/estimator. Time and memory per sample are
 * constant. Numbers are times 2^14 unless they count.
 */
#ifndef MAYFLY_ESTIMATOR_H
#define MAYFLY_ESTIMATOR_H

#include "methods.h"

/**
 * struct mf_estimate - the estimate of an estimation interval
 * @ticks: clock at its end
 * @share: of the arriving packets that does not respond, 0 to 1
 * @responsive: responsive packets in a round trip (z)
 * @other: other packets in a round trip (D)
 * @flows: responsive flows (N_s); 0 while unknown
 * @rtt: R_0, s
 * @drop_share: drops over arrivals of the interval
 * @doubt: why it should not be relied on
 */
struct mf_estimate {
	s64 ticks;
	s64 share;
	s64 responsive;
	s64 other;
	s64 flows;
	s64 rtt;
	s64 drop_share;
	enum mf_doubt doubt;
};

/* Sums over the estimation interval. */
struct mf_est_sums {
	s64 intervals;
	s64 length;
	s64 arrivals;
	s64 drops;
	s64 responsive;
	s64 shared;
	s64 shared_all;
	s64 flows;
	s64 answers;
	u64 faults;
	enum mf_doubt doubt;
};

/**
 * struct mf_estimator - samples in, estimates out
 * @settings: parameters
 * @intake: gathers samples
 * @filters: makes signals of them
 * @published: the method, unless it is
 * @response: this one, the default
 * @sums: over the estimation interval
 * @start: ticks before which only the filters run
 * @smoothed: the share
 * @has_smoothed: there was one
 */
struct mf_estimator {
	struct mf_est_settings settings;
	struct mf_intake intake;
	struct mf_filters filters;
	struct mf_published published;
	struct mf_response response;
	struct mf_est_sums sums;
	s64 start;
	s64 smoothed;
	bool has_smoothed;
};

void mf_estimator_init(struct mf_estimator *estimator, enum mf_method_id method,
		       const struct mf_est_settings *settings, s64 wanted, s64 per_second,
		       s64 start);
bool mf_estimator_take(struct mf_estimator *estimator, const struct mf_sample *sample,
		       struct mf_estimate *estimate);

#endif
