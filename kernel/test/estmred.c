// SPDX-License-Identifier: GPL-2.0
/* RED with an estimator for decisions.c. */
#include <inttypes.h>
#include <math.h>

#include "../core/estmred.h"
#include "decisions.h"

/* First number of the stream "decisions" of seed 1, in crates/units. */
#define SEED 0x47e4bf7674e83fb8ULL

static const char *const methods[MF_METHODS] = {
	[MF_METHOD_DEFAULT] = "default", [MF_METHOD_RESPONSE] = "response",
	[MF_METHOD_BASIC] = "basic", [MF_METHOD_P0] = "p0", [MF_METHOD_LOSS] = "loss",
	[MF_METHOD_MULTIHOP] = "multihop", [MF_METHOD_CBR] = "cbr",
};

static const char *const doubts[MF_DOUBTS] = {
	[MF_SURE] = "-", [MF_NO_ARRIVALS] = "no-arrivals", [MF_NEVER_DROPPED] = "never-dropped",
	[MF_NO_DROPS] = "no-drops", [MF_START] = "start", [MF_UNCERTAIN] = "uncertain",
	[MF_COLLINEAR] = "collinear", [MF_BOUNDED] = "bounded", [MF_COARSE] = "coarse",
	[MF_FAULTY] = "faulty",
};

static double number(const struct setup *setup, const char *name, double missing)
{
	const struct option *option, *found = NULL;

	for (option = setup->options; option->name; option++)
		if (!strcmp(option->name, name))
			found = option;
	return found ? option_number(found) : missing;
}

static const char *word(const struct setup *setup, const char *name, const char *missing)
{
	const struct option *option;

	for (option = setup->options; option->name; option++)
		if (!strcmp(option->name, name))
			missing = option->value;
	return missing;
}

static s64 fixed(const struct setup *setup, const char *name, double missing)
{
	return llround(number(setup, name, missing) * MF_FX_ONE);
}

static u64 ns(double seconds)
{
	return llround(seconds * 1e9);
}

static void read_red(const struct setup *setup, struct mf_red_options *red)
{
	*red = (struct mf_red_options){
		.min_th = llround(ldexp(number(setup, "min_th", 0), MF_RED_AVERAGE_BITS)),
		.max_th = llround(ldexp(number(setup, "max_th", 0), MF_RED_AVERAGE_BITS)),
		.in_bytes = !strcmp(word(setup, "mode", "packets"), "bytes"),
		.gentle = !strcmp(word(setup, "gentle", "on"), "on"),
		.wait = !strcmp(word(setup, "spacing", "uniform"), "wait"),
		.ecn = !strcmp(word(setup, "ecn", "off"), "on"),
		.max_p = llround(ldexp(number(setup, "max_p", 0.1), MF_RED_SHARE_BITS)),
		.mark_max = llround(ldexp(number(setup, "mark_max", 1), MF_RED_SHARE_BITS)),
		.weight = llround(ldexp(number(setup, "weight", 0.002), MF_RED_SHARE_BITS)),
		.mean_packet = llround(number(setup, "mean_packet", 1000)),
		.transmission_ns = ns(number(setup, "transmission", 0)),
		.seed = SEED,
	};
}

static void read_watch(const struct setup *setup, struct mf_sampler_options *sampler)
{
	double rtt = number(setup, "rtt", 0.1), sampling = number(setup, "sampling", 0);
	double above = number(setup, "above", 1), below = number(setup, "below", 0);
	const char *method = word(setup, "method", "default");

	if (below == 0)
		below = above > 0.1 ? above - 0.1 : 0;
	*sampler = (struct mf_sampler_options){
		.rate_bytes = number(setup, "rate", 0) / 8,
		.mean_packet = llround(number(setup, "mean_packet", 1000)),
		.sampling_ns = ns(sampling > 0 ? sampling : rtt / 3),
		.start_ns = ns(number(setup, "start", 0)),
		.ticks = number(setup, "ticks", 1000),
		.above = floor(above * MF_FX_ONE),
		.below = ceil(below * MF_FX_ONE),
		.settings = {
			.propagation = fixed(setup, "rtt", 0.1),
			.rtt = fixed(setup, "queued_rtt", 0),
			.per_estimate = llround(number(setup, "per_estimate", 20)),
			.queue_filter = fixed(setup, "queue_filter", 0.4),
			.drop_filter = fixed(setup, "drop_filter", 0.6),
			.gamma_1 = fixed(setup, "gamma_1", 5),
			.gamma_2 = fixed(setup, "gamma_2", 0.45),
			.zero_intervals = llround(number(setup, "zero_intervals", 3)),
			.smoothing = fixed(setup, "smoothing", 0),
			.start_share = fixed(setup, "start_share", 0.5),
			.per_ack = fixed(setup, "per_ack", 1),
		},
	};
	while (strcmp(methods[sampler->method], method))
		if (++sampler->method == MF_METHODS)
			fail("method: one of those of the estimator, not %s", method);
}

static void read_options(const struct setup *setup, struct mf_estmred_options *options)
{
	if (strcmp(word(setup, "arithmetic", "float"), "integers"))
		fail("arithmetic: there is no core but in integers");
	*options = (struct mf_estmred_options){
		.limit = setup->limit,
		.limit_in_bytes = setup->limit_in_bytes,
		.estimate = !strcmp(word(setup, "estimate", "on"), "on"),
	};
	read_red(setup, &options->red);
	read_watch(setup, &options->sampler);
}

static void *make(const struct setup *setup)
{
	struct mf_estmred *estmred = malloc(sizeof(*estmred));
	struct mf_estmred_options options;

	read_options(setup, &options);
	if (!estmred || mf_estmred_init(estmred, &options, setup->discard))
		fail("no memory for a limit of %llu", (unsigned long long)setup->limit);
	return estmred;
}

/* Options that @setup does not name get their defaults. */
static void change(void *core, const struct setup *setup, u64 now)
{
	struct mf_estmred_options options;
	struct mf_estmred_spare spare;

	(void)now;
	read_options(setup, &options);
	if (mf_estmred_spare_init(&spare, core, &options))
		fail("no memory for a limit of %llu", (unsigned long long)setup->limit);
	mf_estmred_change(core, &options, &spare);
	mf_estmred_spare_free(&spare);
}

static void release(void *core)
{
	mf_estmred_free(core);
	free(core);
}

static void reset(void *core)
{
	mf_estmred_reset(core);
}

static enum mf_fate enqueue(void *core, struct mf_packet *packet, u64 now)
{
	return mf_estmred_enqueue(core, packet, now);
}

static bool dequeue(void *core, u64 now, struct mf_packet *packet)
{
	const struct mf_packet *sent = mf_estmred_dequeue(core, now);

	if (sent)
		*packet = *sent;
	return sent;
}

static const struct mf_packet *peek(const void *core)
{
	return mf_estmred_peek(core);
}

/* The last estimate: its time, share and flows times 2^14, why it is doubted. */
static void extra(const void *core, FILE *out)
{
	const struct mf_sampler *sampler = ((const struct mf_estmred *)core)->sampler;

	if (sampler && sampler->estimates)
		fprintf(out, " %" PRIu64 " %" PRId64 " %" PRId64 " %s", sampler->last_ns,
			sampler->last.share, sampler->last.flows, doubts[sampler->last.doubt]);
}

DISCIPLINE(estmred) = {
	.id = "estmred",
	.make = make,
	.free = release,
	.reset = reset,
	.enqueue = enqueue,
	.dequeue = dequeue,
	.change = change,
	.peek = peek,
	.extra = extra,
};
