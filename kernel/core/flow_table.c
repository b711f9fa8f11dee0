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
