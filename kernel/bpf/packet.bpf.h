/* SPDX-License-Identifier: GPL-2.0 */
/* What BPF qdiscs share: constants of the kernel, the key of a flow as its headers have it. */
#ifndef MAYFLY_BPF_PACKET_H
#define MAYFLY_BPF_PACKET_H

#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86dd
#define IP_FRAGMENT 0x3fff /* more fragments, or not the first */
#define NET_XMIT_SUCCESS 0
#define NET_XMIT_DROP 1

#define __contains(name, node) \
	__attribute__((btf_decl_tag("contains:" #name ":" #node)))

/*
 * A flow in one qdisc: the 5-tuple of one direction, the kernel's hash else.
 * Words of 8 bytes: the compiler copies such, the verifier checks members.
 */
struct flow_key {
	__u64 queue;
	__u64 source[2];
	__u64 destination[2];
	__u64 transport; /* ports, then protocol */
};

static __u32 wire_len(struct sk_buff *skb)
{
	return ((struct qdisc_skb_cb *)skb->cb)->pkt_len;
}

/* Ports of a whole TCP or UDP packet: its first four bytes. */
static __u64 read_transport(struct bpf_dynptr *data, __u32 offset,
			    __u8 protocol)
{
	__u32 ports = 0;

	if (protocol == IPPROTO_TCP || protocol == IPPROTO_UDP)
		bpf_dynptr_read(&ports, sizeof(ports), data, offset, 0);
	return (__u64)ports << 8 | protocol;
}

static void read_key(struct flow_key *key, struct sk_buff *skb, __u64 queue)
{
	/* What leaves begins with its link-layer header. Where it has none the
	 * difference is no place in the packet: reads fail, and the hash is the key.
	 */
	__u32 offset = skb->network_header - skb->mac_header;
	struct bpf_dynptr data;
	struct ipv6hdr six;
	struct iphdr four;

	__builtin_memset(key, 0, sizeof(*key));
	key->queue = queue;
	bpf_dynptr_from_skb((struct __sk_buff *)skb, 0, &data);
	if (skb->protocol == bpf_htons(ETH_P_IP) &&
	    !bpf_dynptr_read(&four, sizeof(four), &data, offset, 0)) {
		key->source[0] = four.saddr;
		key->destination[0] = four.daddr;
		key->transport = four.protocol;
		/* A header length below 5 reads "ports" within the header: a key
		 * as good as any for a packet that no host takes.
		 */
		if (!(four.frag_off & bpf_htons(IP_FRAGMENT)))
			key->transport = read_transport(&data,
							offset + four.ihl * 4,
							four.protocol);
	} else if (skb->protocol == bpf_htons(ETH_P_IPV6) &&
		   !bpf_dynptr_read(&six, sizeof(six), &data, offset, 0)) {
		__builtin_memcpy(key->source, &six.saddr, sizeof(key->source));
		__builtin_memcpy(key->destination, &six.daddr,
				 sizeof(key->destination));
		key->transport = read_transport(&data, offset + sizeof(six),
						six.nexthdr);
	} else {
		key->transport = bpf_skb_get_hash(skb);
	}
}

#endif
