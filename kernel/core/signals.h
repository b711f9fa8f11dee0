/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From samples of a queue to the signals of Zhao 2004, Eq. 2.13: sampling
 * intervals, filters, differences, round trip, delay; the integer form of
 * crates/estimator/src/intake.rs and signals.rs. All numbers are times 2^14
 * (fixed.h) unless they count.
 */
#ifndef MAYFLY_SIGNALS_H
#define MAYFLY_SIGNALS_H

#include "fixed.h"

/* Longest delay, sampling intervals; a power of two. */
#define MF_DELAYS 64
/* Intervals over which means run. */
#define MF_MEAN_OVER 256
/* Sampling intervals without a sample after which differences begin anew. */
#define MF_LONGEST_GAP 8

/**
 * struct mf_est_settings - the link and the parameters
 * @capacity: C, packets per second
 * @propagation: T_p, s
 * @rtt: R_0, s; 0: from the mean queue
 * @per_estimate: sampling intervals of an estimation interval, a count
 * @queue_filter: forgetting factor of the queue
 * @drop_filter: forgetting factor of the drop probability
 * @gamma_1: gain of the adaptation, added to the square of the regressor
 * @gamma_2: gain of the adaptation
 * @zero_intervals: without a drop until p = 0 is assumed (PZTHD), a count
 * @smoothing: forgetting factor of the estimates
 * @start_share: share that does not respond before anything is known
 * @per_ack: packets that an acknowledgement covers (b)
 */
struct mf_est_settings {
	s64 capacity;
	s64 propagation;
	s64 rtt;
	s64 per_estimate;
	s64 queue_filter;
	s64 drop_filter;
	s64 gamma_1;
	s64 gamma_2;
	u32 zero_intervals;
	s64 smoothing;
	s64 start_share;
	s64 per_ack;
};

/**
 * struct mf_sample - what was seen since the sample before
 * @ticks: clock at the end
 * @queue: mean, packets
 * @arrivals: packets that came, those dropped included
 * @drops: packets dropped
 */
struct mf_sample {
	s64 ticks;
	s64 queue;
	s64 arrivals;
	s64 drops;
};

/* A sampling interval: s, 1/s, and whether it follows the one before. */
struct mf_interval {
	s64 ticks;
	s64 length;
	s64 frequency;
	s64 queue;
	s64 arrivals;
	s64 drops;
	bool follows;
};

/**
 * struct mf_intake - gathers samples until a sampling interval has passed
 * @per_second: ticks
 * @wanted: ticks of an interval
 * @last: clock of the last sample, where @known
 * @elapsed: ticks of this interval
 * @measured: ticks that @length and @frequency are of
 * @length: s
 * @frequency: 1/s
 * @weighted: queue times ticks
 * @arrivals: packets
 * @drops: packets
 * @faults: samples that were not used
 * @known: there was a sample
 * @follows: the next interval follows one
 */
struct mf_intake {
	s64 per_second;
	s64 wanted;
	s64 last;
	s64 elapsed;
	s64 measured;
	s64 length;
	s64 frequency;
	s64 weighted;
	s64 arrivals;
	s64 drops;
	u64 faults;
	bool known;
	bool follows;
};

/* A mean of all values, then with a weight of 1 in MF_MEAN_OVER. */
struct mf_mean {
	s64 sum;
	s64 count;
};

/**
 * struct mf_signals - what a method sees at the end of a sampling interval
 * @length: T, s
 * @frequency: 1/s
 * @queue: mean, unfiltered, packets
 * @slope: q', packets/s
 * @curvature: q'', packets/s^2
 * @round_trip: R(t), s
 * @rtt: R_0, s
 * @inverse_rtt: 1/s
 * @arrivals: packets
 * @drops: packets
 * @drop_probability: p(t - R_0), filtered
 * @mean_probability: of the last intervals
 * @without_drops: intervals that it was 0 unfiltered
 * @drops_slope: l', packets/s
 * @arrival_rate: packets/s, mean of the last intervals
 * @follows: adjacent to the interval before
 * @is_whole: the differences are those of adjacent intervals
 */
struct mf_signals {
	s64 length;
	s64 frequency;
	s64 queue;
	s64 slope;
	s64 curvature;
	s64 round_trip;
	s64 rtt;
	s64 inverse_rtt;
	s64 arrivals;
	s64 drops;
	s64 drop_probability;
	s64 mean_probability;
	u32 without_drops;
	s64 drops_slope;
	s64 arrival_rate;
	bool follows;
	bool is_whole;
};

/**
 * struct mf_filters - what the filters remember
 * @queue: filtered
 * @slope: of it
 * @drop_probability: filtered
 * @round_drops: drops of a round trip, filtered
 * @mean_queue: of the last intervals
 * @mean_probability: of the last intervals
 * @arrival_rate: of the last intervals
 * @line: p by interval, and whether drops were seen in it
 * @at: the last interval in @line
 * @without_drops: intervals
 * @since_gap: intervals
 */
struct mf_filters {
	s64 queue;
	s64 slope;
	s64 drop_probability;
	s64 round_drops;
	struct mf_mean mean_queue;
	struct mf_mean mean_probability;
	struct mf_mean arrival_rate;
	struct {
		s64 probability;
		bool dropped;
	} line[MF_DELAYS];
	u32 at;
	u32 without_drops;
	u32 since_gap;
};

bool mf_intake_take(struct mf_intake *intake, const struct mf_sample *sample,
		    struct mf_interval *interval);
void mf_filters_take(struct mf_filters *filters, const struct mf_interval *interval,
		     const struct mf_est_settings *settings, struct mf_signals *signals);
s64 mf_signals_output(const struct mf_signals *signals, s64 capacity);

/* Packets that come in a round trip, by the mean of the last intervals. */
static inline s64 mf_signals_round_arrivals(const struct mf_signals *signals)
{
	return mf_fx_mul(signals->arrival_rate, signals->rtt);
}

#endif
