// SPDX-License-Identifier: GPL-2.0
/* EFD, PEFD and EFDACK for decisions.c. */
#include <math.h>

#include "../core/efd.h"
#include "../uapi/pkt_sch_mayfly.h"
#include "decisions.h"

static bool is_las(const struct option *option)
{
	if (strcmp(option->value, "las") && strcmp(option->value, "fifo"))
		fail("%s: fifo or las, not %s", option->name, option->value);
	return !strcmp(option->value, "las");
}

#define READ_WORD is_las

static void read_option(const struct option *option, struct mf_efd_options *options)
{
	/* Whole bytes or packets came before a packet. */
	if (!strcmp(option->name, "threshold"))
		options->threshold = ceil(option_number(option));
	MF_EFD_OPTIONS(READ_FIELD, NO_FIELD)
	else
		fail("efd has no option %s", option->name);
}

/* Puts what @setup says in place of what is in @options. */
static void read_options(const struct setup *setup, struct mf_efd_options *options)
{
	const struct option *option;

	options->limit = setup->limit;
	options->limit_in_bytes = setup->limit_in_bytes;
	for (option = setup->options; option->name; option++)
		read_option(option, options);
}

static void *make(const struct setup *setup, enum mf_measure measure, u64 threshold)
{
	struct mf_efd_options options = { MF_EFD_OPTIONS(INITIAL_FIELD, NO_FIELD) };
	struct mf_efd *efd = malloc(sizeof(*efd));

	options.measure = measure;
	options.threshold = threshold;
	read_options(setup, &options);
	if (!efd || mf_efd_init(efd, &options, setup->discard, 1))
		fail("no memory for a limit of %llu", (unsigned long long)setup->limit);
	return efd;
}

static void change(void *core, const struct setup *setup, u64 now)
{
	struct mf_efd *efd = core;
	struct mf_efd_options options = efd->options;
	struct mf_efd_spare spare;

	(void)now;
	read_options(setup, &options);
	if (mf_efd_spare_init(&spare, efd, &options))
		fail("no memory for a limit of %llu", (unsigned long long)setup->limit);
	mf_efd_change(efd, &options, &spare);
	mf_efd_spare_free(&spare);
}

static void *make_efd(const struct setup *setup)
{
	return make(setup, MF_BYTES, MF_EFD_THRESHOLD_BYTES);
}

static void *make_pefd(const struct setup *setup)
{
	return make(setup, MF_PACKETS, MF_EFD_THRESHOLD_PKTS);
}

static void *make_efdack(const struct setup *setup)
{
	return make(setup, MF_ADVANCE, MF_EFD_THRESHOLD_BYTES);
}

static void release(void *core)
{
	mf_efd_free(core);
	free(core);
}

static void reset(void *core)
{
	mf_efd_reset(core);
}

static enum mf_fate enqueue(void *core, struct mf_packet *packet, u64 now)
{
	return mf_efd_enqueue(core, packet, now);
}

static bool dequeue(void *core, u64 now, struct mf_packet *packet)
{
	const struct mf_packet *sent = mf_efd_dequeue(core, now);

	if (sent)
		*packet = *sent;
	return sent;
}

static const struct mf_packet *peek(const void *core)
{
	return mf_efd_peek(core);
}

static u32 flows(const void *core)
{
	return ((const struct mf_efd *)core)->flows.len;
}

static u32 high(const void *core)
{
	return ((const struct mf_efd *)core)->classes.high.len;
}

#define EFD_DISCIPLINE(name)			\
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

EFD_DISCIPLINE(efd);
EFD_DISCIPLINE(pefd);
EFD_DISCIPLINE(efdack);
