// SPDX-License-Identifier: GPL-2.0
/*
 * Soaks the core of LFQ in packets: a congested link whose users come and go, floods
 * of new addresses, other options while packets wait, and queues that are deleted
 * with packets in them. Every packet has to leave once, by one of three ways.
 *
 *	soak PACKETS SEED
 *
 * Prints how many were sent, dropped and refused, changes and deletions. Exit status
 * 1 and a line on the first packet that is lost, or comes twice.
 */
#include <inttypes.h>
#include <stdio.h>

#include "../core/lfq.h"

#define PACKETS_MAX (1U << 16)
#define CHANGE_EVERY 50000U
#define DELETE_EVERY 1000000U

/* Of a packet: free, or in the queue. */
static u8 is_queued[PACKETS_MAX];
static u32 free_ids[PACKETS_MAX];
static u32 free_len;
static u64 dropped;
static u64 state;

static u64 draw(void)
{
	/* xorshift64*, Vigna 2016. */
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dULL;
}

static u64 below(u64 end)
{
	return (draw() >> 11) % end;
}

static void leaves(const struct mf_packet *packet, const char *how)
{
	size_t id = (size_t)packet->handle - 1;

	if (id >= PACKETS_MAX || !is_queued[id]) {
		fprintf(stderr, "packet %zu %s and was not there\n", id, how);
		exit(1);
	}
	is_queued[id] = 0;
	free_ids[free_len++] = id;
}

static void discard(struct mf_queue *queue, const struct mf_packet *victim,
		    enum mf_fate reason)
{
	(void)queue;
	(void)reason;
	dropped++;
	leaves(victim, "was dropped");
}

static struct mf_lfq_options drawn_options(void)
{
	static const u32 tables[] = { 8, 16, 144, 864, 4096 };
	struct mf_lfq_options options = {
		.limit = below(4) ? 1 + below(10240) : 1 + below(8),
		.user_lag = below(3) ? 360000 : below(1ULL << 40),
		.flow_lag = below(3) ? 120000 : below(1ULL << 40),
		.debt = below(3) ? 15000 : below(1ULL << 40),
		.probation_ns = below(3) ? 100000000 : below(2000000000),
		.lag_time_ns = 1000000 + below(1000000000),
		.patience_ns = 1000000 + below(200000000),
		.step_ns = 1000 + below(10000000),
		.codel = {
			.target_ns = 1000 + below(10000000),
			.interval_ns = 1000 + below(200000000),
			.mtu = 1 + below(3000),
			.ecn = below(2),
		},
		.pace = below((1ULL << MF_LFQ_FRACTION) + 1),
		.flows = tables[below(5)],
		.users = tables[below(5)],
		.prefix = 1 + below(32),
		.by = below(MF_LFQ_MARK + 1),
		.by_mark = !below(4),
	};

	if (!below(4)) {
		options.limit_in_bytes = true;
		options.limit = 1 + below(1000000);
	}
	return options;
}

static void seeded(u64 *seeds)
{
	int at;

	for (at = 0; at < MF_LFQ_SEEDS; at++)
		seeds[at] = draw();
}

/* Of many users with a few flows, a few with many, and, at times, of nobody known. */
static struct mf_packet drawn_packet(u32 id, bool flood)
{
	u32 user = flood && below(2) ? draw() : below(below(2) ? 4 : 300);
	u32 own = below(user % 3 ? 3 : 200);
	u32 len = below(3) ? 1514 : 60 + below(1454);

	return (struct mf_packet){
		.handle = (void *)(size_t)(id + 1),
		.flow = ((u64)user << 20 | own) << 1,
		.len = len,
		.src = user,
		.dst = own % 5,
		.mark = user % 1500,
		.kind = MF_UDP,
		.ecn = below(4) ? MF_NOT_ECT : below(4),
	};
}

static void check(const struct mf_lfq *lfq)
{
	u64 waits = mf_queue_pkts(&lfq->queue);

	if (waits == PACKETS_MAX - free_len)
		return;
	fprintf(stderr, "%" PRIu64 " packets wait, %u are away\n", waits,
		PACKETS_MAX - free_len);
	exit(1);
}

int main(int argc, char **argv)
{
	u64 packets, at, now_ns = 1, sent = 0, refused = 0, changes = 0, deletions = 0;
	struct mf_lfq_options options;
	struct mf_packet packet;
	u64 seeds[MF_LFQ_SEEDS];
	struct mf_lfq lfq;
	u32 id;

	if (argc != 3) {
		fputs("usage: soak PACKETS SEED\n", stderr);
		return 2;
	}
	packets = strtoull(argv[1], NULL, 10);
	state = strtoull(argv[2], NULL, 10) * 2 + 1;
	for (id = 0; id < PACKETS_MAX; id++)
		free_ids[free_len++] = id;
	options = drawn_options();
	seeded(seeds);
	if (mf_lfq_init(&lfq, &options, discard, seeds))
		return 1;
	for (at = 1; at <= packets; at++) {
		id = free_ids[--free_len];
		is_queued[id] = 1;
		packet = drawn_packet(id, at >> 18 & 1);
		now_ns += below(2) ? 0 : below(2000000);
		if (mf_lfq_enqueue(&lfq, &packet, now_ns) != MF_QUEUED) {
			refused++;
			leaves(&packet, "was refused");
		}
		if (!below(1000))
			mf_lfq_peek(&lfq, now_ns);
		/* It is overloaded for a while, then it has time to empty. */
		if (below(16) < (at >> 14 & 1 ? 12 : 20) &&
		    mf_lfq_dequeue(&lfq, now_ns, &packet)) {
			sent++;
			leaves(&packet, "was sent");
		}
		if (free_len < 2 || at % CHANGE_EVERY == 0) {
			struct mf_lfq_spare spare;

			options = drawn_options();
			seeded(seeds);
			if (mf_lfq_spare_init(&spare, &lfq, &options, seeds))
				return 1;
			mf_lfq_change(&lfq, &options, &spare, now_ns);
			mf_lfq_spare_free(&spare);
			changes++;
			check(&lfq);
		}
		if (at % DELETE_EVERY == 0) {
			while (mf_lfq_dequeue(&lfq, below(2) ? 0 : now_ns, &packet)) {
				sent++;
				leaves(&packet, "was sent");
			}
			check(&lfq);
			if (free_len != PACKETS_MAX) {
				fputs("an empty queue has packets\n", stderr);
				return 1;
			}
			deletions++;
			if (below(2)) {
				mf_lfq_reset(&lfq);
				continue;
			}
			mf_lfq_free(&lfq);
			options = drawn_options();
			seeded(seeds);
			if (mf_lfq_init(&lfq, &options, discard, seeds))
				return 1;
		}
	}
	check(&lfq);
	if (sent + dropped + refused + mf_queue_pkts(&lfq.queue) != packets) {
		fputs("packets are missing\n", stderr);
		return 1;
	}
	printf("sent %" PRIu64 " dropped %" PRIu64 " refused %" PRIu64 " changes %" PRIu64
	       " deletions %" PRIu64 "\n", sent, dropped, refused, changes, deletions);
	mf_lfq_free(&lfq);
	return 0;
}
