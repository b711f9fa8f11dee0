/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who was served lately and is not known yet; crates/qdisc/src/parts/lobby.rs.
 *
 * Principle: a set-associative table of fingerprints, each with the time at which
 * its key was first served. A key that finds no entry takes the oldest of its set,
 * if that is old enough; else it is not remembered.
 * Cost per look-up: MF_WAYS comparisons.
 */
#ifndef MAYFLY_LOBBY_H
#define MAYFLY_LOBBY_H

#include "standing.h"

/* Keys that are remembered; a power of two. */
#define MF_LOBBY_SLOTS 1024U
#define MF_LOBBY_SETS (MF_LOBBY_SLOTS / MF_WAYS)
/* Times are counted in units of 2^16 ns. */
#define MF_LOBBY_TICK 16
/* Longest time for which an entry is safe: an hour. */
#define MF_LOBBY_SAFE_NS 3600000000000ULL
/* Long ago, whatever the time. */
#define MF_LONG_AGO (1U << 31)

/**
 * struct mf_lobby_set - entries of a set
 * @fingerprints: of the keys
 * @since: when each was first served
 * @oldest: the entry that was made before all others
 */
struct mf_lobby_set {
	u32 fingerprints[MF_WAYS];
	u32 since[MF_WAYS];
	u32 oldest;
};

/* @safe: how long an entry is, in units of 2^16 ns. */
struct mf_lobby {
	struct mf_lobby_set *sets;
	u32 safe;
};

static void mf_lobby_safe(struct mf_lobby *lobby, u64 safe_ns)
{
	if (safe_ns > MF_LOBBY_SAFE_NS)
		safe_ns = MF_LOBBY_SAFE_NS;
	lobby->safe = (safe_ns + (1U << MF_LOBBY_TICK) - 1) >> MF_LOBBY_TICK;
}

static void mf_lobby_reset(struct mf_lobby *lobby)
{
	u32 set, way;

	memset(lobby->sets, 0, MF_LOBBY_SETS * sizeof(*lobby->sets));
	for (set = 0; set < MF_LOBBY_SETS; set++)
		for (way = 0; way < MF_WAYS; way++)
			lobby->sets[set].since[way] = MF_LONG_AGO;
}

/* Returns 0, or -ENOMEM. */
static int mf_lobby_init(struct mf_lobby *lobby)
{
	lobby->sets = mf_alloc(MF_LOBBY_SETS, sizeof(*lobby->sets));
	if (!lobby->sets)
		return -ENOMEM;
	mf_lobby_reset(lobby);
	return 0;
}

static inline u32 mf_lobby_ticks(u64 now_ns)
{
	return now_ns >> MF_LOBBY_TICK;
}

static inline struct mf_lobby_set *mf_lobby_set(const struct mf_lobby *lobby,
						struct mf_home home)
{
	return &lobby->sets[((u64)home.fingerprint * MF_LOBBY_SETS) >> 32];
}

/* The entry of the key at @home in @set, MF_WAYS where there is none. */
static inline u32 mf_lobby_way(const struct mf_lobby_set *set,
			       struct mf_home home)
{
	u32 way;

	for (way = 0; way < MF_WAYS; way++)
		if (set->fingerprints[way] == home.fingerprint)
			break;
	return way;
}

/* Whether the key at @home was first served @probation_ns ago, or longer. */
static inline bool mf_lobby_has_passed(const struct mf_lobby *lobby,
				       struct mf_home home, u64 now_ns,
				       u64 probation_ns)
{
	const struct mf_lobby_set *set = mf_lobby_set(lobby, home);
	u32 way = mf_lobby_way(set, home), age;

	if (way == MF_WAYS || set->since[way] == MF_LONG_AGO)
		return false;
	age = mf_lobby_ticks(now_ns) - set->since[way];
	return ((u64)age + 1) << MF_LOBBY_TICK >= probation_ns;
}

/* The key at @home is served. */
static inline void mf_lobby_is_served(struct mf_lobby *lobby,
				      struct mf_home home, u64 now_ns)
{
	struct mf_lobby_set *set = mf_lobby_set(lobby, home);
	u32 way = mf_lobby_way(set, home), now = mf_lobby_ticks(now_ns);

	if (way < MF_WAYS && set->since[way] != MF_LONG_AGO)
		return;
	way = set->oldest;
	if (now - set->since[way] < lobby->safe)
		return;
	set->fingerprints[way] = home.fingerprint;
	set->since[way] = now;
	set->oldest = (way + 1) % MF_WAYS;
}

/* The key at @home is known from now on. */
static inline void mf_lobby_leaves(struct mf_lobby *lobby, struct mf_home home)
{
	struct mf_lobby_set *set = mf_lobby_set(lobby, home);
	u32 way = mf_lobby_way(set, home);

	if (way < MF_WAYS)
		set->since[way] = MF_LONG_AGO;
}

#endif
