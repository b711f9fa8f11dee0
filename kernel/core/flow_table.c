// SPDX-License-Identifier: GPL-2.0
/* Flows by their key, in a table of fixed size. */
#include "flow_table.h"

/**
 * mf_flow_table_init() - allocates a table
 * @table: the table
 * @size: flows it shall hold, 1 to 2^30
 *
 * Return: 0, or -ENOMEM.
 */
int mf_flow_table_init(struct mf_flow_table *table, u32 size)
{
	u32 bits = 1;

	while ((1U << bits) < size)
		bits++;
	*table = (struct mf_flow_table){
		.room = size,
		.size = size,
		.shift = 64 - bits,
	};
	table->flows = mf_alloc((size_t)size + 1, sizeof(*table->flows));
	table->buckets = mf_alloc((size_t)1 << bits, sizeof(*table->buckets));
	if (table->flows && table->buckets)
		return 0;
	mf_flow_table_free(table);
	return -ENOMEM;
}
EXPORT_SYMBOL_GPL(mf_flow_table_init);

/**
 * mf_flow_table_free() - frees the memory of a table
 * @table: the table, allocated or all zero
 */
void mf_flow_table_free(struct mf_flow_table *table)
{
	mf_free(table->flows);
	mf_free(table->buckets);
	*table = (struct mf_flow_table){ 0 };
}
EXPORT_SYMBOL_GPL(mf_flow_table_free);

static u32 *mf_flow_bucket(const struct mf_flow_table *table, u64 key)
{
	/* Fibonacci hashing: the direction, in the lowest bit, counts too. */
	return &table->buckets[(key * 0x9e3779b97f4a7c15ULL) >> table->shift];
}

/**
 * mf_flow_table_reset() - forgets every flow
 * @table: the table
 */
void mf_flow_table_reset(struct mf_flow_table *table)
{
	memset(table->buckets, 0,
	       ((size_t)1 << (64 - table->shift)) * sizeof(*table->buckets));
	table->used = 0;
	table->free = MF_NONE;
	table->len = 0;
	table->most = 0;
}
EXPORT_SYMBOL_GPL(mf_flow_table_reset);

/**
 * mf_flow_table_move() - puts larger arrays below the flows of a table
 * @table: the table; flows keep their indices
 * @larger: an unused table, not smaller; has the old arrays afterwards, to be
 *	freed once no lock is held
 */
void mf_flow_table_move(struct mf_flow_table *table,
			struct mf_flow_table *larger)
{
	struct mf_flow_table old = *table;
	u32 bucket, index, next, *head;

	memcpy(larger->flows, old.flows,
	       ((size_t)old.used + 1) * sizeof(*old.flows));
	table->flows = larger->flows;
	table->buckets = larger->buckets;
	table->shift = larger->shift;
	table->room = larger->room;
	table->size = larger->size;
	for (bucket = 0; bucket < 1U << (64 - old.shift); bucket++) {
		for (index = old.buckets[bucket]; index; index = next) {
			next = old.flows[index].next;
			head = mf_flow_bucket(table, old.flows[index].key);
			table->flows[index].next = *head;
			*head = index;
		}
	}
	*larger = old;
}
EXPORT_SYMBOL_GPL(mf_flow_table_move);

/**
 * mf_flow_find() - looks a flow up
 * @table: the table
 * @key: key of the flow
 *
 * Return: its index, MF_NONE when it is not there.
 */
u32 mf_flow_find(const struct mf_flow_table *table, u64 key)
{
	u32 index = *mf_flow_bucket(table, key);

	while (index && table->flows[index].key != key) {
		mf_step();
		index = table->flows[index].next;
	}
	return index;
}
EXPORT_SYMBOL_GPL(mf_flow_find);

/**
 * mf_flow_insert() - puts a flow into the table, all zero but for its key
 * @table: the table
 * @key: key of the flow, which is not there
 *
 * Return: its index, MF_NONE when the table is full.
 */
u32 mf_flow_insert(struct mf_flow_table *table, u64 key)
{
	u32 *head = mf_flow_bucket(table, key);
	u32 index = table->free;

	if (mf_flow_table_is_full(table))
		return MF_NONE;
	if (index)
		table->free = table->flows[index].next;
	else
		index = ++table->used;
	table->flows[index] = (struct mf_flow){ .key = key, .next = *head };
	*head = index;
	if (++table->len > table->most)
		table->most = table->len;
	return index;
}
EXPORT_SYMBOL_GPL(mf_flow_insert);

/**
 * mf_flow_remove() - takes a flow out of the table
 * @table: the table
 * @index: of the flow
 */
void mf_flow_remove(struct mf_flow_table *table, u32 index)
{
	u32 *link = mf_flow_bucket(table, table->flows[index].key);

	while (*link != index) {
		mf_step();
		link = &table->flows[*link].next;
	}
	*link = table->flows[index].next;
	table->flows[index].next = table->free;
	table->free = index;
	table->len--;
}
EXPORT_SYMBOL_GPL(mf_flow_remove);
