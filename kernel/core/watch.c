// SPDX-License-Identifier: GPL-2.0
/* Sampling intervals of a queue, told to the estimator. */
#include "watch.h"

#define MF_NS_PER_S 1000000000U
/* Gaps between departures from which the rate is taken. */
#define MF_GAPS 256
/* Estimates in a row that move the thresholds, and doubtful ones that move back. */
#define MF_HOLD 3
#define MF_PATIENCE 30
/* Bounds of a measured capacity, packets per second: 1/8 and 10^9. */
#define MF_CAPACITY_MIN (MF_FX_ONE / 8)
#define MF_CAPACITY_MAX (1000000000LL * MF_FX_ONE)

/* @time_ns in ticks of the clock, rounded down. */
static s64 mf_watch_ticks(const struct mf_watch *watch, u64 time_ns)
{
	u64 seconds = mf_div64(time_ns, MF_NS_PER_S);
	u64 rest = time_ns - seconds * MF_NS_PER_S;

	return seconds * watch->options.ticks +
	       mf_div64(rest * watch->options.ticks, MF_NS_PER_S);
}

/**
 * mf_watch_init() - before the first packet
 * @watch: the watch; what it has learned is forgotten
 * @options: within their bounds
 */
void mf_watch_init(struct mf_watch *watch, const struct mf_watch_options *options)
{
	memset(watch, 0, sizeof(*watch));
	watch->options = *options;
	watch->end_ns = options->sampling_ns;
	watch->longest = mf_div64(S64_MAX, options->sampling_ns);
}

/* Begins as soon as the rate is known. */
static void mf_watch_begin(struct mf_watch *watch)
{
	const struct mf_watch_options *options = &watch->options;
	struct mf_est_settings settings = options->settings;
	u64 rate = options->rate_bytes, wanted;
	s64 start;

	if (!rate) {
		if (watch->meter.gaps < MF_GAPS || !watch->meter.time_ns)
			return;
		rate = mf_div64(watch->meter.bytes * MF_NS_PER_S, watch->meter.time_ns);
	}
	settings.capacity = mf_fx_ratio(rate, options->mean_packet);
	if (!options->rate_bytes)
		settings.capacity = mf_fx_min(mf_fx_max(settings.capacity, MF_CAPACITY_MIN),
					      MF_CAPACITY_MAX);
	/* A clock that was rounded to ticks may end an interval one tick early. */
	wanted = options->sampling_ns * options->ticks;
	wanted -= mf_div64(wanted, 1000000);
	wanted = mf_div64(wanted + MF_NS_PER_S - 1, MF_NS_PER_S);
	start = mf_watch_ticks(watch, options->start_ns);
	if (mf_watch_ticks(watch, options->start_ns - 1) == start && options->start_ns)
		start++;
	mf_estimator_init(&watch->estimator, options->method, &settings, wanted ? wanted : 1,
			  options->ticks, start);
	watch->runs = true;
}

/* Thresholds move where three estimates in a row that may be relied on were beyond
 * a bound, and back after many doubtful ones.
 */
static void mf_watch_regulate(struct mf_watch *watch, s64 share, bool doubtful)
{
	bool beyond = watch->is_tail ? share < watch->options.below :
				       share > watch->options.above;

	if (doubtful) {
		watch->doubts++;
		if (watch->doubts >= MF_PATIENCE) {
			watch->row = 0;
			watch->doubts = 0;
			watch->is_tail = false;
		}
		return;
	}
	watch->doubts = 0;
	watch->row = beyond ? watch->row + 1 : 0;
	if (watch->row == MF_HOLD) {
		watch->row = 0;
		watch->is_tail = !watch->is_tail;
	}
}

/* A sampling interval ends, with a mean queue in bytes. */
static void mf_watch_sample(struct mf_watch *watch, u64 queue)
{
	u32 packet = watch->options.mean_packet;
	struct mf_sample sample = {
		.ticks = mf_watch_ticks(watch, watch->end_ns),
		.queue = mf_fx_ratio(queue, packet),
		.arrivals = mf_fx_ratio(watch->arrivals, packet),
		.drops = mf_fx_ratio(watch->drops, packet),
	};
	struct mf_estimate estimate;

	if (!watch->runs)
		mf_watch_begin(watch);
	if (!watch->runs || !mf_estimator_take(&watch->estimator, &sample, &estimate))
		return;
	mf_watch_regulate(watch, estimate.share, estimate.doubt != MF_SURE);
	watch->last = estimate;
	watch->last_ns = watch->end_ns;
	watch->estimates++;
}

/**
 * mf_watch_tell() - tells the sampling intervals that have ended
 * @watch: the watch
 * @now_ns: time, at or after the end of one
 * @backlog: bytes that waited since the last call
 *
 * After a rest that is longer than the estimator bridges, the rest is left out.
 */
void mf_watch_tell(struct mf_watch *watch, u64 now_ns, u64 backlog)
{
	u64 length = watch->options.sampling_ns;
	u64 ended = mf_div64(now_ns - watch->end_ns, length) + 1, skipped = 0;

	if (backlog > watch->longest)
		backlog = watch->longest;
	if (ended > MF_LONGEST_GAP) {
		skipped = (ended - MF_LONGEST_GAP) * length;
		ended = MF_LONGEST_GAP;
	}
	for (; ended; ended--) {
		if (watch->end_ns > watch->seen_ns)
			watch->area += backlog * (watch->end_ns - watch->seen_ns);
		watch->seen_ns = watch->end_ns;
		mf_watch_sample(watch, mf_div64(watch->area, length));
		watch->area = 0;
		watch->arrivals = 0;
		watch->drops = 0;
		watch->end_ns += length;
	}
	watch->end_ns += skipped;
	watch->seen_ns += skipped;
}

/**
 * mf_watch_depart() - a packet leaves: the gap to the next one tells the rate
 * @watch: the watch
 * @len: its bytes
 * @leaves_some: packets wait behind it
 * @now_ns: time
 */
void mf_watch_depart(struct mf_watch *watch, u32 len, bool leaves_some, u64 now_ns)
{
	struct mf_meter *meter = &watch->meter;

	if (meter->busy && meter->gaps < MF_GAPS) {
		meter->gaps++;
		meter->bytes += meter->len;
		if (now_ns > meter->departed_ns)
			meter->time_ns += now_ns - meter->departed_ns;
	}
	meter->busy = leaves_some;
	meter->departed_ns = now_ns;
	meter->len = len;
}
