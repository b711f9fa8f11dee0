// SPDX-License-Identifier: GPL-2.0
/* The published methods: Zhao 2004, Eq. 2.13 to 2.23 and appendix A. */
#include "methods.h"

/* S from which on an estimate counts as settled, 2.3: a tenth of the start is left. */
#define MF_SETTLED 37683

/* beta <- beta + e g2 W / (g1 + W'W), e = output - W'beta (Zhao 2004, Eq. 2.16). */
static void mf_adapt(struct mf_responsive *responsive, const s64 *regressor, u32 count, s64 output,
		     const struct mf_est_settings *settings)
{
	s64 predicted = 0, square = settings->gamma_1, step, moved;
	u32 i;

	for (i = 0; i < count; i++) {
		predicted = mf_fx_add(predicted, mf_fx_mul(regressor[i], responsive->beta[i]));
		square = mf_fx_add(square, mf_fx_mul(regressor[i], regressor[i]));
	}
	if (square <= 0)
		return;
	step = mf_fx_mul(mf_fx_sub(output, predicted), settings->gamma_2);
	step = mf_fx_div(step, square);
	responsive->is_bounded = false;
	for (i = 0; i < count; i++) {
		moved = mf_fx_add(responsive->beta[i], mf_fx_mul(step, regressor[i]));
		responsive->beta[i] = mf_fx_min(mf_fx_max(moved, 0), MF_FX_LARGEST);
		responsive->is_bounded |= responsive->beta[i] != moved;
	}
}

/* Begins an estimation interval after the first drop: the share of the arrivals
 * that the start leaves, in equilibrium, 2 N_s^2 = z^2 p (Zhao 2004, II.B).
 */
static void mf_begin(struct mf_responsive *responsive, const struct mf_signals *signals,
		     const struct mf_est_settings *settings, s64 third)
{
	s64 load, root;

	if (!responsive->seen && signals->drops <= 0)
		return;
	responsive->seen++;
	responsive->arrivals = mf_fx_add(responsive->arrivals, signals->arrivals);
	responsive->drops = mf_fx_add(responsive->drops, signals->drops);
	if (responsive->seen < settings->per_estimate || responsive->arrivals <= 0)
		return;
	load = mf_fx_mul(mf_fx_sub(MF_FX_ONE, settings->start_share),
			 mf_signals_round_arrivals(signals));
	root = mf_fx_min(mf_fx_div(responsive->drops, responsive->arrivals), MF_FX_ONE);
	root = mf_fx_sqrt(mf_fx_per(root, 2));
	if (root <= 0) {
		/* Too few for the arithmetic. */
		responsive->seen = 0;
		responsive->arrivals = 0;
		responsive->drops = 0;
		return;
	}
	responsive->beta[0] = mf_fx_mul(load, root);
	responsive->beta[1] = mf_fx_div(load, root);
	responsive->beta[2] = third;
	responsive->has_begun = true;
}

/* How much of the start is left goes by the deviations of p from its mean. */
static void mf_excite(struct mf_responsive *responsive, const struct mf_signals *signals)
{
	s64 across = mf_fx_sub(signals->drop_probability, signals->mean_probability);

	across = mf_fx_per(mf_fx_mul(across, signals->inverse_rtt), 2);
	responsive->squares = mf_fx_min(mf_fx_add(responsive->squares, mf_fx_mul(across, across)),
					MF_FX_LARGEST);
}

static bool mf_is_settled(const struct mf_responsive *responsive, const struct mf_signals *signals,
			  const struct mf_est_settings *settings)
{
	s64 inverse = signals->inverse_rtt;
	s64 bound = mf_fx_add(settings->gamma_1, mf_fx_mul(inverse, inverse));

	return mf_fx_mul(responsive->squares, settings->gamma_2) >= mf_fx_mul(MF_SETTLED, bound);
}

/* Point of the line z / R_0 + d_u = C nearest to (@load, @rate), as z (Eq. A.8). */
static s64 mf_projected(s64 load, s64 rate, s64 rtt, s64 capacity)
{
	s64 square = mf_fx_mul(rtt, rtt);
	s64 over = mf_fx_add(mf_fx_mul(rtt, mf_fx_sub(capacity, rate)), mf_fx_mul(square, load));

	return mf_fx_div(over, mf_fx_add(MF_FX_ONE, square));
}

/* A step of the method while packets are dropped; false as long as nothing can be said. */
static bool mf_published_step(struct mf_published *method, const struct mf_signals *signals,
			      const struct mf_est_settings *settings, struct mf_loads *loads)
{
	struct mf_responsive *responsive = &method->responsive;
	s64 inverse = signals->inverse_rtt, third = 0;
	s64 output = mf_signals_output(signals, settings->capacity);
	s64 regressor[MF_REGRESSORS] = { inverse };
	u32 count = 2;

	regressor[1] = -mf_fx_per(mf_fx_mul(signals->drop_probability, inverse), 2);
	if (method->id == MF_METHOD_LOSS || method->id == MF_METHOD_MULTIHOP)
		output = mf_fx_add(output, signals->drops_slope);
	if (method->id == MF_METHOD_MULTIHOP) {
		count = 3;
		regressor[2] = -mf_fx_per(inverse, 2);
	} else if (method->id == MF_METHOD_CBR) {
		count = 3;
		regressor[2] = mf_fx_div(signals->slope, settings->capacity);
		third = mf_fx_mul(settings->start_share, settings->capacity);
	}
	if (!responsive->has_begun)
		mf_begin(responsive, signals, settings, third);
	if (!responsive->has_begun)
		return false;
	if (signals->is_whole) {
		mf_adapt(responsive, regressor, count, output, settings);
		mf_excite(responsive, signals);
	}
	*loads = (struct mf_loads){
		.responsive = mf_fx_sqrt(mf_fx_mul(responsive->beta[0], responsive->beta[1])),
		.flows = responsive->beta[0],
	};
	if (responsive->is_bounded)
		loads->doubt = MF_BOUNDED;
	else if (!mf_is_settled(responsive, signals, settings))
		loads->doubt = MF_START;
	if (method->id == MF_METHOD_MULTIHOP)
		loads->doubt = MF_COLLINEAR;
	if (method->id == MF_METHOD_CBR)
		loads->responsive = mf_fx_max(mf_projected(loads->responsive, responsive->beta[2],
							   signals->rtt, settings->capacity), 0);
	return true;
}

/**
 * mf_published_update() - takes the signals of a sampling interval
 * @method: which method, and what it knows
 * @signals: of the interval
 * @settings: parameters
 * @loads: what it says
 *
 * While nothing is dropped the responsive load grows as the queue tells, z' = chi
 * (Eq. 2.17), but for the methods that do not do so.
 *
 * Return: false as long as nothing can be said
 */
bool mf_published_update(struct mf_published *method, const struct mf_signals *signals,
			 const struct mf_est_settings *settings, struct mf_loads *loads)
{
	bool grows = method->id != MF_METHOD_BASIC && method->id != MF_METHOD_CBR;
	s64 growth = 0, load;

	if (!grows)
		return mf_published_step(method, signals, settings, loads);
	if (method->has_load && signals->without_drops >= settings->zero_intervals) {
		if (signals->is_whole)
			growth = mf_signals_output(signals, settings->capacity);
		if (signals->is_whole && method->id != MF_METHOD_P0)
			growth = mf_fx_add(growth, signals->drops_slope);
		load = mf_fx_add(method->load, mf_fx_mul(growth, signals->length));
		method->load = mf_fx_min(mf_fx_max(load, 0), mf_signals_round_arrivals(signals));
		*loads = (struct mf_loads){
			.responsive = method->load,
			.flows = method->flows,
			.doubt = MF_NO_DROPS,
		};
		return true;
	}
	if (!mf_published_step(method, signals, settings, loads))
		return false;
	method->load = loads->responsive;
	method->flows = loads->flows;
	method->has_load = true;
	return true;
}
