// SPDX-License-Identifier: GPL-2.0
/* Cores by name, and their options, for the programs that run them. */
#include <math.h>
#include <stdarg.h>

#include "decisions.h"

/* As registered by the files of the cores, before main() runs. */
static const struct discipline *disciplines[64];
static size_t registered;

void add_discipline(const struct discipline *discipline)
{
	if (registered == sizeof(disciplines) / sizeof(*disciplines))
		fail("no room for the discipline %s", discipline->id);
	disciplines[registered++] = discipline;
}

void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fprintf(stderr, "%s: ", program);
	vfprintf(stderr, format, arguments);
	fprintf(stderr, "\n");
	va_end(arguments);
	exit(2);
}

double option_number(const struct option *option)
{
	char *end;
	double number = strtod(option->value, &end);

	if (end == option->value || *end)
		fail("%s: a number, not %s", option->name, option->value);
	return number;
}

u64 option_ns(const struct option *option)
{
	return round(option_number(option) * 1e9);
}

bool option_flag(const struct option *option)
{
	bool on = !strcmp(option->value, "on");

	if (!on && strcmp(option->value, "off"))
		fail("%s: no word %s", option->name, option->value);
	return on;
}

const struct discipline *find_discipline(const char *id)
{
	size_t i;

	for (i = 0; i < registered; i++)
		if (!strcmp(disciplines[i]->id, id))
			return disciplines[i];
	fail("there is no core for %s", id);
}

void read_setup(struct setup *setup, int count, char **words)
{
	char *unit;
	int i;

	setup->limit = strtoull(words[0], &unit, 10);
	if (!setup->limit || (strcmp(unit, "p") && strcmp(unit, "b")))
		fail("limit: above 0 with a unit, as 300p or 45000b, not %s", words[0]);
	setup->limit_in_bytes = *unit == 'b';
	setup->options = calloc(count, sizeof(*setup->options));
	if (!setup->options)
		fail("no memory for %d options", count - 1);
	for (i = 1; i < count; i++) {
		char *value = strchr(words[i], '=');

		if (!value)
			fail("an option is NAME=VALUE, not %s", words[i]);
		*value = '\0';
		setup->options[i - 1] = (struct option){ words[i], value + 1 };
	}
}
