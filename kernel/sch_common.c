// SPDX-License-Identifier: GPL-2.0
/* What Mayfly's queue disciplines share between the kernel and their cores. */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <linux/version.h>
#include <net/flow_dissector.h>
#include <net/ip.h>
#include <net/ipv6.h>
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
#include <linux/netfilter.h>
#include <net/netfilter/nf_conntrack_tuple.h>
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#include <net/gso.h>
#endif

#include "sch_common.h"

/* Without a packet for so long, a connection is learned anew. */
#define MF_CONNECTION_IDLE_NS (300ULL * NSEC_PER_SEC)
/* Connections per packet of the buffer: they live on while none of them waits. */
#define MF_CONNECTIONS_PER_PKT 8U
#define MF_MIN_CONNECTIONS 4096U
#define MF_MAX_CONNECTIONS (1U << 18)

/**
 * mf_sch_init() - first of every init()
 * @common: of the queue discipline, all zero
 * @sch: the queue discipline
 */
void mf_sch_init(struct mf_sch *common, struct Qdisc *sch)
{
	common->sch = sch;
	common->split = true;
	get_random_bytes(&common->key, sizeof(common->key));
}
EXPORT_SYMBOL_GPL(mf_sch_init);

/**
 * mf_sch_free() - last of every destroy()
 * @common: of the queue discipline, initialised or all zero
 */
void mf_sch_free(struct mf_sch *common)
{
	mf_connections_free(&common->connections);
}
EXPORT_SYMBOL_GPL(mf_sch_free);

/**
 * mf_sch_connections() - allocates a table of connections
 * @connections: the table
 * @pkts: that the buffer holds
 *
 * Return: 0, or -ENOMEM.
 */
int mf_sch_connections(struct mf_connections *connections, u32 pkts)
{
	u32 size = clamp(pkts, MF_MIN_CONNECTIONS / MF_CONNECTIONS_PER_PKT,
			 MF_MAX_CONNECTIONS / MF_CONNECTIONS_PER_PKT);

	return mf_connections_init(connections, size * MF_CONNECTIONS_PER_PKT,
				   MF_CONNECTION_IDLE_NS);
}
EXPORT_SYMBOL_GPL(mf_sch_connections);

/* The value of an attribute of 1, 4 or 8 bytes. */
static u64 mf_sch_value(const struct nlattr *attribute)
{
	switch (nla_len(attribute)) {
	case sizeof(u8):
		return nla_get_u8(attribute);
	case sizeof(u32):
		return nla_get_u32(attribute);
	default:
		return nla_get_u64(attribute);
	}
}

/**
 * mf_sch_initial() - gives options their values at first
 * @table: the options
 * @of: values by attribute
 */
void mf_sch_initial(const struct mf_options *table, u64 *of)
{
	int i;

	for (i = 0; i <= table->max; i++)
		of[i] = table->options[i].initial;
}
EXPORT_SYMBOL_GPL(mf_sch_initial);

/**
 * mf_sch_parse() - puts what a message says in place of values
 * @table: the options
 * @tb: for attributes, as many as there are
 * @opt: the message
 * @of: values by attribute; of one that is no number it stays
 * @extack: says what is wrong
 *
 * Return: 0, or an errno: a bound was passed, or the message is none.
 */
int mf_sch_parse(const struct mf_options *table, struct nlattr **tb,
		 struct nlattr *opt, u64 *of, struct netlink_ext_ack *extack)
{
	int err = nla_parse_nested(tb, table->max, opt, table->policy, extack);
	const struct mf_bound *bound;
	int i;

	if (err)
		return err;
	for (i = 1; i <= table->max; i++) {
		if (!tb[i])
			continue;
		bound = &table->options[i].bound;
		if (table->policy[i].type == NLA_BINARY)
			continue;
		of[i] = table->policy[i].type == NLA_FLAG ? 1 : mf_sch_value(tb[i]);
		if (!bound->says || (of[i] >= bound->least && of[i] <= bound->most))
			continue;
		NL_SET_BAD_ATTR(extack, tb[i]);
		if (extack)
			extack->_msg = bound->says;
		return -ERANGE;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(mf_sch_parse);

/**
 * mf_sch_one_limit() - looks that a limit is in one unit
 * @tb: attributes
 * @attribute: that in packets; the next one is in bytes
 * @of: values by attribute; the other unit has none from now on
 * @extack: says what is wrong
 *
 * Return: 0, or -EINVAL for both.
 */
int mf_sch_one_limit(struct nlattr *const *tb, int attribute, u64 *of,
		     struct netlink_ext_ack *extack)
{
	if (tb[attribute] && tb[attribute + 1]) {
		NL_SET_ERR_MSG(extack, "a limit is in packets or in bytes, not in both");
		return -EINVAL;
	}
	if (tb[attribute])
		of[attribute + 1] = 0;
	else if (tb[attribute + 1])
		of[attribute] = 0;
	return 0;
}
EXPORT_SYMBOL_GPL(mf_sch_one_limit);

/**
 * mf_sch_put() - writes an option into a message
 * @table: the options
 * @skb: the message
 * @attribute: of the option
 * @value: of it
 *
 * One that is no number, or below 0, is left to the queue discipline.
 *
 * Return: 0, or -EMSGSIZE.
 */
int mf_sch_put(const struct mf_options *table, struct sk_buff *skb,
	       int attribute, u64 value)
{
	if (value < table->options[attribute].bound.least)
		return 0;
	switch (table->policy[attribute].type) {
	case NLA_U8:
		return nla_put_u8(skb, attribute, value);
	case NLA_U32:
		return nla_put_u32(skb, attribute, value);
	case NLA_U64:
		return nla_put_u64_64bit(skb, attribute, value, table->pad);
	default:
		return 0;
	}
}
EXPORT_SYMBOL_GPL(mf_sch_put);

/**
 * mf_sch_dump() - writes all options into a message, by attribute
 * @table: the options
 * @skb: the message
 * @of: values by attribute
 *
 * Return: its length, or -EMSGSIZE.
 */
int mf_sch_dump(const struct mf_options *table, struct sk_buff *skb,
		const u64 *of)
{
	struct nlattr *nest = nla_nest_start_noflag(skb, TCA_OPTIONS);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 1; i <= table->max; i++) {
		if (mf_sch_put(table, skb, i, of[i])) {
			nla_nest_cancel(skb, nest);
			return -EMSGSIZE;
		}
	}
	return nla_nest_end(skb, nest);
}
EXPORT_SYMBOL_GPL(mf_sch_dump);

/**
 * struct mf_headers - what the headers of a packet tell
 * @from: address of the sender, or NULL
 * @to: address of the receiver
 * @len: of an address, bytes; 0 where there is none
 * @source: port of the sender, 0 where there is none
 * @destination: port of the receiver
 * @n_proto: protocol behind Ethernet and VLAN tags
 * @protocol: of what stands at the network header, 0 for neither IP
 * @ip_proto: protocol behind IP
 * @tcp: offset of a TCP header, 0 where there is none
 */
struct mf_headers {
	const void *from;
	const void *to;
	u32 len;
	u32 source;
	u32 destination;
	__be16 n_proto;
	__be16 protocol;
	u8 ip_proto;
	u32 tcp;
};

static u32 mf_sch_address4(const void *address)
{
	__be32 ip4;

	memcpy(&ip4, address, sizeof(ip4));
	return ntohl(ip4);
}

/* What the ends do not tell of a flow: protocols, and ports in the order of the ends. */
static u64 mf_sch_ports(u16 low, u16 high, u8 ip_proto, __be16 n_proto)
{
	return (u64)low << 48 | (u64)high << 32 | (u64)ip_proto << 16 |
	       (__force u16)n_proto;
}

/* The flow of a packet over IPv4: hash of the two ends in their order, and which of
 * them sends.
 */
static u64 mf_sch_flow4(const struct mf_sch *common, u32 from, u32 to, u16 source,
			u16 destination, u8 ip_proto, __be16 n_proto)
{
	bool swapped = from > to || (from == to && source > destination);
	u64 rest;

	if (swapped) {
		swap(from, to);
		swap(source, destination);
	}
	rest = mf_sch_ports(source, destination, ip_proto, n_proto);
	return siphash_2u64(rest, (u64)from << 32 | to, &common->key) << 1 | swapped;
}

/* The flow of a packet: of both directions the same but for the lowest bit. */
static u64 mf_sch_flow(const struct mf_sch *common,
		       const struct mf_headers *headers)
{
	u32 source = headers->source, destination = headers->destination;
	const void *from = headers->from, *to = headers->to;
	u32 len = headers->len;
	bool swapped = false;
	u64 ends[5];
	int order;

	if (len == sizeof(__be32))
		return mf_sch_flow4(common, mf_sch_address4(from),
				    mf_sch_address4(to), source, destination,
				    headers->ip_proto, headers->n_proto);
	if (len) {
		order = memcmp(from, to, len);
		swapped = order > 0 || (!order && source > destination);
	}
	if (swapped) {
		swap(from, to);
		swap(source, destination);
	}
	ends[0] = mf_sch_ports(source, destination, headers->ip_proto,
			       headers->n_proto);
	memcpy(&ends[1], from, len);
	memcpy((u8 *)&ends[1] + len, to, len);
	return siphash(ends, sizeof(ends[0]) + 2 * len, &common->key) << 1 | swapped;
}

/* Room for headers that are not in one piece; the ports stand at the same place in TCP. */
struct mf_plain4 {
	struct iphdr ip;
	__be16 source;
	__be16 destination;
};

struct mf_plain6 {
	struct ipv6hdr ip;
	__be16 source;
	__be16 destination;
};

union mf_plain {
	struct mf_plain4 ip4;
	struct mf_plain6 ip6;
};

/* The headers of a packet that has TCP or UDP directly behind IPv4 without options or
 * fragments, in the packet or in @room; NULL for others.
 */
static const struct mf_plain4 *mf_sch_plain4(const struct sk_buff *skb,
					     struct mf_plain4 *room)
{
	const struct mf_plain4 *head;

	if (skb->protocol != htons(ETH_P_IP))
		return NULL;
	head = skb_header_pointer(skb, skb_network_offset(skb), sizeof(*head),
				  room);
	if (!head || *(const u8 *)head != 0x45 ||
	    (head->ip.frag_off & htons(IP_MF | IP_OFFSET)) ||
	    (head->ip.protocol != IPPROTO_TCP && head->ip.protocol != IPPROTO_UDP))
		return NULL;
	return head;
}

/* The same over IPv6 without options. */
static const struct mf_plain6 *mf_sch_plain6(const struct sk_buff *skb,
					     struct mf_plain6 *room)
{
	const struct mf_plain6 *head;

	if (skb->protocol != htons(ETH_P_IPV6))
		return NULL;
	head = skb_header_pointer(skb, skb_network_offset(skb), sizeof(*head),
				  room);
	if (!head || (head->ip.nexthdr != IPPROTO_TCP &&
		      head->ip.nexthdr != IPPROTO_UDP))
		return NULL;
	return head;
}

/*
 * Reads the headers of TCP or UDP directly behind IP without options or
 * fragments, as the dissector would but sooner; false for other packets.
 * @room is for its addresses.
 */
static bool mf_sch_plain(const struct sk_buff *skb, union mf_plain *room,
			 struct mf_headers *headers)
{
	const struct mf_plain4 *ip4 = mf_sch_plain4(skb, &room->ip4);
	const struct mf_plain6 *ip6 = ip4 ? NULL : mf_sch_plain6(skb, &room->ip6);

	if (ip4)
		*headers = (struct mf_headers){
			.from = &ip4->ip.saddr,
			.to = &ip4->ip.daddr,
			.len = sizeof(ip4->ip.saddr),
			.source = ntohs(ip4->source),
			.destination = ntohs(ip4->destination),
			.ip_proto = ip4->ip.protocol,
			.tcp = sizeof(ip4->ip),
		};
	else if (ip6)
		*headers = (struct mf_headers){
			.from = &ip6->ip.saddr,
			.to = &ip6->ip.daddr,
			.len = sizeof(ip6->ip.saddr),
			.source = ntohs(ip6->source),
			.destination = ntohs(ip6->destination),
			.ip_proto = ip6->ip.nexthdr,
			.tcp = sizeof(ip6->ip),
		};
	else
		return false;
	if (headers->ip_proto == IPPROTO_TCP)
		headers->tcp += skb_network_offset(skb);
	else
		headers->tcp = 0;
	headers->n_proto = skb->protocol;
	headers->protocol = skb->protocol;
	return true;
}

/* Reads the headers of any packet; @keys is room for its addresses. */
static void mf_sch_dissect(const struct sk_buff *skb, struct flow_keys *keys,
			   struct mf_headers *headers)
{
	skb_flow_dissect_flow_keys(skb, keys, FLOW_DISSECTOR_F_STOP_AT_ENCAP);
	*headers = (struct mf_headers){
		.source = ntohs(keys->ports.src),
		.destination = ntohs(keys->ports.dst),
		.n_proto = keys->basic.n_proto,
		.ip_proto = keys->basic.ip_proto,
	};
	/* Behind a VLAN tag in the packet the IP header is elsewhere. */
	if (skb->protocol == keys->basic.n_proto)
		headers->protocol = skb->protocol;
	if (keys->control.addr_type == FLOW_DISSECTOR_KEY_IPV4_ADDRS) {
		headers->from = &keys->addrs.v4addrs.src;
		headers->to = &keys->addrs.v4addrs.dst;
		headers->len = sizeof(keys->addrs.v4addrs.src);
	} else if (keys->control.addr_type == FLOW_DISSECTOR_KEY_IPV6_ADDRS) {
		headers->from = &keys->addrs.v6addrs.src;
		headers->to = &keys->addrs.v6addrs.dst;
		headers->len = sizeof(keys->addrs.v6addrs.src);
	}
	if (keys->basic.ip_proto == IPPROTO_TCP && keys->control.addr_type &&
	    !(keys->control.flags & FLOW_DIS_IS_FRAGMENT))
		headers->tcp = keys->control.thoff;
}

/* Room for addresses that are not in the packet. */
struct mf_elsewhere {
	union mf_plain plain;
	struct flow_keys keys;
	__be32 from;
	__be32 to;
};

/*
 * The ends before network address translation, of IPv4 as conntrack has no other
 * for a packet that has not been there: as CAKE does. One that has been there has
 * the tuple of its own direction, one that has not is looked up and gets that of
 * the other one.
 */
static void mf_sch_untranslate(const struct sk_buff *skb,
			       struct mf_elsewhere *elsewhere,
			       struct mf_headers *headers)
{
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
	struct nf_conntrack_tuple tuple = { };
	bool turned = !skb_nfct(skb);

	if (headers->len != sizeof(__be32) || headers->protocol != htons(ETH_P_IP) ||
	    !nf_ct_get_tuple_skb(&tuple, skb))
		return;
	elsewhere->from = turned ? tuple.dst.u3.ip : tuple.src.u3.ip;
	elsewhere->to = turned ? tuple.src.u3.ip : tuple.dst.u3.ip;
	headers->from = &elsewhere->from;
	headers->to = &elsewhere->to;
	if (!headers->source && !headers->destination)
		return;
	headers->source = ntohs(turned ? tuple.dst.u.all : tuple.src.u.all);
	headers->destination = ntohs(turned ? tuple.src.u.all : tuple.dst.u.all);
#endif
}

/* Reads the headers of any packet; @elsewhere is room for its addresses. */
static void mf_sch_read(const struct mf_sch *common, const struct sk_buff *skb,
			struct mf_elsewhere *elsewhere,
			struct mf_headers *headers)
{
	if (!mf_sch_plain(skb, &elsewhere->plain, headers))
		mf_sch_dissect(skb, &elsewhere->keys, headers);
	if (common->nat)
		mf_sch_untranslate(skb, elsewhere, headers);
}

static u32 mf_sch_host4(const struct mf_sch *common, u32 address)
{
	return address >> (32 - common->prefix) << (32 - common->prefix);
}

/* The number of the host at @address: for IPv4 the address, for IPv6 a hash. */
static u32 mf_sch_host(const struct mf_sch *common, const void *address, u32 len)
{
	struct in6_addr ip6;

	if (len == sizeof(__be32))
		return mf_sch_host4(common, mf_sch_address4(address));
	ipv6_addr_prefix(&ip6, address, common->prefix6);
	return siphash(&ip6, sizeof(ip6), &common->key);
}

/* By the bits of the IP header. */
static const u8 mf_sch_ecns[] = { MF_NOT_ECT, MF_ECT_1, MF_ECT_0, MF_CE };

static u8 mf_sch_ecn(const struct sk_buff *skb, __be16 protocol)
{
	u8 head[2];
	const u8 *ip = skb_header_pointer(skb, skb_network_offset(skb),
					  sizeof(head), head);

	if (!ip)
		return MF_NOT_ECT;
	if (protocol == htons(ETH_P_IP))
		return mf_sch_ecns[ip[1] & 3];
	if (protocol == htons(ETH_P_IPV6))
		return mf_sch_ecns[ip[1] >> 4 & 3];
	return MF_NOT_ECT;
}

/* Payload behind a TCP header at @offset, bytes; padding is none. */
static s32 mf_sch_payload(const struct sk_buff *skb, __be16 protocol,
			  u32 offset)
{
	u32 start = skb_network_offset(skb);
	u32 end = skb->len;
	struct ipv6hdr ip6;
	struct iphdr ip4;
	const void *ip;
	u32 len = 0;

	if (protocol == htons(ETH_P_IP)) {
		ip = skb_header_pointer(skb, start, sizeof(ip4), &ip4);
		if (ip)
			len = ntohs(((const struct iphdr *)ip)->tot_len);
	} else if (protocol == htons(ETH_P_IPV6)) {
		ip = skb_header_pointer(skb, start, sizeof(ip6), &ip6);
		if (ip)
			len = ntohs(((const struct ipv6hdr *)ip)->payload_len);
		if (len)
			len += sizeof(ip6);
	}
	/* Super-packets above 64 kB have no length. */
	if (len && start + len < end)
		end = start + len;
	return (s32)end - (s32)offset;
}

/* Reads a TCP header at @offset: kind and progress. */
static noinline void mf_sch_tcp(struct mf_sch *common, const struct sk_buff *skb,
				__be16 protocol, u32 offset,
				struct mf_packet *packet, u64 now_ns)
{
	struct mf_segment segment;
	const struct tcphdr *tcp;
	struct tcphdr header;
	s32 payload;

	tcp = skb_header_pointer(skb, offset, sizeof(header), &header);
	if (!tcp || tcp->doff < sizeof(header) / 4)
		return;
	payload = mf_sch_payload(skb, protocol, offset + tcp->doff * 4);
	segment = (struct mf_segment){
		.flow = packet->flow,
		.seq = ntohl(tcp->seq),
		.ack = ntohl(tcp->ack_seq),
		.syn = tcp->syn,
		.acks = tcp->ack,
		.occupies = tcp->syn || tcp->fin || payload > 0,
	};
	if (!segment.occupies && !segment.acks)
		return;
	packet->kind = segment.occupies ? MF_DATA : MF_ACK;
	if (!tcp->rst)
		packet->progress = mf_connections_progress(&common->connections,
							   &segment, now_ns);
}

/* Tells the core about any packet. */
static noinline void mf_sch_describe_any(struct mf_sch *common,
					 const struct sk_buff *skb,
					 struct mf_packet *packet, u64 now_ns)
{
	struct mf_elsewhere elsewhere;
	struct mf_headers headers;

	mf_sch_read(common, skb, &elsewhere, &headers);
	packet->flow = mf_sch_flow(common, &headers);
	packet->ecn = mf_sch_ecn(skb, headers.protocol);
	if (common->hosts && headers.len) {
		packet->src = mf_sch_host(common, headers.from, headers.len);
		packet->dst = mf_sch_host(common, headers.to, headers.len);
	}
	if (headers.tcp && common->connections.entries)
		mf_sch_tcp(common, skb, headers.protocol, headers.tcp, packet,
			   now_ns);
}

/* The same of one that @head is of, as above but in a third of the time. */
static __always_inline void mf_sch_describe_plain4(struct mf_sch *common,
						   const struct sk_buff *skb,
						   const struct mf_plain4 *head,
						   struct mf_packet *packet,
						   u64 now_ns)
{
	u32 from = ntohl(head->ip.saddr), to = ntohl(head->ip.daddr);

	packet->flow = mf_sch_flow4(common, from, to, ntohs(head->source),
				    ntohs(head->destination), head->ip.protocol,
				    htons(ETH_P_IP));
	packet->ecn = mf_sch_ecns[head->ip.tos & 3];
	if (common->hosts) {
		packet->src = mf_sch_host4(common, from);
		packet->dst = mf_sch_host4(common, to);
	}
	if (head->ip.protocol == IPPROTO_TCP && common->connections.entries)
		mf_sch_tcp(common, skb, htons(ETH_P_IP),
			   skb_network_offset(skb) + sizeof(head->ip), packet,
			   now_ns);
}

/**
 * mf_sch_describe() - tells the core about a packet
 * @common: of the queue discipline
 * @skb: the packet
 * @packet: its descriptor
 * @now_ns: present time; without a table of connections anything
 *
 * Fragments and tunnels are plain flows between their addresses. Without a table
 * of connections the kind is MF_UDP: the cores that ask for it have one.
 */
void mf_sch_describe(struct mf_sch *common, const struct sk_buff *skb,
		     struct mf_packet *packet, u64 now_ns)
{
	const struct mf_plain4 *head = NULL;
	struct mf_plain4 room;

	if (!common->nat)
		head = mf_sch_plain4(skb, &room);
	/* One by one: for a struct of this size compilers take a loop. */
	packet->handle = (void *)skb;
	packet->progress = 0;
	packet->len = qdisc_pkt_len(skb);
	packet->src = 0;
	packet->dst = 0;
	packet->mark = common->hosts ? skb->mark : 0;
	packet->kind = MF_UDP;
	if (likely(head))
		mf_sch_describe_plain4(common, skb, head, packet, now_ns);
	else
		mf_sch_describe_any(common, skb, packet, now_ns);
}
EXPORT_SYMBOL_GPL(mf_sch_describe);

/* An address, cut to the prefix that tells hosts apart. */
static void mf_sch_address(const struct mf_sch *common, const void *address,
			   u32 len, u8 *written)
{
	__be32 ip4;

	if (len == sizeof(ip4)) {
		ip4 = htonl(mf_sch_host(common, address, len));
		memcpy(written, &ip4, sizeof(ip4));
	} else {
		ipv6_addr_prefix((struct in6_addr *)written, address,
				 common->prefix6);
	}
}

/**
 * mf_sch_name() - the ends of a packet, for who reads
 * @common: of the queue discipline
 * @skb: the packet
 * @name: where they go
 */
void mf_sch_name(const struct mf_sch *common, const struct sk_buff *skb,
		 struct mf_name *name)
{
	struct mf_elsewhere elsewhere;
	struct mf_headers headers;

	mf_sch_read(common, skb, &elsewhere, &headers);
	*name = (struct mf_name){
		.source = headers.source,
		.destination = headers.destination,
		.ip_proto = headers.ip_proto,
	};
	if (!headers.len)
		return;
	name->family = headers.len == sizeof(__be32) ? AF_INET : AF_INET6;
	mf_sch_address(common, headers.from, headers.len, name->from);
	mf_sch_address(common, headers.to, headers.len, name->to);
}
EXPORT_SYMBOL_GPL(mf_sch_name);

/**
 * mf_sch_victim() - a packet that waited is dropped
 * @common: of the queue discipline
 * @victim: the packet
 *
 * Called from the core's discard; mf_sch_settle() follows.
 */
void mf_sch_victim(struct mf_sch *common, const struct mf_packet *victim)
{
	struct sk_buff *skb = victim->handle;
	struct Qdisc *sch = common->sch;

	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	common->pushed_out++;
	common->gone_pkts++;
	common->gone_bytes += qdisc_pkt_len(skb);
	if (common->to_free)
		qdisc_drop(skb, sch, common->to_free);
	else
		rtnl_qdisc_drop(skb, sch);
}
EXPORT_SYMBOL_GPL(mf_sch_victim);

/**
 * mf_sch_early() - a packet is dropped as it would leave
 * @common: of the queue discipline
 * @victim: the packet
 *
 * Called from the core's discard, during dequeue; mf_sch_settle() follows when
 * packets are left.
 */
void mf_sch_early(struct mf_sch *common, const struct mf_packet *victim)
{
	struct sk_buff *skb = victim->handle;
	struct Qdisc *sch = common->sch;

	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qstats_drop(sch);
	sch->q.qlen--;
	common->gone_pkts++;
	common->gone_bytes += qdisc_pkt_len(skb);
	kfree_skb(skb);
}
EXPORT_SYMBOL_GPL(mf_sch_early);

/**
 * mf_sch_settle() - tells the parents about victims
 * @common: of the queue discipline
 *
 * Once the arriving packet waits: parents that see their child empty in
 * between take it off their lists.
 */
void mf_sch_settle(struct mf_sch *common)
{
	u32 pkts = common->gone_pkts, bytes = common->gone_bytes;

	common->gone_pkts = 0;
	common->gone_bytes = 0;
	qdisc_tree_reduce_backlog(common->sch, pkts, bytes);
}
EXPORT_SYMBOL_GPL(mf_sch_settle);

/**
 * mf_sch_split() - offers the packets that a super-packet stands for
 * @common: of the queue discipline
 * @skb: the super-packet
 * @now_ns: present time
 * @take: the core's enqueue
 *
 * Return: NET_XMIT_SUCCESS if any of them waits, else NET_XMIT_DROP.
 */
int mf_sch_split(struct mf_sch *common, struct sk_buff *skb, u64 now_ns,
		 mf_sch_take_t take)
{
	netdev_features_t features = netif_skb_features(skb);
	struct Qdisc *sch = common->sch;
	struct sk_buff *segment, *next;
	u32 pkts = 0, bytes = 0, len;

	segment = skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segment))
		return qdisc_drop(skb, sch, common->to_free);
	skb_list_walk_safe(segment, segment, next) {
		skb_mark_not_on_list(segment);
		/* As tbf has it: the size table of a parent is not reached. */
		qdisc_skb_cb(segment)->pkt_len = segment->len;
#ifdef MF_HAVE_PKT_SEGS
		qdisc_skb_cb(segment)->pkt_segs = 1;
#endif
		len = qdisc_pkt_len(segment);
		if (mf_sch_offer(common, segment, now_ns, take) == NET_XMIT_SUCCESS) {
			pkts++;
			bytes += len;
		}
	}
	if (pkts) {
		/* The parents count one packet of the old length. */
		qdisc_tree_reduce_backlog(sch, 1 - (int)pkts,
					  (int)(qdisc_pkt_len(skb) - bytes));
	}
	consume_skb(skb);
	return pkts ? NET_XMIT_SUCCESS : NET_XMIT_DROP;
}
EXPORT_SYMBOL_GPL(mf_sch_split);

MODULE_DESCRIPTION("What Mayfly's queue disciplines share");
MODULE_LICENSE("GPL");
