// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a shaper over a trace, each packet at the first time at which it may go, and
 * prints when that was and how long it was on the link:
 *
 *	shaper OVERHEAD|raw MPU FRAMING LATE_NS <TRACE
 *
 * A line of the trace is a packet: time in ns, length, bytes in front of the IP
 * header, the rate in bytes/s from then on, 0 for none, and how many like it were
 * dropped before it, which count. Whoever calls is LATE_NS
 * late where the packet has to wait.
 */
#include <inttypes.h>
#include <stdio.h>

#include "../core/shaper.h"

int main(int argc, char **argv)
{
	struct mf_shaper shaper = { 0 };
	u64 now_ns = 0, time_ns, rate, late_ns;
	struct mf_framed framed = { 0 };
	u32 len, header, on_link, wasted;

	if (argc != 5) {
		fputs("usage: shaper OVERHEAD|raw MPU FRAMING LATE_NS <TRACE\n", stderr);
		return 2;
	}
	framed.adjusted = strcmp(argv[1], "raw");
	framed.overhead = atoi(argv[1]);
	framed.mpu = atoi(argv[2]);
	framed.framing = atoi(argv[3]);
	late_ns = strtoull(argv[4], NULL, 10);
	while (scanf("%" SCNu64 "%" SCNu32 "%" SCNu32 "%" SCNu64 "%" SCNu32, &time_ns,
		     &len, &header, &rate, &wasted) == 5) {
		bool waits = time_ns < now_ns;

		if (rate != shaper.rate)
			mf_shaper_set(&shaper, rate, waits ? now_ns : time_ns);
		if (!waits) {
			now_ns = time_ns;
			mf_shaper_wakes(&shaper, now_ns);
		}
		on_link = mf_framed_len(&framed, len, header);
		while (wasted--)
			mf_shaper_is_wasted(&shaper, on_link, now_ns);
		if (!mf_shaper_is_free(&shaper, now_ns))
			now_ns = mf_shaper_next_ns(&shaper) + late_ns;
		mf_shaper_is_used(&shaper, on_link, now_ns);
		printf("%" PRIu64 " %" PRIu32 "\n", now_ns, on_link);
	}
	return 0;
}
