// SPDX-License-Identifier: GPL-2.0
/*
 * Floods a core with new flows and tells the worst of its calls:
 *
 *	flood ID LIMIT PACKETS [NAME=VALUE ...]
 *
 * LIMIT and options are those of decisions.c. Packets come 1 us apart, in phases:
 *
 *	fill	until the buffer is full, each of a new flow
 *	flood	one leaves, one of a new flow comes
 *	full	packets of new flows find the buffer full
 *	again	flows that were seen before come and are pushed out
 *	fade	as flood, after a pause in which half-lives have passed
 *	pause	as flood, after a pause in which all flows were idle for too long
 *	giants	packets of 64 kB and of 1 MB find it full of short ones
 *
 * A line for each: its name, calls (packets that come and packets that go), the
 * most steps of a call, the mean, the 99.99 % quantile and the maximum of the CPU
 * time of a call in ns, and the flows that are known at its end. Steps are
 * repeats of loops of the core (mf_step()).
 */
#include <inttypes.h>
#include <time.h>

#include "decisions.h"

const char *const program = "flood";
u64 mf_steps;

#define GAP_NS 1000ULL
/* Flows are idle for longer than any is known: timeout and visit, whatever has them. */
#define PAUSE_NS 35000000000ULL
#define SHORT 60
/* Times up to this one are counted one by one, longer ones together. */
#define SLOTS 1000000

struct flood {
	const struct discipline *discipline;
	void *core;
	u64 now_ns;
	u64 flows;	/* new ones so far */
	u64 handles;
	u64 calls;
	u64 steps;	/* most of a call */
	u64 ns;		/* of all */
	u64 worst_ns;
	u32 known;
	u32 *slots;
};

/* A step of Vigna's splitmix64: flow keys look like hashes. */
static u64 key_of(u64 number)
{
	u64 x = number * 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return (x ^ (x >> 31)) & ~1ULL;
}

static u64 cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* A call that began with so many steps and at such a time has ended. */
static void note(struct flood *flood, u64 steps, u64 began_ns)
{
	u64 ns = cpu_ns() - began_ns;

	flood->calls++;
	flood->ns += ns;
	flood->slots[ns < SLOTS ? ns : SLOTS]++;
	if (ns > flood->worst_ns)
		flood->worst_ns = ns;
	if (mf_steps - steps > flood->steps)
		flood->steps = mf_steps - steps;
}

static enum mf_fate come(struct flood *flood, u64 flow, u32 len)
{
	struct mf_packet packet = {
		.handle = (void *)(uintptr_t)++flood->handles,
		.flow = key_of(flow),
		.src = flow,
		.len = len,
		.kind = MF_UDP,
	};
	u64 steps = mf_steps, began_ns;
	enum mf_fate fate;

	flood->now_ns += GAP_NS;
	began_ns = cpu_ns();
	fate = flood->discipline->enqueue(flood->core, &packet, flood->now_ns);
	note(flood, steps, began_ns);
	return fate;
}

static void go(struct flood *flood)
{
	struct mf_packet packet;
	u64 steps = mf_steps, began_ns = cpu_ns();

	flood->discipline->dequeue(flood->core, flood->now_ns, &packet);
	note(flood, steps, began_ns);
}

static void tell(struct flood *flood, const char *phase)
{
	u64 beyond = flood->calls / 10000, quantile = SLOTS, seen = flood->slots[SLOTS];

	while (quantile && seen <= beyond)
		seen += flood->slots[--quantile];
	if (flood->discipline->flows)
		flood->known = flood->discipline->flows(flood->core);
	printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u\n", phase,
	       flood->calls, flood->steps, flood->ns / (flood->calls ?: 1), quantile,
	       flood->worst_ns, flood->known);
	flood->calls = 0;
	flood->steps = 0;
	flood->ns = 0;
	flood->worst_ns = 0;
	memset(flood->slots, 0, (SLOTS + 1) * sizeof(*flood->slots));
}

static void exchange(struct flood *flood, u64 packets, u64 pause_ns, const char *phase)
{
	flood->now_ns += pause_ns;
	for (; packets; packets--) {
		go(flood);
		come(flood, ++flood->flows, SHORT);
	}
	tell(flood, phase);
}

static void again(struct flood *flood, u64 packets)
{
	u64 known = flood->flows, back;

	for (back = 0; back < packets; back++) {
		go(flood);
		/* Of a flow that has sent, then of one that has not. */
		come(flood, known - back % (known / 2 + 1), 1500);
		come(flood, ++flood->flows, SHORT);
	}
	tell(flood, "again");
}

/* Few flows, so that their packets are behind those of new ones. */
static void giants(struct flood *flood, u64 packets)
{
	const struct mf_queue *queue = flood->core;
	u64 left, giant;

	while (mf_queue_pkts(queue))
		go(flood);
	for (giant = 0; giant < packets; giant++) {
		for (left = 0; left < 200000 && !mf_queue_is_full(queue, SHORT); left++)
			come(flood, left % 16 + 1, SHORT);
		come(flood, ++flood->flows, giant % 2 ? 64000 : 1000000);
	}
	tell(flood, "giants");
}

static void discard(struct mf_queue *queue, const struct mf_packet *victim, enum mf_fate reason)
{
	(void)queue;
	(void)victim;
	(void)reason;
}

int main(int argc, char **argv)
{
	struct setup setup = { .discard = discard };
	struct flood flood = { .slots = calloc(SLOTS + 1, sizeof(*flood.slots)) };
	const struct mf_queue *queue;
	u64 packets;

	if (argc < 4 || !flood.slots)
		fail("usage: flood ID LIMIT PACKETS [NAME=VALUE ...]");
	flood.discipline = find_discipline(argv[1]);
	packets = strtoull(argv[3], NULL, 10);
	argv[3] = argv[2];
	read_setup(&setup, argc - 3, argv + 3);
	flood.core = flood.discipline->make(&setup);
	queue = flood.core;
	while (!mf_queue_is_full(queue, SHORT) && come(&flood, ++flood.flows, SHORT) == MF_QUEUED)
		;
	tell(&flood, "fill");
	exchange(&flood, packets, 0, "flood");
	while (flood.calls < packets)
		come(&flood, ++flood.flows, SHORT);
	tell(&flood, "full");
	again(&flood, packets);
	exchange(&flood, packets, 1000000000ULL, "fade");
	exchange(&flood, packets, PAUSE_NS, "pause");
	if (setup.limit_in_bytes)
		giants(&flood, packets / 1000 + 2);
	flood.discipline->reset(flood.core);
	flood.discipline->free(flood.core);
	free(setup.options);
	free(flood.slots);
	return 0;
}
