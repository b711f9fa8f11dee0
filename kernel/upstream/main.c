// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a queue discipline of the test kernel over a trace and prints what it decides:
 *
 *	upstream ID WORDS16 WORDS32 [ATTRIBUTE=VALUE ...] <TRACE
 *
 * ATTRIBUTE is the kernel's name of one of its options (TCA_FQ_CODEL_TARGET), VALUE a
 * number or the kernel's name of one (CAKE_FLOW_TRIPLE). WORDS16 and WORDS32 are files
 * of 64-bit words, little-endian, whose upper bits are what get_random_u16() and
 * get_random_u32() return, word by word. A line of the trace is a call at a time in ns:
 *
 *	+ TIME HANDLE LENGTH MEMORY ECN FLOW SRC DST	a packet comes
 *	- TIME						one is to be sent
 *
 * ECN is as in kernel/test/decisions.c; MEMORY is what the packet takes of a limit in
 * memory; FLOW, SRC and DST are hashes, 32 bits, of the flow and of its hosts. Lines
 * out, - for what there is not; DROPPED are handles in the order they went:
 *
 *	+ HANDLE DROPPED PACKETS BYTES
 *	- HANDLE ECN DROPPED PACKETS BYTES
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

/* ECT(1) is 1 in the header and 2 in a trace. */
static const unsigned int swapped[] = { 0, 2, 1, 3 };

static FILE *words16, *words32;

static char *dropped;
static size_t dropped_len, dropped_size;

void bridge_fail(const char *why)
{
	fprintf(stderr, "upstream: %s\n", why);
	exit(2);
}

void *bridge_zeroed(unsigned long bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory)
		bridge_fail("no memory");
	return memory;
}

void bridge_free(const void *memory)
{
	free((void *)memory);
}

void bridge_dropped(unsigned long long handle)
{
	if (dropped_size < dropped_len + 32) {
		dropped_size = 2 * dropped_size + 32;
		dropped = realloc(dropped, dropped_size);
		if (!dropped)
			bridge_fail("no memory");
	}
	dropped_len += sprintf(dropped + dropped_len, "%s%llu", dropped_len ? "," : "", handle);
}

static uint64_t word(FILE *words)
{
	unsigned char bytes[8];
	uint64_t value = 0;
	int k;

	if (fread(bytes, 1, sizeof(bytes), words) != sizeof(bytes))
		bridge_fail("no random words are left");
	for (k = 7; k >= 0; k--)
		value = value << 8 | bytes[k];
	return value;
}

unsigned short bridge_random16(void)
{
	return word(words16) >> 48;
}

unsigned int bridge_random32(void)
{
	return word(words32) >> 32;
}

static void set(char *option)
{
	char *value = strchr(option, '='), *end;
	long long attribute;
	unsigned long long number;

	if (!value)
		bridge_fail("not ATTRIBUTE=VALUE");
	*value++ = '\0';
	attribute = queue_number(option);
	number = strtoull(value, &end, 10);
	if (!*value || *end)
		number = queue_number(value);
	if (attribute < 0 || number == (unsigned long long)-1)
		bridge_fail("no such attribute or value");
	queue_option(attribute, number, 4);
}

static void print_state(void)
{
	printf(" %s %u %u\n", dropped_len ? dropped : "-", queue_packets(), queue_bytes());
	dropped_len = 0;
}

static void call(const char *line)
{
	struct arrival packet = { 0 };
	unsigned long long now, handle;
	unsigned int ecn;

	if (sscanf(line, "+ %llu %llu %u %u %u %u %u %u", &now, &packet.handle, &packet.len, &packet.memory, &ecn,
		   &packet.flow_hash, &packet.src_hash, &packet.dst_hash) == 8 && ecn < 4) {
		packet.tos = swapped[ecn];
		queue_enqueue(&packet, now);
		printf("+ %llu", packet.handle);
	} else if (sscanf(line, "- %llu", &now) == 1) {
		if (queue_dequeue(now, &handle, &ecn))
			printf("- %llu %u", handle, swapped[ecn & 3]);
		else
			printf("- - -");
	} else {
		bridge_fail("not a call");
	}
	print_state();
}

int main(int count, char *words[])
{
	char line[256];
	int k;

	if (count < 4)
		bridge_fail("upstream ID WORDS16 WORDS32 [ATTRIBUTE=VALUE ...] <TRACE");
	words16 = fopen(words[2], "rb");
	words32 = fopen(words[3], "rb");
	if (!words16 || !words32)
		bridge_fail("no random words");
	if (queue_make(words[1]))
		bridge_fail("no such discipline");
	for (k = 4; k < count; k++)
		set(words[k]);
	if (queue_begin())
		bridge_fail("the kernel refuses these options");
	while (fgets(line, sizeof(line), stdin))
		call(line);
	return 0;
}
