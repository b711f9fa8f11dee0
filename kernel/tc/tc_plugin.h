/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a plug-in of tc uses of tc: iproute2 installs no header. As in iproute2
 * 6.1 to 6.15, include/utils.h, include/json_print.h, tc/tc_util.h.
 */
#ifndef MAYFLY_TC_PLUGIN_H
#define MAYFLY_TC_PLUGIN_H

#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLUGIN_MESSAGE_SIZE 1024

struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	int (*parse_qopt)(const struct qdisc_util *util, int argc, char **argv,
			  struct nlmsghdr *message, const char *device);
	int (*print_qopt)(const struct qdisc_util *util, FILE *file,
			  struct rtattr *options);
	int (*print_xstats)(const struct qdisc_util *util, FILE *file,
			    struct rtattr *xstats);
	int (*parse_copt)(const struct qdisc_util *util, int argc, char **argv,
			  struct nlmsghdr *message, const char *device);
	int (*print_copt)(const struct qdisc_util *util, FILE *file,
			  struct rtattr *options);
	int (*has_block)(const struct qdisc_util *util, struct rtattr *options,
			 __u32 block, __u32 direction, bool *result);
};

enum output_type { PRINT_FP = 1, PRINT_JSON = 2, PRINT_ANY = 4 };
enum color_attr {
	COLOR_IFNAME, COLOR_MAC, COLOR_INET, COLOR_INET6, COLOR_OPERSTATE_UP,
	COLOR_OPERSTATE_DOWN, COLOR_NONE
};

int addattr_l(struct nlmsghdr *message, int size, int type, const void *data,
	      int len);
int addattr8(struct nlmsghdr *message, int size, int type, __u8 data);
int addattr32(struct nlmsghdr *message, int size, int type, __u32 data);
int addattr64(struct nlmsghdr *message, int size, int type, __u64 data);
struct rtattr *addattr_nest(struct nlmsghdr *message, int size, int type);
int addattr_nest_end(struct nlmsghdr *message, struct rtattr *nest);
int parse_rtattr_flags(struct rtattr *tb[], int max, struct rtattr *first,
		       int len, unsigned short flags);
int get_u32(__u32 *value, const char *text, int base);
int get_size(unsigned int *size, const char *text);
int get_rate64(__u64 *rate, const char *text);
int get_time64(__s64 *time, const char *text);
bool is_json_context(void);
extern int show_details;
int print_color_float(enum output_type type, enum color_attr color,
		      const char *key, const char *format, double value);
int print_color_int(enum output_type type, enum color_attr color,
		    const char *key, const char *format, int value);
void tc_print_rate(enum output_type type, const char *key, const char *format,
		   unsigned long long rate);
void open_json_array(enum output_type type, const char *key);
void close_json_array(enum output_type type, const char *key);
void open_json_object(const char *key);
void close_json_object(void);
int print_color_uint(enum output_type type, enum color_attr color,
		     const char *key, const char *format, unsigned int value);
int print_color_u64(enum output_type type, enum color_attr color,
		    const char *key, const char *format, __u64 value);
int print_color_s64(enum output_type type, enum color_attr color,
		    const char *key, const char *format, __s64 value);
int print_color_string(enum output_type type, enum color_attr color,
		       const char *key, const char *format, const char *value);
int print_color_bool(enum output_type type, enum color_attr color,
		     const char *key, const char *format, bool value);

/* A word and the number it stands for. */
struct plugin_word {
	const char *word;
	__u8 number;
};

/* "who: what", and how it goes; the value of parse_qopt(). */
#define plugin_fail(who, ...) \
	(fprintf(stderr, "%s: ", who), fprintf(stderr, __VA_ARGS__), \
	 fputc('\n', stderr), -1)

static inline struct rtattr *plugin_begin(struct nlmsghdr *message)
{
	return addattr_nest(message, PLUGIN_MESSAGE_SIZE,
			    TCA_OPTIONS | NLA_F_NESTED);
}

static inline void plugin_parse(struct rtattr **tb, int max,
				struct rtattr *nest)
{
	parse_rtattr_flags(tb, max, RTA_DATA(nest), RTA_PAYLOAD(nest),
			   NLA_F_NESTED);
}

static inline __u32 plugin_u32(const struct rtattr *attribute)
{
	__u32 value;

	memcpy(&value, RTA_DATA(attribute), sizeof(value));
	return value;
}

static inline __u64 plugin_read_u64(const struct rtattr *attribute)
{
	__u64 value;

	memcpy(&value, RTA_DATA(attribute), sizeof(value));
	return value;
}

static inline __u8 plugin_u8(const struct rtattr *attribute)
{
	return *(const __u8 *)RTA_DATA(attribute);
}

/* Packets, as 300 or 300p; from @least to @most. */
static inline int plugin_pkts(const char *who, const char *name,
			      const char *text, __u32 least, __u32 most,
			      __u32 *pkts)
{
	unsigned long value;
	char *unit;

	value = strtoul(text, &unit, 10);
	if (unit == text || *text == '-' || (*unit && strcmp(unit, "p")) ||
	    value < least || value > most)
		return plugin_fail(who, "%s: %u to %u packets, not %s", name,
				   least, most, text);
	*pkts = value;
	return 0;
}

/* Bytes, as 450kb; above 0. */
static inline int plugin_bytes(const char *who, const char *name,
			       const char *text, __u32 *bytes)
{
	if (*text == '-' || get_size(bytes, text) || !*bytes)
		return plugin_fail(who, "%s: above 0 bytes, as 30000b or 30kb, not %s",
				   name, text);
	return 0;
}

/* Whether a size is one of packets: a number alone or with p. */
static inline bool plugin_is_pkts(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits && (!text[digits] || !strcmp(text + digits, "p"));
}

/* The number of a word of @words, which end with a NULL. */
static inline int plugin_word(const char *who, const char *name,
			      const char *text, const struct plugin_word *words,
			      __u8 *number)
{
	const struct plugin_word *word;

	for (word = words; word->word; word++) {
		if (!strcmp(text, word->word)) {
			*number = word->number;
			return 0;
		}
	}
	fprintf(stderr, "%s: %s: ", who, name);
	for (word = words; word->word; word++)
		fprintf(stderr, "%s%s", word == words ? "" : " or ", word->word);
	fprintf(stderr, ", not %s\n", text);
	return -1;
}

static inline const char *plugin_name(const struct plugin_word *words,
				      __u8 number)
{
	while (words->word && words->number != number)
		words++;
	return words->word ? words->word : "?";
}

static inline void plugin_print_uint(const char *key, const char *format,
				     unsigned int value)
{
	print_color_uint(PRINT_ANY, COLOR_NONE, key, format, value);
}

static inline void plugin_print_u64(const char *key, const char *format,
				    __u64 value)
{
	print_color_u64(PRINT_ANY, COLOR_NONE, key, format, value);
}

static inline void plugin_print_string(const char *key, const char *format,
				       const char *value)
{
	print_color_string(PRINT_ANY, COLOR_NONE, key, format, value);
}

/* In text a word or nothing, in JSON true or false. */
static inline void plugin_print_bool_key(const char *key, const char *yes,
					 bool value)
{
	print_color_bool(PRINT_JSON, COLOR_NONE, key, NULL, value);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s", value ? yes : "");
}

/* In text a word or its opposite, in JSON true or false. */
static inline void plugin_print_bool(const char *key, const char *yes,
				     const char *no, bool value)
{
	print_color_bool(PRINT_JSON, COLOR_NONE, key, NULL, value);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", value ? yes : no);
}

#endif
