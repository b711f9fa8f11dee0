// SPDX-License-Identifier: GPL-2.0
/* Options and statistics of sch_lfq for tc. */
#include "../uapi/pkt_sch_mayfly.h"
#include "plugin_options.h"

static const struct plugin_word users[] = {
	{ "pair", TC_LFQ_PAIR },
	{ "triple", TC_LFQ_TRIPLE },
	{ "dst", TC_LFQ_DST },
	{ "src", TC_LFQ_SRC },
	{ "flow", TC_LFQ_FLOW },
	{ "mark", TC_LFQ_MARK },
	{ 0 }
};

static const struct plugin_word weights[] = {
	{ "equal", TC_LFQ_EQUAL },
	{ "mark", TC_LFQ_BY_MARK },
	{ 0 }
};

static const struct plugin_option options[] = {
	{ "limit", PLUGIN_LIMIT, TCA_LFQ_LIMIT, NULL },
	{ "user", PLUGIN_WORD, TCA_LFQ_USER, users },
	{ "weights", PLUGIN_WORD, TCA_LFQ_WEIGHTS, weights },
	{ "prefix", PLUGIN_NUMBER, TCA_LFQ_PREFIX, NULL },
	{ "prefix6", PLUGIN_NUMBER, TCA_LFQ_PREFIX6, NULL },
	{ "user_lag", PLUGIN_SIZE, TCA_LFQ_USER_LAG, NULL },
	{ "flow_lag", PLUGIN_SIZE, TCA_LFQ_FLOW_LAG, NULL },
	{ "debt", PLUGIN_SIZE, TCA_LFQ_DEBT, NULL },
	{ "pace", PLUGIN_SHARE, TCA_LFQ_PACE, NULL },
	{ "probation", PLUGIN_DURATION, TCA_LFQ_PROBATION, NULL },
	{ "flows", PLUGIN_FLOWS, TCA_LFQ_FLOWS, NULL },
	{ "users", PLUGIN_FLOWS, TCA_LFQ_USERS, NULL },
	{ "lag_time", PLUGIN_DURATION, TCA_LFQ_LAG_TIME, NULL },
	{ "patience", PLUGIN_DURATION, TCA_LFQ_PATIENCE, NULL },
	{ "target", PLUGIN_DURATION, TCA_LFQ_TARGET, NULL },
	{ "interval", PLUGIN_DURATION, TCA_LFQ_INTERVAL, NULL },
	{ "mtu", PLUGIN_SIZE, TCA_LFQ_MTU, NULL },
	{ "ecn", PLUGIN_FLAG, TCA_LFQ_ECN, NULL },
	{ "step", PLUGIN_DURATION, TCA_LFQ_STEP, NULL },
	{ "split", PLUGIN_FLAG, TCA_LFQ_SPLIT, NULL },
	{ 0 }
};

static int parse(const struct qdisc_util *util, int argc, char **argv,
		 struct nlmsghdr *message, const char *device)
{
	bool help = false;
	int err = plugin_parse_options("lfq", options, argc, argv, message, &help);

	if (help)
		fputs("Usage: ... lfq [ limit PACKETS|SIZE ]\n"
		      "               [ user pair|triple|dst|src|flow|mark ]\n"
		      "               [ weights equal|mark ] [ prefix BITS ] [ prefix6 BITS ]\n"
		      "               [ user_lag SIZE ] [ flow_lag SIZE ] [ debt SIZE ] [ pace SHARE ]\n"
		      "               [ probation TIME ] [ flows NUMBER ] [ users NUMBER ]\n"
		      "               [ lag_time TIME ] [ patience TIME ] [ target TIME ]\n"
		      "               [ interval TIME ] [ mtu SIZE ] [ ecn | noecn ] [ step TIME ]\n"
		      "               [ split | nosplit ]\n"
		      "limit      most that waits: 300 or 300p packets, 450kb bytes; 1 to 1048576\n"
		      "           packets; default 10240p\n"
		      "user       what a user is: a pair of hosts, the same beside the other pairs\n"
		      "           of both, one host, a flow, a mark; default pair\n"
		      "weights    what a user weighs: the same, or its mark, 1 to 1000; default equal\n"
		      "prefix     bits of an IPv4 address that tell hosts apart; default 32\n"
		      "prefix6    the same of an IPv6 address; default 64\n"
		      "user_lag   by which a user may be behind; default 360000b\n"
		      "flow_lag   by which a flow may be behind in its user; default 120000b\n"
		      "debt       by which a user may be ahead and sparse flows go first; default 15000b\n"
		      "pace       of a clock beside service, 0 to 1; default 0.4\n"
		      "probation  until a new user has standing, if it comes again; default 100ms\n"
		      "flows      with a queue of their own, 8 to 32768; default 864\n"
		      "users      that are remembered, 8 to 16384; default 144\n"
		      "lag_time   what the link sends in it bounds the lags; default 500ms\n"
		      "patience   without service until a packet goes out of turn; default 50ms\n"
		      "target, interval, mtu: of CoDel; default 5ms 100ms 1b\n"
		      "ecn        mark instead of dropping; default ecn\n"
		      "step       wait beyond which packets with ECT(1) are marked; default 1ms\n"
		      "split      super-packets (GSO) into packets of the wire; default split\n",
		      stderr);
	return err;
}

static int print(const struct qdisc_util *util, FILE *file, struct rtattr *nest)
{
	return plugin_print_options(options, TCA_LFQ_MAX, nest);
}

static int print_xstats(const struct qdisc_util *util, FILE *file,
			struct rtattr *xstats)
{
	struct tc_lfq_xstats stats = { 0 };

	if (!plugin_xstats(&stats, sizeof(stats), xstats))
		return 0;
	plugin_print_uint("users", " users %u", stats.users);
	plugin_print_uint("flows", " flows %u", stats.flows);
	plugin_print_uint("newcomers", " newcomers %u", stats.newcomers);
	print_color_float(PRINT_ANY, COLOR_NONE, "charge", " charge %.4g",
			  stats.charge / 16.0);
	plugin_print_u64("admitted", " admitted %llu", stats.admitted);
	plugin_print_u64("sharing", " sharing %llu", stats.sharing);
	plugin_print_u64("bypassed", " bypassed %llu", stats.bypassed);
	plugin_print_u64("ahead", " ahead %llu", stats.ahead);
	plugin_print_u64("fed", " fed %llu", stats.fed);
	plugin_print_u64("early", " early %llu", stats.early);
	plugin_print_u64("marked", " marked %llu", stats.marked);
	plugin_print_u64("pushed_out", " pushed_out %llu", stats.pushed_out);
	return 0;
}

struct qdisc_util lfq_qdisc_util = {
	.id = "lfq",
	.parse_qopt = parse,
	.print_qopt = print,
	.print_xstats = print_xstats,
};
