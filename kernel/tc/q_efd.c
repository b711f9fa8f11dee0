// SPDX-License-Identifier: GPL-2.0
/* Options and statistics of sch_efd for tc. */
#include "../uapi/pkt_sch_mayfly.h"
#include "tc_plugin.h"

#define MAX_PKTS (1U << 20)

static const struct plugin_word counts[] = {
	{ "bytes", TC_EFD_BYTES },
	{ "packets", TC_EFD_PACKETS },
	{ "acked", TC_EFD_ACKED },
	{ 0 }
};

static const struct plugin_word orders[] = {
	{ "fifo", TC_EFD_FIFO },
	{ "las", TC_EFD_LAS },
	{ 0 }
};

static int usage(void)
{
	fputs("Usage: ... efd [ limit PACKETS|SIZE ] [ threshold PACKETS|SIZE ]\n"
	      "               [ count bytes|packets|acked ] [ high fifo|las ] [ low fifo|las ]\n"
	      "               [ flows NUMBER ] [ split | nosplit ]\n"
	      "limit      most that waits: 300 or 300p packets, 450kb bytes; 1 to 1048576 packets;\n"
	      "           default 300p\n"
	      "threshold  what goes first of every fragment of a flow: packets with count packets,\n"
	      "           else bytes; default 20p, 30000b\n"
	      "count      what a fragment is measured in: bytes, packets, or bytes of both\n"
	      "           directions with those that acknowledgements tell of; default bytes\n"
	      "high, low  order of a class: of arrival, or by what the flow had moved; default fifo\n"
	      "flows      most sub-flows at a time, up to 1048576, 0 for as many as packets; default 0\n"
	      "split      super-packets (GSO) into packets of the wire; default split\n",
	      stderr);
	return -1;
}

/* What the command line said; a bit of @given for each attribute. */
struct request {
	__u32 given;
	__u32 numbers[TCA_EFD_MAX + 1];
	const char *threshold;
};

static void give(struct request *request, int attribute, __u32 number)
{
	request->given |= 1U << attribute;
	request->numbers[attribute] = number;
}

static int parse_limit(struct request *request, const char *text)
{
	bool pkts = plugin_is_pkts(text);
	__u32 limit;

	if (pkts ? plugin_pkts("efd", "limit", text, 1, MAX_PKTS, &limit) :
		   plugin_bytes("efd", "limit", text, &limit))
		return -1;
	request->given &= ~(1U << TCA_EFD_LIMIT | 1U << TCA_EFD_LIMIT_BYTES);
	give(request, pkts ? TCA_EFD_LIMIT : TCA_EFD_LIMIT_BYTES, limit);
	return 0;
}

/* 20p is packets and 30kb bytes, whatever the order of threshold and count. */
static int parse_threshold(struct request *request)
{
	bool counted = request->given & 1U << TCA_EFD_COUNT;
	bool pkts = !!strchr(request->threshold, 'p');
	bool bare = plugin_is_pkts(request->threshold) && !pkts;
	bool want_pkts = request->numbers[TCA_EFD_COUNT] == TC_EFD_PACKETS;
	__u32 threshold;

	if (counted && !bare && pkts != want_pkts)
		return plugin_fail("efd", "threshold: in %s with count %s, not %s",
				   want_pkts ? "packets" : "bytes",
				   plugin_name(counts, request->numbers[TCA_EFD_COUNT]),
				   request->threshold);
	if (pkts ? plugin_pkts("efd", "threshold", request->threshold, 1, ~0U, &threshold) :
		   plugin_bytes("efd", "threshold", request->threshold, &threshold))
		return -1;
	/* A unit says what to count where nothing else does. */
	if (!counted && pkts)
		give(request, TCA_EFD_COUNT, TC_EFD_PACKETS);
	give(request, TCA_EFD_THRESHOLD, threshold);
	return 0;
}

static int parse_word(struct request *request, const char *name,
		      const char *text, int attribute,
		      const struct plugin_word *words)
{
	__u8 number;

	if (plugin_word("efd", name, text, words, &number))
		return -1;
	give(request, attribute, number);
	return 0;
}

/* An option with a value. */
static int parse_value(struct request *request, const char *name,
		       const char *text)
{
	__u32 flows;

	if (!strcmp(name, "limit"))
		return parse_limit(request, text);
	if (!strcmp(name, "count"))
		return parse_word(request, name, text, TCA_EFD_COUNT, counts);
	if (!strcmp(name, "high"))
		return parse_word(request, name, text, TCA_EFD_HIGH, orders);
	if (!strcmp(name, "low"))
		return parse_word(request, name, text, TCA_EFD_LOW, orders);
	if (!strcmp(name, "threshold")) {
		request->threshold = text;
		return 0;
	}
	if (strcmp(name, "flows"))
		return plugin_fail("efd", "no option %s; tc qdisc add efd help", name);
	if (plugin_pkts("efd", name, text, 0, MAX_PKTS, &flows))
		return -1;
	give(request, TCA_EFD_FLOWS, flows);
	return 0;
}

static void put(const struct request *request, struct nlmsghdr *message)
{
	struct rtattr *nest = plugin_begin(message);
	int attribute;

	for (attribute = 1; attribute <= TCA_EFD_MAX; attribute++) {
		if (!(request->given & 1U << attribute))
			continue;
		if (attribute == TCA_EFD_COUNT || attribute == TCA_EFD_HIGH ||
		    attribute == TCA_EFD_LOW || attribute == TCA_EFD_SPLIT)
			addattr8(message, PLUGIN_MESSAGE_SIZE, attribute,
				 request->numbers[attribute]);
		else
			addattr32(message, PLUGIN_MESSAGE_SIZE, attribute,
				  request->numbers[attribute]);
	}
	addattr_nest_end(message, nest);
}

static int parse_options(const struct qdisc_util *util, int argc, char **argv,
			 struct nlmsghdr *message, const char *device)
{
	struct request request = { 0 };

	for (; argc > 0; argc--, argv++) {
		if (!strcmp(*argv, "help"))
			return usage();
		if (!strcmp(*argv, "split") || !strcmp(*argv, "nosplit")) {
			give(&request, TCA_EFD_SPLIT, **argv == 's');
			continue;
		}
		if (argc < 2)
			return plugin_fail("efd", "%s: without a value; tc qdisc add efd help",
					   *argv);
		if (parse_value(&request, argv[0], argv[1]))
			return -1;
		argc--, argv++;
	}
	if (request.threshold && parse_threshold(&request))
		return -1;
	put(&request, message);
	return 0;
}

static int print_options(const struct qdisc_util *util, FILE *file,
			 struct rtattr *options)
{
	struct rtattr *tb[TCA_EFD_MAX + 1] = { 0 };
	__u8 count = TC_EFD_BYTES;

	if (!options)
		return 0;
	plugin_parse(tb, TCA_EFD_MAX, options);
	if (tb[TCA_EFD_LIMIT])
		plugin_print_uint("limit", "limit %up ", plugin_u32(tb[TCA_EFD_LIMIT]));
	if (tb[TCA_EFD_LIMIT_BYTES])
		plugin_print_uint("limit_bytes", "limit %ub ",
				  plugin_u32(tb[TCA_EFD_LIMIT_BYTES]));
	if (tb[TCA_EFD_COUNT]) {
		count = plugin_u8(tb[TCA_EFD_COUNT]);
		plugin_print_string("count", "count %s ", plugin_name(counts, count));
	}
	if (tb[TCA_EFD_THRESHOLD])
		plugin_print_uint("threshold",
				  count == TC_EFD_PACKETS ? "threshold %up " : "threshold %ub ",
				  plugin_u32(tb[TCA_EFD_THRESHOLD]));
	if (tb[TCA_EFD_HIGH])
		plugin_print_string("high", "high %s ",
				    plugin_name(orders, plugin_u8(tb[TCA_EFD_HIGH])));
	if (tb[TCA_EFD_LOW])
		plugin_print_string("low", "low %s ",
				    plugin_name(orders, plugin_u8(tb[TCA_EFD_LOW])));
	if (tb[TCA_EFD_FLOWS])
		plugin_print_uint("flows_limit", "flows %u ", plugin_u32(tb[TCA_EFD_FLOWS]));
	if (tb[TCA_EFD_SPLIT])
		plugin_print_bool("split", "split", "nosplit", plugin_u8(tb[TCA_EFD_SPLIT]));
	return 0;
}

static int print_xstats(const struct qdisc_util *util, FILE *file,
			struct rtattr *xstats)
{
	struct tc_efd_xstats stats = { 0 };
	size_t len;

	if (!xstats)
		return 0;
	len = RTA_PAYLOAD(xstats);
	memcpy(&stats, RTA_DATA(xstats), len < sizeof(stats) ? len : sizeof(stats));
	plugin_print_uint("high_pkts", " high %up", stats.high_pkts);
	plugin_print_uint("low_pkts", " low %up", stats.low_pkts);
	plugin_print_uint("flows", " flows %u", stats.flows);
	plugin_print_uint("flows_max", " max %u", stats.flows_max);
	plugin_print_u64("fragments", " fragments %llu", stats.fragments);
	plugin_print_u64("pushed_out", " pushed_out %llu", stats.pushed_out);
	plugin_print_u64("bypassed", " bypassed %llu", stats.bypassed);
	return 0;
}

struct qdisc_util efd_qdisc_util = {
	.id = "efd",
	.parse_qopt = parse_options,
	.print_qopt = print_options,
	.print_xstats = print_xstats,
};
