// SPDX-License-Identifier: GPL-2.0
/* What a flow has moved; crates/qdisc/src/parts/volume.rs says why. */
#include "volume.h"

/* No connection moves as much: numbers above are forged. */
#define MF_MOST (1ULL << 62)
/* In place of a number: this queue sees the data itself. */
#define MF_SEEN U64_MAX

static u64 mf_volume_number(const struct mf_packet *packet)
{
	return packet->progress < MF_MOST ? packet->progress : MF_MOST;
}

/**
 * mf_volume_moved() - by how much a packet moves its flow on
 * @measure: what is counted
 * @volume: of the flow of the packet, before it
 * @packet: the packet
 *
 * Return: packets or bytes.
 */
u64 mf_volume_moved(enum mf_measure measure, const struct mf_volume *volume,
		    const struct mf_packet *packet)
{
	u64 before, number;

	if (measure == MF_PACKETS)
		return 1;
	if (measure == MF_BYTES || packet->kind != MF_ACK)
		return packet->len;
	before = volume->numbers[!(packet->flow & 1)];
	number = mf_volume_number(packet);
	if (!before)
		return measure == MF_WHOLE ? number : 0;
	return number + 1 > before ? number + 1 - before : 0;
}
EXPORT_SYMBOL_GPL(mf_volume_moved);

/**
 * mf_volume_note() - takes note of the number of a packet that is counted
 * @measure: what is counted
 * @volume: of the flow of the packet
 * @packet: the packet
 */
void mf_volume_note(enum mf_measure measure, struct mf_volume *volume,
		    const struct mf_packet *packet)
{
	u64 direction = packet->flow & 1;
	u64 number;

	if (measure < MF_ADVANCE)
		return;
	if (packet->kind != MF_ACK) {
		volume->numbers[direction] = MF_SEEN;
		return;
	}
	number = mf_volume_number(packet) + 1;
	if (number > volume->numbers[!direction])
		volume->numbers[!direction] = number;
}
EXPORT_SYMBOL_GPL(mf_volume_note);

/**
 * mf_volume_rank() - volume that a packet ranks by
 * @measure: what is counted
 * @volume: of the flow of the packet, before it
 * @packet: the packet
 *
 * Return: packets or bytes; of one flow they never decrease.
 */
u64 mf_volume_rank(enum mf_measure measure, const struct mf_volume *volume,
		   const struct mf_packet *packet)
{
	if (measure < MF_ADVANCE || packet->kind != MF_ACK)
		return volume->count;
	return volume->count + mf_volume_moved(measure, volume, packet);
}
EXPORT_SYMBOL_GPL(mf_volume_rank);

/**
 * mf_volume_add() - counts a packet, which enters the queue
 * @measure: what is counted
 * @volume: of the flow of the packet
 * @packet: the packet
 */
void mf_volume_add(enum mf_measure measure, struct mf_volume *volume,
		   const struct mf_packet *packet)
{
	volume->count += mf_volume_moved(measure, volume, packet);
	mf_volume_note(measure, volume, packet);
}
EXPORT_SYMBOL_GPL(mf_volume_add);

/**
 * mf_volume_take_back() - stops counting the last waiting packet of a flow
 * @measure: what is counted
 * @volume: of the flow of the packet
 * @packet: the packet, which is dropped
 *
 * What an acknowledgement told stays: it was moved all the same.
 */
void mf_volume_take_back(enum mf_measure measure, struct mf_volume *volume,
			 const struct mf_packet *packet)
{
	if (measure == MF_PACKETS)
		volume->count--;
	else if (measure == MF_BYTES || packet->kind != MF_ACK)
		volume->count -= packet->len;
}
EXPORT_SYMBOL_GPL(mf_volume_take_back);
