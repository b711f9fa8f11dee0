/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* Options of sch_lfq; what the columns are, table.h says. */
#ifndef MAYFLY_OPTIONS_LFQ_H
#define MAYFLY_OPTIONS_LFQ_H

#include "table.h"

#define MF_LFQ_LAST 32

#define MF_LFQ_OPTIONS(FIELD, OWN) \
	/* | `bandwidth 19mbit`, `unlimited` | rate to shape to, 8 kbit/s to 1 Tbit/s; somewhat below that of the link, so that packets wait here | `unlimited` | */ \
	/* | `ingress`, `egress` | what is dropped has come over the link already, and counts | `egress` | */ \
	OWN(TCA_LFQ_BANDWIDTH, 25, bandwidth, RATE, rate, 0, \
	    MF_BOUND(0, MF_SHAPER_RATE_MAX, "lfq: bandwidth: 8 kbit/s to 1 Tbit/s"), NULL, \
	    "bandwidth RATE|unlimited ] [ ingress | egress", \
	    "bandwidth\twhat it shapes to, 8kbit to 1tbit; default unlimited\n" \
	    "ingress\twhat is dropped came over the link too; default egress") \
	/* | `overhead N`, `raw` | bytes that the link adds to an IP packet, -64 to 256; or lengths as the interface has them | `raw` | */ \
	OWN(TCA_LFQ_OVERHEAD, 27, overhead, SIGNED, framed.overhead, 0, MF_UNBOUND, NULL, \
	    "overhead BYTES | raw", \
	    "overhead\tbytes that the link adds to an IP packet, -64 to 256\n" \
	    "raw\tlengths as the interface has them, the default") \
	OWN(TCA_LFQ_RAW, 28, raw, PRESENT, framed.adjusted, 1, MF_UNBOUND, NULL, NULL, NULL) \
	/* | `mpu N` | least length on the link, 0 to 256 bytes | 0 | */ \
	OWN(TCA_LFQ_MPU, 29, mpu, NUMBER, framed.mpu, 0, \
	    MF_BOUND(0, 256, "lfq: mpu: 0 to 256 bytes"), NULL, \
	    "mpu BYTES", \
	    "mpu\tleast length on the link, 0 to 256 bytes; default 0") \
	/* | `noatm`, `atm`, `ptm` | what the link makes of a packet: nothing, cells of 53 bytes for 48, 65 bytes for 64 | `noatm` | */ \
	/* | `ethernet`, `docsis`, `ether-vlan`, `pppoe-ptm`, `bridged-ptm`, `conservative`, `ipoa-`, `bridged-`, `pppoe-` with `vcmux` or `llcsnap`, `pppoa-vcmux`, `pppoa-llc` | `overhead`, `mpu` and framing under the names that [tc-cake(8)](https://man7.org/linux/man-pages/man8/tc-cake.8.html) has for them; `ether-vlan` adds 4 bytes | | */ \
	OWN(TCA_LFQ_FRAMING, 30, atm, BARE_WORD, framed.framing, TC_LFQ_NOATM, \
	    MF_BOUND(0, __TC_LFQ_FRAMING_MAX - 1, "lfq: noatm, atm or ptm"), framings, \
	    "noatm | atm | ptm ] [ LINK", \
	    "atm, ptm\tcells of 53 bytes for 48, or 65 bytes for 64; default noatm\n" \
	    "LINK\toverhead, mpu and framing of a kind of link: ethernet, docsis, ether-vlan " \
	    "(4 bytes more), pppoe-ptm, bridged-ptm, conservative, " \
	    "{ipoa,bridged,pppoe}-{vcmux,llcsnap}, pppoa-{vcmux,llc}") \
	OWN(TCA_LFQ_INGRESS, 26, ingress, FLAG, ingress, 0, \
	    MF_BOUND(0, 1, "lfq: ingress: 0 or 1"), NULL, NULL, NULL) \
	/* | `limit 10240`, `10240p`, `15mb`, `200ms` | most that waits: packets, bytes on the link, or a time at the bandwidth; 1 to 1048576 packets, 1 ms to 100 s | `10240p` | */ \
	OWN(TCA_LFQ_LIMIT, 2, limit, LIMIT, limit, MF_LFQ_LIMIT_PKTS, MF_BOUND_LIMIT("lfq"), NULL, \
	    "limit PACKETS|SIZE|TIME", \
	    "limit\tmost that waits: 300 or 300p packets, 450kb bytes, 200ms at the bandwidth; " \
	    "1 to 1048576 packets; default 10240p") \
	OWN(TCA_LFQ_LIMIT_BYTES, 3, limit, LIMIT_BYTES, limit, 0, MF_BOUND_LIMIT_BYTES("lfq"), \
	    NULL, NULL, NULL) \
	OWN(TCA_LFQ_LIMIT_TIME, 23, limit, LIMIT_TIME, limit, 0, \
	    MF_BOUND(MF_MS, 100 * MF_S, "lfq: limit: 1 ms to 100 s"), NULL, NULL, NULL) \
	/* | `memlimit 32mb` | most memory of packets that wait, 256 kB to 1 GB | 32 MB | */ \
	OWN(TCA_LFQ_MEMLIMIT, 24, memlimit, SIZE, memlimit, 32U << 20, \
	    MF_BOUND(256U << 10, 1U << 30, "lfq: memlimit: 262144 to 1073741824 bytes"), NULL, \
	    "memlimit SIZE", \
	    "memlimit\tmost memory of packets that wait, 256kb to 1gb; default 32mb") \
	/* | `user pair`, `triple`, `src`, `dst`, `flow`, `mark`, `class` | what a user is: a pair of hosts, the same beside the other pairs of both, one host, a flow, a `fwmark`, a class that a `tc filter` or a BPF program gives | `pair` | */ \
	/* | `nat`, `nonat` | hosts and ports as they were before IPv4 address translation, from conntrack | `nonat` | */ \
	OWN(TCA_LFQ_USER, 4, user, WORD, by, TC_LFQ_PAIR, \
	    MF_BOUND(0, __TC_LFQ_USER_MAX - 1, \
		     "lfq: user: pair, triple, dst, src, flow, mark or class"), users, \
	    "user pair|triple|dst|src|flow|mark|class ] [ nat | nonat", \
	    "user\twhat a user is: a pair of hosts, the same beside the other pairs of both, " \
	    "one host, a flow, a mark, a class that a filter gives; default pair\n" \
	    "nat\thosts as they are before address translation; default nonat") \
	/* | `weights equal`, `mark`, `dscp` | what a user weighs: all the same, or the `fwmark` of its first packet, 1 to 1000, or the weight of its DSCP | `equal` | */ \
	OWN(TCA_LFQ_WEIGHTS, 5, weights, WORD, by_mark, TC_LFQ_EQUAL, \
	    MF_BOUND(0, __TC_LFQ_WEIGHTS_MAX - 1, "lfq: weights: equal, mark or dscp"), weights, \
	    "weights equal|mark|dscp", \
	    "weights\twhat a user weighs: the same, its mark, or by the DSCP of its packets, " \
	    "1 to 1000; default equal") \
	/* | `dscp EF=4,CS1=1` | weights of code points, 1 to 1000, for `weights dscp`; the others weigh 1 | | */ \
	OWN(TCA_LFQ_DSCP, 32, dscp, OTHER, dscp, 0, MF_UNBOUND, &dscp, \
	    "dscp CODE=WEIGHT,...", \
	    "dscp\tweights of code points, as EF=4,CS1=1; the others weigh 1") \
	OWN(TCA_LFQ_NAT, 31, nat, FLAG, nat, 0, MF_BOUND(0, 1, "lfq: nat: 0 or 1"), NULL, NULL, NULL) \
	/* | `prefix N` | leading bits of an IPv4 address that tell hosts apart, 1 to 32 | 32 | */ \
	OWN(TCA_LFQ_PREFIX, 6, prefix, NUMBER, prefix, 32, \
	    MF_BOUND(1, 32, "lfq: prefix: 1 to 32"), NULL, \
	    "prefix BITS", \
	    "prefix\tbits of an IPv4 address that tell hosts apart; default 32") \
	/* | `prefix6 N` | the same of an IPv6 address, 1 to 128 | 64 | */ \
	OWN(TCA_LFQ_PREFIX6, 7, prefix6, NUMBER, prefix6, 64, \
	    MF_BOUND(1, 128, "lfq: prefix6: 1 to 128"), NULL, \
	    "prefix6 BITS", \
	    "prefix6\tthe same of an IPv6 address; default 64") \
	/* | `user_lag`, `flow_lag` | bytes by which a user, and a flow in it, may be behind, up to 4 GB | 360000b, 120000b | */ \
	FIELD(TCA_LFQ_USER_LAG, 8, user_lag, SIZE, user_lag, MF_LFQ_USER_LAG, MF_UNBOUND, NULL, \
	      "user_lag SIZE", \
	      "user_lag\tby which a user may be behind; default 360000b") \
	FIELD(TCA_LFQ_FLOW_LAG, 9, flow_lag, SIZE, flow_lag, MF_LFQ_FLOW_LAG, MF_UNBOUND, NULL, \
	      "flow_lag SIZE", \
	      "flow_lag\tby which a flow may be behind in its user; default 120000b") \
	/* | `debt` | bytes by which a user may be ahead and its sparse flows still go first | 15000b | */ \
	FIELD(TCA_LFQ_DEBT, 10, debt, SIZE, debt, MF_LFQ_DEBT, MF_UNBOUND, NULL, \
	      "debt SIZE", \
	      "debt\tby which a user may be ahead and sparse flows go first; default 15000b") \
	/* | `pace` | speed of a clock beside service, 0 to 1 | 0.4 | */ \
	FIELD(TCA_LFQ_PACE, 11, pace, SHARE, pace, (2U << MF_LFQ_FRACTION) / 5, \
	      MF_BOUND(0, 1U << MF_LFQ_FRACTION, "lfq: pace: 0 to 1"), NULL, \
	      "pace SHARE", \
	      "pace\tof a clock beside service, 0 to 1; default 0.4") \
	/* | `probation` | from when a new user first comes until it has standing, if it comes again, up to 1000000 s; 0: at once | 100ms | */ \
	FIELD(TCA_LFQ_PROBATION, 12, probation, DURATION, probation_ns, MF_LFQ_PROBATION_NS, \
	      MF_BOUND(0, MF_TIME_MAX, "lfq: probation: 0 to 1000000 s"), NULL, \
	      "probation TIME", \
	      "probation\tuntil a new user has standing, if it comes again; default 100ms") \
	/* | `flows` | flows with a queue of their own, 8 to 32768 | 864 | */ \
	FIELD(TCA_LFQ_FLOWS, 13, flows, FLOWS, flows, MF_LFQ_FLOWS, \
	      MF_BOUND(MF_LFQ_FLOWS_MIN, MF_LFQ_FLOWS_MAX, "lfq: flows: 8 to 32768"), NULL, \
	      "flows NUMBER", \
	      "flows\twith a queue of their own, 8 to 32768; default 864") \
	/* | `users` | users that are remembered, 8 to 16384 | 1024 | */ \
	FIELD(TCA_LFQ_USERS, 14, users, FLOWS, users, MF_LFQ_USERS, \
	      MF_BOUND(MF_LFQ_USERS_MIN, MF_LFQ_USERS_MAX, "lfq: users: 8 to 16384"), NULL, \
	      "users NUMBER", \
	      "users\tthat are remembered, 8 to 16384; default 1024") \
	/* | `lag_time` | what the link sends in it bounds lags and debt, 1 ms to 1000000 s | 500ms | */ \
	FIELD(TCA_LFQ_LAG_TIME, 15, lag_time, DURATION, lag_time_ns, MF_LFQ_LAG_TIME_NS, \
	      MF_BOUND_TIME("lfq", "lag_time"), NULL, \
	      "lag_time TIME", \
	      "lag_time\twhat the link sends in it bounds the lags; default 500ms") \
	/* | `patience` | a round: who was not served in it gets a packet out of turn, 1 ms to 1000000 s | 50ms | */ \
	FIELD(TCA_LFQ_PATIENCE, 16, patience, DURATION, patience_ns, MF_LFQ_PATIENCE_NS, \
	      MF_BOUND_TIME("lfq", "patience"), NULL, \
	      "patience TIME", \
	      "patience\twithout service until a packet goes out of turn; default 50ms") \
	/* | `target`, `interval`, `mtu` | of CoDel: 1 us to 1000 s; 1 us to 4 s; 1 byte to 1 GB | 5ms, 100ms, 1b | */ \
	FIELD(TCA_LFQ_TARGET, 17, target, DURATION, codel.target_ns, MF_LFQ_TARGET_NS, \
	      MF_BOUND(MF_US, 1000 * MF_S, "lfq: target: 1 us to 1000 s"), NULL, \
	      "target TIME", \
	      "target, interval, mtu: of CoDel; default 5ms 100ms 1b") \
	FIELD(TCA_LFQ_INTERVAL, 18, interval, DURATION, codel.interval_ns, MF_LFQ_INTERVAL_NS, \
	      MF_BOUND(MF_US, MF_CODEL_INTERVAL_MAX, "lfq: interval: 1 us to 4 s"), NULL, \
	      "interval TIME", NULL) \
	FIELD(TCA_LFQ_MTU, 19, mtu, SIZE, codel.mtu, MF_LFQ_MTU, \
	      MF_BOUND(1, 1U << 30, "lfq: mtu: 1 to 1073741824 bytes"), NULL, \
	      "mtu SIZE", NULL) \
	/* | `ecn`, `noecn` | mark packets of ECN-capable transports instead of dropping them | `ecn` | */ \
	FIELD(TCA_LFQ_ECN, 20, ecn, FLAG, codel.ecn, 1, \
	      MF_BOUND(0, 1, "lfq: ecn: 0 or 1"), NULL, \
	      "ecn | noecn", \
	      "ecn\tmark instead of dropping; default ecn") \
	/* | `step` | wait beyond which packets with ECT(1) are marked, 1 us to 1000 s | 1ms | */ \
	FIELD(TCA_LFQ_STEP, 21, step, DURATION, step_ns, MF_LFQ_STEP_NS, \
	      MF_BOUND(MF_US, 1000 * MF_S, "lfq: step: 1 us to 1000 s"), NULL, \
	      "step TIME", \
	      "step\twait beyond which packets with ECT(1) are marked; default 1ms") \
	/* | `split`, `nosplit` | super-packets into packets of the wire | `split` | */ \
	OWN(TCA_LFQ_SPLIT, 22, split, FLAG, split, 1, MF_BOUND_SPLIT("lfq"), NULL, \
	    "split | nosplit", \
	    "split\tsuper-packets (GSO) into packets of the wire; default split")

#endif
