/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What main.c, which knows libc, and kernel.c, which knows the kernel's headers,
 * tell each other: neither can include the other's.
 */
#ifndef MAYFLY_UPSTREAM_BRIDGE_H
#define MAYFLY_UPSTREAM_BRIDGE_H

/* A packet that comes. Hashes are what the kernel would compute of its headers. */
struct arrival {
	unsigned long long handle;
	unsigned int len;
	unsigned int memory; /* skb->truesize */
	unsigned int tos; /* ECN bits of the IP header */
	unsigned int flow_hash, src_hash, dst_hash;
};

/* kernel.c: one queue of the kernel's. Times are ns and do not decrease. */
int queue_make(const char *id);
/* An attribute of the options, by number: 4 or 8 bytes. */
void queue_option(int attribute, unsigned long long value, int bytes);
/* Applies the options; an errno, negative, when the kernel refuses them. */
int queue_begin(void);
void queue_enqueue(const struct arrival *packet, unsigned long long now);
/* False when nothing is sent. */
int queue_dequeue(unsigned long long now, unsigned long long *handle, unsigned int *tos);
unsigned int queue_packets(void);
unsigned int queue_bytes(void);
/* Number of an attribute or a constant that main.c has by its name; -1 when there is none. */
long long queue_number(const char *name);

/* main.c. */
void bridge_dropped(unsigned long long handle);
void *bridge_zeroed(unsigned long bytes);
void bridge_free(const void *memory);
void bridge_fail(const char *why) __attribute__((noreturn));
unsigned short bridge_random16(void);
unsigned int bridge_random32(void);

#endif
