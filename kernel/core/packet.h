/* SPDX-License-Identifier: GPL-2.0 */
/* What a core sees of a packet; crates/qdisc/src/packet.rs. */
#ifndef MAYFLY_PACKET_H
#define MAYFLY_PACKET_H

#include "types.h"

/**
 * enum mf_kind - what a packet carries
 * @MF_DATA: TCP segment that occupies sequence numbers
 * @MF_ACK: TCP segment that only acknowledges
 * @MF_UDP: anything else: no number to go by
 */
enum mf_kind { MF_DATA, MF_ACK, MF_UDP };

/* ECN field of the IP header, in the order of crates/qdisc: not its bits. */
enum mf_ecn { MF_NOT_ECT, MF_ECT_0, MF_ECT_1, MF_CE };

/**
 * struct mf_packet - descriptor of a packet
 * @handle: opaque; the owner of the queue finds the packet by it
 * @flow: keyed hash of the 5-tuple, the direction in its lowest bit: the two
 *	directions of a connection share the rest
 * @progress: MF_DATA: bytes of the flow before this segment; MF_ACK: bytes
 *	acknowledged; MF_UDP: 0
 * @arrival_ns: when it came, set by the core
 * @len: length on the wire, bytes
 * @src: number of the source host, where the core asks for users: an IPv4 address,
 *	or a keyed hash of another one
 * @dst: of the destination host
 * @mark: what somebody on the path wrote on the packet; 0 without one
 * @kind: enum mf_kind
 * @ecn: enum mf_ecn
 */
struct mf_packet {
	void *handle;
	u64 flow;
	u64 progress;
	u64 arrival_ns;
	u32 len;
	u32 src;
	u32 dst;
	u32 mark;
	u8 kind;
	u8 ecn;
};

#endif
