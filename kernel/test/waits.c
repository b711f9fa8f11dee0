// SPDX-License-Identifier: GPL-2.0
/*
 * Counts waits and prints the counter of each, then where every counter begins, then
 * the waits that 50 and 95 % did not exceed:
 *
 *	waits <WAITS
 *
 * WAITS are times in ns.
 */
#include <inttypes.h>
#include <stdio.h>

#include "../core/waits.h"

int main(void)
{
	u32 counts[MF_WAITS] = { 0 }, counter;
	u64 wait_ns;

	while (scanf("%" SCNu64, &wait_ns) == 1) {
		counter = mf_waits_of(wait_ns);
		counts[counter]++;
		printf("%" PRIu32 "\n", counter);
	}
	for (counter = 0; counter <= MF_WAITS; counter++)
		printf("%" PRIu64 "\n", mf_waits_from_ns(counter));
	printf("%" PRIu64 "\n%" PRIu64 "\n", mf_waits_quantile(counts, 50),
	       mf_waits_quantile(counts, 95));
	return 0;
}
