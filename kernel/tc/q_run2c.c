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
	MF_RUN2C_OPTIONS(PLUGIN_ROW, PLUGIN_ROW)
	{ 0 }
};

static int parse(const struct qdisc_util *util, int argc, char **argv,
		 struct nlmsghdr *message, const char *device)
{
	return plugin_parse_options("run2c", options, argc, argv, message);
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
