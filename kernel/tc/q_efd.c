// SPDX-License-Identifier: GPL-2.0
/* Options and statistics of sch_efd for tc. */
#include "../uapi/pkt_sch_mayfly.h"
#include "plugin_options.h"

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

static const struct plugin_option options[] = {
	MF_EFD_OPTIONS(PLUGIN_ROW, PLUGIN_ROW)
	{ 0 }
};

/* 20p is packets and 30kb bytes, whatever the order of threshold and count. */
static int parse_threshold(struct plugin_request *request, const char *text)
{
	bool counted = request->given & 1U << TCA_EFD_COUNT;
	bool pkts = !!strchr(text, 'p');
	bool bare = plugin_is_pkts(text) && !pkts;
	bool want_pkts = request->numbers[TCA_EFD_COUNT] == TC_EFD_PACKETS;
	__u32 threshold;

	if (counted && !bare && pkts != want_pkts)
		return plugin_fail("efd", "threshold: in %s with count %s, not %s",
				   want_pkts ? "packets" : "bytes",
				   plugin_name(counts, request->numbers[TCA_EFD_COUNT]),
				   text);
	if (pkts ? plugin_pkts("efd", "threshold", text, 1, ~0U, &threshold) :
		   plugin_bytes("efd", "threshold", text, &threshold))
		return -1;
	/* A unit says what to count where nothing else does. */
	if (!counted && pkts)
		plugin_give(request, TCA_EFD_COUNT, TC_EFD_PACKETS);
	plugin_give(request, TCA_EFD_THRESHOLD, threshold);
	return 0;
}

static int parse(const struct qdisc_util *util, int argc, char **argv,
		 struct nlmsghdr *message, const char *device)
{
	struct plugin_request request = { 0 };
	const struct plugin_option *option;
	const char *threshold = NULL;

	for (; argc > 0; argc--, argv++) {
		if (!strcmp(*argv, "help")) {
			plugin_help("efd", options);
			return -1;
		}
		option = plugin_find(options, *argv);
		if (option && plugin_read_alone(option, *argv, &request))
			continue;
		if (argc < 2)
			return plugin_fail("efd", "%s: without a value; tc qdisc add efd help",
					   *argv);
		if (!option)
			return plugin_fail("efd", "no option %s; tc qdisc add efd help", *argv);
		if (option->attribute == TCA_EFD_THRESHOLD)
			threshold = argv[1];
		else if (plugin_read("efd", option, argv[1], &request))
			return -1;
		argc--, argv++;
	}
	if (threshold && parse_threshold(&request, threshold))
		return -1;
	plugin_put_options(options, &request, message);
	return 0;
}

static int print(const struct qdisc_util *util, FILE *file, struct rtattr *nest)
{
	struct rtattr *tb[PLUGIN_ATTRIBUTES] = { 0 };
	const struct plugin_option *option;
	bool pkts;

	if (!nest)
		return 0;
	plugin_parse(tb, TCA_EFD_MAX, nest);
	pkts = tb[TCA_EFD_COUNT] && plugin_u8(tb[TCA_EFD_COUNT]) == TC_EFD_PACKETS;
	for (option = options; option->name; option++) {
		if (option->attribute != TCA_EFD_THRESHOLD)
			plugin_show(option, tb);
		else if (tb[TCA_EFD_THRESHOLD])
			plugin_print_uint("threshold", pkts ? "threshold %up " : "threshold %ub ",
					  plugin_u32(tb[TCA_EFD_THRESHOLD]));
	}
	return 0;
}

static int print_xstats(const struct qdisc_util *util, FILE *file,
			struct rtattr *xstats)
{
	struct tc_efd_xstats stats = { 0 };

	if (!plugin_xstats(&stats, sizeof(stats), xstats))
		return 0;
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
	.parse_qopt = parse,
	.print_qopt = print,
	.print_xstats = print_xstats,
};
