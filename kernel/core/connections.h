/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How far each direction of a TCP connection has come: sequence and
 * acknowledgement numbers minus the initial one, which is learned.
 *
 * Principle: a table of fixed size, sets of four entries. A connection goes
 * into its set in place of an idle one or, there being none, of the one seen
 * last the longest time ago: then that one is learned anew and looks young.
 * Cost per packet: four entries.
 */
#ifndef MAYFLY_CONNECTIONS_H
#define MAYFLY_CONNECTIONS_H

#include "types.h"

#define MF_CONNECTION_WAYS 4U

/**
 * struct mf_segment - what a TCP header tells
 * @flow: as in struct mf_packet
 * @seq: sequence number of the first byte, of the SYN in one that has it
 * @ack: acknowledgement number
 * @syn: it opens its direction
 * @acks: @ack is valid
 * @occupies: it has payload, SYN or FIN
 */
struct mf_segment {
	u64 flow;
	u32 seq;
	u32 ack;
	bool syn;
	bool acks;
	bool occupies;
};

/**
 * struct mf_connection - numbers of both directions
 * @key: flow key without the direction
 * @last_ns: when it was last seen
 * @most: highest progress of each direction, bytes
 * @first: number of the first byte of each direction
 * @known: @first is known
 * @used: there is a connection here
 */
struct mf_connection {
	u64 key;
	u64 last_ns;
	u64 most[2];
	u32 first[2];
	bool known[2];
	bool used;
};

/**
 * struct mf_connections - a table of connections
 * @entries: sets of MF_CONNECTION_WAYS; NULL where there is no table
 * @shift: a hash shifted right by it is the index of a set
 * @idle_ns: who was not seen for longer is forgotten
 */
struct mf_connections {
	struct mf_connection *entries;
	u32 shift;
	u64 idle_ns;
};

int mf_connections_init(struct mf_connections *connections, u32 size,
			u64 idle_ns);
void mf_connections_free(struct mf_connections *connections);
void mf_connections_reset(struct mf_connections *connections);
u64 mf_connections_progress(struct mf_connections *connections,
			    const struct mf_segment *segment, u64 now_ns);

#endif
