// SPDX-License-Identifier: GPL-2.0
/* Options and statistics of sch_lfq for tc. */
#include <arpa/inet.h>
#include <ctype.h>
#include <strings.h>
#include <sys/socket.h>

#include "../core/waits.h"
#include "../uapi/pkt_sch_mayfly.h"
#include "plugin_options.h"

static const struct plugin_word users[] = {
	{ "pair", TC_LFQ_PAIR },
	{ "triple", TC_LFQ_TRIPLE },
	{ "dst", TC_LFQ_DST },
	{ "src", TC_LFQ_SRC },
	{ "flow", TC_LFQ_FLOW },
	{ "mark", TC_LFQ_MARK },
	{ "class", TC_LFQ_CLASS },
	{ 0 }
};

static const struct plugin_word weights[] = {
	{ "equal", TC_LFQ_EQUAL },
	{ "mark", TC_LFQ_BY_MARK },
	{ "dscp", TC_LFQ_BY_DSCP },
	{ 0 }
};

static const struct plugin_word framings[] = {
	{ "noatm", TC_LFQ_NOATM },
	{ "atm", TC_LFQ_ATM },
	{ "ptm", TC_LFQ_PTM },
	{ 0 }
};

/* What links add to an IP packet, under the names that cake has for them, and as it
 * does: beside what was said before, but for the first.
 */
#define LINK(word, overhead, framing) \
	{ word, { { TCA_LFQ_OVERHEAD, overhead, true }, \
		  { TCA_LFQ_FRAMING, framing, false } } }
#define LINK_MPU(word, overhead, mpu) \
	{ word, { { TCA_LFQ_OVERHEAD, overhead, true }, \
		  { TCA_LFQ_FRAMING, TC_LFQ_NOATM, false }, \
		  { TCA_LFQ_MPU, mpu, false } } }

static const struct plugin_keyword links[] = {
	{ "conservative", { { TCA_LFQ_OVERHEAD, 48, false },
			    { TCA_LFQ_FRAMING, TC_LFQ_ATM, false } } },
	LINK("ipoa-vcmux", 8, TC_LFQ_ATM),
	LINK("ipoa-llcsnap", 16, TC_LFQ_ATM),
	LINK("bridged-vcmux", 24, TC_LFQ_ATM),
	LINK("bridged-llcsnap", 32, TC_LFQ_ATM),
	LINK("pppoa-vcmux", 10, TC_LFQ_ATM),
	LINK("pppoa-llc", 14, TC_LFQ_ATM),
	LINK("pppoe-vcmux", 32, TC_LFQ_ATM),
	LINK("pppoe-llcsnap", 40, TC_LFQ_ATM),
	LINK("pppoe-ptm", 30, TC_LFQ_PTM),
	LINK("bridged-ptm", 22, TC_LFQ_PTM),
	LINK_MPU("docsis", 18, 64),
	LINK_MPU("ethernet", 38, 84),
	{ "ether-vlan", { { TCA_LFQ_OVERHEAD, 4, true } } },
	{ "egress", { { TCA_LFQ_INGRESS, 0, false } } },
	{ 0 }
};

#define DSCPS 64
#define WEIGHT_MAX 1000

static const struct {
	const char *name;
	__u8 code;
} code_points[] = {
	{ "CS0", 0 }, { "LE", 1 }, { "CS1", 8 }, { "AF11", 10 }, { "AF12", 12 },
	{ "AF13", 14 }, { "CS2", 16 }, { "AF21", 18 }, { "AF22", 20 },
	{ "AF23", 22 }, { "CS3", 24 }, { "AF31", 26 }, { "AF32", 28 },
	{ "AF33", 30 }, { "CS4", 32 }, { "AF41", 34 }, { "AF42", 36 },
	{ "AF43", 38 }, { "CS5", 40 }, { "VA", 44 }, { "EF", 46 }, { "CS6", 48 },
	{ "CS7", 56 },
};

#define CODE_POINTS (sizeof(code_points) / sizeof(*code_points))

static __u16 dscp_weights[DSCPS];

/* The number of a code point, or -1. */
static int code_point(const char *text)
{
	char *end;
	long code;
	size_t at;

	for (at = 0; at < CODE_POINTS; at++)
		if (!strcasecmp(code_points[at].name, text))
			return code_points[at].code;
	code = strtol(text, &end, 0);
	return end == text || *end || code < 0 || code >= DSCPS ? -1 : code;
}

/* As EF=4,CS1=1,0x2d=2; the others weigh one. */
static int read_dscp(const char *who, const char *name, const char *text)
{
	char copy[1024], *rest = copy, *word, *weight, *end;
	long number;
	int code;

	for (code = 0; code < DSCPS; code++)
		dscp_weights[code] = 1;
	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return plugin_fail(who, "%s: up to 1023 characters", name);
	while ((word = strsep(&rest, ","))) {
		weight = strchr(word, '=');
		if (weight)
			*weight++ = 0;
		code = code_point(word);
		number = weight ? strtol(weight, &end, 10) : 0;
		if (code < 0 || !weight || end == weight || *end || number < 1 ||
		    number > WEIGHT_MAX)
			return plugin_fail(who,
					   "%s: as EF=4,CS1=1, code points and weights of 1 to %d, not %s",
					   name, WEIGHT_MAX, text);
		dscp_weights[code] = number;
	}
	return 0;
}

static void put_dscp(struct nlmsghdr *message, int attribute)
{
	addattr_l(message, PLUGIN_MESSAGE_SIZE, attribute, dscp_weights,
		  sizeof(dscp_weights));
}

static void show_dscp(const char *name, const struct rtattr *attribute)
{
	const __u16 *shown = RTA_DATA(attribute);
	char text[1024] = "", code_name[8];
	size_t at, len = 0;
	int code;

	if (RTA_PAYLOAD(attribute) < sizeof(dscp_weights))
		return;
	for (code = 0; code < DSCPS; code++) {
		if (shown[code] == 1)
			continue;
		snprintf(code_name, sizeof(code_name), "%d", code);
		for (at = 0; at < CODE_POINTS; at++)
			if (code_points[at].code == code)
				snprintf(code_name, sizeof(code_name), "%s",
					 code_points[at].name);
		len += snprintf(text + len, sizeof(text) - len, "%s%s=%u",
				len ? "," : "", code_name, shown[code]);
	}
	if (!len)
		snprintf(text, sizeof(text), "CS0=1");
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", name);
	print_color_string(PRINT_ANY, COLOR_NONE, name, "%s ", text);
}

static const struct plugin_own dscp = { read_dscp, put_dscp, show_dscp };

static const struct plugin_option options[] = {
	MF_LFQ_OPTIONS(PLUGIN_ROW, PLUGIN_ROW)
	{ "", PLUGIN_KEYWORD, .by = links },
	{ 0 }
};

static int parse(const struct qdisc_util *util, int argc, char **argv,
		 struct nlmsghdr *message, const char *device)
{
	return plugin_parse_options("lfq", options, argc, argv, message);
}

static int print(const struct qdisc_util *util, FILE *file, struct rtattr *nest)
{
	return plugin_print_options(options, TCA_LFQ_MAX, nest);
}

/* The least wait, us, that goes to a counter. */
static __u64 waits_from_us(int counter)
{
	return mf_waits_from_ns(counter) / 1000;
}

static void print_waits(const struct rtattr *attribute)
{
	const char *bytes = RTA_DATA(attribute);
	int counter, len = RTA_PAYLOAD(attribute) / sizeof(__u64);
	__u64 packets;

	if (!is_json_context())
		return;
	open_json_array(PRINT_JSON, "waits");
	for (counter = 0; counter < len && counter < TC_LFQ_WAITS; counter++) {
		memcpy(&packets, bytes + counter * sizeof(packets), sizeof(packets));
		open_json_object(NULL);
		plugin_print_u64("from_us", NULL, waits_from_us(counter));
		if (counter < TC_LFQ_WAITS - 1)
			plugin_print_u64("below_us", NULL, waits_from_us(counter + 1));
		plugin_print_u64("packets", NULL, packets);
		close_json_object();
	}
	close_json_array(PRINT_JSON, NULL);
}

/* The address of one end of a user, or what stands for it, with a port if @port. */
static void end_name(const struct tc_lfq_user_stats *user, const __u8 *address,
		     __u16 port, char *text, size_t size)
{
	size_t len;

	if (!user->family) {
		snprintf(text, size, "other");
		return;
	}
	if (!inet_ntop(user->family, address, text, size))
		snprintf(text, size, "other");
	len = strlen(text);
	if (port)
		snprintf(text + len, size - len, "%c%u",
			 user->family == AF_INET6 ? '#' : ':', port);
}

static void user_name(const struct tc_lfq_user_stats *user, int by, char *text,
		      size_t size)
{
	bool ports = by == TC_LFQ_FLOW;
	char from[64], to[64];

	end_name(user, user->from, ports ? user->source : 0, from, sizeof(from));
	end_name(user, user->to, ports ? user->destination : 0, to, sizeof(to));
	if (user->what == TC_LFQ_NEWCOMERS)
		snprintf(text, size, "newcomers");
	else if (by == TC_LFQ_MARK || by == TC_LFQ_CLASS)
		snprintf(text, size, "%s %u",
			 by == TC_LFQ_MARK ? "mark" : "class", user->mark);
	else if (by == TC_LFQ_SRC)
		snprintf(text, size, "%s", from);
	else if (by == TC_LFQ_DST)
		snprintf(text, size, "%s", to);
	else
		snprintf(text, size, "%s %s", from, to);
}

static void print_user(const struct rtattr *attribute)
{
	struct tc_lfq_user_stats user = { 0 };
	char name[140];

	if (!plugin_xstats(&user, sizeof(user), attribute))
		return;
	user_name(&user, user.by, name, sizeof(name));
	open_json_object(NULL);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "\n  %s:", "user");
	plugin_print_string("user", " %s", name);
	plugin_print_u64("bytes", " %llu bytes", user.bytes);
	plugin_print_u64("packets", " %llu packets", user.packets);
	plugin_print_u64("drops", " drops %llu", user.drops);
	plugin_print_u64("marks", " marks %llu", user.marks);
	plugin_print_uint("backlog", " backlog %ub", user.backlog);
	plugin_print_uint("flows", " flows %u", user.flows);
	plugin_print_uint("wait_p50_us", " wait p50 %uus", user.wait_p50_us);
	plugin_print_uint("wait_p95_us", " p95 %uus", user.wait_p95_us);
	print_color_s64(PRINT_ANY, COLOR_NONE, "credit", " credit %lldb", user.credit);
	plugin_print_bool_key("shared", " shared", user.what == TC_LFQ_SHARED);
	close_json_object();
}

static void print_total(const struct rtattr *attribute)
{
	struct tc_lfq_xstats stats = { 0 };

	if (!plugin_xstats(&stats, sizeof(stats), attribute))
		return;
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
	plugin_print_uint("table_used", "\n table %u", stats.table_used);
	plugin_print_uint("table_users", " of %u users", stats.table_users);
	plugin_print_uint("memory_used", " memory_used %ub", stats.memory);
	plugin_print_uint("wait_p50_us", " wait p50 %uus", stats.wait_p50_us);
	plugin_print_uint("wait_p95_us", " p95 %uus", stats.wait_p95_us);
}

/* Attributes in @xstats one by one: there are several of one type. */
static int print_xstats(const struct qdisc_util *util, FILE *file,
			struct rtattr *xstats)
{
	struct rtattr *attribute;
	bool users = false;
	int len;

	if (!xstats)
		return 0;
	len = RTA_PAYLOAD(xstats);
	for (attribute = RTA_DATA(xstats); RTA_OK(attribute, len);
	     attribute = RTA_NEXT(attribute, len)) {
		switch (attribute->rta_type & ~NLA_F_NESTED) {
		case TCA_LFQ_STATS_TOTAL:
			print_total(attribute);
			break;
		case TCA_LFQ_STATS_WAITS:
			print_waits(attribute);
			break;
		case TCA_LFQ_STATS_USER:
			if (!users)
				open_json_array(PRINT_JSON, "top");
			users = true;
			print_user(attribute);
			break;
		}
	}
	if (users)
		close_json_array(PRINT_JSON, NULL);
	return 0;
}

struct qdisc_util lfq_qdisc_util = {
	.id = "lfq",
	.parse_qopt = parse,
	.print_qopt = print,
	.print_xstats = print_xstats,
};
