// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a core over a trace and prints what it decides about each packet:
 *
 *	decisions ID LIMIT [NAME=VALUE ...] <TRACE
 *
 * LIMIT is 300p for packets or 45000b for bytes; options and units are those
 * of crates/qdisc, whose example of the same name prints the same lines.
 * A line of the trace is a call at a time in ns that does not decrease:
 *
 *	+ TIME FLOW HANDLE PROGRESS LENGTH KIND ECN [SRC DST MARK]	a packet comes
 *	- TIME						one is to be sent
 *	= TIME LIMIT [NAME=VALUE ...]			other options
 *
 * KIND is d (data), a (acknowledgement) or u (UDP); ECN is 0 (not-ECT), 1, 2
 * (ECT(0), ECT(1)) or 3 (CE). SRC and DST number the hosts: without them every
 * connection has one of its own. Lines out, - for what there is not:
 *
 *	+ HANDLE FATE CLASS DROPPED PACKETS BYTES FLOWS HIGH
 *	- HANDLE ECN PEEKED DROPPED PACKETS BYTES FLOWS HIGH
 *	= DROPPED PACKETS BYTES FLOWS HIGH
 *
 * CLASS is h or l, with f where an entry of the flow table began; DROPPED are
 * handles with reasons; then what waits, entries of the flow table and packets
 * of the high class; PEEKED is what peek had said before the call. Behind them,
 * once estmred has told one: time, share and flows times 2^14 of the estimate,
 * and why it is doubted.
 */
#include <inttypes.h>

#include "decisions.h"

const char *const program = "decisions";

/* Tables of crates/qdisc have no bound: more flows than any trace has. */
#define FLOWS (1U << 16)

static const char *const fates[] = {
	[MF_QUEUED] = "queued",
	[MF_FULL] = "full",
	[MF_PUSHED_OUT] = "pushed_out",
	[MF_EARLY] = "early",
};

/* Victims of the present call, written as they go. */
static char *victims;
static size_t victims_size, victims_len;

static u64 handle_of(const struct mf_packet *packet)
{
	return (uintptr_t)packet->handle;
}

static void note_victim(struct mf_queue *queue, const struct mf_packet *victim,
			enum mf_fate reason)
{
	(void)queue;
	if (victims_size < victims_len + 64) {
		victims_size = 2 * victims_size + 64;
		victims = realloc(victims, victims_size);
		if (!victims)
			fail("no memory for the victims of a call");
	}
	victims_len += sprintf(victims + victims_len, "%s%" PRIu64 ":%s",
			       victims_len ? "," : "", handle_of(victim), fates[reason]);
}

static void print_state(const struct discipline *discipline, const void *core)
{
	const struct mf_queue *queue = core;

	printf(" %s %" PRIu64 " %" PRIu64, victims_len ? victims : "-",
	       mf_queue_pkts(queue), mf_queue_bytes(queue));
	printf(" %u", discipline->flows ? discipline->flows(core) : 0);
	if (discipline->high)
		printf(" %u", discipline->high(core));
	else
		printf(" -");
	if (discipline->extra)
		discipline->extra(core, stdout);
	putchar('\n');
}

static void arrive(const struct discipline *discipline, void *core, const char *line)
{
	const struct mf_queue *queue = core;
	struct mf_packet packet = { 0 };
	u64 now, handle;
	unsigned int ecn;
	char kind;
	enum mf_fate fate;
	int fields;

	fields = sscanf(line, "+ %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			" %u %c %u %u %u %u", &now, &packet.flow, &handle, &packet.progress,
			&packet.len, &kind, &ecn, &packet.src, &packet.dst, &packet.mark);
	if ((fields != 7 && fields != 10) || ecn > MF_CE || !strchr("dau", kind))
		fail("not a packet: %s", line);
	if (fields == 7)
		packet.src = packet.flow >> 1;
	packet.handle = (void *)(uintptr_t)handle;
	packet.kind = kind == 'd' ? MF_DATA : kind == 'a' ? MF_ACK : MF_UDP;
	packet.ecn = ecn;
	fate = discipline->enqueue(core, &packet, now);
	printf("+ %" PRIu64 " %s ", handle, fates[fate]);
	if (fate == MF_QUEUED && queue->sorted)
		printf("%s%s", queue->high ? "h" : "l", queue->fresh ? "f" : "");
	else
		putchar('-');
	print_state(discipline, core);
}

static void depart(const struct discipline *discipline, void *core, const char *line)
{
	const struct mf_packet *peeked = discipline->peek(core);
	struct mf_packet packet;
	char next[24] = "-";
	u64 now;

	if (sscanf(line, "- %" SCNu64, &now) != 1)
		fail("not a departure: %s", line);
	if (peeked)
		snprintf(next, sizeof(next), "%" PRIu64, handle_of(peeked));
	if (discipline->dequeue(core, now, &packet))
		printf("- %" PRIu64 " %u %s", handle_of(&packet), packet.ecn, next);
	else
		printf("- - - %s", next);
	print_state(discipline, core);
}

static void change(const struct discipline *discipline, void *core, char *line)
{
	struct setup setup = { .flows = FLOWS };
	char *words[16], *word;
	int count = 0;

	for (word = strtok(line, "\n "); word && count < 16; word = strtok(NULL, "\n "))
		words[count++] = word;
	if (count < 3 || !discipline->change)
		fail("no change of %s: a time, a limit, options", discipline->id);
	read_setup(&setup, count - 2, words + 2);
	discipline->change(core, &setup, strtoull(words[1], NULL, 10));
	free(setup.options);
	putchar('=');
	print_state(discipline, core);
}

/* Whatever waits at the end of a trace: nothing is left of it, and the queue is as good as a new one. */
static void check_reset(const struct discipline *discipline, void *core)
{
	struct mf_packet packet;

	discipline->reset(core);
	if (mf_queue_pkts(core) || mf_queue_bytes(core) || discipline->peek(core) ||
	    discipline->dequeue(core, 0, &packet) || (discipline->flows && discipline->flows(core)))
		fail("%s: reset leaves packets or flows", discipline->id);
}

int main(int argc, char **argv)
{
	struct setup setup = { .discard = note_victim, .flows = FLOWS };
	const struct discipline *discipline;
	char line[256];
	void *core;

	if (argc < 3)
		fail("usage: decisions ID LIMIT [NAME=VALUE ...] <TRACE");
	discipline = find_discipline(argv[1]);
	read_setup(&setup, argc - 2, argv + 2);
	core = discipline->make(&setup);
	while (fgets(line, sizeof(line), stdin)) {
		victims_len = 0;
		if (*line == '+')
			arrive(discipline, core, line);
		else if (*line == '-')
			depart(discipline, core, line);
		else if (*line == '=')
			change(discipline, core, line);
		else
			fail("a line begins with +, - or =: %s", line);
	}
	check_reset(discipline, core);
	discipline->free(core);
	free(setup.options);
	free(victims);
	return 0;
}
