// SPDX-License-Identifier: GPL-2.0
/* Options and statistics of sch_run2c for tc. */
#include "../uapi/pkt_sch_mayfly.h"
#include "plugin_options.h"

static const struct plugin_word counts[] = {
	{ "bytes", TC_LAS_BYTES },
	{ "acked", TC_LAS_ACKED },
	{ 0 }
};

static const struct plugin_option options[] = {
	{ "limit", PLUGIN_LIMIT, TCA_RUN2C_LIMIT, NULL },
	{ "count", PLUGIN_WORD, TCA_RUN2C_COUNT, counts },
	{ "threshold", PLUGIN_SIZE, TCA_RUN2C_THRESHOLD, NULL },
	{ "visit", PLUGIN_TIME, TCA_RUN2C_VISIT, NULL },
	{ "timeout", PLUGIN_TIME, TCA_RUN2C_TIMEOUT, NULL },
	{ "flows", PLUGIN_FLOWS, TCA_RUN2C_FLOWS, NULL },
	{ "split", PLUGIN_FLAG, TCA_RUN2C_SPLIT, NULL },
	{ 0 }
};

static int parse(const struct qdisc_util *util, int argc, char **argv,
		 struct nlmsghdr *message, const char *device)
{
	bool help = false;
	int err = plugin_parse_options("run2c", options, argc, argv, message, &help);

	if (help)
		fputs("Usage: ... run2c [ limit PACKETS|SIZE ] [ count bytes|acked ]\n"
		      "                 [ threshold SIZE ] [ visit TIME ] [ timeout TIME ]\n"
		      "                 [ flows NUMBER ] [ split | nosplit ]\n"
		      "limit      most that waits: 300 or 300p packets, 450kb bytes; 1 to 1048576\n"
		      "           packets; default 300p\n"
		      "count      what a flow has moved is measured in: bytes, or bytes of both\n"
		      "           directions with those that acknowledgements tell of; default bytes\n"
		      "threshold  bytes that go first of every flow; default 30000b\n"
		      "visit      time between looks for idle flows, 1ms to 1000000s; default 5s\n"
		      "timeout    idle time after which a flow is forgotten, 1ms to 1000000s;\n"
		      "           default 30s\n"
		      "flows      flows known at a time, up to 1048576, at least as many as packets;\n"
		      "           default 16384\n"
		      "split      super-packets (GSO) into packets of the wire; default split\n",
		      stderr);
	return err;
}

static int print(const struct qdisc_util *util, FILE *file, struct rtattr *nest)
{
	return plugin_print_options(options, TCA_RUN2C_MAX, nest);
}

static int print_xstats(const struct qdisc_util *util, FILE *file,
			struct rtattr *xstats)
{
	struct tc_run2c_xstats stats = { 0 };

	if (!plugin_xstats(&stats, sizeof(stats), xstats))
		return 0;
	plugin_print_uint("high_pkts", " high %up", stats.high_pkts);
	plugin_print_uint("low_pkts", " low %up", stats.low_pkts);
	plugin_print_uint("flows", " flows %u", stats.flows);
	plugin_print_uint("flows_max", " max %u", stats.flows_max);
	plugin_print_u64("evicted", " evicted %llu", stats.evicted);
	plugin_print_u64("pushed_out", " pushed_out %llu", stats.pushed_out);
	return 0;
}

struct qdisc_util run2c_qdisc_util = {
	.id = "run2c",
	.parse_qopt = parse,
	.print_qopt = print,
	.print_xstats = print_xstats,
};
