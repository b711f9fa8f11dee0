// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the table of connections over a trace and prints each segment's progress:
 *
 *	connections SIZE IDLE_NS <TRACE
 *
 * A line of the trace is a segment: time in ns, flow, sequence number,
 * acknowledgement number and letters: s (SYN), a (acknowledges), o (occupies
 * numbers), - for none.
 */
#include <inttypes.h>
#include <stdio.h>

#include "../core/connections.h"

int main(int argc, char **argv)
{
	struct mf_connections connections;
	struct mf_segment segment;
	char letters[4];
	u64 now_ns;
	int fields;

	if (argc != 3 || mf_connections_init(&connections, atoi(argv[1]),
					     strtoull(argv[2], NULL, 10))) {
		fputs("usage: connections SIZE IDLE_NS <TRACE\n", stderr);
		return 2;
	}
	for (;;) {
		fields = scanf("%" SCNu64 "%" SCNu64 "%" SCNu32 "%" SCNu32 "%3s",
			       &now_ns, &segment.flow, &segment.seq,
			       &segment.ack, letters);
		if (fields != 5)
			break;
		segment.syn = strchr(letters, 's');
		segment.acks = strchr(letters, 'a');
		segment.occupies = strchr(letters, 'o');
		printf("%" PRIu64 "\n",
		       mf_connections_progress(&connections, &segment, now_ns));
	}
	mf_connections_free(&connections);
	return fields == EOF ? 0 : 2;
}
