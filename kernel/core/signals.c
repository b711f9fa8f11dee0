// SPDX-License-Identifier: GPL-2.0
/* Samples of a queue, gathered, filtered and differentiated. */
#include "signals.h"

static bool mf_is_usable(s64 number)
{
	return number >= 0 && number <= MF_FX_LARGEST;
}

static void mf_intake_empty(struct mf_intake *intake)
{
	intake->elapsed = 0;
	intake->weighted = 0;
	intake->arrivals = 0;
	intake->drops = 0;
}

/* Ticks since the sample before; 0 when it cannot be used. */
static s64 mf_intake_step(struct mf_intake *intake, const struct mf_sample *sample)
{
	bool usable = mf_is_usable(sample->queue) && mf_is_usable(sample->arrivals) &&
		      mf_is_usable(sample->drops);
	bool known = intake->known;
	s64 step = mf_fx_sub(sample->ticks, intake->last);

	intake->last = sample->ticks;
	intake->known = true;
	if (usable && !known)
		return 0;
	if (usable && step > 0 && step <= mf_fx_times(intake->wanted, MF_LONGEST_GAP))
		return step;
	intake->faults++;
	mf_intake_empty(intake);
	intake->follows = false;
	return 0;
}

/**
 * mf_intake_take() - takes a sample
 * @intake: where it is gathered
 * @sample: the sample
 * @interval: what it completes
 *
 * Return: whether it completes a sampling interval: the sample nearest to the
 * end does.
 */
bool mf_intake_take(struct mf_intake *intake, const struct mf_sample *sample,
		    struct mf_interval *interval)
{
	s64 step = mf_intake_step(intake, sample);

	if (!step)
		return false;
	intake->elapsed += step;
	intake->weighted = mf_fx_add(intake->weighted, mf_fx_times(sample->queue, step));
	intake->arrivals = mf_fx_add(intake->arrivals, sample->arrivals);
	intake->drops = mf_fx_add(intake->drops, sample->drops);
	if (mf_fx_add(intake->elapsed, step / 2) < intake->wanted)
		return false;
	if (intake->elapsed != intake->measured) {
		intake->measured = intake->elapsed;
		intake->length = mf_fx_ratio(intake->elapsed, intake->per_second);
		intake->frequency = mf_fx_ratio(intake->per_second, intake->elapsed);
	}
	*interval = (struct mf_interval){
		.ticks = sample->ticks,
		.length = intake->length,
		.frequency = intake->frequency,
		.queue = step == intake->elapsed ?
			 sample->queue : mf_fx_per(intake->weighted, intake->elapsed),
		.arrivals = intake->arrivals,
		.drops = intake->drops,
		.follows = intake->follows,
	};
	intake->follows = true;
	mf_intake_empty(intake);
	return true;
}

static s64 mf_mean_take(struct mf_mean *mean, s64 value)
{
	s64 sum = mf_fx_add(mean->sum, value);

	if (mean->count < MF_MEAN_OVER)
		mean->count++;
	else
		sum = mf_fx_sub(sum, mf_fx_per(mean->sum, MF_MEAN_OVER));
	mean->sum = sum;
	return mf_fx_per(sum, mean->count);
}

/* Index of what the line held @intervals before, to the nearest one. */
static u32 mf_filters_delayed(const struct mf_filters *filters, s64 intervals)
{
	u32 back = 0;

	while (back < MF_DELAYS - 1 && intervals > back * MF_FX_ONE + MF_FX_ONE / 2)
		back++;
	return (filters->at + MF_DELAYS - back) % MF_DELAYS;
}

static void mf_filters_queue(struct mf_filters *filters, const struct mf_interval *interval,
			     const struct mf_est_settings *settings, struct mf_signals *signals)
{
	s64 frequency = interval->frequency, mean, queue = interval->queue;

	mean = mf_mean_take(&filters->mean_queue, interval->queue);
	signals->rtt = settings->rtt > 0 ? settings->rtt :
		       mf_fx_add(mf_fx_div(mean, settings->capacity), settings->propagation);
	if (filters->since_gap > 1) {
		queue = mf_fx_filter(filters->queue, queue, settings->queue_filter);
		signals->slope = mf_fx_mul(mf_fx_sub(queue, filters->queue), frequency);
	}
	if (filters->since_gap > 2)
		signals->curvature = mf_fx_mul(mf_fx_sub(signals->slope, filters->slope),
					       frequency);
	filters->queue = queue;
	filters->slope = signals->slope;
	signals->round_trip = mf_fx_add(mf_fx_div(queue, settings->capacity),
					settings->propagation);
}

static void mf_filters_drops(struct mf_filters *filters, const struct mf_interval *interval,
			     const struct mf_est_settings *settings, struct mf_signals *signals)
{
	s64 frequency = interval->frequency, share = 0;
	s64 round = mf_fx_mul(mf_fx_mul(interval->drops, frequency), signals->rtt);
	u32 then;

	if (filters->since_gap > 1) {
		round = mf_fx_filter(filters->round_drops, round, settings->queue_filter);
		signals->drops_slope = mf_fx_mul(mf_fx_sub(round, filters->round_drops),
						 frequency);
	}
	filters->round_drops = round;
	if (interval->arrivals > 0 && interval->drops > 0)
		share = mf_fx_min(mf_fx_div(interval->drops, interval->arrivals), MF_FX_ONE);
	filters->drop_probability = mf_fx_filter(filters->drop_probability, share,
						 settings->drop_filter);
	filters->at = (filters->at + 1) % MF_DELAYS;
	filters->line[filters->at].probability = filters->drop_probability;
	filters->line[filters->at].dropped = interval->drops > 0;
	then = mf_filters_delayed(filters, mf_fx_mul(signals->rtt, frequency));
	if (filters->line[then].dropped)
		filters->without_drops = 0;
	else if (filters->without_drops < U32_MAX)
		filters->without_drops++;
	signals->drop_probability = filters->line[then].probability;
	signals->without_drops = filters->without_drops;
}

/**
 * mf_filters_take() - filters and differentiates
 * @filters: their memory
 * @interval: a sampling interval
 * @settings: parameters
 * @signals: what comes out
 */
void mf_filters_take(struct mf_filters *filters, const struct mf_interval *interval,
		     const struct mf_est_settings *settings, struct mf_signals *signals)
{
	*signals = (struct mf_signals){
		.length = interval->length,
		.frequency = interval->frequency,
		.queue = interval->queue,
		.arrivals = interval->arrivals,
		.drops = interval->drops,
		.follows = interval->follows,
	};
	if (!interval->follows)
		filters->since_gap = 0;
	if (filters->since_gap < U32_MAX)
		filters->since_gap++;
	mf_filters_queue(filters, interval, settings, signals);
	mf_filters_drops(filters, interval, settings, signals);
	signals->inverse_rtt = mf_fx_div(MF_FX_ONE, signals->rtt);
	signals->mean_probability = mf_mean_take(&filters->mean_probability,
						 signals->drop_probability);
	signals->arrival_rate = mf_mean_take(&filters->arrival_rate,
					     mf_fx_mul(interval->arrivals, interval->frequency));
	signals->is_whole = filters->since_gap > 2;
}

/**
 * mf_signals_output() - chi(t) = R q'' + (q'/C + 1) q' (Zhao 2004, Eq. 2.14)
 * @signals: of the interval
 * @capacity: C
 *
 * Return: packets per second
 */
s64 mf_signals_output(const struct mf_signals *signals, s64 capacity)
{
	s64 stretch = mf_fx_add(mf_fx_div(signals->slope, capacity), MF_FX_ONE);

	return mf_fx_add(mf_fx_mul(signals->round_trip, signals->curvature),
			 mf_fx_mul(stretch, signals->slope));
}
