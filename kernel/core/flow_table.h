/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flows by their key, in a table of fixed size made beforehand.
 *
 * Principle: entries in an array, chains over their indices. The keys are
 * 64-bit keyed hashes of 5-tuples: that two flows share one is as good as
 * impossible, and who does not know the key cannot make them.
 * Cost per packet: one look-up, of about one entry and a half.
 */
#ifndef MAYFLY_FLOW_TABLE_H
#define MAYFLY_FLOW_TABLE_H

#include "volume.h"

/**
 * struct mf_flow - what is known of a flow; within 64 bytes
 * @key: its key
 * @volume: what it has moved
 * @last_ns: when it was last seen, for who forgets idle flows
 * @queued: packets that wait and keep it in the table
 * @next: the next one in the chain, or of the free ones
 * @newer: the flow behind it, for who lists those that are idle
 * @older: the flow before it
 * @faded: how often all volumes had been halved when @volume was last written,
 *	for who lets them fade; see order.h
 * @spared: the look for idle flows at which a packet of it waited, the last one
 *	that was pushed out since
 */
struct mf_flow {
	u64 key;
	struct mf_volume volume;
	u64 last_ns;
	u32 queued;
	u32 next;
	u32 newer;
	u32 older;
	u32 faded;
	u32 spared;
};

/**
 * struct mf_flow_table - flows by their key
 * @flows: @room + 1 entries, the first one never used
 * @buckets: heads of the chains
 * @shift: a hash shifted right by it is the index of a bucket
 * @room: entries of @flows that may be used
 * @size: most flows in it, @room or less
 * @used: entries that were used at any time: those up to this index
 * @free: first of the used ones that are free
 * @len: flows in it
 * @most: flows in it at any time
 */
struct mf_flow_table {
	struct mf_flow *flows;
	u32 *buckets;
	u32 shift;
	u32 room;
	u32 size;
	u32 used;
	u32 free;
	u32 len;
	u32 most;
};

int mf_flow_table_init(struct mf_flow_table *table, u32 size);
void mf_flow_table_free(struct mf_flow_table *table);
void mf_flow_table_reset(struct mf_flow_table *table);
void mf_flow_table_move(struct mf_flow_table *table,
			struct mf_flow_table *larger);

static inline struct mf_flow *mf_flow_entry(const struct mf_flow_table *table,
					    u32 index)
{
	return &table->flows[index];
}

static inline bool mf_flow_table_is_full(const struct mf_flow_table *table)
{
	return table->len >= table->size;
}

/* Head of the chain that a flow of @key is in. */
static inline u32 *mf_flow_bucket(const struct mf_flow_table *table, u64 key)
{
	/* Fibonacci hashing: the direction, in the lowest bit, counts too. */
	return &table->buckets[(key * 0x9e3779b97f4a7c15ULL) >> table->shift];
}

/**
 * mf_flow_find() - looks a flow up
 * @table: the table
 * @key: key of the flow
 *
 * Return: its index, MF_NONE when it is not there.
 */
static inline u32 mf_flow_find(const struct mf_flow_table *table, u64 key)
{
	u32 index = *mf_flow_bucket(table, key);

	while (index && table->flows[index].key != key) {
		mf_step();
		index = table->flows[index].next;
	}
	return index;
}

/**
 * mf_flow_insert() - puts a flow into the table, all zero but for its key
 * @table: the table
 * @key: key of the flow, which is not there
 *
 * Return: its index, MF_NONE when the table is full.
 */
static inline u32 mf_flow_insert(struct mf_flow_table *table, u64 key)
{
	u32 *head = mf_flow_bucket(table, key);
	u32 index = table->free;
	struct mf_flow *flow;

	if (mf_flow_table_is_full(table))
		return MF_NONE;
	if (index)
		table->free = table->flows[index].next;
	else
		index = ++table->used;
	flow = &table->flows[index];
	/* One by one: for a struct of this size compilers take a loop. */
	flow->key = key;
	flow->volume.count = 0;
	flow->volume.numbers[0] = 0;
	flow->volume.numbers[1] = 0;
	flow->last_ns = 0;
	flow->queued = 0;
	flow->next = *head;
	flow->newer = MF_NONE;
	flow->older = MF_NONE;
	flow->faded = 0;
	flow->spared = 0;
	*head = index;
	if (++table->len > table->most)
		table->most = table->len;
	return index;
}

/**
 * mf_flow_remove() - takes a flow out of the table
 * @table: the table
 * @index: of the flow
 */
static inline void mf_flow_remove(struct mf_flow_table *table, u32 index)
{
	struct mf_flow *flow = &table->flows[index];
	u32 *link = mf_flow_bucket(table, flow->key);

	while (*link != index) {
		mf_step();
		link = &table->flows[*link].next;
	}
	*link = flow->next;
	flow->next = table->free;
	table->free = index;
	table->len--;
}

#endif
