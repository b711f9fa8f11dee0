/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A queue as the estimator sees it: mean backlog, arrivals and drops of each
 * sampling interval, in bytes over the length of a typical packet (Zhao 2004,
 * III.A.2), the rate of the link where it is not told, and whether early drops
 * are to end. crates/qdisc/src/parts/sampler.rs and regulator.rs.
 */
#ifndef MAYFLY_SAMPLER_H
#define MAYFLY_SAMPLER_H

#include "estimator.h"

/**
 * struct mf_sampler_options - what the estimator must know
 * @settings: parameters, but for the capacity
 * @method: how loads are found
 * @rate_bytes: per second, of the link; 0: measured
 * @mean_packet: bytes, at least 1
 * @sampling_ns: length of a sampling interval, at least 1
 * @start_ns: before it only the filters run
 * @ticks: per second, of the estimator's clock, at least 1
 * @above: estimates above it move to drop-tail, times 2^14; 2^14: never
 * @below: estimates below it move back, times 2^14
 */
struct mf_sampler_options {
	struct mf_est_settings settings;
	enum mf_method_id method;
	u64 rate_bytes;
	u32 mean_packet;
	u64 sampling_ns;
	u64 start_ns;
	u32 ticks;
	s64 above;
	s64 below;
};

/* Speed of the link: bytes sent while packets waited behind them, and the time. */
struct mf_meter {
	u64 departed_ns;
	u32 len;
	bool busy;
	u32 gaps;
	u64 bytes;
	u64 time_ns;
};

/**
 * struct mf_sampler - what a sampling interval has seen so far
 * @options: as given
 * @estimator: runs once the rate is known
 * @runs: it does
 * @meter: measures it
 * @end_ns: of the interval
 * @seen_ns: until when the mean queue is known
 * @area: bytes that waited, times ns
 * @longest: queue whose product with an interval fits, bytes
 * @arrivals: bytes
 * @drops: bytes
 * @last: the last estimate
 * @last_ns: its time
 * @estimates: that were told
 * @row: estimates beyond the bound in a row
 * @doubts: doubtful estimates in a row
 * @is_tail: nothing is to be dropped early
 */
struct mf_sampler {
	struct mf_sampler_options options;
	struct mf_estimator estimator;
	bool runs;
	struct mf_meter meter;
	u64 end_ns;
	u64 seen_ns;
	u64 area;
	u64 longest;
	u64 arrivals;
	u64 drops;
	struct mf_estimate last;
	u64 last_ns;
	u64 estimates;
	u32 row;
	u32 doubts;
	bool is_tail;
};

void mf_sampler_init(struct mf_sampler *sampler, const struct mf_sampler_options *options);
void mf_sampler_tell(struct mf_sampler *sampler, u64 now_ns, u64 backlog);
void mf_sampler_depart(struct mf_sampler *sampler, u32 len, bool leaves_some, u64 now_ns);

/* Brings the mean queue up to @now_ns, @backlog bytes having waited since. */
static inline void mf_sampler_advance(struct mf_sampler *sampler, u64 now_ns, u64 backlog)
{
	if (now_ns >= sampler->end_ns)
		mf_sampler_tell(sampler, now_ns, backlog);
	if (now_ns > sampler->seen_ns)
		sampler->area += (backlog < sampler->longest ? backlog : sampler->longest) *
			       (now_ns - sampler->seen_ns);
	sampler->seen_ns = now_ns;
}

#endif
