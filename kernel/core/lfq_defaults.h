/* SPDX-License-Identifier: GPL-2.0 */
/* What the options of LFQ are unless somebody says otherwise; why, the head of
 * crates/qdisc/src/disciplines/lfq.rs says. Nothing but numbers: BPF has them too.
 */
#ifndef MAYFLY_LFQ_DEFAULTS_H
#define MAYFLY_LFQ_DEFAULTS_H

#define MF_LFQ_LIMIT_PKTS 10240
#define MF_LFQ_USER_LAG 360000
#define MF_LFQ_FLOW_LAG 120000
#define MF_LFQ_DEBT 15000
#define MF_LFQ_PROBATION_NS 100000000ULL
#define MF_LFQ_LAG_TIME_NS 500000000ULL
#define MF_LFQ_PATIENCE_NS 50000000ULL
#define MF_LFQ_STEP_NS 1000000ULL
#define MF_LFQ_TARGET_NS 5000000ULL
#define MF_LFQ_INTERVAL_NS 100000000ULL
#define MF_LFQ_MTU 1
#define MF_LFQ_FLOWS 864
#define MF_LFQ_USERS 1024

#endif
