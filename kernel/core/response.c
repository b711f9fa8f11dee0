// SPDX-License-Identifier: GPL-2.0
/*
 * How arrivals answer drops tells how much of them responds; the integer form of
 * crates/estimator/src/methods/response.rs, where the equations are explained.
 * Source: Zhao 2004, Eq. 2.13, A.2 and A.8; Padhye et al. 1998, Eq. 30.
 */
#include "methods.h"

/* Blocks that are remembered, and those before anything is said. */
#define MF_MEMORY 100
#define MF_LEAST 3
/* First timeout, 0.2 s; largest standard error not doubted, 0.025; weights. */
#define MF_TIMEOUT 3277
#define MF_ERROR_BOUND 410

enum { MF_ARRIVALS, MF_DROPS, MF_QUEUE };

static s64 mf_nearest(s64 round, s64 over, s64 under, s64 least, s64 most)
{
	s64 wanted = mf_fx_per(mf_fx_times(round, 2 * over), under), found = least;

	while (found < most && wanted > mf_fx_times(MF_FX_ONE, 2 * found + 1))
		found++;
	return found;
}

/* For a round trip of @round sampling intervals; what the line cannot hold is cut. */
static struct mf_windows mf_windows_of(s64 round)
{
	struct mf_windows windows;
	s64 line = MF_LINE - 2, reach;

	windows.averaged = mf_nearest(round, 1, 1, 1, line / 6);
	windows.delay = mf_nearest(round, 5, 4, 1, line / 4);
	reach = mf_fx_max(windows.delay, windows.averaged);
	windows.compared = mf_nearest(round, 3, 1, 1, line - reach);
	windows.block = mf_fx_max(mf_nearest(round, 20, 1, 1, 1 << 12), 2 * windows.compared);
	return windows;
}

static void mf_line_forget(struct mf_line *line)
{
	line->known = 0;
	memset(line->sums[line->at], 0, sizeof(line->sums[line->at]));
}

static void mf_line_push(struct mf_line *line, const s64 *values)
{
	const s64 *before = line->sums[line->at];
	u32 i;

	line->at = (line->at + 1) % MF_LINE;
	for (i = 0; i < 3; i++)
		line->sums[line->at][i] = mf_fx_add(before[i], values[i]);
	if (line->known < MF_LINE - 1)
		line->known++;
}

/* Sum over the @over intervals that ended @back intervals ago. */
static s64 mf_line_sum(const struct mf_line *line, s64 back, s64 over, u32 which)
{
	u32 last = (line->at + MF_LINE - back) % MF_LINE;
	u32 first = (line->at + 2 * MF_LINE - back - over) % MF_LINE;

	return mf_fx_sub(line->sums[last][which], line->sums[first][which]);
}

static void mf_past_take(struct mf_past *past, const s64 *values, s64 over)
{
	s64 leaving = mf_fx_min(mf_fx_max(past->count + 1 - over, 0), 2);
	u32 i;

	/* One interval a time, as @over follows the round trip slowly. */
	past->count += 1 - leaving;
	for (i = 0; i < 3; i++) {
		past->sums[i] = mf_fx_sub(mf_fx_add(past->sums[i], values[i]),
					  mf_fx_times(past->means[i], leaving));
		past->means[i] = mf_fx_per(past->sums[i], past->count);
	}
}

/* One over the window of a flow at a loss probability, packets. */
static s64 mf_per_window(s64 drops, s64 rtt, const struct mf_est_settings *settings)
{
	s64 root = mf_fx_mul(settings->per_ack, mf_fx_times(drops, 2));
	s64 timing_out;

	root = mf_fx_sqrt(mf_fx_per(root, 3));
	timing_out = mf_fx_mul(mf_fx_div(MF_TIMEOUT, rtt),
			       mf_fx_min(mf_fx_per(mf_fx_times(root, 9), 4), MF_FX_ONE));
	timing_out = mf_fx_mul(timing_out, drops);
	drops = mf_fx_add(MF_FX_ONE, mf_fx_mul(drops, mf_fx_times(drops, 32)));
	return mf_fx_add(root, mf_fx_mul(timing_out, drops));
}

/* Round trip at a mean queue, s; where R_0 is given, that. */
static s64 mf_response_rtt(s64 queue, const struct mf_est_settings *settings)
{
	if (settings->rtt > 0)
		return settings->rtt;
	return mf_fx_add(mf_fx_div(queue, settings->capacity), settings->propagation);
}

/* Flows that all arrivals would be. */
static s64 mf_room_of(s64 arrivals, s64 drops, s64 rtt, const struct mf_est_settings *settings)
{
	s64 round = mf_fx_mul(arrivals, mf_fx_div(rtt, settings->propagation));

	return mf_fx_mul(round, mf_per_window(drops, rtt, settings));
}

/* Drops, and what arrivals fell and the queue rose by since then. */
static void mf_block_take(struct mf_response *response, const s64 *now)
{
	const struct mf_windows *windows = &response->windows;
	const struct mf_line *line = &response->line;
	struct mf_block *block = &response->block;
	s64 differences[3];
	u32 i;

	differences[0] = mf_fx_sub(mf_line_sum(line, windows->delay, windows->compared, MF_DROPS),
				   block->near);
	differences[1] = mf_fx_sub(mf_line_sum(line, windows->compared, windows->averaged,
					       MF_ARRIVALS),
				   mf_line_sum(line, 0, windows->averaged, MF_ARRIVALS));
	differences[2] = mf_fx_sub(mf_line_sum(line, 0, windows->averaged, MF_QUEUE),
				   mf_line_sum(line, windows->compared, windows->averaged,
					       MF_QUEUE));
	block->intervals++;
	for (i = 0; i < 3; i++) {
		block->sums[i] = mf_fx_add(block->sums[i], differences[i]);
		block->products[i] = mf_fx_add(block->products[i],
					       mf_fx_mul(differences[0], differences[i]));
		block->totals[i] = mf_fx_add(block->totals[i], now[i]);
	}
}

static s64 mf_learned_add(s64 sum, s64 value, s64 count)
{
	s64 more = mf_fx_add(sum, value);

	return count <= MF_MEMORY ? more : mf_fx_sub(more, mf_fx_per(sum, MF_MEMORY));
}

/* Flows and their standard error; nothing before a few blocks. */
static void mf_learned_conclude(struct mf_learned *learned)
{
	s64 count = mf_fx_min(learned->blocks, MF_MEMORY);
	s64 expected = mf_fx_per(learned->expected, count), error;

	learned->has_flows = learned->blocks >= MF_LEAST && expected > 0;
	if (!learned->has_flows)
		return;
	/* The weights of an exponential memory of n are those of 2 n - 1 equal ones. */
	error = mf_fx_per(mf_fx_per(learned->rest, count),
			  mf_fx_min(learned->blocks, 2 * MF_MEMORY - 1));
	learned->flows = mf_fx_div(mf_fx_per(learned->answer, count), expected);
	learned->error = mf_fx_div(mf_fx_sqrt(error), expected);
}

/* One block, in shares: what was answered, what a share of 1 would; flows. */
static void mf_learned_take(struct mf_learned *learned, s64 answer, s64 expected, s64 room,
			    s64 flows, s64 amplitude)
{
	s64 count, usual = amplitude, ratio, weight, rest;

	learned->blocks = mf_fx_min(learned->blocks + 1, 2 * MF_MEMORY);
	count = learned->blocks;
	if (count > 1)
		usual = mf_fx_per(learned->amplitude, mf_fx_min(count - 1, MF_MEMORY));
	learned->amplitude = mf_learned_add(learned->amplitude,
					    mf_fx_min(amplitude, mf_fx_times(usual, 2)), count);
	ratio = mf_fx_min(mf_fx_div(amplitude, usual), MF_FX_ONE);
	weight = mf_fx_mul(ratio, ratio);
	rest = mf_fx_sub(mf_fx_mul(answer, room), mf_fx_mul(expected, flows));
	rest = mf_fx_mul(weight, rest);
	learned->answer = mf_learned_add(learned->answer,
					 mf_fx_mul(mf_fx_mul(weight, answer), room), count);
	learned->expected = mf_learned_add(learned->expected, mf_fx_mul(weight, expected), count);
	learned->rest = mf_learned_add(learned->rest, mf_fx_mul(rest, rest), count);
	mf_learned_conclude(learned);
}

/* What the block says: cov(P, -dA)/A = s f cov(P, P)/A + s cov(P, dR)/R for the
 * responsive share s.
 */
static void mf_block_conclude(struct mf_response *response, const struct mf_signals *signals,
			      const struct mf_est_settings *settings)
{
	const struct mf_windows *windows = &response->windows;
	const struct mf_block *block = &response->block;
	s64 mean = mf_fx_per(block->sums[0], block->intervals);
	s64 total[3], covariance[3], share, rtt, factor, rise, answer, expected, amplitude, room;
	u32 i;

	for (i = 0; i < 3; i++) {
		total[i] = mf_fx_per(block->totals[i], block->intervals);
		covariance[i] = mf_fx_sub(block->products[i], mf_fx_mul(mean, block->sums[i]));
		covariance[i] = mf_fx_per(covariance[i], block->intervals);
	}
	if (total[MF_ARRIVALS] <= 0 || total[MF_DROPS] <= 0 || covariance[0] <= 0)
		return;
	share = mf_fx_div(total[MF_DROPS], total[MF_ARRIVALS]);
	rtt = mf_response_rtt(total[MF_QUEUE], settings);
	if (share <= 0 || share >= MF_FX_ONE)
		return;
	/* The block holds sums over the windows. */
	for (i = 1; i < 3; i++)
		covariance[i] = mf_fx_per(mf_fx_times(mf_fx_div(covariance[i], covariance[0]),
						      windows->compared), windows->averaged);
	factor = mf_fx_mul(settings->per_ack, mf_fx_times(share, 2));
	factor = mf_fx_sqrt(mf_fx_div(MF_FX_ONE, factor));
	factor = mf_fx_mul(factor, mf_fx_div(mf_fx_times(signals->length, windows->compared),
					     rtt));
	answer = mf_fx_div(covariance[1], factor);
	rise = mf_fx_div(mf_fx_mul(total[MF_ARRIVALS], covariance[2]),
			 mf_fx_mul(settings->capacity, rtt));
	expected = mf_fx_add(MF_FX_ONE, mf_fx_div(rise, factor));
	amplitude = mf_fx_per(mf_fx_sqrt(covariance[0]), windows->compared);
	amplitude = mf_fx_mul(factor, mf_fx_div(amplitude, total[MF_ARRIVALS]));
	room = mf_room_of(total[MF_ARRIVALS], share, rtt, settings);
	if (amplitude > 0)
		mf_learned_take(&response->learned, answer, expected, room,
				response->has_last ? response->last.flows :
				mf_fx_mul(mf_fx_sub(MF_FX_ONE, settings->start_share), room),
				amplitude);
}

/* Shares of now: the start, of which any share was as likely as another, and what
 * was learned, by their errors. False when nothing new can be said.
 */
static bool mf_response_loads(struct mf_response *response, const struct mf_signals *signals,
			      const struct mf_est_settings *settings)
{
	const struct mf_learned *learned = &response->learned;
	const s64 *mean = response->slow.means;
	s64 rtt, room, share, held, error = MF_FX_ONE, weight = MF_FX_ONE;
	s64 start = mf_fx_sub(MF_FX_ONE, settings->start_share), responsive = start;
	struct mf_loads *loads = &response->last;

	if (mean[MF_ARRIVALS] <= 0)
		return false;
	/* Less than a drop in the past that is looked at: the load is carried on. */
	if (response->slow.sums[MF_DROPS] < mf_fx_mul(signals->frequency, settings->propagation)) {
		loads->doubt = MF_NO_DROPS;
		return false;
	}
	rtt = mf_response_rtt(mean[MF_QUEUE], settings);
	share = mf_fx_min(mf_fx_div(mean[MF_DROPS], mean[MF_ARRIVALS]), MF_FX_ONE);
	room = mf_room_of(mean[MF_ARRIVALS], share, rtt, settings);
	if (room <= 0)
		return false;
	if (learned->has_flows) {
		share = mf_fx_div(learned->flows, room);
		error = mf_fx_div(learned->error, room);
		weight = mf_fx_mul(error, error);
		weight = mf_fx_div(weight, mf_fx_add(weight, mf_fx_ratio(1, 12)));
		responsive = mf_fx_add(share, mf_fx_mul(mf_fx_sub(start, share), weight));
	}
	held = mf_fx_min(mf_fx_max(responsive, 0), MF_FX_ONE);
	*loads = (struct mf_loads){
		.responsive = mf_fx_mul(mf_fx_mul(held, mean[MF_ARRIVALS]),
					mf_fx_div(rtt, settings->propagation)),
		.flows = mf_fx_mul(mf_fx_max(responsive, 0), room),
		.share = mf_fx_sub(MF_FX_ONE, held),
		.has_share = true,
	};
	if (weight > mf_fx_ratio(1, 10))
		loads->doubt = MF_START;
	else if (responsive < 0 || responsive > MF_FX_ONE)
		loads->doubt = MF_BOUNDED;
	else if (error > MF_ERROR_BOUND)
		loads->doubt = MF_UNCERTAIN;
	response->has_last = true;
	return true;
}

/**
 * mf_response_init() - before the first sample
 * @response: zeroed
 */
void mf_response_init(struct mf_response *response)
{
	response->windows = mf_windows_of(3 * MF_FX_ONE);
}

/**
 * mf_response_update() - takes the signals of a sampling interval
 * @response: what is known
 * @signals: of the interval
 * @settings: parameters
 * @loads: what it says
 *
 * Return: false as long as nothing can be said
 */
bool mf_response_update(struct mf_response *response, const struct mf_signals *signals,
			const struct mf_est_settings *settings, struct mf_loads *loads)
{
	/* Packets per propagation delay, whatever the length of the interval. */
	s64 scale = mf_fx_mul(signals->frequency, settings->propagation);
	s64 now[3] = { mf_fx_mul(signals->arrivals, scale), mf_fx_mul(signals->drops, scale),
		       signals->queue };
	struct mf_windows *windows = &response->windows;
	struct mf_block *block = &response->block;
	s64 rtt;

	if (!signals->follows) {
		mf_line_forget(&response->line);
		*block = (struct mf_block){ 0 };
	}
	mf_line_push(&response->line, now);
	mf_past_take(&response->slow, now, windows->block);
	if (!block->intervals) {
		rtt = mf_response_rtt(response->slow.means[MF_QUEUE], settings);
		*windows = mf_windows_of(mf_fx_mul(rtt, signals->frequency));
		block->near = mf_fx_times(response->slow.means[MF_DROPS], windows->compared);
	}
	response->seen = mf_fx_add(response->seen, 1);
	/* Until the means of the past are those of the past. */
	if (response->seen > windows->block &&
	    response->line.known > windows->compared + mf_fx_max(windows->delay,
								 windows->averaged)) {
		mf_block_take(response, now);
		if (block->intervals >= windows->block) {
			mf_block_conclude(response, signals, settings);
			*block = (struct mf_block){ 0 };
		}
	}
	/* What is averaged over 20 round trips is asked once in each. */
	response->stale++;
	if (response->stale >= windows->averaged || !response->has_last) {
		response->stale = 0;
		mf_response_loads(response, signals, settings);
	}
	*loads = response->last;
	return response->has_last;
}
