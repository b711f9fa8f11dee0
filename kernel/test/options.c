// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the tables of options, a line for each attribute:
 *
 *	ID ATTRIBUTE NUMBER INITIAL LEAST MOST SAYS
 *
 * SAYS is what is said beyond the bounds, - where the table has none.
 */
#include <inttypes.h>
#include <stdio.h>

#pragma GCC diagnostic ignored "-Wunused-function"
#include "../core/estmred.h"
#include "../core/lfq.h"
#include "../core/shaper.h"
#include "../uapi/pkt_sch_mayfly.h"

static void print(const char *id, const char *attribute, int number, u64 initial,
		  u64 least, u64 most, const char *says)
{
	printf("%s %s %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", id, attribute, number,
	       initial, least, most, says ? says : "-");
}

#define ROW(attribute, number, name, kind, field, initial_, bound_, ...) \
	{ #attribute, attribute, initial_, bound_ },

struct row {
	const char *attribute;
	int number;
	u64 initial;
	struct {
		u64 least;
		u64 most;
		const char *says;
	} bound;
};

#define TABLE(id, OPTIONS) \
	static const struct row id##_rows[] = { OPTIONS(ROW, ROW) }
#define PRINT(id) \
	for (at = 0; at < sizeof(id##_rows) / sizeof(*id##_rows); at++) \
		print(#id, id##_rows[at].attribute, id##_rows[at].number, \
		      id##_rows[at].initial, id##_rows[at].bound.least, \
		      id##_rows[at].bound.most, id##_rows[at].bound.says)

TABLE(efd, MF_EFD_OPTIONS);
TABLE(estmred, MF_ESTMRED_OPTIONS);
TABLE(las, MF_LAS_OPTIONS);
TABLE(lfq, MF_LFQ_OPTIONS);
TABLE(run2c, MF_RUN2C_OPTIONS);

int main(void)
{
	size_t at;

	PRINT(efd);
	PRINT(estmred);
	PRINT(las);
	PRINT(lfq);
	PRINT(run2c);
	return 0;
}
