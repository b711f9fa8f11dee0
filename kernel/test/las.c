// SPDX-License-Identifier: GPL-2.0
/* LAS, LASACK and LARS for decisions.c. */
#include "../core/las.h"
#include "../options/las.h"
#include "decisions.h"
#include "known.h"

static bool is_acknowledged(const struct option *option)
{
	if (strcmp(option->value, "sent") && strcmp(option->value, "acknowledged"))
		fail("%s: sent or acknowledged, not %s", option->name, option->value);
	return !strcmp(option->value, "acknowledged");
}

static void read_option(const struct option *option, bool fades, struct mf_las_options *options)
{
	if (!fades && (!strcmp(option->name, "half_life") || !strcmp(option->name, "count")))
		fail("las has no option %s", option->name);
	else if (!strcmp(option->name, "count"))
		options->measure = is_acknowledged(option) ? MF_ADVANCE : MF_BYTES;
	MF_LAS_OPTIONS(READ_FIELD, NO_FIELD)
	else
		fail("%s has no option %s", fades ? "lars" : "las", option->name);
}

/* Puts what @setup says in place of what is in @options. */
static void read_options(const struct setup *setup, struct mf_las_options *options)
{
	bool fades = options->half_life_ns;
	const struct option *option;

	options->limit = setup->limit;
	options->limit_in_bytes = setup->limit_in_bytes;
	options->flows = setup->flows;
	for (option = setup->options; option->name; option++)
		read_option(option, fades, options);
}

static void *make(const struct setup *setup, enum mf_measure measure, u64 half_life_ns)
{
	struct mf_las_options options = { MF_LAS_OPTIONS(INITIAL_FIELD, NO_FIELD) };
	struct mf_las *las = malloc(sizeof(*las));

	options.measure = measure;
	options.half_life_ns = half_life_ns;
	read_options(setup, &options);
	if (!las || mf_las_init(las, &options, setup->discard, 1))
		fail("no memory for a limit of %llu", (unsigned long long)setup->limit);
	return las;
}

static void change(void *core, const struct setup *setup, u64 now)
{
	struct mf_las *las = core;
	struct mf_las_options options = las->options;
	struct mf_las_spare spare;

	read_options(setup, &options);
	if (mf_las_spare_init(&spare, las, &options))
		fail("no memory for a limit of %llu", (unsigned long long)setup->limit);
	mf_las_change(las, &options, &spare, now);
	mf_las_spare_free(&spare);
}

static void *make_las(const struct setup *setup)
{
	return make(setup, MF_BYTES, 0);
}

static void *make_lasack(const struct setup *setup)
{
	return make(setup, MF_WHOLE, 0);
}

static void *make_lars(const struct setup *setup)
{
	return make(setup, MF_BYTES, 1000000000);
}

static void release(void *core)
{
	mf_las_free(core);
	free(core);
}

static void reset(void *core)
{
	mf_las_reset(core);
}

static enum mf_fate enqueue(void *core, struct mf_packet *packet, u64 now)
{
	return mf_las_enqueue(core, packet, now);
}

static bool dequeue(void *core, u64 now, struct mf_packet *packet)
{
	const struct mf_packet *sent = mf_las_dequeue(core, now);

	if (sent)
		*packet = *sent;
	return sent;
}

static const struct mf_packet *peek(const void *core)
{
	return mf_las_peek(core);
}

static u32 flows(const void *core)
{
	return known_flows(&((const struct mf_las *)core)->attained);
}

#define LAS_DISCIPLINE(name)			\
DISCIPLINE(name) = {			\
	.id = #name,				\
	.make = make_##name,			\
	.free = release,			\
	.reset = reset,			\
	.enqueue = enqueue,			\
	.dequeue = dequeue,			\
	.change = change,			\
	.peek = peek,				\
	.flows = flows,				\
}

LAS_DISCIPLINE(las);
LAS_DISCIPLINE(lasack);
LAS_DISCIPLINE(lars);
