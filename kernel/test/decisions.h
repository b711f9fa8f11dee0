/* SPDX-License-Identifier: GPL-2.0 */
/* What a core has to offer to be run by decisions.c and flood.c. */
#ifndef MAYFLY_DECISIONS_H
#define MAYFLY_DECISIONS_H

#include <stdio.h>

#include "../core/queue.h"

/**
 * struct setup - what the command line asks for
 * @limit: of the buffer
 * @limit_in_bytes: the limit is in bytes, else in packets
 * @flows: entries that a flow table is to have room for
 * @options: names and values, ended by a NULL name
 * @discard: to be given to the core
 */
struct setup {
	u64 limit;
	bool limit_in_bytes;
	u32 flows;
	struct option {
		const char *name;
		const char *value;
	} *options;
	mf_discard_t discard;
};

/**
 * struct discipline - a core behind functions of one kind
 * @id: as in the registry of crates/qdisc
 * @make: the core, struct mf_queue its first member; bad options end the program
 * @free: its memory
 * @reset: forgets packets and flows
 * @enqueue: takes a packet
 * @dequeue: hands one out
 * @change: gives it another limit and, of the options, those named
 * @peek: what it would hand out
 * @flows: entries in the flow table; NULL where there is none
 * @high: packets in the high class; NULL where there is none
 * @extra: more of its state at the end of a line; NULL where there is no more
 */
struct discipline {
	const char *id;
	void *(*make)(const struct setup *setup);
	void (*free)(void *core);
	void (*reset)(void *core);
	enum mf_fate (*enqueue)(void *core, struct mf_packet *packet, u64 now);
	bool (*dequeue)(void *core, u64 now, struct mf_packet *packet);
	void (*change)(void *core, const struct setup *setup, u64 now);
	const struct mf_packet *(*peek)(const void *core);
	u32 (*flows)(const void *core);
	u32 (*high)(const void *core);
	void (*extra)(const void *core, FILE *out);
};

void add_discipline(const struct discipline *discipline);
const struct discipline *find_discipline(const char *id);

/* Reads @count words: a limit and options. */
void read_setup(struct setup *setup, int count, char **words);

/* Defines a discipline, and registers it before main() runs. */
#define DISCIPLINE(name)							\
	static const struct discipline name##_discipline;			\
	static void __attribute__((constructor)) add_##name(void)		\
	{									\
		add_discipline(&name##_discipline);				\
	}									\
	static const struct discipline name##_discipline

/* Of the program, before its errors. */
extern const char *const program;

void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
double option_number(const struct option *option);
u64 option_ns(const struct option *option);
bool option_flag(const struct option *option);

/* A row of a table of options (options/table.h): an initialiser of the core's options,
 * and what reads it from crates/qdisc's word for it into these, behind an if.
 */
#define INITIAL_FIELD(attribute, number, word, kind, field, initial, ...) .field = (initial),
#define READ_FIELD(attribute, number, word, kind, field, ...) \
	else if (!strcmp(option->name, #word)) \
		options->field = READ_##kind(option);
#define NO_FIELD(...)

#define READ_DURATION option_ns
#define READ_FLAG option_flag
#define READ_FLOWS option_number
#define READ_SIZE option_number
#define READ_TIME option_ns
#define READ_TIME_OR_NEVER option_ns

#endif
