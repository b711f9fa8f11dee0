/* SPDX-License-Identifier: GPL-2.0 */
/*
 * LFQ, lagged fair queueing on a wire.
 *
 * Principle: every user has a tag, the bytes it was sent, and the link has a clock;
 * the user of smallest tag is served, and one that was silent comes back no more
 * than a lag behind the clock. The same holds for the flows of a user. Flows that
 * become backlogged go ahead while their user has credit; who was not served in a
 * round gets a packet out of turn; users without standing share one place; CoDel in
 * each flow; a full buffer takes from the user with most waiting.
 * Cost per packet: O(1). A round that ends, and a look for who starved, take a step
 * for each 64 flows; with weights also one for each user; a victim takes
 * O(log users).
 * Memory: all of it is allocated with the queue.
 * Decisions as crates/qdisc/src/disciplines/lfq.rs, whose page says why; its
 * medium=cell is left out: an access point has a scheduler of airtime of its own.
 */
#ifndef MAYFLY_LFQ_H
#define MAYFLY_LFQ_H

#include "codel.h"
#include "lfq_defaults.h"
#include "lobby.h"
#include "longest.h"
#include "order.h"
#include "queue.h"
#include "standing.h"
#include "tag_ring.h"
#include "waits.h"

/* No packet is charged more: the longest that IP has. */
#define MF_LFQ_LONGEST 65535U
/* Nor is the scale asked for more. */
#define MF_LFQ_WINDOW (1U << 20)
/* Packets in one of so many flow slots a user may have, all newcomers together in
 * twice as many, and one of them in one of so many of those of a user.
 */
#define MF_LFQ_SHARE 4U
/* Probations for which a newcomer is remembered, whoever else comes. */
#define MF_LFQ_SAFE 5U
/* Bytes in turn, or ahead, for each byte out of turn because its flow starved. */
#define MF_LFQ_OWED 4U
/* Bits behind the point of a clock and of its pace, and of the time for a byte. */
#define MF_LFQ_FRACTION 24
#define MF_LFQ_PER_BYTE 20
/* Of a scale: units in one, and the most that a byte may be charged as. */
#define MF_LFQ_SCALE 16U
#define MF_LFQ_MOST 64U
/* Bytes over which the rate of the link is measured. */
#define MF_LFQ_MEASURED 30000U
/* Counters of hosts on either side; the most that a user weighs. */
#define MF_LFQ_HOSTS 4096U
#define MF_LFQ_HEAVIEST 1000U
/* Counters of newcomers: their packets without a slot, their flows with one. */
#define MF_LFQ_COUNTERS 512U
/* Numbers that the hashes of a queue are made from. */
#define MF_LFQ_SEEDS 4

/* Bounds of options: with more flows and users, numbers of 16 bits would not do. */
#define MF_LFQ_FLOWS_MIN 8U
#define MF_LFQ_FLOWS_MAX 32768U
#define MF_LFQ_USERS_MIN 8U
#define MF_LFQ_USERS_MAX 16384U

/**
 * enum mf_lfq_by - what a user is
 * @MF_LFQ_PAIR: a pair of hosts, whatever the direction
 * @MF_LFQ_TRIPLE: source and destination, beside the other pairs of both
 * @MF_LFQ_DST: destination host
 * @MF_LFQ_SRC: source host
 * @MF_LFQ_FLOW: flow
 * @MF_LFQ_MARK: mark of the packet
 */
enum mf_lfq_by {
	MF_LFQ_PAIR, MF_LFQ_TRIPLE, MF_LFQ_DST, MF_LFQ_SRC, MF_LFQ_FLOW,
	MF_LFQ_MARK
};

/**
 * struct mf_lfq_options - parameters
 * @limit: of the buffer, above 0
 * @user_lag: by which a user may be behind, bytes, up to 2^40 as the next two
 * @flow_lag: by which a flow may be
 * @debt: by which a user may be ahead and its sparse flows still go first
 * @probation_ns: until a new user has standing, if it comes again; 0: at once
 * @lag_time_ns: what the link sends in it bounds lags and debt, above 0
 * @patience_ns: a round
 * @step_ns: wait beyond which packets with ECT(1) are marked
 * @codel: CoDel
 * @pace: of a clock, times 2^24, up to 1
 * @flows: slots, MF_LFQ_FLOWS_MIN to MF_LFQ_FLOWS_MAX
 * @users: slots, MF_LFQ_USERS_MIN to MF_LFQ_USERS_MAX
 * @prefix: leading bits of the 32 of a host that tell hosts apart, 1 to 32
 * @by: enum mf_lfq_by
 * @marks: another number where marks mean something else
 * @by_mark: a user weighs the mark of its packets
 * @limit_in_bytes: the limit is in bytes, else in packets
 */
struct mf_lfq_options {
	u64 limit;
	u64 user_lag;
	u64 flow_lag;
	u64 debt;
	u64 probation_ns;
	u64 lag_time_ns;
	u64 patience_ns;
	u64 step_ns;
	struct mf_codel_law codel;
	u32 pace;
	u32 flows;
	u32 users;
	u32 marks;
	u8 prefix;
	u8 by;
	bool by_mark;
	bool limit_in_bytes;
};

/**
 * struct mf_lfq_tally - what became of the packets of a user, for who looks on
 * @pkts: that were sent
 * @bytes: of these
 * @drops: packets that were dropped or found no room
 * @marks: packets that were marked
 * @lately: bytes that were sent; a half is forgotten each 2^30 ns
 * @age: when that was done last, in units of 2^30 ns
 * @is_named: @name is that of the user
 * @name: for the owner of the queue
 * @waits: how long packets waited; halves of all are forgotten as one is full
 */
struct mf_lfq_tally {
	u64 pkts;
	u64 bytes;
	u64 drops;
	u64 marks;
	u64 lately;
	u32 age;
	bool is_named;
	u64 name[6];
	u16 waits[MF_WAITS];
};

/* Where a flow is: nowhere, in line for going ahead, in the order of its home. */
enum mf_lfq_state { MF_LFQ_IDLE, MF_LFQ_AHEAD, MF_LFQ_IN_ORDER };

/* How the flow that is served was found; a starved one stays in its order. */
enum mf_lfq_turn { MF_LFQ_STARVED, MF_LFQ_WENT_AHEAD, MF_LFQ_IN_TURN };

/* A clock of bytes, with a fraction. */
struct mf_lfq_clock {
	s64 bytes;
	u32 fraction;
};

/* A lag, and by which shift tags are put into buckets for it. */
struct mf_lfq_lag {
	s64 bytes;
	u32 shift;
};

/**
 * struct mf_lfq_flow - a flow, or what of a user finds no slot
 * @bytes: that wait
 * @first: first packet in the pool
 * @last: last packet
 * @pkts: that wait
 * @home: the user in whose order it is, or all newcomers
 * @counted: of a newcomer: the counter of its flows
 * @tag: what it was charged, beside the clock of its user
 * @codel: CoDel
 * @place: in the order
 * @state: enum mf_lfq_state
 */
struct mf_lfq_flow {
	u64 bytes;
	u32 first;
	u32 last;
	u32 pkts;
	u16 home;
	u16 counted;
	s64 tag;
	struct mf_codel codel;
	struct mf_place place;
	u8 state;
};

/* Bits of 64 flows: in an order; of these not served since the round began; not
 * served in all of the last one.
 */
struct mf_lfq_bits {
	u64 active;
	u64 unserved;
	u64 starved;
};

/**
 * struct mf_lfq_user - a user, or all newcomers
 * @tag: what it was charged, beside the clock of the link
 * @clock: of its flows
 * @left: the clock of the link when it fell silent
 * @bytes: that wait
 * @after: packets of newcomers that had come without a slot when it got standing,
 *	or others came to share with it
 * @pkts: that wait
 * @fed: the round in which a flow of it was served out of turn
 * @flows: that wait
 * @longest: a flow that had most waiting not long ago
 * @spare: the flow for what finds no slot, or MF_NO_ENTRY
 * @place: in the order of the users
 * @in_order: is in it, or has the turn
 * @tags: of the order of its flows
 * @ends: of the buckets of that
 */
struct mf_lfq_user {
	s64 tag;
	struct mf_lfq_clock clock;
	s64 left;
	u64 bytes;
	u64 after;
	u32 pkts;
	u16 fed;
	u16 flows;
	u16 longest;
	u16 spare;
	struct mf_place place;
	bool in_order;
	struct mf_tags tags;
	struct mf_ends ends[16];
};

/**
 * struct mf_lfq_scale - how much a byte is charged as
 * @fastest: time for a byte at which it is one, ns times 2^MF_LFQ_PER_BYTE
 * @since_ns: when the packet in transmission was handed out
 * @bytes: that were sent one behind the other, lately
 * @time_ns: that it took
 * @now: in units of 1 / MF_LFQ_SCALE
 * @len: of the packet in transmission
 * @busy: others waited behind it
 */
struct mf_lfq_scale {
	u64 fastest;
	u64 since_ns;
	u64 bytes;
	u64 time_ns;
	u32 now;
	u32 len;
	bool busy;
};

/* What a user weighs, and which counters its hosts have; MF_NO_ENTRY for none. */
struct mf_lfq_weight {
	u32 weight;
	u16 sides[2];
};

/**
 * struct mf_lfq_weights - what users are charged where they do not weigh the same
 * @users: by user, or NULL
 * @sides: users with packets by a hash of source and of destination, or NULL
 * @hosts: counters above zero
 * @least: least number of users that share the busier host of one, as last found
 * @sum: of the weights of users with packets
 */
struct mf_lfq_weights {
	struct mf_lfq_weight *users;
	u16 *sides[2];
	u32 hosts[2];
	u32 least;
	u32 sum;
};

/**
 * struct mf_lfq_counts - what happened so far
 * @admitted: users that got standing
 * @sharing: of these without a slot of their own
 * @bypassed: flows that began without a slot
 * @early: packets dropped by CoDel
 * @ahead: packets that went ahead of all users
 * @fed: packets of starved flows
 */
struct mf_lfq_counts {
	u64 admitted;
	u64 sharing;
	u64 bypassed;
	u64 early;
	u64 ahead;
	u64 fed;
};

/**
 * struct mf_lfq - a queue
 * @queue: limit and counters
 * @options: as given
 * @pool: the packets that wait
 * @flow_slots: flows by key
 * @user_slots: users by key
 * @lobby: newcomers that were served
 * @flows: by slot, behind these the ones of users for what finds no slot
 * @bits: by 64 flows
 * @users: by slot, the last one that of all newcomers
 * @tallies: of these
 * @waits: of all packets that were sent
 * @newcomer_flows: flows of newcomers with a slot, by a hash of the newcomer
 * @spilled: packets of newcomers without a slot, in the same way
 * @came: of these, that ever came
 * @went: that ever left
 * @ahead: flows in line for going ahead, in a ring
 * @ahead_first: where the first of them is
 * @ahead_len: how many
 * @ahead_low: no user of these has a lower tag
 * @tags: of the order of the users
 * @ends: of the buckets of that
 * @longest: users by what waits
 * @weights: where users do not weigh the same
 * @scale: what a byte is charged as
 * @clock: of the link
 * @user_lag: lag of users
 * @flow_lag: lag of flows
 * @round_ends_ns: end of the round
 * @counts: statistics
 * @flow_slots_len: slots of flows
 * @newcomers: number of the user that all newcomers are
 * @spares: flows behind the slots that are in use
 * @backlogged: users with packets
 * @waiting: flows that wait
 * @owed: bytes, as they are charged, to be served in turn or ahead before the next
 *   flow that starved gets a packet
 * @served: the user of the packet that was handed out, or is held
 * @round: number of the round
 * @starving: flows starved in the last one
 * @holds: a parent has looked at the next packet: @held, which waits still
 * @held: this packet, taken out of its flow and paid for
 * @arriving: the packet that comes
 */
struct mf_lfq {
	struct mf_queue queue;
	struct mf_lfq_options options;
	struct mf_pool pool;
	struct mf_standing flow_slots;
	struct mf_standing user_slots;
	struct mf_lobby lobby;
	struct mf_lfq_flow *flows;
	struct mf_lfq_bits *bits;
	struct mf_lfq_user *users;
	struct mf_lfq_tally *tallies;
	u64 waits[MF_WAITS];
	u16 *newcomer_flows;
	u32 *spilled;
	u64 came;
	u64 went;
	u16 *ahead;
	u32 ahead_first;
	u32 ahead_len;
	s64 ahead_low;
	struct mf_tags tags;
	struct mf_ends ends[64];
	struct mf_longest longest;
	struct mf_lfq_weights weights;
	struct mf_lfq_scale scale;
	struct mf_lfq_clock clock;
	struct mf_lfq_lag user_lag;
	struct mf_lfq_lag flow_lag;
	u64 round_ends_ns;
	struct mf_lfq_counts counts;
	u32 flow_slots_len;
	u32 newcomers;
	u32 spares;
	u32 backlogged;
	u32 waiting;
	u32 owed;
	u16 served;
	u16 round;
	bool starving;
	bool holds;
	struct mf_packet held;
	const void *arriving;
};

/* Flows that there is memory for: every user may need one more. */
static u32 mf_lfq_flows(const struct mf_lfq *lfq)
{
	return lfq->flow_slots_len + lfq->newcomers + 1;
}

/* Words of bits that are in use. */
static u32 mf_lfq_words(const struct mf_lfq *lfq)
{
	return (lfq->flow_slots_len + lfq->spares + 63) / 64;
}

static bool mf_lfq_is_weighted(const struct mf_lfq *lfq)
{
	return lfq->options.by_mark || lfq->options.by == MF_LFQ_TRIPLE;
}

/* Time for a byte at which the link sends @lag bytes in @most_ns. */
static u64 mf_lfq_fastest(u64 lag, u64 most_ns)
{
	u64 whole;

	lag = lag ? lag : 1;
	whole = mf_div64(most_ns, lag);
	if (whole >= 1ULL << 30)
		return 1ULL << (30 + MF_LFQ_PER_BYTE);
	return (whole << MF_LFQ_PER_BYTE) +
	       mf_div64((most_ns - whole * lag) << MF_LFQ_PER_BYTE, lag);
}

/* Buckets of at least 1 KiB, so many that the lag fits into @buckets of them. */
static struct mf_lfq_lag mf_lfq_lag(u64 bytes, u32 buckets)
{
	struct mf_lfq_lag lag = { .bytes = bytes, .shift = 10 };

	while (bytes >> lag.shift >= buckets)
		lag.shift++;
	return lag;
}

/* Options that may change while the orders are in use. */
static void mf_lfq_set(struct mf_lfq *lfq, const struct mf_lfq_options *options)
{
	u64 safe_ns = options->probation_ns;

	lfq->options = *options;
	safe_ns = safe_ns > MF_LOBBY_SAFE_NS ? MF_LOBBY_SAFE_NS : safe_ns * MF_LFQ_SAFE;
	mf_lobby_safe(&lfq->lobby, safe_ns);
	lfq->scale.fastest = mf_lfq_fastest(options->user_lag, options->lag_time_ns);
	mf_queue_limit(&lfq->queue, options->limit, options->limit_in_bytes);
}

/* Forgets packets, flows and users, but no counter. */
static void mf_lfq_clear(struct mf_lfq *lfq)
{
	u32 i;

	mf_pool_reset(&lfq->pool);
	mf_standing_reset(&lfq->flow_slots);
	mf_standing_reset(&lfq->user_slots);
	mf_lobby_reset(&lfq->lobby);
	memset(lfq->flows, 0, mf_lfq_flows(lfq) * sizeof(*lfq->flows));
	for (i = 0; i < mf_lfq_flows(lfq); i++) {
		lfq->flows[i].home = MF_NO_ENTRY;
		lfq->flows[i].counted = MF_NO_ENTRY;
	}
	memset(lfq->bits, 0, (mf_lfq_flows(lfq) + 63) / 64 * sizeof(*lfq->bits));
	memset(lfq->users, 0, (lfq->newcomers + 1) * sizeof(*lfq->users));
	for (i = 0; i <= lfq->newcomers; i++)
		lfq->users[i].spare = MF_NO_ENTRY;
	memset(lfq->tallies, 0, (lfq->newcomers + 1) * sizeof(*lfq->tallies));
	memset(lfq->newcomer_flows, 0, MF_LFQ_COUNTERS * sizeof(*lfq->newcomer_flows));
	memset(lfq->spilled, 0, MF_LFQ_COUNTERS * sizeof(*lfq->spilled));
	mf_longest_reset(&lfq->longest);
	for (i = 0; lfq->weights.users && i <= lfq->newcomers; i++)
		lfq->weights.users[i] = (struct mf_lfq_weight){
			1, { MF_NO_ENTRY, MF_NO_ENTRY }
		};
	for (i = 0; i < 2; i++) {
		if (lfq->weights.sides[i])
			memset(lfq->weights.sides[i], 0,
			       MF_LFQ_HOSTS * sizeof(*lfq->weights.sides[i]));
		lfq->weights.hosts[i] = 0;
	}
	lfq->weights.least = 1;
	lfq->weights.sum = 0;
	lfq->scale = (struct mf_lfq_scale){
		.now = MF_LFQ_SCALE,
		.fastest = lfq->scale.fastest,
	};
	lfq->came = 0;
	lfq->went = 0;
	lfq->ahead_first = 0;
	lfq->ahead_len = 0;
	lfq->tags = (struct mf_tags){ 0 };
	lfq->clock = (struct mf_lfq_clock){ 0 };
	lfq->round_ends_ns = 0;
	lfq->spares = 0;
	lfq->backlogged = 0;
	lfq->waiting = 0;
	lfq->owed = 0;
	lfq->round = 1;
	lfq->starving = false;
	lfq->holds = false;
}

/**
 * mf_lfq_free() - frees the memory of a queue
 * @lfq: the queue, all zero or empty: packets are not handed back
 */
static void mf_lfq_free(struct mf_lfq *lfq)
{
	mf_pool_free(&lfq->pool);
	mf_free(lfq->flow_slots.sets);
	mf_free(lfq->user_slots.sets);
	mf_free(lfq->lobby.sets);
	mf_free(lfq->flows);
	mf_free(lfq->bits);
	mf_free(lfq->users);
	mf_free(lfq->tallies);
	mf_free(lfq->newcomer_flows);
	mf_free(lfq->spilled);
	mf_free(lfq->ahead);
	mf_longest_free(&lfq->longest);
	mf_free(lfq->weights.users);
	mf_free(lfq->weights.sides[0]);
	mf_free(lfq->weights.sides[1]);
	*lfq = (struct mf_lfq){ 0 };
}

static int mf_lfq_alloc_weights(struct mf_lfq *lfq)
{
	struct mf_lfq_weights *weights = &lfq->weights;
	u32 side;

	if (!mf_lfq_is_weighted(lfq))
		return 0;
	weights->users = mf_alloc(lfq->newcomers + 1, sizeof(*weights->users));
	if (!weights->users)
		return -ENOMEM;
	for (side = 0; side < 2 && lfq->options.by == MF_LFQ_TRIPLE; side++) {
		weights->sides[side] = mf_alloc(MF_LFQ_HOSTS,
						sizeof(*weights->sides[side]));
		if (!weights->sides[side])
			return -ENOMEM;
	}
	return 0;
}

static int mf_lfq_alloc(struct mf_lfq *lfq, const u64 *seeds)
{
	const struct mf_lfq_options *options = &lfq->options;

	/* One more than may stay, for the packet that comes. */
	if (mf_pool_init(&lfq->pool, mf_limit_pkts(options->limit,
						   options->limit_in_bytes) + 1) ||
	    mf_standing_init(&lfq->flow_slots, options->flows, seeds) ||
	    mf_standing_init(&lfq->user_slots, options->users, seeds + 2) ||
	    mf_lobby_init(&lfq->lobby))
		return -ENOMEM;
	lfq->flow_slots_len = mf_standing_slots(&lfq->flow_slots);
	lfq->newcomers = mf_standing_slots(&lfq->user_slots);
	lfq->flows = mf_alloc(mf_lfq_flows(lfq), sizeof(*lfq->flows));
	lfq->bits = mf_alloc((mf_lfq_flows(lfq) + 63) / 64, sizeof(*lfq->bits));
	lfq->users = mf_alloc(lfq->newcomers + 1, sizeof(*lfq->users));
	lfq->tallies = mf_alloc(lfq->newcomers + 1, sizeof(*lfq->tallies));
	lfq->newcomer_flows = mf_alloc(MF_LFQ_COUNTERS, sizeof(*lfq->newcomer_flows));
	lfq->spilled = mf_alloc(MF_LFQ_COUNTERS, sizeof(*lfq->spilled));
	lfq->ahead = mf_alloc(mf_lfq_flows(lfq), sizeof(*lfq->ahead));
	if (!lfq->flows || !lfq->bits || !lfq->users || !lfq->tallies ||
	    !lfq->newcomer_flows || !lfq->spilled || !lfq->ahead ||
	    mf_longest_init(&lfq->longest, lfq->newcomers + 1))
		return -ENOMEM;
	return mf_lfq_alloc_weights(lfq);
}

/**
 * mf_lfq_init() - makes an empty queue
 * @lfq: the queue
 * @options: its parameters, each within its bounds
 * @discard: takes packets that waited and go without being sent
 * @seeds: MF_LFQ_SEEDS numbers that nobody else knows
 *
 * Return: 0, or -ENOMEM.
 */
static int mf_lfq_init(struct mf_lfq *lfq, const struct mf_lfq_options *options,
		       mf_discard_t discard, const u64 *seeds)
{
	*lfq = (struct mf_lfq){ .options = *options };
	if (mf_lfq_alloc(lfq, seeds)) {
		mf_lfq_free(lfq);
		return -ENOMEM;
	}
	lfq->queue.discard = discard;
	lfq->user_lag = mf_lfq_lag(options->user_lag, 60);
	lfq->flow_lag = mf_lfq_lag(options->flow_lag, 15);
	mf_lfq_set(lfq, options);
	mf_lfq_clear(lfq);
	return 0;
}

/**
 * mf_lfq_reset() - forgets packets, flows, users and counters
 * @lfq: the queue; its packets are the caller's
 */
static void mf_lfq_reset(struct mf_lfq *lfq)
{
	lfq->queue.stats = (struct mf_stats){ 0 };
	lfq->counts = (struct mf_lfq_counts){ 0 };
	memset(lfq->waits, 0, sizeof(lfq->waits));
	mf_lfq_clear(lfq);
}

/* The order of the flows of @user. */
static __always_inline struct mf_ring mf_lfq_flow_ring(const struct mf_lfq *lfq,
						       struct mf_lfq_user *user)
{
	return (struct mf_ring){
		.tags = &user->tags,
		.ends = user->ends,
		.places = &lfq->flows->place,
		.stride = sizeof(*lfq->flows),
		.buckets = 16,
	};
}

/* The order of the users. */
static __always_inline struct mf_ring mf_lfq_user_ring(struct mf_lfq *lfq)
{
	return (struct mf_ring){
		.tags = &lfq->tags,
		.ends = lfq->ends,
		.places = &lfq->users->place,
		.stride = sizeof(*lfq->users),
		.buckets = 64,
	};
}

static inline s64 mf_lfq_bucket(struct mf_lfq_lag lag, s64 tag)
{
	return tag >> lag.shift;
}

/* The lowest bucket of what comes while the clock is at @clock. */
static inline s64 mf_lfq_floor(struct mf_lfq_lag lag, s64 clock)
{
	return mf_lfq_bucket(lag, clock - lag.bytes);
}

/* Leading bits of @host that tell hosts apart. */
static inline u32 mf_lfq_net(const struct mf_lfq *lfq, u32 host)
{
	return host >> (32 - lfq->options.prefix);
}

/* The number of the user of @packet. */
static inline u64 mf_lfq_key(const struct mf_lfq *lfq,
			     const struct mf_packet *packet)
{
	u64 src = mf_lfq_net(lfq, packet->src), dst = mf_lfq_net(lfq, packet->dst);

	switch (lfq->options.by) {
	case MF_LFQ_PAIR:
		return src < dst ? src << 32 | dst : dst << 32 | src;
	case MF_LFQ_TRIPLE:
		return src << 32 | dst;
	case MF_LFQ_DST:
		return dst;
	case MF_LFQ_SRC:
		return src;
	case MF_LFQ_FLOW:
		return packet->flow;
	default:
		return packet->mark;
	}
}

static inline struct mf_home mf_lfq_home(const struct mf_lfq *lfq,
					 const struct mf_packet *packet)
{
	return mf_standing_home(&lfq->user_slots, mf_lfq_key(lfq, packet));
}

static inline const struct mf_packet *
mf_lfq_head(const struct mf_lfq *lfq, const struct mf_lfq_flow *flow)
{
	return &mf_pool_entry(&lfq->pool, flow->first)->packet;
}

static inline void mf_lfq_append(struct mf_lfq *lfq, struct mf_lfq_flow *flow,
				 const struct mf_packet *packet)
{
	u32 slot = mf_pool_take(&lfq->pool, packet);

	mf_pool_entry(&lfq->pool, slot)->next = MF_NONE;
	if (flow->first)
		mf_pool_entry(&lfq->pool, flow->last)->next = slot;
	else
		flow->first = slot;
	flow->last = slot;
	flow->pkts++;
	flow->bytes += packet->len;
}

/* Takes the first packet of @flow, which has one. */
static inline struct mf_packet mf_lfq_take(struct mf_lfq *lfq,
					   struct mf_lfq_flow *flow)
{
	u32 slot = flow->first;
	struct mf_entry *entry = mf_pool_entry(&lfq->pool, slot);
	struct mf_packet packet = entry->packet;

	flow->first = entry->next;
	flow->pkts--;
	flow->bytes -= packet.len;
	mf_pool_give(&lfq->pool, slot);
	return packet;
}

/* What @bytes are charged as. */
static inline u32 mf_lfq_charge(const struct mf_lfq *lfq, u32 bytes)
{
	if (bytes > MF_LFQ_WINDOW)
		bytes = MF_LFQ_WINDOW;
	return (u64)bytes * lfq->scale.now / MF_LFQ_SCALE;
}

/* Half of what was measured counts on. What differs by an eighth or less stays. */
static void mf_lfq_adapt(struct mf_lfq_scale *scale)
{
	u32 bytes = scale->bytes < U32_MAX ? scale->bytes : U32_MAX;
	u64 time_ns = scale->time_ns < 1ULL << 58 ? scale->time_ns : 1ULL << 58;
	u64 may_ns = mul_u64_u32_shr(scale->fastest, bytes, MF_LFQ_PER_BYTE);
	u64 now;
	u32 change;

	may_ns = may_ns ? may_ns : 1;
	now = mf_div64(MF_LFQ_SCALE * time_ns + may_ns / 2, may_ns);
	if (now < MF_LFQ_SCALE)
		now = MF_LFQ_SCALE;
	else if (now > MF_LFQ_MOST * MF_LFQ_SCALE)
		now = MF_LFQ_MOST * MF_LFQ_SCALE;
	change = now > scale->now ? now - scale->now : scale->now - now;
	if (change > scale->now / 8 || now == MF_LFQ_SCALE)
		scale->now = now;
	scale->bytes /= 2;
	scale->time_ns /= 2;
}

/* The link is free at @now_ns. */
static inline void mf_lfq_is_free(struct mf_lfq_scale *scale, u64 now_ns)
{
	if (!scale->busy)
		return;
	scale->busy = false;
	scale->bytes += scale->len;
	scale->time_ns += mf_since(scale->since_ns, now_ns);
	if (scale->bytes >= 2 * MF_LFQ_MEASURED)
		mf_lfq_adapt(scale);
}

/* A packet of @len bytes is handed out. */
static inline void mf_lfq_is_busy(struct mf_lfq *lfq, u32 len)
{
	if (!lfq->backlogged)
		return;
	lfq->scale.busy = true;
	lfq->scale.since_ns = lfq->queue.now_ns;
	lfq->scale.len = len;
}

/* @clock goes on for a charge, while @sharing share. */
static inline void mf_lfq_go_on(const struct mf_lfq *lfq,
				struct mf_lfq_clock *clock, u32 charge,
				u32 sharing)
{
	u32 rate = lfq->options.pace / (sharing ? sharing : 1);
	u64 sum = clock->fraction + (u64)charge * rate;

	clock->bytes += sum >> MF_LFQ_FRACTION;
	clock->fraction = sum & ((1U << MF_LFQ_FRACTION) - 1);
}

/* Users with packets that share the busier host of @user. */
static u32 mf_lfq_crowd(const struct mf_lfq *lfq, u16 user)
{
	const struct mf_lfq_weights *weights = &lfq->weights;
	u32 crowd = 0, side;

	for (side = 0; side < 2; side++) {
		u16 at = weights->users[user].sides[side];

		if (at != MF_NO_ENTRY && weights->sides[side][at] > crowd)
			crowd = weights->sides[side][at];
	}
	return crowd;
}

/* @user has packets from now on, of which @packet is one; newcomers weigh one. */
static void mf_lfq_weigh(struct mf_lfq *lfq, u16 user,
			 const struct mf_packet *packet)
{
	struct mf_lfq_weights *weights = &lfq->weights;
	struct mf_lfq_weight *own = &weights->users[user];
	u32 hosts[2] = { packet->src, packet->dst };
	u32 side, crowd;
	u16 at;

	own->weight = 1;
	if (lfq->options.by_mark && user != lfq->newcomers && packet->mark > 1)
		own->weight = packet->mark < MF_LFQ_HEAVIEST ? packet->mark :
							       MF_LFQ_HEAVIEST;
	weights->sum += own->weight;
	if (lfq->options.by != MF_LFQ_TRIPLE || user == lfq->newcomers)
		return;
	for (side = 0; side < 2; side++) {
		at = mf_seeded_hash(&lfq->user_slots.hash,
				    mf_lfq_net(lfq, hosts[side])) % MF_LFQ_HOSTS;
		own->sides[side] = at;
		weights->hosts[side] += !weights->sides[side][at]++;
	}
	crowd = mf_lfq_crowd(lfq, user);
	if (crowd < weights->least)
		weights->least = crowd;
}

/* @user has no packets any more. */
static void mf_lfq_unweigh(struct mf_lfq *lfq, u16 user)
{
	struct mf_lfq_weights *weights = &lfq->weights;
	struct mf_lfq_weight *own = &weights->users[user];
	u32 side;
	u16 at;

	weights->sum -= own->weight;
	for (side = 0; side < 2; side++) {
		at = own->sides[side];
		own->sides[side] = MF_NO_ENTRY;
		if (at != MF_NO_ENTRY)
			weights->hosts[side] -= !--weights->sides[side][at];
	}
}

static inline void mf_lfq_comes(struct mf_lfq *lfq, u16 user,
				const struct mf_packet *packet)
{
	lfq->backlogged++;
	if (mf_lfq_is_weighted(lfq))
		mf_lfq_weigh(lfq, user, packet);
}

static inline void mf_lfq_goes(struct mf_lfq *lfq, u16 user)
{
	lfq->backlogged--;
	if (mf_lfq_is_weighted(lfq))
		mf_lfq_unweigh(lfq, user);
}

/* What @user is charged for @charge bytes. */
static inline s64 mf_lfq_due(const struct mf_lfq *lfq, u16 user, u32 charge)
{
	u32 least = lfq->weights.least, crowd;

	if (!mf_lfq_is_weighted(lfq))
		return charge;
	crowd = mf_lfq_crowd(lfq, user);
	if (crowd < least)
		crowd = least;
	return mf_div64((u64)charge * crowd,
			(u64)lfq->weights.users[user].weight * least);
}

/* Users with packets, or what they weigh. */
static inline u32 mf_lfq_sharing(const struct mf_lfq *lfq)
{
	const struct mf_lfq_weights *weights = &lfq->weights;
	u32 among, hosts;
	u64 crowds;

	if (!mf_lfq_is_weighted(lfq))
		return lfq->backlogged;
	if (lfq->options.by != MF_LFQ_TRIPLE)
		return weights->sum;
	among = lfq->options.by_mark ? weights->sum : lfq->backlogged;
	hosts = weights->hosts[0] < weights->hosts[1] ? weights->hosts[0] :
							weights->hosts[1];
	/* Users at one host weigh as much as one, times @least. */
	crowds = (u64)weights->least * (hosts + 1);
	return crowds < among ? crowds : among;
}

/* Before a packet of @user comes: if none waits, it has been silent. */
static inline void mf_lfq_wake(const struct mf_lfq *lfq, struct mf_lfq_user *user)
{
	s64 clock = lfq->clock.bytes;

	if (user->pkts)
		return;
	user->clock.bytes += clock - user->left;
	user->left = clock;
	if (user->tag < clock - lfq->user_lag.bytes)
		user->tag = clock - lfq->user_lag.bytes;
}

static inline u32 *mf_lfq_spill(struct mf_lfq *lfq, struct mf_home home)
{
	return &lfq->spilled[home.fingerprint % MF_LFQ_COUNTERS];
}

/* A packet of a newcomer that has no slot leaves. */
static inline void mf_lfq_unspill(struct mf_lfq *lfq,
				  const struct mf_packet *packet)
{
	lfq->went++;
	--*mf_lfq_spill(lfq, mf_lfq_home(lfq, packet));
}

/* Is the flow in @slot that of newcomers for what finds no slot? */
static inline bool mf_lfq_is_spilled(const struct mf_lfq *lfq, u16 slot)
{
	return slot >= lfq->flow_slots_len &&
	       lfq->flows[slot].home == lfq->newcomers;
}

/* Puts @user into the order of the users. */
static inline void mf_lfq_put_back(struct mf_lfq *lfq, u16 user)
{
	mf_ring_push(mf_lfq_user_ring(lfq), user,
		     mf_lfq_bucket(lfq->user_lag, lfq->users[user].tag),
		     mf_lfq_floor(lfq->user_lag, lfq->clock.bytes));
}

/* Puts the flow in @slot into the order of its home, and that into its own. */
static void mf_lfq_place(struct mf_lfq *lfq, u16 slot)
{
	struct mf_lfq_flow *flow = &lfq->flows[slot];
	struct mf_lfq_user *user = &lfq->users[flow->home];

	flow->state = MF_LFQ_IN_ORDER;
	lfq->bits[slot / 64].active |= 1ULL << slot % 64;
	mf_ring_push(mf_lfq_flow_ring(lfq, user), slot,
		     mf_lfq_bucket(lfq->flow_lag, flow->tag),
		     mf_lfq_floor(lfq->flow_lag, user->clock.bytes));
	if (!user->in_order) {
		user->in_order = true;
		mf_lfq_put_back(lfq, flow->home);
	}
}

/* The flow of a newcomer waits no more. */
static inline void mf_lfq_uncount(struct mf_lfq *lfq, struct mf_lfq_flow *flow)
{
	if (flow->counted == MF_NO_ENTRY)
		return;
	lfq->newcomer_flows[flow->counted]--;
	flow->counted = MF_NO_ENTRY;
}

/* The flow in @slot, which was taken out of its order or line, waits no more. */
static void mf_lfq_leave(struct mf_lfq *lfq, u16 slot)
{
	struct mf_lfq_bits *bits = &lfq->bits[slot / 64];
	struct mf_lfq_flow *flow = &lfq->flows[slot];
	struct mf_lfq_user *user = &lfq->users[flow->home];
	u64 others = ~(1ULL << slot % 64);

	mf_step();
	bits->active &= others;
	bits->unserved &= others;
	bits->starved &= others;
	flow->state = MF_LFQ_IDLE;
	if (flow->home == lfq->newcomers)
		mf_lfq_uncount(lfq, flow);
	lfq->waiting--;
	if (slot < lfq->flow_slots_len)
		mf_standing_set_free(&lfq->flow_slots, slot);
	user->flows--;
	if (!user->flows && !user->in_order && flow->home != lfq->newcomers)
		mf_standing_set_free(&lfq->user_slots, flow->home);
}

/* The idle flow in @slot, for which a packet of @len bytes came, waits. */
static void mf_lfq_start(struct mf_lfq *lfq, u16 slot, u32 len)
{
	struct mf_lfq_flow *flow = &lfq->flows[slot];
	struct mf_lfq_user *user = &lfq->users[flow->home];
	bool newcomer = flow->home == lfq->newcomers;
	u32 charge = mf_lfq_charge(lfq, len);
	s64 due = mf_lfq_due(lfq, flow->home, charge);
	s64 lag = lfq->flow_lag.bytes, clock;

	/* Among newcomers everybody is new: none goes ahead of those that wait. */
	if (newcomer && charge < lag)
		lag = charge;
	mf_lfq_wake(lfq, user);
	user->flows++;
	clock = user->clock.bytes;
	if (flow->tag < clock - lag)
		flow->tag = clock - lag;
	flow->state = MF_LFQ_AHEAD;
	lfq->waiting++;
	if (flow->home != lfq->newcomers)
		mf_standing_set_busy(&lfq->user_slots, flow->home);
	if ((newcomer && user->pkts) || flow->tag + charge > clock ||
	    user->tag + due > lfq->clock.bytes + (s64)lfq->options.debt) {
		mf_lfq_place(lfq, slot);
		return;
	}
	if (!lfq->ahead_len || user->tag < lfq->ahead_low)
		lfq->ahead_low = user->tag;
	lfq->ahead[(lfq->ahead_first + lfq->ahead_len++) % mf_lfq_flows(lfq)] = slot;
}

/* The user at @home has standing from now on, and a slot, or shares one. */
static u16 mf_lfq_admit(struct mf_lfq *lfq, struct mf_home home)
{
	struct mf_lfq_user *user;
	u32 slot;

	lfq->counts.admitted++;
	mf_lobby_leaves(&lfq->lobby, home);
	slot = mf_standing_take(&lfq->user_slots, home, false);
	if (slot == MF_NO_SLOT) {
		lfq->counts.sharing++;
		slot = mf_standing_fixed(home);
		mf_standing_set_shared(&lfq->user_slots, slot, true);
		lfq->users[slot].after = lfq->came;
		return slot;
	}
	user = &lfq->users[slot];
	lfq->tallies[slot] = (struct mf_lfq_tally){ 0 };
	/* Beyond the tags of the flows of the user before: to this one they are new. */
	user->clock.bytes += lfq->flow_lag.bytes +
			     2 * (s64)MF_LFQ_WINDOW * MF_LFQ_MOST;
	user->left = lfq->clock.bytes;
	user->tag = lfq->clock.bytes;
	user->after = lfq->came;
	if (!lfq->options.probation_ns)
		user->tag -= lfq->user_lag.bytes;
	return slot;
}

/* The user at @home: its own slot, one that it shares, or all newcomers. */
static u16 mf_lfq_meet(struct mf_lfq *lfq, struct mf_home home, u64 now_ns)
{
	u64 probation_ns = lfq->options.probation_ns;
	u32 slot = mf_standing_find(&lfq->user_slots, home);

	if (slot != MF_NO_SLOT) {
		mf_standing_came_back(&lfq->user_slots, slot);
		return slot;
	}
	/* Until none of its packets is left there, so that they keep their order. */
	if (mf_standing_is_shared(&lfq->user_slots, home))
		return mf_standing_fixed(home);
	if (probation_ns &&
	    !mf_lobby_has_passed(&lfq->lobby, home, now_ns, probation_ns))
		return lfq->newcomers;
	return mf_lfq_admit(lfq, home);
}

/* A packet of @len bytes of the user at @key comes to the flow of @home for what
 * finds no slot.
 */
static u16 mf_lfq_begin_spare(struct mf_lfq *lfq, u16 home, struct mf_home key,
			      u32 len)
{
	struct mf_lfq_user *user = &lfq->users[home];

	if (user->spare == MF_NO_ENTRY) {
		user->spare = lfq->flow_slots_len + lfq->spares++;
		lfq->flows[user->spare].home = home;
	}
	if (lfq->flows[user->spare].state == MF_LFQ_IDLE)
		mf_lfq_start(lfq, user->spare, len);
	if (home == lfq->newcomers) {
		lfq->came++;
		++*mf_lfq_spill(lfq, key);
	}
	lfq->counts.bypassed++;
	return user->spare;
}

/* Does @home have so many flows that one more finds no slot? */
static bool mf_lfq_is_crowded(const struct mf_lfq *lfq, u16 home,
			      struct mf_home key)
{
	const struct mf_lfq_user *user = &lfq->users[home];
	u32 most = lfq->flow_slots_len / MF_LFQ_SHARE;

	if (home == lfq->newcomers)
		return user->flows >= 2 * most ||
		       lfq->newcomer_flows[key.fingerprint % MF_LFQ_COUNTERS] >=
			       most / MF_LFQ_SHARE;
	return user->flows >= most || (user->spare != MF_NO_ENTRY &&
				       lfq->flows[user->spare].pkts);
}

/* The flow of @packet begins to wait, in slot @own, if it has one. */
static u16 mf_lfq_begin(struct mf_lfq *lfq, const struct mf_packet *packet,
			struct mf_home place, u32 own, u64 now_ns)
{
	struct mf_home key = mf_lfq_home(lfq, packet);
	u16 home = mf_lfq_meet(lfq, key, now_ns);
	struct mf_lfq_user *user = &lfq->users[home];
	bool newcomer = home == lfq->newcomers;
	struct mf_lfq_flow *flow;
	u32 slot = own;

	if ((newcomer || user->after > lfq->went) && lfq->came > lfq->went &&
	    *mf_lfq_spill(lfq, key)) {
		/* Behind those for which it has to wait, and the next one behind it. */
		user->after = lfq->came + 1;
		return mf_lfq_begin_spare(lfq, lfq->newcomers, key, packet->len);
	}
	if (mf_lfq_is_crowded(lfq, home, key))
		return mf_lfq_begin_spare(lfq, home, key, packet->len);
	if (own != MF_NO_SLOT) {
		mf_standing_came_back(&lfq->flow_slots, own);
		mf_standing_set_busy(&lfq->flow_slots, own);
	} else {
		slot = mf_standing_take(&lfq->flow_slots, place, true);
	}
	if (slot == MF_NO_SLOT)
		return mf_lfq_begin_spare(lfq, home, key, packet->len);
	flow = &lfq->flows[slot];
	if (own == MF_NO_SLOT)
		flow->codel = (struct mf_codel){ 0 };
	if (own == MF_NO_SLOT || flow->home != home) {
		/* It starts by the lag behind. */
		flow->home = home;
		flow->tag = -S64_MAX;
	}
	if (newcomer) {
		flow->counted = key.fingerprint % MF_LFQ_COUNTERS;
		lfq->newcomer_flows[flow->counted]++;
	}
	mf_lfq_start(lfq, slot, packet->len);
	return slot;
}

/* @user has @bytes and @pkts less waiting. */
static inline void mf_lfq_shrank(struct mf_lfq *lfq, u16 user, u64 bytes, u32 pkts)
{
	struct mf_lfq_user *own = &lfq->users[user];

	own->bytes -= bytes;
	own->pkts -= pkts;
	if (!own->pkts) {
		own->left = lfq->clock.bytes;
		mf_lfq_goes(lfq, user);
	}
}

/* What waits of @user, as it counts when the buffer is full. */
static inline u64 mf_lfq_length(const struct mf_lfq *lfq, u16 user)
{
	const struct mf_lfq_user *own = &lfq->users[user];

	return own->bytes > own->pkts ? own->bytes : own->pkts;
}

/* The flow in @slot, which left the order of the newcomers and has packets, is of
 * @user from now on.
 */
static void mf_lfq_move_home(struct mf_lfq *lfq, u16 slot, u16 user)
{
	struct mf_lfq_user *own = &lfq->users[user];
	struct mf_lfq_flow *flow = &lfq->flows[slot];
	bool was_silent;

	mf_lfq_leave(lfq, slot);
	mf_lfq_shrank(lfq, lfq->newcomers, flow->bytes, flow->pkts);
	mf_lfq_wake(lfq, own);
	own->flows++;
	flow->home = user;
	flow->tag = own->clock.bytes;
	was_silent = !own->pkts;
	own->bytes += flow->bytes;
	own->pkts += flow->pkts;
	if (was_silent)
		mf_lfq_comes(lfq, user, mf_lfq_head(lfq, flow));
	mf_longest_grew(&lfq->longest, user, mf_lfq_length(lfq, user));
	lfq->waiting++;
	if (slot < lfq->flow_slots_len)
		mf_standing_set_busy(&lfq->flow_slots, slot);
	mf_standing_set_busy(&lfq->user_slots, user);
	mf_lfq_place(lfq, slot);
}

/* The flow of @packet is in @slot, in the order of the newcomers: it leaves that,
 * if its user has standing now.
 */
static u16 mf_lfq_of_newcomers(struct mf_lfq *lfq, const struct mf_packet *packet,
			       struct mf_home place, u16 slot, u64 now_ns)
{
	struct mf_lfq_user *newcomers = &lfq->users[lfq->newcomers];
	u16 user = mf_lfq_meet(lfq, mf_lfq_home(lfq, packet), now_ns);

	if (user == lfq->newcomers)
		return slot;
	mf_ring_remove(mf_lfq_flow_ring(lfq, newcomers), slot);
	if (!lfq->flows[slot].pkts) {
		/* All were dropped, and its turn had not come since. */
		mf_lfq_leave(lfq, slot);
		return mf_lfq_begin(lfq, packet, place, slot, now_ns);
	}
	mf_lfq_move_home(lfq, slot, user);
	return slot;
}

/* The slot of the flow of @packet, which is in an order, or ahead, then. */
static u16 mf_lfq_flow_of(struct mf_lfq *lfq, const struct mf_packet *packet,
			  u64 now_ns)
{
	struct mf_home place = mf_standing_home(&lfq->flow_slots, packet->flow);
	u32 slot = mf_standing_find(&lfq->flow_slots, place);
	const struct mf_lfq_flow *flow;

	if (slot == MF_NO_SLOT || lfq->flows[slot].state == MF_LFQ_IDLE)
		return mf_lfq_begin(lfq, packet, place, slot, now_ns);
	flow = &lfq->flows[slot];
	if (flow->home == lfq->newcomers && flow->state == MF_LFQ_IN_ORDER)
		return mf_lfq_of_newcomers(lfq, packet, place, slot, now_ns);
	return slot;
}

/* The user, which was taken out of the order, has no packets. */
static void mf_lfq_retire(struct mf_lfq *lfq, u16 user)
{
	struct mf_lfq_user *own = &lfq->users[user];
	s64 bucket;
	u16 slot;

	own->in_order = false;
	for (;;) {
		slot = mf_ring_pop(mf_lfq_flow_ring(lfq, own), -S64_MAX, &bucket);
		if (slot == MF_NO_ENTRY)
			break;
		mf_lfq_leave(lfq, slot);
	}
	if (user == lfq->newcomers)
		return;
	if (own->flows)
		mf_standing_set_shared(&lfq->user_slots, user, false);
	else
		mf_standing_set_free(&lfq->user_slots, user);
}

/* Takes the user whose turn it is out of the order, or returns MF_NO_ENTRY. */
static u16 mf_lfq_next_user(struct mf_lfq *lfq)
{
	s64 floor = mf_lfq_floor(lfq->user_lag, lfq->clock.bytes), bucket, own;
	struct mf_lfq_user *user;
	u16 entry;

	for (;;) {
		entry = mf_ring_pop(mf_lfq_user_ring(lfq), floor, &bucket);
		if (entry == MF_NO_ENTRY)
			return entry;
		user = &lfq->users[entry];
		own = mf_lfq_bucket(lfq->user_lag, user->tag);
		if (!user->pkts)
			mf_lfq_retire(lfq, entry);
		else if (own > bucket)
			mf_ring_defer(mf_lfq_user_ring(lfq), entry, own, bucket);
		else
			return entry;
	}
}

/* Takes the flow whose turn it is out of the order of @home, which has packets. */
static u16 mf_lfq_next_flow(struct mf_lfq *lfq, u16 home)
{
	struct mf_lfq_user *user = &lfq->users[home];
	struct mf_ring ring = mf_lfq_flow_ring(lfq, user);
	s64 floor = mf_lfq_floor(lfq->flow_lag, user->clock.bytes), bucket, own;
	struct mf_lfq_flow *flow;
	u16 entry;

	for (;;) {
		/* Nobody is ahead, so its packets are in its order. */
		entry = mf_ring_pop(ring, floor, &bucket);
		flow = &lfq->flows[entry];
		own = mf_lfq_bucket(lfq->flow_lag, flow->tag);
		if (!flow->pkts)
			mf_lfq_leave(lfq, entry);
		else if (own > bucket)
			mf_ring_defer(ring, entry, own, bucket);
		else
			return entry;
	}
}

/* Would the user of the flow in @slot not be ahead by more than its debt if the
 * first packet of the flow, if any, went now?
 */
static bool mf_lfq_has_credit(const struct mf_lfq *lfq, u16 slot)
{
	const struct mf_lfq_flow *flow = &lfq->flows[slot];
	u32 charge;

	if (!flow->pkts)
		return false;
	charge = mf_lfq_charge(lfq, mf_lfq_head(lfq, flow)->len);
	return lfq->users[flow->home].tag + mf_lfq_due(lfq, flow->home, charge) <=
	       lfq->clock.bytes + (s64)lfq->options.debt;
}

/* Has the flow in @slot credit, and is nobody behind by more than the lag, in the
 * order or in line?
 */
static bool mf_lfq_may_go_ahead(struct mf_lfq *lfq, u16 slot)
{
	s64 floor = mf_lfq_floor(lfq->user_lag, lfq->clock.bytes);

	return mf_lfq_has_credit(lfq, slot) &&
	       (!lfq->tags.used || mf_ring_lowest(mf_lfq_user_ring(lfq)) >= floor) &&
	       mf_lfq_bucket(lfq->user_lag, lfq->ahead_low) >= floor;
}

/* Takes the flow that goes ahead out of its line, or returns MF_NO_ENTRY; those
 * that may not go to the order.
 */
static u16 mf_lfq_next_ahead(struct mf_lfq *lfq)
{
	u16 slot;

	while (lfq->ahead_len) {
		slot = lfq->ahead[lfq->ahead_first];
		lfq->ahead_first = (lfq->ahead_first + 1) % mf_lfq_flows(lfq);
		lfq->ahead_len--;
		mf_step();
		if (mf_lfq_may_go_ahead(lfq, slot))
			return slot;
		if (lfq->flows[slot].pkts)
			mf_lfq_place(lfq, slot);
		else
			mf_lfq_leave(lfq, slot);
	}
	return MF_NO_ENTRY;
}

/* A flow that has starved, of a user that has credit and from which none was taken
 * in this round, or MF_NO_ENTRY.
 */
static u16 mf_lfq_next_starved(struct mf_lfq *lfq)
{
	struct mf_lfq_user *user;
	u32 word, slot;

	for (word = 0; word < mf_lfq_words(lfq); word++) {
		struct mf_lfq_bits *bits = &lfq->bits[word];

		mf_step();
		while (bits->starved) {
			slot = 64 * word + mf_lowest_bit(bits->starved);
			bits->starved &= bits->starved - 1;
			user = &lfq->users[lfq->flows[slot].home];
			if (user->fed != lfq->round && mf_lfq_has_credit(lfq, slot)) {
				user->fed = lfq->round;
				return slot;
			}
		}
	}
	lfq->starving = false;
	return MF_NO_ENTRY;
}

/* The least crowd of a user with packets. */
static void mf_lfq_find_least(struct mf_lfq *lfq)
{
	u32 least = U32_MAX, user, crowd;

	for (user = 0; user < lfq->newcomers; user++) {
		if (!lfq->users[user].pkts)
			continue;
		crowd = mf_lfq_crowd(lfq, user);
		least = crowd < least ? crowd : least;
	}
	lfq->weights.least = least && least < U32_MAX ? least : 1;
}

/* A packet was sent. A round that is over by then ends: who was not served in it
 * has starved.
 */
static void mf_lfq_was_sent(struct mf_lfq *lfq)
{
	u64 now_ns = lfq->queue.now_ns;
	u32 word;

	if (now_ns < lfq->round_ends_ns)
		return;
	lfq->starving = false;
	for (word = 0; word < mf_lfq_words(lfq); word++) {
		struct mf_lfq_bits *bits = &lfq->bits[word];

		mf_step();
		bits->starved |= bits->unserved;
		bits->unserved = bits->active;
		if (bits->starved)
			lfq->starving = true;
	}
	if (mf_lfq_is_weighted(lfq))
		mf_lfq_find_least(lfq);
	lfq->round++;
	lfq->round_ends_ns = mf_later(now_ns, lfq->options.patience_ns);
}

/* Takes the flow that is served next out of its order or line; MF_NO_ENTRY when
 * none waits.
 */
static u16 mf_lfq_choose(struct mf_lfq *lfq, enum mf_lfq_turn *turn)
{
	struct mf_lfq_user *user;
	u16 slot, home;

	if (lfq->starving && !lfq->owed) {
		slot = mf_lfq_next_starved(lfq);
		if (slot != MF_NO_ENTRY) {
			*turn = MF_LFQ_STARVED;
			return slot;
		}
	}
	*turn = MF_LFQ_WENT_AHEAD;
	slot = mf_lfq_next_ahead(lfq);
	if (slot != MF_NO_ENTRY)
		return slot;
	*turn = MF_LFQ_IN_TURN;
	home = mf_lfq_next_user(lfq);
	if (home == MF_NO_ENTRY)
		return home;
	slot = mf_lfq_next_flow(lfq, home);
	user = &lfq->users[home];
	if (lfq->clock.bytes < user->tag)
		lfq->clock.bytes = user->tag;
	if (user->clock.bytes < lfq->flows[slot].tag)
		user->clock.bytes = lfq->flows[slot].tag;
	return slot;
}

/* The user with a slot that the flow in @slot, which was in the order of the
 * newcomers and has packets, is of by now; or MF_NO_SLOT.
 */
static u32 mf_lfq_known(const struct mf_lfq *lfq, u16 slot)
{
	if (slot >= lfq->flow_slots_len)
		return MF_NO_SLOT;
	return mf_standing_find(&lfq->user_slots,
				mf_lfq_home(lfq, mf_lfq_head(lfq, &lfq->flows[slot])));
}

/* The flow in @slot and its user @home go back to where they belong. */
static void mf_lfq_settle(struct mf_lfq *lfq, u16 slot, u16 home,
			  enum mf_lfq_turn turn)
{
	u32 user = MF_NO_SLOT;

	if (turn == MF_LFQ_STARVED)
		return;
	if (!lfq->flows[slot].pkts) {
		mf_lfq_leave(lfq, slot);
	} else {
		if (home == lfq->newcomers)
			user = mf_lfq_known(lfq, slot);
		if (user != MF_NO_SLOT)
			mf_lfq_move_home(lfq, slot, user);
		else
			mf_lfq_place(lfq, slot);
	}
	if (turn != MF_LFQ_IN_TURN)
		return;
	if (lfq->users[home].pkts)
		mf_lfq_put_back(lfq, home);
	else
		mf_lfq_retire(lfq, home);
}

static void mf_lfq_mark(struct mf_lfq *lfq, u16 home, struct mf_packet *packet)
{
	if (packet->ecn == MF_CE)
		return;
	packet->ecn = MF_CE;
	lfq->tallies[home].marks++;
	mf_count_add(&lfq->queue.stats.marked, packet->len);
}

/* CoDel drops the first packet of the flow in @slot. */
static void mf_lfq_drop(struct mf_lfq *lfq, u16 slot,
			const struct mf_packet *packet)
{
	if (mf_lfq_is_spilled(lfq, slot))
		mf_lfq_unspill(lfq, packet);
	lfq->counts.early++;
	lfq->tallies[lfq->flows[slot].home].drops++;
	mf_step();
	mf_queue_discard(&lfq->queue, packet, MF_EARLY);
}

/* May CoDel drop the head of the flow in @slot, which waits for more than
 * @grace_ns?
 */
static bool mf_lfq_may_drop(struct mf_lfq *lfq, u16 slot, u64 grace_ns)
{
	struct mf_lfq_flow *flow = &lfq->flows[slot];
	const struct mf_packet *head = mf_lfq_head(lfq, flow);
	u64 now_ns = lfq->queue.now_ns, behind = flow->bytes - head->len;

	if (!flow->pkts || mf_since(head->arrival_ns, now_ns) < grace_ns)
		behind = 0;
	return mf_codel_may_drop(&flow->codel, &lfq->options.codel,
				 head->arrival_ns, behind, now_ns);
}

/* Section 5.5 of RFC 8289: takes the packet to send from the flow in @slot, if
 * any; @ect_1: it came with ECT(1).
 */
static bool mf_lfq_deque(struct mf_lfq *lfq, u16 slot, u64 grace_ns,
			 struct mf_packet *packet, bool *ect_1)
{
	const struct mf_codel_law *law = &lfq->options.codel;
	struct mf_lfq_flow *flow = &lfq->flows[slot];
	struct mf_codel *codel = &flow->codel;
	u64 now_ns = lfq->queue.now_ns;
	bool began = false;

	if (!mf_lfq_may_drop(lfq, slot, grace_ns)) {
		codel->dropping = false;
	} else if (!codel->dropping) {
		mf_codel_begin(codel, law, now_ns);
		began = true;
	}
	/* A mark is a drop that leaves nothing to drop in its place. */
	while (codel->dropping && (began || now_ns >= codel->drop_next_ns)) {
		if (!began && codel->count < U32_MAX)
			codel->count++;
		if (!flow->pkts)
			return false;
		*packet = mf_lfq_take(lfq, flow);
		*ect_1 = packet->ecn == MF_ECT_1;
		if (law->ecn && packet->ecn != MF_NOT_ECT) {
			mf_lfq_mark(lfq, flow->home, packet);
			if (!began)
				codel->drop_next_ns = mf_codel_following(law,
									 codel->drop_next_ns,
									 codel->count);
			return true;
		}
		mf_lfq_drop(lfq, slot, packet);
		if (began) {
			mf_lfq_may_drop(lfq, slot, grace_ns);
			break;
		}
		if (!mf_lfq_may_drop(lfq, slot, grace_ns))
			codel->dropping = false;
		else
			codel->drop_next_ns = mf_codel_following(law,
								 codel->drop_next_ns,
								 codel->count);
	}
	if (!flow->pkts)
		return false;
	*packet = mf_lfq_take(lfq, flow);
	*ect_1 = packet->ecn == MF_ECT_1;
	return true;
}

/* @packet of a newcomer, of the flow in @slot, is sent. */
static void mf_lfq_newcomer_is_served(struct mf_lfq *lfq, u16 slot,
				      const struct mf_packet *packet)
{
	mf_lobby_is_served(&lfq->lobby, mf_lfq_home(lfq, packet), lfq->queue.now_ns);
	if (slot >= lfq->flow_slots_len)
		mf_lfq_unspill(lfq, packet);
}

/* @packet of @home is handed out. */
static inline void mf_lfq_tell(struct mf_lfq *lfq, u16 home,
			       const struct mf_packet *packet)
{
	struct mf_lfq_tally *tally = &lfq->tallies[home];
	u64 now_ns = lfq->queue.now_ns;
	u32 wait = mf_waits_of(mf_since(packet->arrival_ns, now_ns));
	u32 age = now_ns >> 30, counter;

	lfq->served = home;
	lfq->waits[wait]++;
	tally->pkts++;
	tally->bytes += packet->len;
	if (age != tally->age) {
		tally->lately = age - tally->age < 64 ?
			tally->lately >> (age - tally->age) : 0;
		tally->age = age;
	}
	tally->lately += packet->len;
	if (++tally->waits[wait] == U16_MAX)
		for (counter = 0; counter < MF_WAITS; counter++)
			tally->waits[counter] /= 2;
}

/* A flow was served, and has not starved; one that went ahead has no bits. */
static inline void mf_lfq_is_fed(struct mf_lfq *lfq, u16 slot)
{
	struct mf_lfq_bits *bits = &lfq->bits[slot / 64];
	u64 others = ~(1ULL << slot % 64);

	bits->unserved &= others;
	bits->starved &= others;
}

/* Charges @len bytes to the flow in @slot, to its user and to the clocks; of what
 * went out of turn several times as much is owed to those in turn.
 */
static inline void mf_lfq_pay(struct mf_lfq *lfq, u16 slot, enum mf_lfq_turn turn,
			      u32 len, u32 sharing)
{
	u16 home = lfq->flows[slot].home;
	struct mf_lfq_user *user = &lfq->users[home];
	u32 charge;

	charge = mf_lfq_charge(lfq, len < MF_LFQ_LONGEST ? len : MF_LFQ_LONGEST);
	lfq->flows[slot].tag += charge;
	user->tag += mf_lfq_due(lfq, home, charge);
	mf_lfq_go_on(lfq, &user->clock, charge, user->flows);
	mf_lfq_go_on(lfq, &lfq->clock, charge, sharing);
	if (turn == MF_LFQ_STARVED)
		lfq->owed = MF_LFQ_OWED * charge;
	else
		lfq->owed -= charge < lfq->owed ? charge : lfq->owed;
}

/* The only packet of the flow in @slot: CoDel leaves it alone, and it is not
 * marked.
 */
static void mf_lfq_send_only(struct mf_lfq *lfq, u16 slot, enum mf_lfq_turn turn,
			     struct mf_packet *packet)
{
	struct mf_lfq_flow *flow = &lfq->flows[slot];
	u32 sharing = mf_lfq_sharing(lfq);
	u16 home = flow->home;
	struct mf_lfq_user *user = &lfq->users[home];
	s64 clock = lfq->clock.bytes;

	*packet = mf_lfq_take(lfq, flow);
	mf_codel_last_is_sent(&flow->codel);
	mf_lfq_pay(lfq, slot, turn, packet->len, sharing);
	user->bytes -= packet->len;
	user->pkts--;
	if (!user->pkts) {
		user->left = clock;
		mf_lfq_goes(lfq, home);
	}
	mf_lfq_is_busy(lfq, packet->len);
	mf_lfq_tell(lfq, home, packet);
	mf_lfq_is_fed(lfq, slot);
	if (home == lfq->newcomers)
		mf_lfq_newcomer_is_served(lfq, slot, packet);
	mf_lfq_settle(lfq, slot, home, turn);
	mf_lfq_was_sent(lfq);
}

/* The first packet of the flow in @slot that CoDel leaves, if any. */
static bool mf_lfq_send_first(struct mf_lfq *lfq, u16 slot, enum mf_lfq_turn turn,
			      struct mf_packet *packet)
{
	struct mf_lfq_flow *flow = &lfq->flows[slot];
	const struct mf_lfq_user *user = &lfq->users[flow->home];
	s64 debt = lfq->options.debt;
	u32 sharing = mf_lfq_sharing(lfq), pkts = flow->pkts;
	u64 bytes = flow->bytes, grace_ns = 0;
	u16 home = flow->home;
	bool ect_1, sent;

	/* A queue that its own credit empties is not a standing one. */
	if (user->tag + debt < lfq->clock.bytes || flow->tag + debt < user->clock.bytes)
		grace_ns = lfq->options.codel.interval_ns;
	sent = mf_lfq_deque(lfq, slot, grace_ns, packet, &ect_1);
	mf_lfq_shrank(lfq, home, bytes - flow->bytes, pkts - flow->pkts);
	if (!sent)
		return false;
	/* RFC 9331, section 4.1: scalable senders are told early. */
	if (ect_1 && lfq->options.codel.ecn && flow->pkts &&
	    mf_since(packet->arrival_ns, lfq->queue.now_ns) > lfq->options.step_ns)
		mf_lfq_mark(lfq, home, packet);
	if (home == lfq->newcomers)
		mf_lfq_newcomer_is_served(lfq, slot, packet);
	mf_lfq_is_fed(lfq, slot);
	mf_lfq_pay(lfq, slot, turn, packet->len, sharing);
	mf_lfq_is_busy(lfq, packet->len);
	mf_lfq_tell(lfq, home, packet);
	mf_lfq_settle(lfq, slot, home, turn);
	mf_lfq_was_sent(lfq);
	return true;
}

/* Takes the next packet to send out of its flow; false when none waits. */
static bool mf_lfq_next(struct mf_lfq *lfq, u64 now_ns, struct mf_packet *packet)
{
	enum mf_lfq_turn turn;
	u16 slot;

	lfq->queue.now_ns = now_ns;
	for (;;) {
		slot = mf_lfq_choose(lfq, &turn);
		if (slot == MF_NO_ENTRY)
			return false;
		lfq->counts.ahead += turn == MF_LFQ_WENT_AHEAD;
		lfq->counts.fed += turn == MF_LFQ_STARVED;
		mf_lfq_is_free(&lfq->scale, now_ns);
		if (lfq->flows[slot].pkts == 1) {
			mf_lfq_send_only(lfq, slot, turn, packet);
			return true;
		}
		if (mf_lfq_send_first(lfq, slot, turn, packet))
			return true;
		mf_lfq_settle(lfq, slot, lfq->flows[slot].home, turn);
	}
}

/**
 * mf_lfq_dequeue() - hands out the next packet to send
 * @lfq: the queue; packets may be discarded
 * @now_ns: time of the call
 * @packet: where it goes; it is marked where its ECN field says MF_CE
 *
 * Return: whether there was one.
 */
static bool mf_lfq_dequeue(struct mf_lfq *lfq, u64 now_ns, struct mf_packet *packet)
{
	if (lfq->holds)
		*packet = lfq->held;
	else if (!mf_lfq_next(lfq, now_ns, packet))
		return false;
	lfq->holds = false;
	mf_queue_depart(&lfq->queue, packet);
	return true;
}

/**
 * mf_lfq_peek() - the packet that is handed out next
 * @lfq: the queue; packets may be discarded
 * @now_ns: time of the call
 *
 * What comes next takes decisions to find out. So it is taken now, and held; it
 * counts as waiting, and whatever comes meanwhile goes behind it.
 *
 * Return: the packet, NULL when none waits.
 */
static const struct mf_packet *mf_lfq_peek(struct mf_lfq *lfq, u64 now_ns)
{
	if (!lfq->holds)
		lfq->holds = mf_lfq_next(lfq, now_ns, &lfq->held);
	return lfq->holds ? &lfq->held : NULL;
}

/* The last flow in line for going ahead goes to the order instead. */
static void mf_lfq_place_last_ahead(struct mf_lfq *lfq)
{
	u32 last = lfq->ahead_first + --lfq->ahead_len;

	mf_lfq_place(lfq, lfq->ahead[last % mf_lfq_flows(lfq)]);
}

/* Of the flows of @home one that has much waiting: the longest, if it is known;
 * else one that is to be served last.
 */
static u16 mf_lfq_victim(struct mf_lfq *lfq, u16 home)
{
	struct mf_lfq_user *user = &lfq->users[home];
	const struct mf_lfq_flow *longest = &lfq->flows[user->longest];
	struct mf_ring ring = mf_lfq_flow_ring(lfq, user);
	s64 bucket;
	u16 slot;

	if (longest->home == home && longest->pkts &&
	    2 * longest->bytes * user->flows >= user->bytes)
		return user->longest;
	/* Who has packets and none in order has some ahead. */
	for (;;) {
		mf_step();
		slot = mf_ring_pop_highest(ring, &bucket);
		if (slot != MF_NO_ENTRY && lfq->flows[slot].pkts)
			break;
		if (slot == MF_NO_ENTRY)
			mf_lfq_place_last_ahead(lfq);
		else
			mf_lfq_leave(lfq, slot);
	}
	mf_ring_push(ring, slot, bucket, bucket);
	return slot;
}

/* Drops from the head of a long flow of the user with most waiting; false if that
 * is the arriving packet, which stays with the caller.
 */
static bool mf_lfq_push_out(struct mf_lfq *lfq)
{
	struct mf_packet victim;
	u64 length;
	u16 home, slot;

	for (;;) {
		home = lfq->longest.heap[0];
		length = mf_lfq_length(lfq, home);
		if (length == lfq->longest.keys[home])
			break;
		mf_longest_put_right(&lfq->longest, length);
	}
	slot = mf_lfq_victim(lfq, home);
	victim = mf_lfq_take(lfq, &lfq->flows[slot]);
	if (mf_lfq_is_spilled(lfq, slot))
		mf_lfq_unspill(lfq, &victim);
	mf_lfq_shrank(lfq, home, victim.len, 1);
	lfq->tallies[home].drops++;
	if (victim.handle == lfq->arriving) {
		mf_count_add(&lfq->queue.stats.dropped_after, victim.len);
		return false;
	}
	mf_queue_discard(&lfq->queue, &victim, MF_PUSHED_OUT);
	return true;
}

/* Puts @packet into its flow; false if it is dropped at once. */
static bool mf_lfq_push(struct mf_lfq *lfq, const struct mf_packet *packet,
			u64 now_ns)
{
	u16 slot = mf_lfq_flow_of(lfq, packet, now_ns);
	struct mf_lfq_flow *flow = &lfq->flows[slot], *longest;
	struct mf_lfq_user *user = &lfq->users[flow->home];
	bool stays = true;

	mf_lfq_append(lfq, flow, packet);
	mf_lfq_wake(lfq, user);
	if (flow->bytes > packet->len) {
		longest = &lfq->flows[user->longest];
		if (longest->home != flow->home || longest->bytes < flow->bytes)
			user->longest = slot;
	}
	user->bytes += packet->len;
	if (!user->pkts++)
		mf_lfq_comes(lfq, flow->home, packet);
	mf_longest_grew(&lfq->longest, flow->home, mf_lfq_length(lfq, flow->home));
	lfq->arriving = packet->handle;
	while (lfq->backlogged && mf_queue_is_over(&lfq->queue))
		stays &= mf_lfq_push_out(lfq);
	lfq->arriving = NULL;
	return stays;
}

/**
 * mf_lfq_enqueue() - takes an arriving packet
 * @lfq: the queue
 * @packet: the packet
 * @now_ns: time of the call
 *
 * Return: MF_QUEUED, or MF_FULL: then the packet is still the caller's.
 */
static enum mf_fate mf_lfq_enqueue(struct mf_lfq *lfq, struct mf_packet *packet,
				   u64 now_ns)
{
	if (mf_queue_receive(&lfq->queue, packet, now_ns) != MF_QUEUED)
		return MF_FULL;
	if (packet->len > MF_MAX_VICTIMS * MF_MIN_LEN &&
	    mf_queue_is_full(&lfq->queue, packet->len))
		return mf_queue_refuse(&lfq->queue, packet, MF_FULL);
	mf_queue_accept(&lfq->queue, packet);
	return mf_lfq_push(lfq, packet, now_ns) ? MF_QUEUED : MF_FULL;
}

/* A queue of other options, made before the one that waits is locked. */
struct mf_lfq_spare {
	struct mf_lfq lfq;
	struct mf_lfq old;
	struct mf_pool pool;
};

/* Do other options need other tables or orders? */
static bool mf_lfq_begins_anew(const struct mf_lfq *lfq,
			       const struct mf_lfq_options *options)
{
	const struct mf_lfq_options *own = &lfq->options;

	return options->by != own->by || options->by_mark != own->by_mark ||
	       options->marks != own->marks ||
	       options->prefix != own->prefix || options->flows != own->flows ||
	       options->users != own->users || options->user_lag != own->user_lag ||
	       options->flow_lag != own->flow_lag;
}

/**
 * mf_lfq_spare_free() - frees what is left of it
 * @spare: as made, or as mf_lfq_change() left it
 */
static void mf_lfq_spare_free(struct mf_lfq_spare *spare)
{
	mf_lfq_free(&spare->lfq);
	mf_lfq_free(&spare->old);
	mf_pool_free(&spare->pool);
}

/**
 * mf_lfq_spare_init() - allocates what other options need
 * @spare: for mf_lfq_change()
 * @lfq: the queue
 * @options: the other options
 * @seeds: MF_LFQ_SEEDS numbers that nobody else knows
 *
 * Return: 0, or -ENOMEM.
 */
static int mf_lfq_spare_init(struct mf_lfq_spare *spare, const struct mf_lfq *lfq,
			     const struct mf_lfq_options *options,
			     const u64 *seeds)
{
	u32 pkts = mf_limit_pkts(options->limit, options->limit_in_bytes) + 1;
	u32 held = lfq->pool.size > pkts ? lfq->pool.size : pkts;

	*spare = (struct mf_lfq_spare){ 0 };
	if (!mf_lfq_begins_anew(lfq, options))
		return held > lfq->pool.size ? mf_pool_init(&spare->pool, held) : 0;
	if (mf_lfq_init(&spare->lfq, options, lfq->queue.discard, seeds))
		return -ENOMEM;
	/* What waits finds room, until a lower limit takes it away. */
	mf_pool_free(&spare->lfq.pool);
	if (!mf_pool_init(&spare->lfq.pool, held))
		return 0;
	mf_lfq_spare_free(spare);
	return -ENOMEM;
}

/* Queues what waits in @lfq in @other, in the order in which it would leave. */
static void mf_lfq_hand_over(struct mf_lfq *lfq, struct mf_lfq *other, u64 now_ns)
{
	struct mf_lfq_counts counts = lfq->counts;
	struct mf_stats stats = lfq->queue.stats;
	u64 limit_bytes = other->queue.limit_bytes;
	u32 limit_pkts = other->queue.limit_pkts;
	struct mf_packet packet;
	u64 waits[MF_WAITS];

	memcpy(waits, lfq->waits, sizeof(waits));
	other->queue.limit_bytes = U64_MAX;
	other->queue.limit_pkts = U32_MAX;
	/* Before they came: CoDel drops nothing, and nothing is marked. */
	while (mf_lfq_dequeue(lfq, 0, &packet))
		mf_lfq_push(other, &packet, now_ns);
	other->queue.limit_bytes = limit_bytes;
	other->queue.limit_pkts = limit_pkts;
	other->queue.stats = stats;
	other->counts = counts;
	memcpy(other->waits, waits, sizeof(other->waits));
}

/**
 * mf_lfq_change() - gives a queue other options, packets waiting or not
 * @lfq: the queue
 * @options: the other options, each within its bounds
 * @spare: made for them; to be freed once no lock is held
 * @now_ns: time of the call
 *
 * Packets that exceed a lower limit are dropped, as when the buffer is full. Where
 * users, lags or the size of tables change, users and flows begin anew.
 */
static void mf_lfq_change(struct mf_lfq *lfq, const struct mf_lfq_options *options,
			  struct mf_lfq_spare *spare, u64 now_ns)
{
	if (spare->lfq.flows) {
		spare->old = *lfq;
		mf_lfq_hand_over(&spare->old, &spare->lfq, now_ns);
		*lfq = spare->lfq;
		spare->lfq = (struct mf_lfq){ 0 };
	} else {
		if (spare->pool.entries)
			mf_pool_move(&lfq->pool, &spare->pool);
		mf_lfq_set(lfq, options);
	}
	/* What a parent has seen stays. */
	while (lfq->backlogged && mf_queue_is_over(&lfq->queue))
		mf_lfq_push_out(lfq);
}

#endif
