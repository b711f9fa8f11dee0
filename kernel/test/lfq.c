// SPDX-License-Identifier: GPL-2.0
/* LFQ for decisions.c. */
#include <math.h>

#include "../core/lfq.h"
#include "../options/lfq.h"
#include "decisions.h"

/* First numbers of the stream "decisions" of seed 1, in crates/units. */
static const u64 seeds[MF_LFQ_SEEDS] = {
	0x47e4bf7674e83fb8ULL, 0xb61addcaff52988bULL,
	0x3e4f0d7642ee6be8ULL, 0xf0f624acbbd4fe34ULL,
};

static const char *const users[] = { "pair", "triple", "dst", "src", "flow", "mark", NULL };
static const char *const weights[] = { "equal", "mark", NULL };

static int word(const struct option *option, const char *const *words)
{
	int at;

	for (at = 0; words[at]; at++)
		if (!strcmp(option->value, words[at]))
			return at;
	fail("%s: no word %s", option->name, option->value);
}

static u32 read_share(const struct option *option)
{
	return ldexp(option_number(option), MF_LFQ_FRACTION);
}

#define READ_SHARE read_share

static void read_option(const struct option *option, struct mf_lfq_options *options)
{
	if (!strcmp(option->name, "user"))
		options->by = word(option, users);
	else if (!strcmp(option->name, "weights"))
		options->by_mark = word(option, weights);
	else if (!strcmp(option->name, "prefix"))
		options->prefix = option_number(option);
	MF_LFQ_OPTIONS(READ_FIELD, NO_FIELD)
	else
		fail("lfq has no option %s", option->name);
}

/* Puts what @setup says in place of what is in @options. */
static void read_options(const struct setup *setup, struct mf_lfq_options *options)
{
	const struct option *option;

	options->limit = setup->limit;
	options->limit_in_bytes = setup->limit_in_bytes;
	for (option = setup->options; option->name; option++)
		read_option(option, options);
}

static void *make(const struct setup *setup)
{
	struct mf_lfq_options options = {
		MF_LFQ_OPTIONS(INITIAL_FIELD, NO_FIELD)
		.prefix = 32,
		.by = MF_LFQ_PAIR,
	};
	struct mf_lfq *lfq = malloc(sizeof(*lfq));

	read_options(setup, &options);
	if (!lfq || mf_lfq_init(lfq, &options, setup->discard, seeds))
		fail("no memory for a limit of %llu", (unsigned long long)setup->limit);
	return lfq;
}

static void change(void *core, const struct setup *setup, u64 now)
{
	struct mf_lfq *lfq = core;
	struct mf_lfq_options options = lfq->options;
	struct mf_lfq_spare spare;

	read_options(setup, &options);
	if (mf_lfq_spare_init(&spare, lfq, &options, seeds))
		fail("no memory for a limit of %llu", (unsigned long long)setup->limit);
	mf_lfq_change(lfq, &options, &spare, now);
	mf_lfq_spare_free(&spare);
}

static void release(void *core)
{
	mf_lfq_free(core);
	free(core);
}

/* What is held counts as waiting, is told again, and goes first. */
static void check_held(struct mf_lfq *lfq)
{
	u64 pkts = mf_queue_pkts(&lfq->queue), bytes = mf_queue_bytes(&lfq->queue);
	u64 now_ns = lfq->queue.now_ns;
	const struct mf_packet *next = mf_lfq_peek(lfq, now_ns);
	struct mf_packet packet;

	if (!next)
		return;
	/* Finding out may drop some. */
	if (mf_queue_pkts(&lfq->queue) > pkts || mf_queue_bytes(&lfq->queue) > bytes ||
	    mf_lfq_peek(lfq, now_ns) != next)
		fail("what is held does not count once");
	pkts = mf_queue_pkts(&lfq->queue);
	packet = *next;
	if (mf_lfq_dequeue(lfq, now_ns, &packet) && packet.handle == next->handle &&
	    mf_queue_pkts(&lfq->queue) == pkts - 1)
		return;
	fail("what is held is not what goes");
}

static void reset(void *core)
{
	check_held(core);
	mf_lfq_peek(core, 0);
	mf_lfq_reset(core);
}

static enum mf_fate enqueue(void *core, struct mf_packet *packet, u64 now)
{
	return mf_lfq_enqueue(core, packet, now);
}

static bool dequeue(void *core, u64 now, struct mf_packet *packet)
{
	return mf_lfq_dequeue(core, now, packet);
}

/* What peek() copies, into memory that is kept for the next time. */
enum { FLOWS, BITS, USERS, NEWCOMER_FLOWS, FLOW_SLOTS, USER_SLOTS, COPIES };
static struct {
	void *memory;
	size_t size;
} copies[COPIES];

static void *copied(int at, const void *memory, size_t size)
{
	if (copies[at].size < size) {
		free(copies[at].memory);
		copies[at].memory = malloc(size);
		copies[at].size = size;
	}
	if (!copies[at].memory)
		fail("no memory to look ahead");
	return memcpy(copies[at].memory, memory, size);
}

static void __attribute__((destructor)) free_copies(void)
{
	int at;

	for (at = 0; at < COPIES; at++)
		free(copies[at].memory);
}

/* What comes next takes decisions to find out: they are taken in a copy of all that
 * they change. In the module it is taken out and held: see check_held().
 */
static const struct mf_packet *peek(const void *core)
{
	struct mf_lfq lfq = *(const struct mf_lfq *)core;
	const struct mf_packet *packet = NULL;
	u32 flows = mf_lfq_flows(&lfq);
	enum mf_lfq_turn turn;
	u16 slot;

	lfq.flows = copied(FLOWS, lfq.flows, flows * sizeof(*lfq.flows));
	lfq.bits = copied(BITS, lfq.bits, (flows + 63) / 64 * sizeof(*lfq.bits));
	lfq.users = copied(USERS, lfq.users, (lfq.newcomers + 1) * sizeof(*lfq.users));
	lfq.newcomer_flows = copied(NEWCOMER_FLOWS, lfq.newcomer_flows,
				    MF_LFQ_COUNTERS * sizeof(*lfq.newcomer_flows));
	lfq.flow_slots.sets = copied(FLOW_SLOTS, lfq.flow_slots.sets,
				     lfq.flow_slots.sets_len * sizeof(*lfq.flow_slots.sets));
	lfq.user_slots.sets = copied(USER_SLOTS, lfq.user_slots.sets,
				     lfq.user_slots.sets_len * sizeof(*lfq.user_slots.sets));
	if (lfq.holds)
		fail("nobody has asked for the next packet");
	slot = mf_lfq_choose(&lfq, &turn);
	if (slot != MF_NO_ENTRY)
		packet = mf_lfq_head(&lfq, &lfq.flows[slot]);
	return packet;
}

static u32 flows(const void *core)
{
	return ((const struct mf_lfq *)core)->waiting;
}

DISCIPLINE(lfq) = {
	.id = "lfq",
	.make = make,
	.free = release,
	.reset = reset,
	.enqueue = enqueue,
	.dequeue = dequeue,
	.change = change,
	.peek = peek,
	.flows = flows,
};
