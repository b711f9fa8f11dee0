// SPDX-License-Identifier: GPL-2.0
/* Run2C and Run2CACK for decisions.c. */
#include <math.h>

#include "../core/run2c.h"
#include "../options/run2c.h"
#include "decisions.h"
#include "known.h"

static void read_option(const struct option *option, struct mf_run2c_options *options)
{
	/* Whole bytes came before a packet. */
	if (!strcmp(option->name, "threshold"))
		options->threshold = ceil(option_number(option));
	MF_RUN2C_OPTIONS(READ_FIELD, NO_FIELD)
	else
		fail("run2c has no option %s", option->name);
}

/* Puts what @setup says in place of what is in @options. */
static void read_options(const struct setup *setup, struct mf_run2c_options *options)
{
	const struct option *option;

	options->limit = setup->limit;
	options->limit_in_bytes = setup->limit_in_bytes;
	options->flows = setup->flows;
	for (option = setup->options; option->name; option++)
		read_option(option, options);
}

static void *make(const struct setup *setup, bool both)
{
	struct mf_run2c_options options = { MF_RUN2C_OPTIONS(INITIAL_FIELD, NO_FIELD) };
	struct mf_run2c *run2c = malloc(sizeof(*run2c));

	options.both = both;
	read_options(setup, &options);
	if (!run2c || mf_run2c_init(run2c, &options, setup->discard))
		fail("no memory for a limit of %llu", (unsigned long long)setup->limit);
	return run2c;
}

static void change(void *core, const struct setup *setup, u64 now)
{
	struct mf_run2c *run2c = core;
	struct mf_run2c_options options = run2c->options;
	struct mf_run2c_spare spare;

	read_options(setup, &options);
	if (mf_run2c_spare_init(&spare, run2c, &options))
		fail("no memory for a limit of %llu", (unsigned long long)setup->limit);
	mf_run2c_change(run2c, &options, &spare, now);
	mf_run2c_spare_free(&spare);
}

static void *make_run2c(const struct setup *setup)
{
	return make(setup, false);
}

static void *make_run2cack(const struct setup *setup)
{
	return make(setup, true);
}

static void release(void *core)
{
	mf_run2c_free(core);
	free(core);
}

static void reset(void *core)
{
	mf_run2c_reset(core);
}

static enum mf_fate enqueue(void *core, struct mf_packet *packet, u64 now)
{
	return mf_run2c_enqueue(core, packet, now);
}

static bool dequeue(void *core, u64 now, struct mf_packet *packet)
{
	const struct mf_packet *sent = mf_run2c_dequeue(core, now);

	if (sent)
		*packet = *sent;
	return sent;
}

static const struct mf_packet *peek(const void *core)
{
	return mf_run2c_peek(core);
}

static u32 flows(const void *core)
{
	return known_flows(&((const struct mf_run2c *)core)->attained);
}

static u32 high(const void *core)
{
	return ((const struct mf_run2c *)core)->classes.high.len;
}

#define RUN2C_DISCIPLINE(name)			\
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
	.high = high,				\
}

RUN2C_DISCIPLINE(run2c);
RUN2C_DISCIPLINE(run2cack);
