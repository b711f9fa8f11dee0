// SPDX-License-Identifier: GPL-2.0
/* Sampling intervals of a queue, told to the estimator. */
#include "sampler.h"

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
static s64 mf_sampler_ticks(const struct mf_sampler *sampler, u64 time_ns)
{
	u64 seconds = mf_div64(time_ns, MF_NS_PER_S);
	u64 rest = time_ns - seconds * MF_NS_PER_S;

	return seconds * sampler->options.ticks +
	       mf_div64(rest * sampler->options.ticks, MF_NS_PER_S);
}

/**
 * mf_sampler_init() - before the first packet
 * @sampler: the sampler; what it has learned is forgotten
 * @options: within their bounds
 */
void mf_sampler_init(struct mf_sampler *sampler, const struct mf_sampler_options *options)
{
	memset(sampler, 0, sizeof(*sampler));
	sampler->options = *options;
	sampler->end_ns = options->sampling_ns;
	sampler->longest = mf_div64(S64_MAX, options->sampling_ns);
}
EXPORT_SYMBOL_GPL(mf_sampler_init);

/* Begins as soon as the rate is known. */
static void mf_sampler_begin(struct mf_sampler *sampler)
{
	const struct mf_sampler_options *options = &sampler->options;
	struct mf_est_settings settings = options->settings;
	u64 rate = options->rate_bytes, wanted;
	s64 start;

	if (!rate) {
		if (sampler->meter.gaps < MF_GAPS || !sampler->meter.time_ns)
			return;
		rate = mf_div64(sampler->meter.bytes * MF_NS_PER_S, sampler->meter.time_ns);
	}
	settings.capacity = mf_fx_ratio(rate, options->mean_packet);
	if (!options->rate_bytes)
		settings.capacity = mf_fx_min(mf_fx_max(settings.capacity, MF_CAPACITY_MIN),
					      MF_CAPACITY_MAX);
	/* A clock that was rounded to ticks may end an interval one tick early. */
	wanted = options->sampling_ns * options->ticks;
	wanted -= mf_div64(wanted, 1000000);
	wanted = mf_div64(wanted + MF_NS_PER_S - 1, MF_NS_PER_S);
	start = mf_sampler_ticks(sampler, options->start_ns);
	if (mf_sampler_ticks(sampler, options->start_ns - 1) == start && options->start_ns)
		start++;
	mf_estimator_init(&sampler->estimator, options->method, &settings, wanted ? wanted : 1,
			  options->ticks, start);
	sampler->runs = true;
}

/* Thresholds move where three estimates in a row that may be relied on were beyond
 * a bound, and back after many doubtful ones.
 */
static void mf_sampler_regulate(struct mf_sampler *sampler, s64 share, bool doubtful)
{
	bool beyond = sampler->is_tail ? share < sampler->options.below :
				       share > sampler->options.above;

	if (doubtful) {
		sampler->doubts++;
		if (sampler->doubts >= MF_PATIENCE) {
			sampler->row = 0;
			sampler->doubts = 0;
			sampler->is_tail = false;
		}
		return;
	}
	sampler->doubts = 0;
	sampler->row = beyond ? sampler->row + 1 : 0;
	if (sampler->row == MF_HOLD) {
		sampler->row = 0;
		sampler->is_tail = !sampler->is_tail;
	}
}

/* A sampling interval ends, with a mean queue in bytes. */
static void mf_sampler_sample(struct mf_sampler *sampler, u64 queue)
{
	u32 packet = sampler->options.mean_packet;
	struct mf_sample sample = {
		.ticks = mf_sampler_ticks(sampler, sampler->end_ns),
		.queue = mf_fx_ratio(queue, packet),
		.arrivals = mf_fx_ratio(sampler->arrivals, packet),
		.drops = mf_fx_ratio(sampler->drops, packet),
	};
	struct mf_estimate estimate;

	if (!sampler->runs)
		mf_sampler_begin(sampler);
	if (!sampler->runs || !mf_estimator_take(&sampler->estimator, &sample, &estimate))
		return;
	mf_sampler_regulate(sampler, estimate.share, estimate.doubt != MF_SURE);
	sampler->last = estimate;
	sampler->last_ns = sampler->end_ns;
	sampler->estimates++;
}

/**
 * mf_sampler_tell() - tells the sampling intervals that have ended
 * @sampler: the sampler
 * @now_ns: time, at or after the end of one
 * @backlog: bytes that waited since the last call
 *
 * After a rest that is longer than the estimator bridges, the rest is left out.
 */
void mf_sampler_tell(struct mf_sampler *sampler, u64 now_ns, u64 backlog)
{
	u64 length = sampler->options.sampling_ns;
	u64 ended = mf_div64(now_ns - sampler->end_ns, length) + 1, skipped = 0;

	if (backlog > sampler->longest)
		backlog = sampler->longest;
	if (ended > MF_LONGEST_GAP) {
		skipped = (ended - MF_LONGEST_GAP) * length;
		ended = MF_LONGEST_GAP;
	}
	for (; ended; ended--) {
		mf_step();
		if (sampler->end_ns > sampler->seen_ns)
			sampler->area += backlog * (sampler->end_ns - sampler->seen_ns);
		sampler->seen_ns = sampler->end_ns;
		mf_sampler_sample(sampler, mf_div64(sampler->area, length));
		sampler->area = 0;
		sampler->arrivals = 0;
		sampler->drops = 0;
		sampler->end_ns += length;
	}
	sampler->end_ns += skipped;
	sampler->seen_ns += skipped;
}
EXPORT_SYMBOL_GPL(mf_sampler_tell);

/**
 * mf_sampler_depart() - a packet leaves: the gap to the next one tells the rate
 * @sampler: the sampler
 * @len: its bytes
 * @leaves_some: packets wait behind it
 * @now_ns: time
 */
void mf_sampler_depart(struct mf_sampler *sampler, u32 len, bool leaves_some, u64 now_ns)
{
	struct mf_meter *meter = &sampler->meter;

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
EXPORT_SYMBOL_GPL(mf_sampler_depart);
