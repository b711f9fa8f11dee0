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

u64 mf_volume_moved(enum mf_measure measure, const struct mf_volume *volume,
		    const struct mf_packet *packet);
void mf_volume_note(enum mf_measure measure, struct mf_volume *volume,
		    const struct mf_packet *packet);
u64 mf_volume_rank(enum mf_measure measure, const struct mf_volume *volume,
		   const struct mf_packet *packet);
void mf_volume_add(enum mf_measure measure, struct mf_volume *volume,
		   const struct mf_packet *packet);
void mf_volume_take_back(enum mf_measure measure, struct mf_volume *volume,
			 const struct mf_packet *packet);

#endif
