// SPDX-License-Identifier: GPL-2.0
/*
 * Lagged fair queueing as a BPF qdisc, "bpf_lfq": for kernels >= 6.16 with
 * CONFIG_NET_SCH_BPF, where no module may or can be loaded.
 *
 * Principle: as core/lfq.h. A user has a tag, the bytes it was charged; the one of
 * smallest tag is served, and who was silent comes back a lag behind the clock at
 * most; packets of a user are in the order of the tags that their flows had as they
 * came, which lag in the same way. A flow that was silent goes ahead of all users
 * while its user has no debt; users without standing share one place; a full
 * buffer takes from the user with most waiting. CoDel and shaper are those of
 * core/. docs/kernel/bpf.md says what of the core is not here.
 * Cost per packet: O(log users + log packets of the user).
 *
 * Bounds: as those of efd.bpf.c. Every value of settings is held to its bounds where
 * it is read. An entry of lfq_users is in the order of its queue or among its
 * silent ones, never in neither, so that it is forgotten in the end; packets are
 * held by the trees of the users and of the queue.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "../core/lfq_defaults.h"
#include "core.bpf.h"
#include "lfq.h"
#include "packet.bpf.h"

#define FOREVER (4 * LFQ_LIMIT_PKTS_MAX) /* steps, more than to empty a queue */
/* Steps of one call: turns that are out of date, packets that CoDel drops. */
#define STEPS 256
#define AGAIN_NS 100000ULL /* after these, when nothing was found */
#define FORGET 2 /* users looked at for one that comes */

#define packet_of(at) \
	((struct waiting *)((void *)(at) - __builtin_offsetof(struct waiting, link)))
#define turn_of(at) \
	((struct turn *)((void *)(at) - __builtin_offsetof(struct turn, link)))

char _license[] SEC("license") = "GPL";

/* A user in one qdisc: its hosts; all ones for all newcomers together. */
struct user_key {
	__u64 queue;
	__u64 hosts[2];
};

/* A packet that waits, in the tree of its user, or of its queue if it goes ahead. */
struct waiting {
	struct flow_key flow;
	__u64 rank;
	__u64 since_ns;
	__u32 len;
	struct sk_buff __kptr *skb;
	struct bpf_rb_node link;
};

/* The place of a user, in the order of its queue or among its silent users. */
struct turn {
	struct user_key key;
	__u64 tag;
	struct bpf_rb_node link;
};

struct user {
	__u64 tag;
	__u64 clock;
	__u64 bytes; /* in its tree, as @pkts */
	__u32 pkts;
	__u8 in_turn; /* has a place in the order */
	__u8 listed; /* has one among the silent */
	struct bpf_spin_lock lock;
	struct bpf_rb_root packets __contains(waiting, link);
};

struct flow {
	__u64 tag;
	__u64 bytes;
	__u32 queued;
	__u32 newcomer;
	struct mf_codel codel;
};

struct queue {
	struct lfq_counters counters; /* first: what user space reads */
	struct mf_shaper shaper;
	__u64 clock;
	__u64 arrivals; /* of packets that go ahead */
	struct user_key most; /* the user that had most waiting not long ago */
	__u64 most_bytes;
	struct bpf_spin_lock lock;
	struct bpf_rb_root ahead __contains(waiting, link);
	struct bpf_rb_root turns __contains(turn, link);
	struct bpf_rb_root silent __contains(turn, link);
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LFQ_DEVICES);
	__type(key, __u32);
	__type(value, struct lfq_settings);
} lfq_settings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LFQ_QUEUES);
	__type(key, __u64);
	__type(value, struct queue);
} lfq_queues SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, LFQ_USERS);
	__type(key, struct user_key);
	__type(value, struct user);
} lfq_users SEC(".maps");

/* When a user without standing first came. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, LFQ_NEWCOMERS);
	__type(key, struct user_key);
	__type(value, __u64);
} lfq_newcomers SEC(".maps");

/* More than 65536 flows at a time, and packets of one may overtake each other. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, LFQ_FLOWS);
	__type(key, struct flow_key);
	__type(value, struct flow);
} lfq_flows SEC(".maps");

static const struct lfq_settings defaults = {
	.user_lag = MF_LFQ_USER_LAG,
	.flow_lag = MF_LFQ_FLOW_LAG,
	.debt = MF_LFQ_DEBT,
	.probation_ns = MF_LFQ_PROBATION_NS,
	.target_ns = MF_LFQ_TARGET_NS,
	.interval_ns = MF_LFQ_INTERVAL_NS,
	.limit_pkts = MF_LFQ_LIMIT_PKTS,
};

static struct queue *queue_of(struct Qdisc *sch)
{
	__u64 key = (__u64)sch;

	return bpf_map_lookup_elem(&lfq_queues, &key);
}

static const struct lfq_settings *settings_of(const struct queue *queue)
{
	__u32 ifindex = queue->counters.ifindex;
	const struct lfq_settings *settings;

	settings = bpf_map_lookup_elem(&lfq_settings, &ifindex);
	if (settings)
		return settings;
	ifindex = 0;
	settings = bpf_map_lookup_elem(&lfq_settings, &ifindex);
	return settings ?: &defaults;
}

/* Each is read once, since user space may write it meanwhile. */
static __u64 held(__u64 value, __u64 least, __u64 most)
{
	barrier_var(value);
	if (value < least)
		return least;
	return value < most ? value : most;
}

static __u64 rate_of(const struct lfq_settings *settings)
{
	__u64 rate = settings->rate;

	barrier_var(rate);
	return rate ? held(rate, MF_SHAPER_RATE_MIN, MF_SHAPER_RATE_MAX) : 0;
}

static struct mf_framed framed_of(const struct lfq_settings *settings)
{
	__s32 overhead = settings->overhead;
	struct mf_framed framed = {
		.overhead = (s32)held(overhead < -64 ? 0 : overhead + 64LL, 0, 320) - 64,
		.mpu = held(settings->mpu, 0, 256),
		.framing = settings->framing,
		.adjusted = settings->adjusted,
	};

	return framed;
}

static __u64 less(__u64 value, __u64 by)
{
	return value > by ? value - by : 0;
}

static bool comes_before(struct bpf_rb_node *a, const struct bpf_rb_node *b)
{
	return packet_of(a)->rank < packet_of(b)->rank;
}

static bool is_behind(struct bpf_rb_node *a, const struct bpf_rb_node *b)
{
	return turn_of(a)->tag < turn_of(b)->tag;
}

static void read_user(struct user_key *user, const struct flow_key *flow,
		      __u8 by)
{
	__u64 source = flow->source[0], destination = flow->destination[0];

	/* Of IPv6 the first 64 bits. */
	user->queue = flow->queue;
	if (by == LFQ_DST)
		source = 0;
	else if (by == LFQ_SRC)
		destination = 0;
	user->hosts[0] = source < destination ? source : destination;
	user->hosts[1] = source < destination ? destination : source;
}

static void name_newcomers(struct user_key *user, __u64 queue)
{
	user->queue = queue;
	user->hosts[0] = U64_MAX;
	user->hosts[1] = U64_MAX;
}

static bool is_same(const struct user_key *a, const struct user_key *b)
{
	return a->hosts[0] == b->hosts[0] && a->hosts[1] == b->hosts[1];
}

/* Its place goes into a tree of the queue; @turn is the tree's then. */
static void place(struct queue *queue, struct turn *turn, bool silent)
{
	bpf_spin_lock(&queue->lock);
	if (silent)
		bpf_rbtree_add_impl(&queue->silent, &turn->link, is_behind, NULL, 0);
	else
		bpf_rbtree_add_impl(&queue->turns, &turn->link, is_behind, NULL, 0);
	bpf_spin_unlock(&queue->lock);
}

/* A user without packets leaves the order. */
static void rest(struct queue *queue, struct user *user, struct turn *turn)
{
	user->in_turn = 0;
	if (user->listed) {
		bpf_obj_drop_impl(turn, NULL);
		return;
	}
	user->listed = 1;
	turn->tag = user->tag;
	place(queue, turn, true);
}

/* Whoever of the silent is farthest behind comes back as if unknown: it is. With
 * @all, whoever is silent.
 */
static bool forget(struct queue *queue, const struct lfq_settings *settings,
		   bool all)
{
	struct bpf_rb_node *link;
	struct user_key key;
	struct user *user;
	struct turn *turn;

	bpf_spin_lock(&queue->lock);
	link = bpf_rbtree_first(&queue->silent);
	if (!link) {
		bpf_spin_unlock(&queue->lock);
		return false;
	}
	link = bpf_rbtree_remove(&queue->silent, link);
	bpf_spin_unlock(&queue->lock);
	if (!link)
		return false;
	turn = turn_of(link);
	key = turn->key;
	user = bpf_map_lookup_elem(&lfq_users, &key);
	if (!user) {
		bpf_obj_drop_impl(turn, NULL);
		return true;
	}
	if (user->in_turn) {
		user->listed = 0;
		bpf_obj_drop_impl(turn, NULL);
		return true;
	}
	if (all || user->tag + held(settings->user_lag, 0, LFQ_BYTES_MAX) <= queue->clock) {
		bpf_map_delete_elem(&lfq_users, &key);
		queue->counters.users--;
		bpf_obj_drop_impl(turn, NULL);
		return true;
	}
	/* It has gone ahead meanwhile, or all others are less far behind. */
	all = turn->tag != user->tag;
	turn->tag = user->tag;
	place(queue, turn, true);
	return all;
}

/* Whether a user comes for the second time, after its probation. */
static bool has_standing(const struct user_key *key, __u64 probation_ns,
			 __u64 now_ns)
{
	__u64 *first;

	if (!probation_ns || bpf_map_lookup_elem(&lfq_users, key))
		return true;
	first = bpf_map_lookup_elem(&lfq_newcomers, key);
	if (first)
		return now_ns - *first >= probation_ns;
	bpf_map_update_elem(&lfq_newcomers, key, &now_ns, BPF_ANY);
	return false;
}

/* A user that comes, known from now on; it has its place, with or without packets. */
static struct user *admit(struct queue *queue, struct user_key *key,
			  const struct lfq_settings *settings)
{
	struct user fresh = { .in_turn = 1 };
	struct turn *turn;
	int left;

	bpf_for(left, 0, FORGET) {
		if (!forget(queue, settings, false))
			break;
	}
	turn = bpf_obj_new_impl(bpf_core_type_id_local(struct turn), NULL);
	if (!turn)
		return NULL;
	fresh.tag = less(queue->clock, held(settings->user_lag, 0, LFQ_BYTES_MAX));
	if (bpf_map_update_elem(&lfq_users, key, &fresh, BPF_NOEXIST)) {
		bpf_obj_drop_impl(turn, NULL);
		return NULL;
	}
	queue->counters.users++;
	turn->key = *key;
	turn->tag = fresh.tag;
	place(queue, turn, false);
	return bpf_map_lookup_elem(&lfq_users, key);
}

/* The user of a flow that has the number of packets, found or made. @key becomes its. */
static struct user *user_of(struct queue *queue, struct flow *flow,
			    struct user_key *key,
			    const struct lfq_settings *settings, __u64 now_ns)
{
	__u64 probation_ns = held(settings->probation_ns, 0, LFQ_TIME_MAX);
	struct user *user;

	/* A flow stays where packets of it wait: else they would overtake. */
	if (!flow->queued)
		flow->newcomer = !has_standing(key, probation_ns, now_ns);
	if (flow->newcomer)
		name_newcomers(key, key->queue);
	user = bpf_map_lookup_elem(&lfq_users, key);
	if (user)
		return user;
	user = admit(queue, key, settings);
	if (flow->newcomer)
		return user;
	if (user) {
		queue->counters.admitted++;
		return user;
	}
	/* No room in the table: one of the newcomers. */
	queue->counters.sharing++;
	flow->newcomer = 1;
	name_newcomers(key, key->queue);
	user = bpf_map_lookup_elem(&lfq_users, key);
	return user ?: admit(queue, key, settings);
}

/* It comes back from silence: its lag, and a place in the order. */
static bool wake(struct queue *queue, struct user *user,
		 const struct user_key *key, const struct lfq_settings *settings)
{
	__u64 least = less(queue->clock, held(settings->user_lag, 0, LFQ_BYTES_MAX));
	struct turn *turn;

	if (user->tag < least)
		user->tag = least;
	turn = bpf_obj_new_impl(bpf_core_type_id_local(struct turn), NULL);
	if (!turn)
		return false;
	turn->key = *key;
	turn->tag = user->tag;
	user->in_turn = 1;
	place(queue, turn, false);
	return true;
}

static struct flow *flow_of(const struct flow_key *key)
{
	struct flow *flow = bpf_map_lookup_elem(&lfq_flows, key);
	struct flow begun = {};

	if (flow)
		return flow;
	bpf_map_update_elem(&lfq_flows, key, &begun, BPF_ANY);
	return bpf_map_lookup_elem(&lfq_flows, key);
}

/* A packet of it leaves, for whatever reason. */
static void leave(const struct flow_key *key, __u32 len)
{
	struct flow *flow = bpf_map_lookup_elem(&lfq_flows, key);

	/* It may be another one: the table had to forget the first. */
	if (!flow || !flow->queued)
		return;
	flow->queued--;
	flow->bytes = less(flow->bytes, len);
}

/* Takes the packet out of what counts packets, and frees what held it. */
static struct sk_buff *open(struct Qdisc *sch, struct waiting *node)
{
	struct sk_buff *skb;

	sch->q.qlen--;
	sch->qstats.backlog -= node->len;
	skb = bpf_kptr_xchg(&node->skb, NULL);
	bpf_obj_drop_impl(node, NULL);
	return skb;
}

static struct bpf_rb_node *first_of(struct user *user)
{
	struct bpf_rb_node *link;

	bpf_spin_lock(&user->lock);
	link = bpf_rbtree_first(&user->packets);
	if (!link) {
		bpf_spin_unlock(&user->lock);
		return NULL;
	}
	link = bpf_rbtree_remove(&user->packets, link);
	bpf_spin_unlock(&user->lock);
	return link;
}

static void count_out(struct queue *queue, struct user *user,
		      const struct user_key *key, __u32 len)
{
	user->pkts--;
	user->bytes = less(user->bytes, len);
	if (is_same(key, &queue->most))
		queue->most_bytes = user->bytes;
}

/* Makes room: the next packet of the user with most waiting goes. */
static bool push_out(struct Qdisc *sch, struct queue *queue,
		     struct bpf_sk_buff_ptr *to_free)
{
	struct user_key key = queue->most;
	struct bpf_rb_node *link;
	struct waiting *node;
	struct flow_key flow;
	struct sk_buff *skb;
	struct user *user;
	__u32 len;

	user = bpf_map_lookup_elem(&lfq_users, &key);
	if (!user)
		return false;
	link = first_of(user);
	if (!link)
		return false;
	node = packet_of(link);
	len = node->len;
	flow = node->flow;
	count_out(queue, user, &key, len);
	leave(&flow, len);
	skb = open(sch, node);
	if (skb)
		bpf_qdisc_skb_drop(skb, to_free);
	sch->qstats.drops++;
	queue->counters.pushed_out++;
	return true;
}

SEC("struct_ops")
int BPF_PROG(lfq_enqueue, struct sk_buff *skb, struct Qdisc *sch,
	     struct bpf_sk_buff_ptr *to_free)
{
	struct queue *queue = queue_of(sch);
	__u64 now_ns = bpf_ktime_get_ns(), start;
	const struct lfq_settings *settings;
	__u32 len = wire_len(skb);
	struct waiting *node;
	struct user_key key;
	struct flow_key id;
	struct flow *flow;
	struct user *user;
	bool ahead;

	if (!queue)
		goto drop;
	settings = settings_of(queue);
	read_key(&id, skb, (__u64)sch);
	read_user(&key, &id, settings->by);
	if (sch->q.qlen >= held(settings->limit_pkts, 1, LFQ_LIMIT_PKTS_MAX) &&
	    !push_out(sch, queue, to_free)) {
		sch->qstats.overlimits++;
		queue->counters.full++;
		goto drop;
	}
	flow = flow_of(&id);
	if (!flow)
		goto drop;
	user = user_of(queue, flow, &key, settings, now_ns);
	if (!user || (!user->in_turn && !wake(queue, user, &key, settings)))
		goto drop;
	node = bpf_obj_new_impl(bpf_core_type_id_local(struct waiting), NULL);
	if (!node)
		goto drop;
	ahead = !flow->queued && !flow->newcomer && flow->tag <= user->clock &&
		user->tag <= queue->clock + held(settings->debt, 0, LFQ_BYTES_MAX);
	start = less(user->clock, held(settings->flow_lag, 0, LFQ_BYTES_MAX));
	if (start < flow->tag)
		start = flow->tag;
	flow->tag = start + len;
	flow->queued++;
	flow->bytes += len;
	node->flow = id;
	node->len = len;
	node->since_ns = now_ns;
	node->rank = ahead ? queue->arrivals++ : start;
	skb = bpf_kptr_xchg(&node->skb, skb);
	if (skb)
		bpf_qdisc_skb_drop(skb, to_free);
	if (!sch->q.qlen)
		mf_shaper_wakes(&queue->shaper, now_ns);
	if (ahead) {
		user->tag += len;
		queue->counters.ahead++;
		bpf_spin_lock(&queue->lock);
		bpf_rbtree_add_impl(&queue->ahead, &node->link, comes_before, NULL, 0);
		bpf_spin_unlock(&queue->lock);
	} else {
		user->pkts++;
		user->bytes += len;
		if (user->bytes > queue->most_bytes) {
			queue->most = key;
			queue->most_bytes = user->bytes;
		}
		bpf_spin_lock(&user->lock);
		bpf_rbtree_add_impl(&user->packets, &node->link, comes_before, NULL, 0);
		bpf_spin_unlock(&user->lock);
	}
	sch->q.qlen++;
	sch->qstats.backlog += len;
	return NET_XMIT_SUCCESS;
drop:
	sch->qstats.drops++;
	bpf_qdisc_skb_drop(skb, to_free);
	return NET_XMIT_DROP;
}

/* RFC 8289, section 5.5, for one packet that is at the head of its flow. */
static bool is_dropped(const struct flow_key *key,
		       const struct lfq_settings *settings, __u64 since_ns,
		       __u32 len, __u64 now_ns)
{
	struct flow *flow = bpf_map_lookup_elem(&lfq_flows, key);
	struct mf_codel_law law = {
		.target_ns = held(settings->target_ns, 1000, LFQ_TIME_MAX),
		.interval_ns = held(settings->interval_ns, 1000, MF_CODEL_INTERVAL_MAX),
		.mtu = 1,
	};
	bool may;

	if (!flow)
		return false;
	may = mf_codel_may_drop(&flow->codel, &law, since_ns,
				less(flow->bytes, len), now_ns);
	if (!flow->codel.dropping) {
		if (may)
			mf_codel_begin(&flow->codel, &law, now_ns);
		return may;
	}
	if (!may) {
		flow->codel.dropping = false;
		return false;
	}
	if (now_ns < flow->codel.drop_next_ns)
		return false;
	flow->codel.count++;
	flow->codel.drop_next_ns = mf_codel_following(&law, flow->codel.drop_next_ns,
						      flow->codel.count);
	return true;
}

static struct bpf_rb_node *first_ahead(struct queue *queue)
{
	struct bpf_rb_node *link;

	bpf_spin_lock(&queue->lock);
	link = bpf_rbtree_first(&queue->ahead);
	if (!link) {
		bpf_spin_unlock(&queue->lock);
		return NULL;
	}
	link = bpf_rbtree_remove(&queue->ahead, link);
	bpf_spin_unlock(&queue->lock);
	return link;
}

static struct bpf_rb_node *first_turn(struct queue *queue)
{
	struct bpf_rb_node *link;

	bpf_spin_lock(&queue->lock);
	link = bpf_rbtree_first(&queue->turns);
	if (!link) {
		bpf_spin_unlock(&queue->lock);
		return NULL;
	}
	link = bpf_rbtree_remove(&queue->turns, link);
	bpf_spin_unlock(&queue->lock);
	return link;
}

/* One step: a packet that may go, or none, and perhaps the next step finds one. What
 * CoDel drops is freed here; at time 0 it drops nothing.
 */
static struct bpf_rb_node *step(struct Qdisc *sch, struct queue *queue,
				const struct lfq_settings *settings, __u64 now_ns)
{
	struct bpf_rb_node *link = first_ahead(queue);
	struct user_key key;
	struct waiting *node;
	struct flow_key flow;
	struct sk_buff *skb;
	struct user *user;
	struct turn *turn;
	bool drops;

	if (link)
		return link;
	link = first_turn(queue);
	if (!link)
		return NULL;
	turn = turn_of(link);
	key = turn->key;
	user = bpf_map_lookup_elem(&lfq_users, &key);
	if (!user) {
		bpf_obj_drop_impl(turn, NULL);
		return NULL;
	}
	if (!user->pkts) {
		rest(queue, user, turn);
		return NULL;
	}
	if (turn->tag < user->tag) { /* packets of it went ahead meanwhile */
		turn->tag = user->tag;
		place(queue, turn, false);
		return NULL;
	}
	link = first_of(user);
	if (!link) {
		user->pkts = 0;
		rest(queue, user, turn);
		return NULL;
	}
	node = packet_of(link);
	flow = node->flow;
	count_out(queue, user, &key, node->len);
	/* Who is behind is left alone. */
	drops = turn->tag >= queue->clock && now_ns &&
		is_dropped(&flow, settings, node->since_ns, node->len, now_ns);
	if (!drops) {
		if (queue->clock < turn->tag)
			queue->clock = turn->tag;
		if (user->clock < node->rank)
			user->clock = node->rank;
		user->tag += node->len;
	}
	turn->tag = user->tag;
	if (user->pkts)
		place(queue, turn, false);
	else
		rest(queue, user, turn);
	if (!drops)
		return &node->link;
	leave(&flow, node->len);
	skb = open(sch, node);
	if (skb)
		bpf_kfree_skb(skb);
	sch->qstats.drops++;
	queue->counters.early++;
	return NULL;
}

SEC("struct_ops")
struct sk_buff *BPF_PROG(lfq_dequeue, struct Qdisc *sch)
{
	struct queue *queue = queue_of(sch);
	const struct lfq_settings *settings;
	struct bpf_rb_node *link = NULL;
	struct mf_framed framed;
	struct flow_key flow;
	struct waiting *node;
	struct sk_buff *skb;
	__u64 now_ns, rate;
	__u32 len;
	int left;

	if (!queue || !sch->q.qlen)
		return NULL;
	settings = settings_of(queue);
	now_ns = bpf_ktime_get_ns();
	rate = rate_of(settings);
	if (rate != queue->shaper.rate)
		mf_shaper_set(&queue->shaper, rate, now_ns);
	if (!mf_shaper_is_free(&queue->shaper, now_ns)) {
		bpf_qdisc_watchdog_schedule(sch, mf_shaper_next_ns(&queue->shaper), 0);
		return NULL;
	}
	bpf_for(left, 0, STEPS) {
		link = step(sch, queue, settings, now_ns);
		if (link || !sch->q.qlen)
			break;
	}
	if (!link) {
		if (sch->q.qlen)
			bpf_qdisc_watchdog_schedule(sch, now_ns + AGAIN_NS, 0);
		return NULL;
	}
	node = packet_of(link);
	flow = node->flow;
	len = node->len;
	leave(&flow, len);
	skb = open(sch, node);
	if (!skb)
		return NULL;
	framed = framed_of(settings);
	mf_shaper_is_used(&queue->shaper,
			  mf_framed_len(&framed, len, skb->network_header - skb->mac_header),
			  now_ns);
	bpf_qdisc_bstats_update(sch, skb);
	return skb;
}

SEC("struct_ops")
int BPF_PROG(lfq_init, struct Qdisc *sch, struct nlattr *opt,
	     struct netlink_ext_ack *extack)
{
	__u64 key = (__u64)sch;
	struct queue queue = {
		.counters.ifindex = sch->dev_queue->dev->ifindex,
		.counters.handle = sch->handle,
		.counters.parent = sch->parent,
	};

	return bpf_map_update_elem(&lfq_queues, &key, &queue, BPF_NOEXIST);
}

/* Bounded by what may wait; all users are silent then, and forgotten. */
static void drain(struct Qdisc *sch, struct queue *queue)
{
	struct bpf_rb_node *link;
	struct waiting *node;
	struct flow_key flow;
	struct sk_buff *skb;
	int left;

	bpf_for(left, 0, FOREVER) {
		link = step(sch, queue, &defaults, 0);
		if (!link) {
			if (sch->q.qlen)
				continue;
			break;
		}
		node = packet_of(link);
		flow = node->flow;
		leave(&flow, node->len);
		skb = open(sch, node);
		if (skb)
			bpf_kfree_skb(skb);
	}
	/* Places that are left are of users without packets. */
	bpf_for(left, 0, 2 * LFQ_USERS) {
		link = first_turn(queue);
		if (!link)
			break;
		struct turn *turn = turn_of(link);
		struct user_key key = turn->key;
		struct user *user = bpf_map_lookup_elem(&lfq_users, &key);

		if (user)
			rest(queue, user, turn);
		else
			bpf_obj_drop_impl(turn, NULL);
	}
	bpf_for(left, 0, 2 * LFQ_USERS) {
		if (!forget(queue, &defaults, true))
			break;
	}
	queue->most_bytes = 0;
	queue->clock = 0;
	queue->shaper.free_ns = 0;
}

SEC("struct_ops")
void BPF_PROG(lfq_reset, struct Qdisc *sch)
{
	struct queue *queue = queue_of(sch);

	if (queue)
		drain(sch, queue);
}

SEC("struct_ops")
void BPF_PROG(lfq_destroy, struct Qdisc *sch)
{
	__u64 key = (__u64)sch;

	bpf_map_delete_elem(&lfq_queues, &key);
}

SEC(".struct_ops")
struct Qdisc_ops bpf_lfq = {
	.enqueue = (void *)lfq_enqueue,
	.dequeue = (void *)lfq_dequeue,
	.init = (void *)lfq_init,
	.reset = (void *)lfq_reset,
	.destroy = (void *)lfq_destroy,
	.id = "bpf_lfq",
};
