//! What a run writes down: samples, counters, records.

use super::{Kind, Output, Sim, Transport};

impl Sim<'_> {
    pub(super) fn sample(&mut self) {
        let now = self.net.now;
        let next = now + self.run.sample_interval;
        if next <= self.end {
            self.net.events.schedule(next, Kind::Sample, 0);
        }
        let queue = &self.ports[self.watched].queue;
        let stats = queue.stats();
        let samples = &mut self.out.samples;
        samples.time.push(now);
        samples.backlog_packets.push(stats.backlog());
        samples.backlog_bytes.push(stats.backlog_bytes());
        samples.high_backlog_packets.extend(queue.high_backlog().map(|packets| packets as u64));
        samples.flow_table.push(queue.flow_table_len() as u64);
        samples.arrivals.push(stats.received);
        samples.drops.push(stats.dropped());
        if self.run.watched.is_empty() {
            return;
        }
        // A watched flow is live (its slot knows), over (its record knows) or has not begun (0).
        for (watched, series) in self.run.watched.iter().zip(&mut samples.progress) {
            series.push(self.out.records[*watched as usize].delivered_bytes);
        }
        for live in self.live.iter_mut() {
            if let Some(position) = self.run.watched.iter().position(|&watched| watched == live.flow) {
                let delivered = match &live.transport {
                    Transport::Tcp(connection) => connection.delivered_bytes(&self.run.tcp),
                    Transport::Scripted(scripted) => scripted.delivered_bytes(&self.run.tcp),
                    Transport::Turned(_) => continue,
                    Transport::Udp(source) => source.delivered_bytes(),
                };
                if let Some(last) = samples.progress[position].last_mut() {
                    *last = delivered;
                }
            }
        }
    }

    pub(super) fn finish(mut self) -> Output {
        let end = self.end;
        for live in self.live.iter_mut() {
            let Some(record) = self.out.records.get_mut(live.flow as usize) else { continue };
            match &live.transport {
                Transport::Tcp(connection) => connection.report(record, &self.run.tcp),
                Transport::Scripted(scripted) => scripted.report(record, &self.run.tcp),
                Transport::Turned(_) => {}
                Transport::Udp(source) => source.report(record),
            }
        }
        self.counted();
        self.out.packets = std::mem::take(&mut self.net.trace.packets);
        self.out.timeouts = std::mem::take(&mut self.net.trace.timeouts);
        self.out.beyond_trace = self.net.trace.beyond_limit;
        let counters = &mut self.out.counters;
        *counters = counters.since(&self.tally.before);
        counters.waits = self.tally.all_waits(self.out.records.iter().map(|record| record.waits));
        counters.end = end;
        counters.packet_hops = self.net.hops;
        let begin = counters.begin;
        self.out.interfaces = self.ports.iter_mut().map(|port| port.totals(begin, end)).collect();
        self.out.classes = self.tally.counts;
        counters.reverse_queue_mean_packets = self.out.interfaces[self.watched ^ 1].queue_mean_packets;
        let forward = &mut self.ports[self.watched];
        counters.flow_table_bytes = forward.queue.flow_table_bytes() as u64;
        (counters.queue_mean_packets, counters.flow_table_mean) = forward.means(begin, end);
        counters.flow_table_max = forward.flows_max;
        self.out
    }

    /// Takes what the ports have counted since the start of the run.
    fn counted(&mut self) {
        let (forward, reverse) = (&self.ports[self.watched], &self.ports[self.watched ^ 1]);
        let counters = &mut self.out.counters;
        counters.arrivals = forward.queue.stats().received;
        counters.drops = forward.queue.stats().dropped();
        counters.marks = forward.queue.stats().marked;
        (counters.sent, counters.sent_bytes) = (forward.sent, forward.sent_bytes);
        (counters.lost, counters.reverse_lost) = (forward.loss.lost, reverse.loss.lost);
        counters.reverse_drops = reverse.queue.stats().dropped();
        (counters.reverse_sent, counters.reverse_sent_bytes) = (reverse.sent, reverse.sent_bytes);
    }

    pub(super) fn begin_counting(&mut self) {
        self.counted();
        let now = self.net.now;
        self.tally.restart(self.out.counters, now);
        self.ports.iter_mut().for_each(|port| port.restart(now));
    }
}
