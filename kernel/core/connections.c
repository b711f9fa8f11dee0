// SPDX-License-Identifier: GPL-2.0
/* How far each direction of a TCP connection has come. */
#include "connections.h"

static size_t mf_connections_size(const struct mf_connections *connections)
{
	return MF_CONNECTION_WAYS << (64 - connections->shift);
}

/**
 * mf_connections_init() - allocates a table
 * @connections: the table
 * @size: connections it shall hold, 1 to 2^24; rounded up
 * @idle_ns: who was not seen for longer is forgotten
 *
 * Return: 0, or -ENOMEM.
 */
int mf_connections_init(struct mf_connections *connections, u32 size,
			u64 idle_ns)
{
	u32 bits = 1;

	while ((MF_CONNECTION_WAYS << bits) < size)
		bits++;
	*connections = (struct mf_connections){
		.shift = 64 - bits,
		.idle_ns = idle_ns,
	};
	connections->entries = mf_alloc(mf_connections_size(connections),
					sizeof(*connections->entries));
	return connections->entries ? 0 : -ENOMEM;
}

/**
 * mf_connections_free() - frees the memory of a table
 * @connections: the table, allocated or all zero
 */
void mf_connections_free(struct mf_connections *connections)
{
	mf_free(connections->entries);
	*connections = (struct mf_connections){ 0 };
}
EXPORT_SYMBOL_GPL(mf_connections_free);

/**
 * mf_connections_reset() - forgets every connection
 * @connections: the table, allocated or all zero
 */
void mf_connections_reset(struct mf_connections *connections)
{
	if (connections->entries)
		memset(connections->entries, 0,
		       mf_connections_size(connections) *
		       sizeof(*connections->entries));
}
EXPORT_SYMBOL_GPL(mf_connections_reset);

/* The entry of the connection, begun where there is none. */
static struct mf_connection *
mf_connections_find(struct mf_connections *connections, u64 key, u64 now_ns)
{
	size_t set = (key * 0x9e3779b97f4a7c15ULL) >> connections->shift;
	struct mf_connection *entry = &connections->entries[set * MF_CONNECTION_WAYS];
	struct mf_connection *oldest = entry;
	u32 way;

	for (way = 0; way < MF_CONNECTION_WAYS; way++, entry++) {
		if (entry->used && entry->key == key) {
			oldest = entry;
			if (now_ns - entry->last_ns > connections->idle_ns)
				break;
			entry->last_ns = now_ns;
			return entry;
		}
		if (!entry->used)
			oldest = oldest->used ? entry : oldest;
		else if (oldest->used && entry->last_ns < oldest->last_ns)
			oldest = entry;
	}
	*oldest = (struct mf_connection){
		.key = key,
		.last_ns = now_ns,
		.used = true,
	};
	return oldest;
}

/* Progress that @number is of one direction; learns it. */
static u64 mf_connection_advance(struct mf_connection *connection,
				 u64 direction, u32 number)
{
	u32 highest;
	s64 progress;

	if (!connection->known[direction]) {
		connection->known[direction] = true;
		connection->first[direction] = number;
	}
	/* 32 bits of a longer number, within 2^31 of the highest one so far. */
	highest = connection->first[direction] + (u32)connection->most[direction];
	progress = (s64)connection->most[direction] + (s32)(number - highest);
	if (progress < 0)
		return 0;
	if ((u64)progress > connection->most[direction])
		connection->most[direction] = progress;
	return progress;
}

/* The direction begins anew behind the SYN of number @number. */
static void mf_connection_open(struct mf_connection *connection,
			       u64 direction, u32 number)
{
	connection->known[direction] = true;
	connection->first[direction] = number + 1;
	connection->most[direction] = 0;
}

/**
 * mf_connections_progress() - how far a segment is in its connection
 * @connections: the table
 * @segment: the segment
 * @now_ns: present time
 *
 * A number that is the first one of its direction and no SYN counts as the
 * initial one.
 *
 * Return: for one that occupies numbers, bytes of its direction before it; else
 * bytes of the other direction that it acknowledges.
 */
u64 mf_connections_progress(struct mf_connections *connections,
			    const struct mf_segment *segment, u64 now_ns)
{
	u64 direction = segment->flow & 1;
	struct mf_connection *connection =
		mf_connections_find(connections, segment->flow >> 1, now_ns);
	u64 acked = 0;

	if (segment->syn) {
		mf_connection_open(connection, direction, segment->seq);
		/* The numbers of the last connection of these ports are no more. */
		if (!segment->acks)
			connection->known[!direction] = false;
	}
	if (!connection->known[!direction])
		connection->most[!direction] = 0;
	if (segment->acks)
		acked = mf_connection_advance(connection, !direction,
					      segment->ack);
	if (!segment->occupies)
		return acked;
	return segment->syn ? 0 :
	       mf_connection_advance(connection, direction, segment->seq);
}
