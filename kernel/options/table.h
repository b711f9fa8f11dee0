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
 * bound: MF_BOUND(least, most, says) or another one of sch_common.h
 * words: of WORD and BARE_WORD, by their name in the plug-in, else NULL
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

#endif
