// SPDX-License-Identifier: GPL-2.0
/* The frame around a method: samples in, estimates out. */
#include "estimator.h"

/**
 * mf_estimator_init() - before the first sample
 * @estimator: the estimator; what it has learned is forgotten
 * @method: how loads are found
 * @settings: parameters
 * @wanted: ticks of a sampling interval, at least 1
 * @per_second: ticks, at least 1
 * @start: ticks before which only the filters run
 */
void mf_estimator_init(struct mf_estimator *estimator, enum mf_method_id method,
		       const struct mf_est_settings *settings, s64 wanted, s64 per_second,
		       s64 start)
{
	memset(estimator, 0, sizeof(*estimator));
	estimator->settings = *settings;
	estimator->intake.wanted = wanted;
	estimator->intake.per_second = per_second;
	estimator->published.id = method;
	estimator->start = start;
	mf_response_init(&estimator->response);
}

static bool mf_estimator_loads(struct mf_estimator *estimator, const struct mf_signals *signals,
			       struct mf_loads *loads)
{
	if (estimator->published.id == MF_METHOD_DEFAULT ||
	    estimator->published.id == MF_METHOD_RESPONSE)
		return mf_response_update(&estimator->response, signals, &estimator->settings,
					  loads);
	return mf_published_update(&estimator->published, signals, &estimator->settings, loads);
}

static enum mf_doubt mf_estimator_doubt(const struct mf_estimator *estimator,
					const struct mf_signals *signals, s64 load, s64 came)
{
	const struct mf_est_sums *sums = &estimator->sums;

	if (sums->arrivals <= 0)
		return MF_NO_ARRIVALS;
	if (estimator->intake.faults > sums->faults)
		return MF_FAULTY;
	if (!sums->answers)
		return MF_NEVER_DROPPED;
	if (signals->length > signals->rtt)
		return MF_COARSE;
	if (load > came && !sums->doubt)
		return MF_BOUNDED;
	return sums->doubt;
}

/* psi = 1 - z / (z + D), z + D being what came, as counted (Zhao 2004, Eq. 2.10). */
static void mf_estimator_conclude(struct mf_estimator *estimator, s64 ticks,
				  const struct mf_signals *signals, struct mf_estimate *estimate)
{
	const struct mf_est_settings *settings = &estimator->settings;
	const struct mf_est_sums *sums = &estimator->sums;
	s64 came = mf_fx_mul(mf_fx_div(sums->arrivals, sums->length), signals->rtt);
	s64 load = 0, share;

	if (sums->shared_all > 0)
		load = mf_fx_mul(mf_fx_div(sums->shared, sums->shared_all), came);
	else if (sums->answers > 0)
		load = mf_fx_per(sums->responsive, sums->answers);
	*estimate = (struct mf_estimate){
		.ticks = ticks,
		.responsive = mf_fx_min(mf_fx_max(load, 0), came),
		.flows = sums->answers > 0 ? mf_fx_per(sums->flows, sums->answers) : 0,
		.rtt = signals->rtt,
		.doubt = mf_estimator_doubt(estimator, signals, load, came),
	};
	estimate->other = mf_fx_sub(came, estimate->responsive);
	if (!sums->answers || came <= 0) {
		/* Nothing is known: what was assumed at the start. */
		share = estimator->has_smoothed ? estimator->smoothed : settings->start_share;
	} else {
		share = mf_fx_sub(MF_FX_ONE, mf_fx_div(estimate->responsive, came));
		share = mf_fx_min(mf_fx_max(share, 0), MF_FX_ONE);
	}
	estimator->smoothed = mf_fx_filter(estimator->has_smoothed ? estimator->smoothed : share,
					   share, settings->smoothing);
	estimator->has_smoothed = true;
	estimate->share = estimator->smoothed;
	if (sums->arrivals > 0)
		estimate->drop_share = mf_fx_min(mf_fx_div(sums->drops, sums->arrivals),
						 MF_FX_ONE);
	estimator->sums = (struct mf_est_sums){ .faults = estimator->intake.faults };
}

/**
 * mf_estimator_take() - takes a sample
 * @estimator: the estimator
 * @sample: what was seen since the last one
 * @estimate: of the estimation interval that it completes
 *
 * Return: whether it completes one
 */
bool mf_estimator_take(struct mf_estimator *estimator, const struct mf_sample *sample,
		       struct mf_estimate *estimate)
{
	struct mf_est_sums *sums = &estimator->sums;
	struct mf_interval interval;
	struct mf_signals signals;
	struct mf_loads loads;
	s64 shared;

	if (!mf_intake_take(&estimator->intake, sample, &interval))
		return false;
	mf_filters_take(&estimator->filters, &interval, &estimator->settings, &signals);
	if (interval.ticks < estimator->start) {
		sums->faults = estimator->intake.faults;
		return false;
	}
	sums->intervals++;
	sums->length = mf_fx_add(sums->length, signals.length);
	sums->arrivals = mf_fx_add(sums->arrivals, signals.arrivals);
	sums->drops = mf_fx_add(sums->drops, signals.drops);
	if (mf_estimator_loads(estimator, &signals, &loads)) {
		sums->responsive = mf_fx_add(sums->responsive, loads.responsive);
		if (loads.has_share) {
			shared = mf_fx_mul(mf_fx_sub(MF_FX_ONE, loads.share), signals.arrivals);
			sums->shared = mf_fx_add(sums->shared, shared);
			sums->shared_all = mf_fx_add(sums->shared_all, signals.arrivals);
		}
		sums->flows = mf_fx_add(sums->flows, loads.flows);
		sums->answers++;
		sums->doubt = loads.doubt;
	}
	if (sums->intervals < estimator->settings.per_estimate)
		return false;
	mf_estimator_conclude(estimator, interval.ticks, &signals, estimate);
	return true;
}
