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
 * @PLUGIN_LIMIT: packets or bytes; the attribute for bytes is the next one
 * @PLUGIN_FLOWS: a number, 0 too
 * @PLUGIN_SIZE: bytes
 * @PLUGIN_TIME: 1 ms to 10^6 s
 * @PLUGIN_TIME_OR_NEVER: or the word never, which is 0
 * @PLUGIN_DURATION: any time, whose bounds the kernel knows
 * @PLUGIN_NUMBER: a number, whose bounds the kernel knows
 * @PLUGIN_SHARE: 0 to 1, as a multiple of 2^-24
 * @PLUGIN_WORD: one of some words
 * @PLUGIN_FLAG: its name, or its name with "no" before it
 */
enum plugin_kind {
	PLUGIN_LIMIT, PLUGIN_FLOWS, PLUGIN_SIZE, PLUGIN_TIME,
	PLUGIN_TIME_OR_NEVER, PLUGIN_DURATION, PLUGIN_NUMBER, PLUGIN_SHARE,
	PLUGIN_WORD, PLUGIN_FLAG
};

/* An option; a table of them ends with a NULL name. */
struct plugin_option {
	const char *name;
	enum plugin_kind kind;
	int attribute;
	const struct plugin_word *words;
};

/* What the command line said; a bit of @given for each attribute. */
struct plugin_request {
	__u32 given;
	__u64 numbers[32];
};

static inline void plugin_give(struct plugin_request *request, int attribute,
			       __u64 number)
{
	request->given |= 1U << attribute;
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
	int attribute = option->attribute;
	__u32 number = 0;
	__u8 word = 0;
	__s64 ns = 0;
	int err;

	switch (option->kind) {
	case PLUGIN_LIMIT:
		request->given &= ~(3U << attribute);
		if (!plugin_is_pkts(text)) {
			attribute++;
			err = plugin_bytes(who, option->name, text, &number);
			break;
		}
		err = plugin_pkts(who, option->name, text, 1, PLUGIN_MAX_PKTS,
				  &number);
		break;
	case PLUGIN_FLOWS:
		err = plugin_pkts(who, option->name, text, 0, PLUGIN_MAX_PKTS,
				  &number);
		break;
	case PLUGIN_SIZE:
		err = plugin_bytes(who, option->name, text, &number);
		break;
	case PLUGIN_WORD:
		err = plugin_word(who, option->name, text, option->words, &word);
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
	plugin_give(request, attribute, number + word + ns);
	return err;
}

static inline const struct plugin_option *
plugin_find(const struct plugin_option *options, const char *text)
{
	while (options->name && strcmp(options->name, text) &&
	       (options->kind != PLUGIN_FLAG || strncmp(text, "no", 2) ||
		strcmp(options->name, text + 2)))
		options++;
	return options->name ? options : NULL;
}

static inline void plugin_put(const struct plugin_option *option,
			      const struct plugin_request *request,
			      struct nlmsghdr *message)
{
	int attribute = option->attribute;
	__u64 number;

	if (option->kind == PLUGIN_LIMIT && request->given & 2U << attribute)
		attribute++;
	if (!(request->given & 1U << attribute))
		return;
	number = request->numbers[attribute];
	if (option->kind == PLUGIN_WORD || option->kind == PLUGIN_FLAG)
		addattr8(message, PLUGIN_MESSAGE_SIZE, attribute, number);
	else if (plugin_is_time(option))
		addattr_l(message, PLUGIN_MESSAGE_SIZE, attribute, &number,
			  sizeof(number));
	else
		addattr32(message, PLUGIN_MESSAGE_SIZE, attribute, number);
}

/* Reads a command line and writes the attributes; tells whether help is asked. */
static inline int plugin_parse_options(const char *who,
				       const struct plugin_option *options,
				       int argc, char **argv,
				       struct nlmsghdr *message, bool *help)
{
	struct plugin_request request = { 0 };
	const struct plugin_option *option;
	struct rtattr *nest;

	for (; argc > 0; argc--, argv++) {
		*help = !strcmp(*argv, "help");
		if (*help)
			return -1;
		option = plugin_find(options, *argv);
		if (!option)
			return plugin_fail(who, "no option %s; tc qdisc add %s help",
					   *argv, who);
		if (option->kind == PLUGIN_FLAG) {
			plugin_give(&request, option->attribute,
				    !strcmp(*argv, option->name));
			continue;
		}
		if (argc < 2)
			return plugin_fail(who, "%s: without a value; tc qdisc add %s help",
					   *argv, who);
		if (plugin_read(who, option, argv[1], &request))
			return -1;
		argc--, argv++;
	}
	nest = plugin_begin(message);
	for (option = options; option->name; option++)
		plugin_put(option, &request, message);
	addattr_nest_end(message, nest);
	return 0;
}

static inline void plugin_show_time(const struct plugin_option *option,
				    const struct rtattr *attribute)
{
	char key[32], text[64] = "never";
	__u64 ns;

	memcpy(&ns, RTA_DATA(attribute), sizeof(ns));
	if (ns || option->kind == PLUGIN_DURATION)
		sprint_time64(ns, text);
	snprintf(key, sizeof(key), "%s_ns", option->name);
	print_color_u64(PRINT_JSON, COLOR_NONE, key, NULL, ns);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", option->name);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", text);
}

static inline void plugin_show(const struct plugin_option *option,
			       struct rtattr **tb)
{
	const struct rtattr *attribute = tb[option->attribute];
	char key[32], format[32];
	const char *unit = "";
	const char *suffix = "";

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
				    plugin_name(option->words,
						plugin_u8(attribute)));
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
	struct rtattr *tb[32] = { 0 };

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
