// SPDX-License-Identifier: GPL-2.0
/* Options and statistics of sch_estmred for tc. */
#include <math.h>

#include "../uapi/pkt_sch_mayfly.h"
#include "plugin_options.h"

#define MAX_PKTS (1U << 20)
#define SECOND 1000000000ULL

static const struct plugin_word methods[] = {
	{ "default", TC_ESTMRED_DEFAULT },
	{ "response", TC_ESTMRED_RESPONSE },
	{ "basic", TC_ESTMRED_BASIC },
	{ "p0", TC_ESTMRED_P0 },
	{ "loss", TC_ESTMRED_LOSS },
	{ "multihop", TC_ESTMRED_MULTIHOP },
	{ "cbr", TC_ESTMRED_CBR },
	{ 0 }
};

static const struct plugin_word doubts[] = {
	{ "sure", TC_ESTMRED_SURE },
	{ "no-arrivals", TC_ESTMRED_NO_ARRIVALS },
	{ "never-dropped", TC_ESTMRED_NEVER_DROPPED },
	{ "no-drops", TC_ESTMRED_NO_DROPS },
	{ "start", TC_ESTMRED_START },
	{ "uncertain", TC_ESTMRED_UNCERTAIN },
	{ "collinear", TC_ESTMRED_COLLINEAR },
	{ "bounded", TC_ESTMRED_BOUNDED },
	{ "coarse", TC_ESTMRED_COARSE },
	{ "faulty", TC_ESTMRED_FAULTY },
	{ 0 }
};

static const struct plugin_word switches[] = { { "off", 0 }, { "on", 1 }, { 0 } };
static const struct plugin_word spacings[] = { { "uniform", 0 }, { "wait", 1 }, { 0 } };

/* How a value is written; UNIT: that of the sizes before. */
enum kind { SIZE, UNIT, WORD, COUNT, RATE, TIME, NUMBER, FLAG };

/* Of a number the bits behind the point and its bounds. */
struct range {
	unsigned int bits;
	double least;
	double most;
};

struct option {
	const char *name;
	int attribute;
	enum kind kind;
	const void *by;		/* struct plugin_word, or struct range */
	const char *usage;	/* behind the part of help */
	const char *help;
};

#define RANGE(bits, least, most) (&(const struct range){ bits, least, most })
#define MAIN(usage) "M" usage
#define RED(usage) "R" usage
#define ESTIMATOR(usage) "E" usage
#define ROW(attribute, number, name, kind, field, initial, bound, by, usage, help) \
	{ #name, attribute, kind, by, usage, help },

static const struct option options[] = {
	MF_ESTMRED_OPTIONS(ROW, ROW)
	{ NULL, 0, SIZE, NULL, NULL, NULL }
};

/* Half of rtt. */
static const struct option delay = {
	"delay", TCA_ESTMRED_RTT, TIME, RANGE(0, 5e-5, 30), NULL, NULL
};

/* Writes the usage of the options of a part, behind @head. */
static void write_part(const char *head, char part)
{
	int column = fprintf(stderr, "%s", head), indent = column + 1;
	const struct option *option;
	char text[128];

	for (option = options; option->name; option++) {
		if (!option->usage || *option->usage != part)
			continue;
		snprintf(text, sizeof(text), "[ %s ]", option->usage + 1);
		plugin_write(text, strlen(text), indent, &column);
	}
	fputc('\n', stderr);
}

static int usage(void)
{
	const struct option *option;

	write_part("Usage: ... estmred", 'M');
	write_part("RED :=", 'R');
	write_part("ESTIMATOR :=", 'E');
	for (option = options; option->name; option++)
		if (option->help)
			plugin_write_help(option->help, PLUGIN_INDENT + 2);
	return -1;
}

/* What the command line said. */
struct request {
	bool given[TCA_ESTMRED_MAX + 1];
	__u64 values[TCA_ESTMRED_MAX + 1];
};

static void give(struct request *request, int attribute, __u64 value)
{
	request->given[attribute] = true;
	request->values[attribute] = value;
}

/* The unit of limit and of thresholds is one of its own. */
static int parse_size(struct request *request, const struct option *option, const char *text)
{
	bool limit = option->attribute == TCA_ESTMRED_LIMIT;
	int unit = limit ? TCA_ESTMRED_LIMIT_BYTES : TCA_ESTMRED_BYTES;
	bool pkts = plugin_is_pkts(text);
	__u32 size;

	if (option->attribute == TCA_ESTMRED_AVPKT) {
		if (plugin_bytes("estmred", option->name, text, &size))
			return -1;
		give(request, option->attribute, size);
		return 0;
	}
	if (pkts ? plugin_pkts("estmred", option->name, text, limit, MAX_PKTS, &size) :
		   plugin_bytes("estmred", option->name, text, &size))
		return -1;
	if (!limit && request->given[unit] && request->values[unit] != !pkts)
		return plugin_fail("estmred", "%s: min and max in one unit, not %s",
				   option->name, text);
	give(request, unit, !pkts);
	give(request, option->attribute, size);
	return 0;
}

static int parse_number(struct request *request, const struct option *option, const char *text)
{
	const struct range *range = option->by;
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= range->least && value <= range->most) ||
	    (option->kind == COUNT && value != floor(value)))
		return plugin_fail("estmred", "%s: a%s number from %g to %g, not %s", option->name,
				   option->kind == COUNT ? " whole" : "", range->least,
				   range->most, text);
	/* Shares are compared: above is cut, below is filled, as where they are not scaled. */
	value = ldexp(value, range->bits);
	if (option->attribute == TCA_ESTMRED_BELOW)
		value = ceil(value);
	else if (option->attribute != TCA_ESTMRED_ABOVE)
		value = round(value);
	give(request, option->attribute, value);
	return 0;
}

static int parse_time(struct request *request, const struct option *option, const char *text)
{
	/* 0: a third of the round-trip time. */
	bool or_zero = option->attribute == TCA_ESTMRED_SAMPLING;
	const struct range *range = option->by;
	__s64 time;

	if (get_time64(&time, text) || time > range->most * SECOND ||
	    (time < range->least * SECOND && (time || !or_zero)))
		return plugin_fail("estmred", "%s: a time from %gms to %gs%s, as 50ms, not %s",
				   option->name, 1e3 * range->least, range->most,
				   or_zero ? " or 0" : "", text);
	give(request, option->attribute, time);
	return 0;
}

static int parse_value(struct request *request, const char *name, const char *text)
{
	const struct option *option = options;
	const struct range *range;
	__u64 rate;
	__u8 word;

	if (!strcmp(name, "delay")) {
		if (parse_time(request, &delay, text))
			return -1;
		request->values[TCA_ESTMRED_RTT] *= 2;
		return 0;
	}
	while (option->name && (option->kind == UNIT || option->kind == FLAG ||
				strcmp(option->name, name)))
		option++;
	if (!option->name)
		return plugin_fail("estmred", "no option %s; tc qdisc add estmred help", name);
	switch (option->kind) {
	case SIZE:
		return parse_size(request, option, text);
	case WORD:
		if (plugin_word("estmred", name, text, option->by, &word))
			return -1;
		give(request, option->attribute, word);
		return 0;
	case RATE:
		range = option->by;
		if (get_rate64(&rate, text) || rate > range->most)
			return plugin_fail("estmred", "%s: a rate up to 400gbit, as 10mbit, not %s",
					   name, text);
		give(request, option->attribute, rate);
		return 0;
	case TIME:
		return parse_time(request, option, text);
	default:
		return parse_number(request, option, text);
	}
}

static int parse_options(const struct qdisc_util *util, int argc, char **argv,
			 struct nlmsghdr *message, const char *device)
{
	struct request request = { 0 };
	struct rtattr *nest;
	int attribute;

	for (; argc > 0; argc--, argv++) {
		if (!strcmp(*argv, "help"))
			return usage();
		if (!strcmp(*argv, "split") || !strcmp(*argv, "nosplit")) {
			give(&request, TCA_ESTMRED_SPLIT, **argv == 's');
			continue;
		}
		if (argc < 2)
			return plugin_fail("estmred",
					   "%s: without a value; tc qdisc add estmred help", *argv);
		if (parse_value(&request, argv[0], argv[1]))
			return -1;
		argc--, argv++;
	}
	nest = plugin_begin(message);
	for (attribute = 1; attribute <= TCA_ESTMRED_MAX; attribute++)
		if (request.given[attribute])
			addattr64(message, PLUGIN_MESSAGE_SIZE, attribute,
				  request.values[attribute]);
	addattr_nest_end(message, nest);
	return 0;
}

static void print_number(const char *name, const char *format, double value)
{
	print_color_float(PRINT_JSON, COLOR_NONE, name, NULL, value);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", name);
	print_color_float(PRINT_FP, COLOR_NONE, NULL, format, value);
}

static void print_option(const struct option *option, __u64 value, bool bytes)
{
	bool named = bytes && option->attribute != TCA_ESTMRED_AVPKT;
	const struct range *range = option->by;
	char text[64], key[64];

	switch (option->kind) {
	case SIZE:
		snprintf(text, sizeof(text), "%s %%llu%s ", option->name, bytes ? "b" : "p");
		snprintf(key, sizeof(key), "%s%s", option->name, named ? "_bytes" : "");
		plugin_print_u64(key, text, value);
		break;
	case WORD:
		snprintf(text, sizeof(text), "%s %%s ", option->name);
		plugin_print_string(option->name, text, plugin_name(option->by, value));
		break;
	case RATE:
		print_color_u64(PRINT_JSON, COLOR_NONE, option->name, NULL, 8 * value);
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", option->name);
		print_color_float(PRINT_FP, COLOR_NONE, NULL, "%gMbit ", 8e-6 * value);
		break;
	case TIME:
		print_color_float(PRINT_JSON, COLOR_NONE, option->name, NULL, 1e-9 * value);
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", option->name);
		print_color_float(PRINT_FP, COLOR_NONE, NULL, "%gms ", 1e-6 * value);
		break;
	case COUNT:
		snprintf(text, sizeof(text), "%s %%llu ", option->name);
		plugin_print_u64(option->name, text, value);
		break;
	case NUMBER:
		print_number(option->name, "%.4g ", ldexp(value, -(int)range->bits));
		break;
	case UNIT:
	case FLAG:
		break;
	}
}

static int print_options(const struct qdisc_util *util, FILE *file, struct rtattr *nest)
{
	struct rtattr *tb[TCA_ESTMRED_MAX + 1] = { 0 };
	__u64 values[TCA_ESTMRED_MAX + 1] = { 0 };
	const struct option *option;
	int attribute, shown = 0;

	if (!nest)
		return 0;
	plugin_parse(tb, TCA_ESTMRED_MAX, nest);
	for (attribute = 1; attribute <= TCA_ESTMRED_MAX; attribute++)
		if (tb[attribute])
			memcpy(&values[attribute], RTA_DATA(tb[attribute]), sizeof(values[0]));
	for (option = options; option->kind != FLAG; option++) {
		bool bytes = option->attribute == TCA_ESTMRED_AVPKT ||
			     values[option->attribute == TCA_ESTMRED_LIMIT ?
				    TCA_ESTMRED_LIMIT_BYTES : TCA_ESTMRED_BYTES];

		/* The first eight are all that Zhao 2004, Fig. 19 has. */
		if (option->kind != UNIT && shown++ == 8 && !show_details && !is_json_context())
			break;
		if (tb[option->attribute])
			print_option(option, values[option->attribute], bytes);
	}
	if (tb[TCA_ESTMRED_SPLIT])
		plugin_print_bool("split", "split", "nosplit", values[TCA_ESTMRED_SPLIT]);
	return 0;
}

static int print_xstats(const struct qdisc_util *util, FILE *file, struct rtattr *xstats)
{
	struct tc_estmred_xstats stats = { 0 };
	size_t len;

	if (!xstats)
		return 0;
	len = RTA_PAYLOAD(xstats);
	memcpy(&stats, RTA_DATA(xstats), len < sizeof(stats) ? len : sizeof(stats));
	plugin_print_u64("marked", " marked %llu", stats.marked);
	plugin_print_u64("early", " early %llu", stats.early);
	plugin_print_u64("pdrop", " pdrop %llu", stats.pdrop);
	plugin_print_u64("other", " other %llu", stats.other);
	print_color_float(PRINT_ANY, COLOR_NONE, "average", " average %.1f",
			  ldexp(stats.average, -20));
	if (!stats.estimates)
		return 0;
	/* As in Zhao 2004, Fig. 19, and what it stands for. */
	plugin_print_uint("estm", " estm %u", stats.estm);
	print_color_float(PRINT_ANY, COLOR_NONE, "share", " = %.3f", ldexp(stats.estm, -14));
	plugin_print_string("doubt", " %s", plugin_name(doubts, stats.doubt));
	print_color_float(PRINT_ANY, COLOR_NONE, "responsive_flows", " flows %.1f",
			  ldexp(stats.flows, -14));
	plugin_print_u64("estimates", " estimates %llu", stats.estimates);
	print_color_bool(PRINT_JSON, COLOR_NONE, "tail", NULL, stats.tail);
	if (stats.tail)
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s", " tail");
	return 0;
}

struct qdisc_util estmred_qdisc_util = {
	.id = "estmred",
	.parse_qopt = parse_options,
	.print_qopt = print_options,
	.print_xstats = print_xstats,
};
