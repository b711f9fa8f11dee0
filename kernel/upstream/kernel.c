// SPDX-License-Identifier: GPL-2.0
/*
 * A queue of the test kernel, in a process: the objects of its build are linked
 * with this file, which makes packets and a device and stands in for the rest of
 * the kernel. It is compiled as they were, with the kernel's headers.
 *
 * What stands in decides nothing about packets, but for three things that the
 * caller gives: the time, random numbers, and the hashes of flows and hosts.
 */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <net/flow_dissector.h>
#include <net/netlink.h>
#include <net/pkt_cls.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "bridge.h"

/* Static in their files: build.sh makes them global. */
extern struct Qdisc_ops codel_qdisc_ops, fq_codel_qdisc_ops, cake_qdisc_ops;

static struct Qdisc_ops *const known[] = { &codel_qdisc_ops, &fq_codel_qdisc_ops, &cake_qdisc_ops };

static struct Qdisc *queue;
static struct net_device device = { .mtu = ETH_DATA_LEN, .hard_header_len = ETH_HLEN };
static struct netdev_queue device_queue = { .dev = &device };
static ktime_t present;

static union {
	struct nlattr head;
	char bytes[512];
} options;
static int options_len = NLA_HDRLEN;

/* A packet: its descriptor, and behind it Ethernet and IPv4 headers. */
struct packet {
	struct sk_buff skb;
	u64 handle;
	u32 src_hash, dst_hash;
	char data[ETH_HLEN + sizeof(struct iphdr)] __aligned(8);
	struct skb_shared_info shared;
};

static struct packet *packet_of(const struct sk_buff *skb)
{
	return container_of(skb, struct packet, skb);
}

int queue_make(const char *id)
{
	int k;

	for (k = 0; k < ARRAY_SIZE(known); k++) {
		if (strcmp(known[k]->id, id))
			continue;
		queue = bridge_zeroed(sizeof(*queue) + known[k]->priv_size);
		queue->ops = known[k];
		queue->enqueue = known[k]->enqueue;
		queue->dequeue = known[k]->dequeue;
		queue->dev_queue = &device_queue;
		device_queue.qdisc = queue;
		device_queue.qdisc_sleeping = queue;
		__skb_queue_head_init(&queue->gso_skb);
		return 0;
	}
	return -ENOENT;
}

void queue_option(int attribute, unsigned long long value, int bytes)
{
	struct nlattr *at = (struct nlattr *)(options.bytes + options_len);

	if (options_len + NLA_HDRLEN + bytes > sizeof(options))
		bridge_fail("too many options");
	at->nla_type = attribute;
	at->nla_len = NLA_HDRLEN + bytes;
	memcpy(nla_data(at), &value, bytes);
	options_len += NLA_ALIGN(at->nla_len);
}

int queue_begin(void)
{
	options.head.nla_type = TCA_OPTIONS;
	options.head.nla_len = options_len;
	return queue->ops->init(queue, &options.head, NULL);
}

void queue_enqueue(const struct arrival *arrival, unsigned long long now)
{
	struct sk_buff *to_free = NULL, *dropped, *in_order = NULL;
	struct packet *packet = bridge_zeroed(sizeof(*packet));
	struct sk_buff *skb = &packet->skb;
	struct iphdr *header = (struct iphdr *)(packet->data + ETH_HLEN);

	packet->handle = arrival->handle;
	packet->src_hash = arrival->src_hash;
	packet->dst_hash = arrival->dst_hash;
	header->version = 4;
	header->ihl = sizeof(*header) / 4;
	header->tos = arrival->tos;
	skb->head = packet->data;
	skb->data = packet->data;
	skb_set_tail_pointer(skb, sizeof(packet->data));
	skb->end = (sk_buff_data_t)((char *)&packet->shared - packet->data);
	skb_set_network_header(skb, ETH_HLEN);
	skb->len = sizeof(packet->data);
	skb->protocol = htons(ETH_P_IP);
	skb->hash = arrival->flow_hash;
	skb->l4_hash = 1;
	skb->truesize = arrival->memory;
	skb->dev = &device;
	qdisc_skb_cb(skb)->pkt_len = arrival->len;
	present = now;
	queue->enqueue(skb, queue, &to_free);
	/* The last that was dropped comes first. */
	while ((dropped = to_free)) {
		to_free = dropped->next;
		dropped->next = in_order;
		in_order = dropped;
	}
	while ((dropped = in_order)) {
		in_order = dropped->next;
		bridge_dropped(packet_of(dropped)->handle);
		bridge_free(packet_of(dropped));
	}
}

int queue_dequeue(unsigned long long now, unsigned long long *handle, unsigned int *tos)
{
	struct sk_buff *skb;

	present = now;
	skb = queue->dequeue(queue);
	if (!skb)
		return 0;
	*handle = packet_of(skb)->handle;
	*tos = ip_hdr(skb)->tos;
	bridge_free(packet_of(skb));
	return 1;
}

unsigned int queue_packets(void)
{
	return queue->q.qlen;
}

unsigned int queue_bytes(void)
{
	return queue->qstats.backlog;
}

#define NUMBER(name) { #name, name }

long long queue_number(const char *name)
{
	static const struct {
		const char *name;
		long long number;
	} numbers[] = {
		NUMBER(TCA_CODEL_TARGET), NUMBER(TCA_CODEL_INTERVAL), NUMBER(TCA_CODEL_LIMIT), NUMBER(TCA_CODEL_ECN),
		NUMBER(TCA_FQ_CODEL_TARGET), NUMBER(TCA_FQ_CODEL_LIMIT), NUMBER(TCA_FQ_CODEL_INTERVAL),
		NUMBER(TCA_FQ_CODEL_ECN), NUMBER(TCA_FQ_CODEL_FLOWS), NUMBER(TCA_FQ_CODEL_QUANTUM),
		NUMBER(TCA_FQ_CODEL_DROP_BATCH_SIZE), NUMBER(TCA_FQ_CODEL_MEMORY_LIMIT),
		NUMBER(TCA_CAKE_RTT), NUMBER(TCA_CAKE_TARGET), NUMBER(TCA_CAKE_MEMORY), NUMBER(TCA_CAKE_FLOW_MODE),
		NUMBER(TCA_CAKE_DIFFSERV_MODE), NUMBER(CAKE_DIFFSERV_BESTEFFORT), NUMBER(CAKE_FLOW_FLOWS),
		NUMBER(CAKE_FLOW_DUAL_SRC), NUMBER(CAKE_FLOW_DUAL_DST), NUMBER(CAKE_FLOW_TRIPLE),
	};
	int k;

	for (k = 0; k < ARRAY_SIZE(numbers); k++)
		if (!strcmp(numbers[k].name, name))
			return numbers[k].number;
	return -1;
}

/* What the caller gives. */

ktime_t ktime_get(void)
{
	return present;
}

u32 get_random_u32(void)
{
	return bridge_random32();
}

u16 get_random_u16(void)
{
	return bridge_random16();
}

struct flow_dissector flow_keys_dissector;

/* "Addresses" that are hashes already: of which packet, flow_hash_from_keys() cannot know. */
bool __skb_flow_dissect(const struct net *net, const struct sk_buff *skb, struct flow_dissector *dissector,
			void *container, const void *data, __be16 proto, int nhoff, int hlen, unsigned int flags)
{
	struct flow_keys *keys = container;

	keys->control.addr_type = FLOW_DISSECTOR_KEY_IPV4_ADDRS;
	keys->addrs.v4addrs.src = (__force __be32)packet_of(skb)->src_hash;
	keys->addrs.v4addrs.dst = (__force __be32)packet_of(skb)->dst_hash;
	return true;
}

/* Of one host: the other address is zero. */
u32 flow_hash_from_keys(struct flow_keys *keys)
{
	if (keys->addrs.v4addrs.src && keys->addrs.v4addrs.dst)
		bridge_fail("the hash of a flow comes with its packet");
	return (__force u32)(keys->addrs.v4addrs.src | keys->addrs.v4addrs.dst);
}

/* Memory. */

void *kvmalloc_node(size_t size, gfp_t flags, int node)
{
	return bridge_zeroed(size);
}

void kvfree(const void *memory)
{
	bridge_free(memory);
}

void kfree_skb_reason(struct sk_buff *skb, enum skb_drop_reason reason)
{
	bridge_dropped(packet_of(skb)->handle);
	bridge_free(packet_of(skb));
}

/* Attributes of options, each of the size that its policy says. */

int __nla_parse(struct nlattr **found, int most, const struct nlattr *at, int len,
		const struct nla_policy *policy, unsigned int strictness, struct netlink_ext_ack *extack)
{
	memset(found, 0, (most + 1) * sizeof(*found));
	for (; nla_ok(at, len); at = nla_next(at, &len)) {
		if (nla_type(at) > most)
			return -EINVAL;
		if (policy[nla_type(at)].type == NLA_U64 ? nla_len(at) != 8 : nla_len(at) < 1)
			return -EINVAL;
		found[nla_type(at)] = (struct nlattr *)at;
	}
	return 0;
}

int nla_memcpy(void *to, const struct nlattr *at, int count)
{
	memcpy(to, nla_data(at), min_t(int, count, nla_len(at)));
	return nla_len(at);
}

/* No parents, filters, timers or locks. */

void qdisc_tree_reduce_backlog(struct Qdisc *sch, int n, int len)
{
}

int tcf_block_get(struct tcf_block **block, struct tcf_proto __rcu **chain, struct Qdisc *q,
		  struct netlink_ext_ack *extack)
{
	return 0;
}

void qdisc_watchdog_init(struct qdisc_watchdog *watchdog, struct Qdisc *sch)
{
}

void qdisc_watchdog_schedule_range_ns(struct qdisc_watchdog *watchdog, u64 expires, u64 delta)
{
}

int rtnl_is_locked(void)
{
	return 1;
}

void __local_bh_enable_ip(unsigned long ip, unsigned int count)
{
}

void warn_slowpath_fmt(const char *file, const int line, unsigned int taint, const char *format, ...)
{
	bridge_fail(file);
}
