/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The options of a queue discipline are one table: MF_<ID>_OPTIONS(FIELD, OWN) in
 * options/<id>.h. A row is
 *
 *	FIELD(attribute, number, name, kind, field, initial, bound, words, usage, help)
 *
 * or OWN(...) with the same columns. Who includes a table says what a row is there:
 *
 *	uapi/pkt_sch_mayfly.h	the attribute of netlink
 *	sch_<id>.c		policy, bound and value, by sch_common.h
 *	tc/q_<id>.c		what tc reads, sends, shows and helps with, by plugin_options.h
 *	test/<id>.c		what a core is run with in user space, by decisions.h
 *	test/options.c		a line of text, for tests
 *
 * FIELD: the value goes to the core as it is. OWN: code of the discipline does something
 * with it, in the module or where a core is run.
 *
 * attribute, number: of netlink. A number stays for ever: tc, module and who recorded
 *	a message may be of different versions. The largest one is MF_<ID>_LAST.
 * name: on the command line, and in what is shown
 * kind: how it is written and how wide it is, of enum plugin_kind
 * field: of the core's options, or of what else the value goes to
 * initial: the value unless somebody says otherwise
 * bound: what it may be and what is said beyond; one of those below
 * words: of WORD and BARE_WORD, and the functions of OTHER, by their name in the plug-in;
 *	else NULL
 * usage: how it is given, for help; NULL: the row of another option says it
 * help: lines "name\ttext", for help; NULL as before
 *
 * The rows stand in the order in which options are read, sent and shown. A comment
 * before a row is its line on the page of the discipline: docs/_ext/discipline_pages.py.
 * This is no part of the uapi header because only names and numbers are an interface.
 */
#ifndef MAYFLY_OPTIONS_TABLE_H
#define MAYFLY_OPTIONS_TABLE_H

#define MF_US 1000ULL
#define MF_MS (1000 * MF_US)
#define MF_S (1000 * MF_MS)

/* A row as an attribute. Its width is that of its kind. */
#define MF_ATTRIBUTE(attribute, number, ...) attribute = (number),

/* Bounds, as initialisers of struct mf_bound, and those that several have, of a queue
 * discipline @id. A queue of the largest ones takes some 190 MB; no bound makes a packet
 * cost more than O(log n). MF_UNBOUND: by its width, or by code of the discipline.
 */
#define MF_BOUND(least, most, says) { least, most, says }
#define MF_UNBOUND { 0, U64_MAX, NULL }
#define MF_TIME_MIN MF_MS
#define MF_TIME_MAX (1000000 * MF_S)
#define MF_BOUND_LIMIT(id) MF_BOUND(1, MF_MAX_PKTS, id ": limit: 1 to 1048576 packets")
#define MF_BOUND_LIMIT_BYTES(id) MF_BOUND(1, U32_MAX, id ": limit: 1 to 4294967295 bytes")
#define MF_BOUND_FLOWS(id) MF_BOUND(0, MF_MAX_PKTS, id ": flows: 0 to 1048576")
#define MF_BOUND_TIME(id, name) \
	MF_BOUND(MF_TIME_MIN, MF_TIME_MAX, id ": " name ": 1 ms to 1000000 s")
#define MF_BOUND_SPLIT(id) MF_BOUND(0, 1, id ": split: 0 or 1")

#endif
