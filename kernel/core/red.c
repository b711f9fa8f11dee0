// SPDX-License-Identifier: GPL-2.0
/* Random early detection in integers. */
#include "red.h"

enum mf_verdict { MF_PASS, MF_DRAWN, MF_FORCED };

/* 31 random bits: SplitMix64 (Steele, Lea and Flood 2014). */
static u64 mf_red_random(struct mf_red *red)
{
	u64 mixed;

	red->random += 0x9e3779b97f4a7c15ULL;
	mixed = red->random;
	mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
	mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
	return (mixed ^ (mixed >> 31)) >> (64 - MF_RED_SHARE_BITS);
}

/* @value times @share / 2^31, rounded down. */
static u64 mf_red_part(u64 value, u32 share)
{
	return mul_u64_u32_shr(value, share, MF_RED_SHARE_BITS);
}

static u64 mf_red_times(u64 a, u64 b)
{
	return (a * b + MF_RED_ONE / 2) >> MF_RED_SHARE_BITS;
}

static u64 mf_saturating_mul(u64 a, u64 b)
{
	u64 product;

	return check_mul_overflow(a, b, &product) ? U64_MAX : product;
}

static u64 mf_saturating_add(u64 a, u64 b)
{
	return a > U64_MAX - b ? U64_MAX : a + b;
}

static u64 mf_saturating_sub(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

/* @base to the power @exponent by squaring, times 2^31. */
static u64 mf_red_power(u64 base, u64 exponent)
{
	u64 power = MF_RED_ONE;

	for (; exponent && power; exponent >>= 1) {
		if (exponent & 1)
			power = mf_red_times(power, base);
		base = mf_red_times(base, base);
	}
	return power;
}

/* Thresholds where they go by the limit: a quarter and three quarters of it. */
static u64 mf_red_quarter(const struct mf_red_options *options, u64 limit,
			  bool limit_in_bytes)
{
	if (options->in_bytes && !limit_in_bytes)
		limit = mf_saturating_mul(limit, options->mean_packet);
	if (limit > MF_RED_LARGEST)
		limit = MF_RED_LARGEST;
	limit <<= MF_RED_AVERAGE_BITS;
	if (!options->in_bytes && limit_in_bytes)
		limit = mf_div64(limit, options->mean_packet);
	return limit / 4;
}

/**
 * mf_red_init() - an empty queue
 * @red: the detector; what it has learned is forgotten
 * @options: within their bounds
 * @limit: of the queue, packets or bytes
 * @limit_in_bytes: which of them
 */
void mf_red_init(struct mf_red *red, const struct mf_red_options *options,
		 u64 limit, bool limit_in_bytes)
{
	*red = (struct mf_red){ .options = *options, .random = options->seed };
	red->min_th = options->min_th ? options->min_th : mf_div64(options->max_th, 3);
	red->max_th = options->max_th ? options->max_th : 3 * options->min_th;
	if (!red->max_th) {
		red->min_th = mf_red_quarter(options, limit, limit_in_bytes);
		red->max_th = 3 * red->min_th;
	}
	red->cut = mf_bits(2 * red->max_th) > 32 ? mf_bits(2 * red->max_th) - 32 : 0;
	red->per_byte = options->transmission_ns < MF_RED_LONGEST_NS ?
			options->transmission_ns : MF_RED_LONGEST_NS;
	red->per_byte = mf_div64(red->per_byte << MF_RED_BYTE_BITS, options->mean_packet);
}
EXPORT_SYMBOL_GPL(mf_red_init);

/* avg <- (1 - w_q)^m avg, m being the typical packets that the link could have
 * sent since it finished the last one.
 */
static void mf_red_idle(struct mf_red *red, u64 now_ns)
{
	u64 idle, packet;

	if (!red->per_byte)
		return;
	idle = mf_saturating_sub(now_ns, red->departed_ns);
	idle = mf_saturating_sub(idle, mf_saturating_mul(red->length, red->per_byte) >>
				 MF_RED_BYTE_BITS);
	packet = mf_saturating_mul(red->per_byte, red->options.mean_packet) >> MF_RED_BYTE_BITS;
	idle = mf_div64(idle, packet ? packet : 1);
	red->average = mf_red_part(red->average,
				   mf_red_power(MF_RED_ONE - red->options.weight, idle));
}

/**
 * mf_red_arrive() - moves the average; first for every arrival, whatever becomes of it
 * @red: the detector
 * @queue: backlog and time
 */
void mf_red_arrive(struct mf_red *red, const struct mf_queue *queue)
{
	u64 waiting = red->options.in_bytes ? mf_queue_bytes(queue) : mf_queue_pkts(queue);

	if (!waiting)
		mf_red_idle(red, queue->now_ns);
	waiting = (waiting < MF_RED_LARGEST ? waiting : MF_RED_LARGEST) << MF_RED_AVERAGE_BITS;
	if (waiting >= red->average)
		red->average += mf_red_part(waiting - red->average, red->options.weight);
	else
		red->average -= mf_red_part(red->average - waiting, red->options.weight);
}
EXPORT_SYMBOL_GPL(mf_red_arrive);

static u64 mf_red_ratio(const struct mf_red *red, u64 whole, u64 over, u64 under)
{
	under >>= red->cut;
	return mf_div64(whole * (over >> red->cut), under ? under : 1);
}

/* p_b: Floyd and Jacobson 1993, Equation 2, and Floyd 2000 beyond max_th. */
static u64 mf_red_probability(const struct mf_red *red)
{
	u64 max_p = red->options.max_p;

	if (red->average < red->max_th)
		return mf_red_ratio(red, max_p, red->average - red->min_th,
				    red->max_th - red->min_th);
	if (red->options.gentle && red->average < 2 * red->max_th)
		return max_p + mf_red_ratio(red, MF_RED_ONE - max_p,
					    red->average - red->max_th, red->max_th);
	return MF_RED_ONE;
}

/* With p_a = p_b size / (1 - since p_b), or as ns-2 waits; both sides times the
 * typical packet.
 */
static bool mf_red_is_drawn(struct mf_red *red, u64 before, u64 size)
{
	u64 unit = red->options.in_bytes ? red->options.mean_packet : 1;
	u64 whole = unit << MF_RED_SHARE_BITS, over = before * size, rest;
	u32 cut;

	if (red->options.wait) {
		rest = mf_saturating_mul(mf_saturating_add(red->since, size), before);
		if (rest < whole)
			return false;
		rest = mf_saturating_sub(2 * whole, rest);
	} else {
		rest = mf_saturating_sub(whole, mf_saturating_mul(red->since, before));
	}
	if (over >= rest || !over)
		return over || !rest;
	cut = mf_bits(rest) > 32 ? mf_bits(rest) - 32 : 0;
	return mf_red_random(red) * (rest >> cut) < (over >> cut) << MF_RED_SHARE_BITS;
}

/* A packet that finds at most one other is never dropped early: an average that
 * outlives the queue would make the link idle.
 */
static enum mf_verdict mf_red_judge(struct mf_red *red, const struct mf_queue *queue, u32 len,
				    u64 *before)
{
	u64 size = red->options.in_bytes ? len : 1;

	if (red->average < red->min_th || mf_queue_pkts(queue) <= 1 || red->is_tail) {
		red->since = 0;
		return MF_PASS;
	}
	*before = mf_red_probability(red);
	if (*before >= MF_RED_ONE) {
		red->since = 0;
		return MF_FORCED;
	}
	if (mf_red_is_drawn(red, *before, size)) {
		red->since = 0;
		return MF_DRAWN;
	}
	red->since = mf_saturating_add(red->since, size);
	return MF_PASS;
}

/* Marks a packet whose transport understands ECN; false where it does not. */
static bool mf_red_mark(struct mf_queue *queue, struct mf_packet *packet)
{
	if (packet->ecn == MF_NOT_ECT)
		return false;
	if (packet->ecn != MF_CE) {
		packet->ecn = MF_CE;
		mf_count_add(&queue->stats.marked, packet->len);
	}
	return true;
}

/**
 * mf_red_admit() - the fate of an arriving packet
 * @red: the detector, after mf_red_arrive()
 * @queue: it is counted there
 * @packet: perhaps marked
 *
 * Return: MF_QUEUED when it enters, MF_FULL or MF_EARLY when it goes
 */
enum mf_fate mf_red_admit(struct mf_red *red, struct mf_queue *queue,
			  struct mf_packet *packet)
{
	bool enters = true;
	u64 before = 0;

	if (mf_queue_is_full(queue, packet->len)) {
		red->since = 0;
		return mf_queue_refuse(queue, packet, MF_FULL);
	}
	switch (mf_red_judge(red, queue, packet->len, &before)) {
	case MF_PASS:
		break;
	case MF_DRAWN:
		enters = red->options.ecn && before <= red->options.mark_max &&
			 mf_red_mark(queue, packet);
		break;
	case MF_FORCED:
		/* RFC 3168, section 7: dropped, not marked. */
		enters = false;
		break;
	}
	if (!enters)
		return mf_queue_refuse(queue, packet, MF_EARLY);
	mf_queue_accept(queue, packet);
	return MF_QUEUED;
}
EXPORT_SYMBOL_GPL(mf_red_admit);

/**
 * mf_red_depart() - a packet leaves: the time to the next tells the link's speed
 * @red: the detector
 * @len: its bytes
 * @leaves_some: packets wait behind it
 * @now_ns: time
 */
void mf_red_depart(struct mf_red *red, u32 len, bool leaves_some, u64 now_ns)
{
	u64 gap = mf_saturating_sub(now_ns, red->departed_ns), per_byte;

	if (gap > MF_RED_LONGEST_NS)
		gap = MF_RED_LONGEST_NS;
	if (!red->options.transmission_ns && red->left_some && gap) {
		per_byte = mf_div64(gap << MF_RED_BYTE_BITS, red->length);
		if (!per_byte)
			per_byte = 1;
		if (!red->per_byte)
			red->per_byte = per_byte;
		else if (per_byte >= red->per_byte)
			red->per_byte += (per_byte - red->per_byte) / 8;
		else
			red->per_byte -= (red->per_byte - per_byte) / 8;
	}
	red->departed_ns = now_ns;
	red->left_some = leaves_some;
	red->length = len ? len : 1;
}
EXPORT_SYMBOL_GPL(mf_red_depart);
