/* SPDX-License-Identifier: GPL-2.0 */
/* Options of a queue discipline as a table: read, sent and printed by one code. */
#ifndef MAYFLY_PLUGIN_OPTIONS_H
#define MAYFLY_PLUGIN_OPTIONS_H

#include "tc_plugin.h"

#define PLUGIN_MAX_PKTS (1U << 20)
#define PLUGIN_ONE 16777216.0
#define PLUGIN_MIN_NS 1000000LL
#define PLUGIN_MAX_NS 1000000000000000LL

/* Times as tc reads and writes them; a number alone is of ns. */
int get_time64(__s64 *ns, const char *text);
char *sprint_time64(__s64 ns, char *text);

/**
 * enum plugin_kind - how an option is written
 * @PLUGIN_LIMIT: packets or bytes, or a time where a row for it follows
 * @PLUGIN_LIMIT_BYTES: the row behind PLUGIN_LIMIT: the attribute for bytes, the next
 *	number
 * @PLUGIN_LIMIT_TIME: the row behind that: the attribute for a time
 * @PLUGIN_FLOWS: a number, 0 too
 * @PLUGIN_SIZE: bytes
 * @PLUGIN_TIME: 1 ms to 10^6 s
 * @PLUGIN_TIME_OR_NEVER: or the word never, which is 0
 * @PLUGIN_DURATION: any time, whose bounds the kernel knows
 * @PLUGIN_NUMBER: a number, whose bounds the kernel knows
 * @PLUGIN_SIGNED: the same, below 0 too
 * @PLUGIN_RATE: bit/s, sent as bytes/s; or the word unlimited, which is 0
 * @PLUGIN_SHARE: 0 to 1, as a multiple of 2^-24
 * @PLUGIN_WORD: one of some words
 * @PLUGIN_FLAG: its name, or its name with "no" before it
 * @PLUGIN_PRESENT: its name alone
 * @PLUGIN_BARE_WORD: one of some words, without the name
 * @PLUGIN_KEYWORD: a word that sets other options
 * @PLUGIN_OTHER: read, sent and printed by functions of its own
 */
enum plugin_kind {
	PLUGIN_LIMIT, PLUGIN_LIMIT_BYTES, PLUGIN_LIMIT_TIME, PLUGIN_FLOWS,
	PLUGIN_SIZE, PLUGIN_TIME, PLUGIN_TIME_OR_NEVER, PLUGIN_DURATION, PLUGIN_NUMBER,
	PLUGIN_SHARE, PLUGIN_SIGNED, PLUGIN_RATE, PLUGIN_WORD, PLUGIN_FLAG,
	PLUGIN_PRESENT, PLUGIN_BARE_WORD, PLUGIN_KEYWORD, PLUGIN_OTHER
};

#define PLUGIN_ATTRIBUTES 64

/* What a keyword sets: @attribute to @number, or by so much more. */
struct plugin_keyword {
	const char *word;
	struct {
		int attribute;
		int number;
		bool more;
	} sets[4];
};

/* How an option of a kind of its own is handled. */
struct plugin_own {
	int (*read)(const char *who, const char *name, const char *text);
	void (*put)(struct nlmsghdr *message, int attribute);
	void (*show)(const char *name, const struct rtattr *attribute);
};

/**
 * struct plugin_option - an option; a table of them ends with a NULL name
 * @name: on the command line and in what is printed
 * @kind: enum plugin_kind
 * @attribute: of netlink
 * @by: PLUGIN_WORD, PLUGIN_BARE_WORD: the words, struct plugin_word;
 *	PLUGIN_KEYWORD: struct plugin_keyword, which end with a NULL;
 *	PLUGIN_OTHER: struct plugin_own
 * @usage: how it is given, or NULL
 * @help: lines "name\ttext", or NULL
 */
struct plugin_option {
	const char *name;
	enum plugin_kind kind;
	int attribute;
	const void *by;
	const char *usage;
	const char *help;
};

/* A row of a table of options: see options/table.h. */
#define PLUGIN_ROW(attribute, number, name, kind, field, initial, bound, by, usage, help) \
	{ #name, PLUGIN_##kind, attribute, by, usage, help },

/* What the command line said; a bit of @given for each attribute. */
struct plugin_request {
	__u64 given;
	__u64 numbers[PLUGIN_ATTRIBUTES];
};

static inline void plugin_give(struct plugin_request *request, int attribute,
			       __u64 number)
{
	request->given |= 1ULL << attribute;
	request->numbers[attribute] = number;
}

static inline int plugin_time(const char *who, const char *name,
			      const char *text, bool never, __s64 *ns)
{
	*ns = 0;
	if (never && !strcmp(text, "never"))
		return 0;
	if (get_time64(ns, text) || *ns < PLUGIN_MIN_NS || *ns > PLUGIN_MAX_NS)
		return plugin_fail(who, "%s: 1ms to 1000000s%s, not %s", name,
				   never ? " or never" : "", text);
	return 0;
}

static inline bool plugin_is_time(const struct plugin_option *option)
{
	return option->kind == PLUGIN_TIME || option->kind == PLUGIN_DURATION ||
	       option->kind == PLUGIN_TIME_OR_NEVER;
}

static inline int plugin_duration(const char *who, const char *name,
				  const char *text, __s64 *ns)
{
	if (get_time64(ns, text) || *ns < 0)
		return plugin_fail(who, "%s: a time, as 100ms, not %s", name, text);
	return 0;
}

static inline int plugin_number(const char *who, const char *name,
				const char *text, __u32 *number)
{
	if (*text == '-' || get_u32(number, text, 10))
		return plugin_fail(who, "%s: a whole number, not %s", name, text);
	return 0;
}

static inline int plugin_signed(const char *who, const char *name,
				const char *text, __u64 *number)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end == text || *end || value < -65536 || value > 65536)
		return plugin_fail(who, "%s: a whole number, not %s", name, text);
	*number = value;
	return 0;
}

static inline int plugin_rate(const char *who, const char *name,
			      const char *text, __u64 *rate)
{
	*rate = 0;
	if (!strcmp(text, "unlimited"))
		return 0;
	if (*text == '-' || get_rate64(rate, text) || !*rate)
		return plugin_fail(who, "%s: a rate, as 19mbit, or unlimited, not %s",
				   name, text);
	return 0;
}

/* Whether @option is only an attribute more of the one before it. */
static inline bool plugin_is_unit(const struct plugin_option *option)
{
	return option->kind == PLUGIN_LIMIT_BYTES ||
	       option->kind == PLUGIN_LIMIT_TIME;
}

/* The attribute for a time of a limit, 0 where there is none. */
static inline int plugin_time_of(const struct plugin_option *option)
{
	if (option->kind != PLUGIN_LIMIT || option[2].kind != PLUGIN_LIMIT_TIME)
		return 0;
	return option[2].attribute;
}

/* A limit: packets, bytes, or a time where there is an attribute for it. */
static inline int plugin_limit(const char *who,
			       const struct plugin_option *option,
			       const char *text, struct plugin_request *request)
{
	int attribute = option->attribute, time = plugin_time_of(option);
	size_t len = strlen(text);
	__u32 number = 0;
	__s64 ns = 0;
	int err;

	request->given &= ~(3ULL << attribute);
	if (time)
		request->given &= ~(1ULL << time);
	if (time && len && text[len - 1] == 's') {
		err = plugin_duration(who, option->name, text, &ns);
		plugin_give(request, time, ns);
		return err;
	}
	if (plugin_is_pkts(text)) {
		err = plugin_pkts(who, option->name, text, 1, PLUGIN_MAX_PKTS,
				  &number);
	} else {
		err = plugin_bytes(who, option->name, text, &number);
		attribute++;
	}
	plugin_give(request, attribute, number);
	return err;
}

static inline int plugin_share(const char *who, const char *name,
			       const char *text, __u32 *number)
{
	char *end;
	double share = strtod(text, &end);

	if (end == text || *end || !(share >= 0 && share <= 1))
		return plugin_fail(who, "%s: 0 to 1, not %s", name, text);
	*number = share * PLUGIN_ONE;
	return 0;
}

/* Reads the value of an option into @request. */
static inline int plugin_read(const char *who,
			      const struct plugin_option *option,
			      const char *text, struct plugin_request *request)
{
	bool never = option->kind == PLUGIN_TIME_OR_NEVER;
	const struct plugin_own *own = option->by;
	int attribute = option->attribute;
	__u32 number = 0;
	__u64 wide = 0;
	__u8 word = 0;
	__s64 ns = 0;
	int err;

	switch (option->kind) {
	case PLUGIN_LIMIT:
		return plugin_limit(who, option, text, request);
	case PLUGIN_RATE:
		err = plugin_rate(who, option->name, text, &wide);
		break;
	case PLUGIN_SIGNED:
		err = plugin_signed(who, option->name, text, &wide);
		break;
	case PLUGIN_OTHER:
		err = own->read(who, option->name, text);
		break;
	case PLUGIN_FLOWS:
		err = plugin_pkts(who, option->name, text, 0, PLUGIN_MAX_PKTS,
				  &number);
		break;
	case PLUGIN_SIZE:
		err = plugin_bytes(who, option->name, text, &number);
		break;
	case PLUGIN_WORD:
		err = plugin_word(who, option->name, text, option->by, &word);
		break;
	case PLUGIN_NUMBER:
		err = plugin_number(who, option->name, text, &number);
		break;
	case PLUGIN_SHARE:
		err = plugin_share(who, option->name, text, &number);
		break;
	case PLUGIN_DURATION:
		err = plugin_duration(who, option->name, text, &ns);
		break;
	default:
		err = plugin_time(who, option->name, text, never, &ns);
	}
	plugin_give(request, attribute, number + word + ns + wide);
	return err;
}

static inline const struct plugin_keyword *
plugin_keyword(const struct plugin_option *option, const char *text)
{
	const struct plugin_keyword *keyword = option->by;

	while (keyword->word && strcmp(keyword->word, text))
		keyword++;
	return keyword->word ? keyword : NULL;
}

static inline bool plugin_is_word(const struct plugin_option *option,
				  const char *text)
{
	const struct plugin_word *word = option->by;

	while (word->word && strcmp(word->word, text))
		word++;
	return word->word;
}

/* Is @text how @option begins on a command line? */
static inline bool plugin_begins(const struct plugin_option *option,
				 const char *text)
{
	switch (option->kind) {
	case PLUGIN_LIMIT_BYTES:
	case PLUGIN_LIMIT_TIME:
		return false;
	case PLUGIN_BARE_WORD:
		return plugin_is_word(option, text);
	case PLUGIN_KEYWORD:
		return plugin_keyword(option, text);
	case PLUGIN_FLAG:
		return !strcmp(option->name, text) ||
		       (!strncmp(text, "no", 2) && !strcmp(option->name, text + 2));
	default:
		return !strcmp(option->name, text);
	}
}

static inline const struct plugin_option *
plugin_find(const struct plugin_option *options, const char *text)
{
	while (options->name && !plugin_begins(options, text))
		options++;
	return options->name ? options : NULL;
}

/* Reads an option that is one word; false if a value follows. */
static inline bool plugin_read_alone(const struct plugin_option *option,
				     const char *text,
				     struct plugin_request *request)
{
	const struct plugin_keyword *keyword;
	__u8 number = 0;
	int at;

	switch (option->kind) {
	case PLUGIN_FLAG:
		plugin_give(request, option->attribute,
			    !strcmp(text, option->name));
		return true;
	case PLUGIN_PRESENT:
		plugin_give(request, option->attribute, 1);
		return true;
	case PLUGIN_BARE_WORD:
		plugin_word("", option->name, text, option->by, &number);
		plugin_give(request, option->attribute, number);
		return true;
	case PLUGIN_KEYWORD:
		keyword = plugin_keyword(option, text);
		for (at = 0; keyword->sets[at].attribute; at++) {
			int attribute = keyword->sets[at].attribute;
			__u64 before = keyword->sets[at].more ?
				request->numbers[attribute] : 0;

			plugin_give(request, attribute,
				    before + keyword->sets[at].number);
		}
		return true;
	default:
		return false;
	}
}

static inline void plugin_put(const struct plugin_option *option,
			      const struct plugin_request *request,
			      struct nlmsghdr *message)
{
	int attribute = option->attribute, time = plugin_time_of(option);
	const struct plugin_own *own = option->by;
	__u64 number;

	if (option->kind == PLUGIN_KEYWORD || plugin_is_unit(option))
		return;
	if (time && request->given & 1ULL << time)
		attribute = time;
	else if (option->kind == PLUGIN_LIMIT && request->given & 2ULL << attribute)
		attribute++;
	if (!(request->given & 1ULL << attribute))
		return;
	number = request->numbers[attribute];
	if (option->kind == PLUGIN_OTHER)
		own->put(message, attribute);
	else if (option->kind == PLUGIN_PRESENT)
		addattr_l(message, PLUGIN_MESSAGE_SIZE, attribute, NULL, 0);
	else if (option->kind == PLUGIN_WORD || option->kind == PLUGIN_FLAG ||
		 option->kind == PLUGIN_BARE_WORD)
		addattr8(message, PLUGIN_MESSAGE_SIZE, attribute, number);
	else if (plugin_is_time(option) || option->kind == PLUGIN_RATE ||
		 (time && attribute == time))
		addattr_l(message, PLUGIN_MESSAGE_SIZE, attribute, &number,
			  sizeof(number));
	else
		addattr32(message, PLUGIN_MESSAGE_SIZE, attribute, number);
}

/* Columns of a line of help, and before its text. */
#define PLUGIN_WIDTH 80
#define PLUGIN_INDENT 11

/* Writes a word, or what stays together, in a new line if it would be too long. */
static inline void plugin_write(const char *word, int len, int indent, int *column)
{
	if (*column + 1 + len >= PLUGIN_WIDTH)
		*column = fprintf(stderr, "\n%*s", indent - 1, "") - 1;
	*column += fprintf(stderr, " %.*s", len, word);
}

/* Writes lines "name\ttext", each text beside its name, broken where it is long. */
static inline void plugin_write_help(const char *help, int indent)
{
	int column, name;

	while (*help) {
		name = strcspn(help, "\t");
		column = fprintf(stderr, "%-*.*s", indent - 1, name, help);
		for (help += name; *help && *help != '\n'; help += strcspn(help, "\n ")) {
			help++;
			plugin_write(help, strcspn(help, "\n "), indent, &column);
		}
		fputc('\n', stderr);
		help += *help == '\n';
	}
}

/* Writes the usage of @who and what its options are. */
static inline void plugin_help(const char *who, const struct plugin_option *options)
{
	const struct plugin_option *option;
	int column, indent, len;
	char usage[128];

	column = fprintf(stderr, "Usage: ... %s", who);
	indent = column + 1;
	for (option = options; option->name; option++) {
		if (!option->usage)
			continue;
		len = snprintf(usage, sizeof(usage), "[ %s ]", option->usage);
		plugin_write(usage, len, indent, &column);
	}
	fputc('\n', stderr);
	for (option = options; option->name; option++)
		if (option->help)
			plugin_write_help(option->help, PLUGIN_INDENT);
}

/* Writes the attributes. */
static inline void plugin_put_options(const struct plugin_option *options,
				      const struct plugin_request *request,
				      struct nlmsghdr *message)
{
	struct rtattr *nest = plugin_begin(message);

	for (; options->name; options++)
		plugin_put(options, request, message);
	addattr_nest_end(message, nest);
}

/* Reads a command line and writes the attributes, or help where that is asked for. */
static inline int plugin_parse_options(const char *who,
				       const struct plugin_option *options,
				       int argc, char **argv,
				       struct nlmsghdr *message)
{
	struct plugin_request request = { 0 };
	const struct plugin_option *option;

	for (; argc > 0; argc--, argv++) {
		if (!strcmp(*argv, "help")) {
			plugin_help(who, options);
			return -1;
		}
		option = plugin_find(options, *argv);
		if (!option)
			return plugin_fail(who, "no option %s; tc qdisc add %s help",
					   *argv, who);
		if (plugin_read_alone(option, *argv, &request))
			continue;
		if (argc < 2)
			return plugin_fail(who, "%s: without a value; tc qdisc add %s help",
					   *argv, who);
		if (plugin_read(who, option, argv[1], &request))
			return -1;
		argc--, argv++;
	}
	plugin_put_options(options, &request, message);
	return 0;
}

static inline void plugin_show_time(const struct plugin_option *option,
				    const struct rtattr *attribute)
{
	char key[32], text[64] = "never";
	__u64 ns = plugin_read_u64(attribute);

	if (ns || option->kind != PLUGIN_TIME_OR_NEVER)
		sprint_time64(ns, text);
	snprintf(key, sizeof(key), "%s_ns", option->name);
	print_color_u64(PRINT_JSON, COLOR_NONE, key, NULL, ns);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", option->name);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", text);
}

static inline void plugin_show_rate(const struct plugin_option *option,
				    const struct rtattr *attribute)
{
	__u64 rate = plugin_read_u64(attribute);
	char format[32];

	snprintf(format, sizeof(format), "%s %%s ", option->name);
	if (rate)
		tc_print_rate(PRINT_ANY, option->name, format, rate);
	else
		print_color_string(PRINT_FP, COLOR_NONE, NULL, format, "unlimited");
}

static inline void plugin_show(const struct plugin_option *option,
			       struct rtattr **tb)
{
	const struct rtattr *attribute = tb[option->attribute];
	const struct plugin_own *own = option->by;
	int time = plugin_time_of(option);
	char key[32], format[32];
	const char *unit = "";
	const char *suffix = "";

	if (option->kind == PLUGIN_KEYWORD || plugin_is_unit(option))
		return;
	if (time && tb[time]) {
		plugin_show_time(option, tb[time]);
		return;
	}
	if (option->kind == PLUGIN_LIMIT) {
		unit = attribute ? "p" : "b";
		suffix = attribute ? "" : "_bytes";
		attribute = attribute ? attribute : tb[option->attribute + 1];
	} else if (option->kind == PLUGIN_FLOWS) {
		suffix = "_limit";
	} else if (option->kind == PLUGIN_SIZE) {
		unit = "b";
	}
	if (!attribute)
		return;
	switch (option->kind) {
	case PLUGIN_WORD:
		snprintf(format, sizeof(format), "%s %%s ", option->name);
		plugin_print_string(option->name, format,
				    plugin_name(option->by,
						plugin_u8(attribute)));
		return;
	case PLUGIN_BARE_WORD:
		plugin_print_string(option->name, "%s ",
				    plugin_name(option->by,
						plugin_u8(attribute)));
		return;
	case PLUGIN_PRESENT:
		print_color_bool(PRINT_JSON, COLOR_NONE, option->name, NULL, true);
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", option->name);
		return;
	case PLUGIN_OTHER:
		own->show(option->name, attribute);
		return;
	case PLUGIN_RATE:
		plugin_show_rate(option, attribute);
		return;
	case PLUGIN_SIGNED:
		snprintf(format, sizeof(format), "%s %%d ", option->name);
		print_color_int(PRINT_ANY, COLOR_NONE, option->name, format,
				(int)plugin_u32(attribute));
		return;
	case PLUGIN_FLAG:
		snprintf(key, sizeof(key), "no%s", option->name);
		plugin_print_bool(option->name, option->name, key,
				  plugin_u8(attribute));
		return;
	case PLUGIN_TIME:
	case PLUGIN_TIME_OR_NEVER:
	case PLUGIN_DURATION:
		plugin_show_time(option, attribute);
		return;
	case PLUGIN_SHARE:
		snprintf(format, sizeof(format), "%s %%.6g ", option->name);
		print_color_float(PRINT_ANY, COLOR_NONE, option->name, format,
				  plugin_u32(attribute) / PLUGIN_ONE);
		return;
	default:
		snprintf(key, sizeof(key), "%s%s", option->name, suffix);
		snprintf(format, sizeof(format), "%s %%u%s ", option->name, unit);
		plugin_print_uint(key, format, plugin_u32(attribute));
	}
}

/* Prints the options of which there are attributes, up to @max, in @nest. */
static inline int plugin_print_options(const struct plugin_option *options,
				       int max, struct rtattr *nest)
{
	struct rtattr *tb[PLUGIN_ATTRIBUTES] = { 0 };

	if (!nest)
		return 0;
	plugin_parse(tb, max, nest);
	for (; options->name; options++)
		plugin_show(options, tb);
	return 0;
}

/* Copies statistics of a kernel that may have fewer or more of them. */
static inline bool plugin_xstats(void *stats, size_t size,
				 const struct rtattr *xstats)
{
	size_t len;

	if (!xstats)
		return false;
	len = RTA_PAYLOAD(xstats);
	memcpy(stats, RTA_DATA(xstats), len < size ? len : size);
	return true;
}

#endif
