/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a flow has moved: the measures by which packets rank. The reasons are
 * in crates/qdisc/src/parts/volume.rs.
 */
#ifndef MAYFLY_VOLUME_H
#define MAYFLY_VOLUME_H

#include "packet.h"

/**
 * enum mf_measure - what is counted
 * @MF_BYTES: bytes on the wire of one direction
 * @MF_PACKETS: packets of one direction
 * @MF_ADVANCE: bytes of both directions, of the other one by the advance of
 *	its acknowledgements; the first of them tells nothing
 * @MF_WHOLE: as before, but the first acknowledgement tells all before it
 */
enum mf_measure { MF_BYTES, MF_PACKETS, MF_ADVANCE, MF_WHOLE };

/**
 * struct mf_volume - what a flow has moved; all zero at first
 * @count: packets or bytes
 * @numbers: how far the data of each direction was acknowledged: one more than
 *	the highest number, 0 before the first
 */
struct mf_volume {
	u64 count;
	u64 numbers[2];
};

/* The flow @packet is counted in. */
static inline u64 mf_volume_flow(enum mf_measure measure,
				 const struct mf_packet *packet)
{
	return measure < MF_ADVANCE ? packet->flow : packet->flow & ~1ULL;
}

/* Has nothing been counted? */
static inline bool mf_volume_is_none(const struct mf_volume *volume)
{
	return !(volume->count | volume->numbers[0] | volume->numbers[1]);
}

/* No connection moves as much: numbers above are forged. */
#define MF_MOST (1ULL << 62)
/* In place of a number: this queue sees the data itself. */
#define MF_SEEN U64_MAX

static inline u64 mf_volume_number(const struct mf_packet *packet)
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
static inline u64 mf_volume_moved(enum mf_measure measure,
				  const struct mf_volume *volume,
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

/**
 * mf_volume_note() - takes note of the number of a packet that is counted
 * @measure: what is counted
 * @volume: of the flow of the packet
 * @packet: the packet
 */
static inline void mf_volume_note(enum mf_measure measure, struct mf_volume *volume,
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

/**
 * mf_volume_rank() - volume that a packet ranks by
 * @measure: what is counted
 * @volume: of the flow of the packet, before it
 * @packet: the packet
 *
 * Return: packets or bytes; of one flow they never decrease.
 */
static inline u64 mf_volume_rank(enum mf_measure measure,
				 const struct mf_volume *volume,
				 const struct mf_packet *packet)
{
	if (measure < MF_ADVANCE || packet->kind != MF_ACK)
		return volume->count;
	return volume->count + mf_volume_moved(measure, volume, packet);
}

/**
 * mf_volume_add() - counts a packet, which enters the queue
 * @measure: what is counted
 * @volume: of the flow of the packet
 * @packet: the packet
 */
static inline void mf_volume_add(enum mf_measure measure, struct mf_volume *volume,
				 const struct mf_packet *packet)
{
	volume->count += mf_volume_moved(measure, volume, packet);
	mf_volume_note(measure, volume, packet);
}

/**
 * mf_volume_take_back() - stops counting the last waiting packet of a flow
 * @measure: what is counted
 * @volume: of the flow of the packet
 * @packet: the packet, which is dropped
 *
 * What an acknowledgement told stays: it was moved all the same.
 */
static inline void mf_volume_take_back(enum mf_measure measure,
				       struct mf_volume *volume,
				       const struct mf_packet *packet)
{
	if (measure == MF_PACKETS)
		volume->count--;
	else if (measure == MF_BYTES || packet->kind != MF_ACK)
		volume->count -= packet->len;
}

#endif
