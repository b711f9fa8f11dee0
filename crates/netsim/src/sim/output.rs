//! What a run writes down: samples, counters, records.

use std::ops::Range;

use super::{Kind, Output, Port, Sim, Transport};
use crate::error::ConfigError;
use crate::out::queue_delay::QueueDelay;
use crate::out::records::{LinkSecond, Sample};
use crate::tcp::settings::Tcp;
use crate::wire::queue::Queue;

impl Transport {
    /// Payload delivered so far; none for the half of a connection that another reports.
    fn delivered_bytes(&self, tcp: &Tcp) -> Option<u64> {
        Some(match self {
            Transport::Tcp(connection) => connection.delivered_bytes(tcp),
            Transport::Scripted(scripted) => scripted.delivered_bytes(tcp),
            Transport::Turned(_) => return None,
            Transport::Quic(connection) => connection.delivered_bytes(),
            Transport::Udp(source) => source.delivered_bytes(),
            Transport::Media(stream) => stream.delivered_bytes(),
        })
    }
}

impl Sim<'_> {
    pub(super) fn sample(&mut self) {
        let now = self.net.now;
        let next = now + self.run.sample_interval;
        if next <= self.end {
            self.net.events.schedule(next, Kind::Sample, 0);
        }
        let waiting: u128 =
            self.ports[self.watched.clone()].iter_mut().map(|port| port.waiting_since_sample(now)).sum();
        let progress = self.progress();
        let queues = || self.ports[self.watched.clone()].iter().map(|port| &port.queue);
        let high = queues().filter_map(Queue::high_backlog).reduce(|sum, packets| sum + packets);
        let estimate = queues().find_map(Queue::nonresponsive);
        let probes = self.probes.forward;
        let offered = queues().map(|queue| queue.stats().received).sum::<u64>() - probes.arrivals;
        let dropped = queues().map(|queue| queue.stats().dropped()).sum::<u64>() - probes.drops;
        let [arrivals, drops, nonresponsive_arrivals, nonresponsive_drops] = self.tally.since_sample(offered, dropped);
        let link = &self.ports[self.modems[0].unwrap_or(self.watched.start)];
        self.out.samples.push(Sample {
            time: now,
            backlog_packets: queues().map(|queue| queue.stats().backlog()).sum(),
            backlog_bytes: queues().map(|queue| queue.stats().backlog_bytes()).sum(),
            high_backlog_packets: high.map(|packets| packets as u64),
            flow_table: queues().map(|queue| queue.flow_table_len() as u64).sum(),
            arrivals,
            drops,
            queue_mean_packets: waiting as f64 / self.run.sample_interval.0 as f64,
            nonresponsive_arrivals,
            nonresponsive_drops,
            nonresponsive_estimate: estimate.map(|estimate| estimate.share),
            nonresponsive_doubt: estimate.and_then(|estimate| estimate.doubt),
            link_rate_bps: link.offered_bps(now.saturating_sub(self.run.sample_interval), now),
            shaper_rate_bps: self.ports[self.watched.start].shaper_bps(),
            progress,
        });
    }

    /// Bytes delivered so far by each watched flow.
    fn progress(&mut self) -> Vec<u64> {
        let watched = &self.run.watched;
        if watched.is_empty() {
            return Vec::new();
        }
        // A watched flow is live (its slot knows), over (its record knows) or has not begun (0).
        let over = |&flow: &u32| self.out.records[flow as usize].delivered_bytes;
        let mut progress: Vec<u64> = watched.iter().map(over).collect();
        for live in self.live.iter_mut() {
            if let Some(position) = watched.iter().position(|&flow| flow == live.flow) {
                let Some(delivered) = live.transport.delivered_bytes(live.tcp) else { continue };
                progress[position] = delivered;
            }
        }
        progress
    }

    pub(super) fn finish(mut self) -> Result<Output, ConfigError> {
        let end = self.end;
        for (slot, live) in self.live.iter_mut().enumerate().filter(|(_, live)| live.flow != u32::MAX) {
            let row = self.net.ledger.row_of(live.flow, slot);
            let Some(record) = self.out.records.get_mut(row) else { continue };
            live.tell(record);
            match &mut live.transport {
                Transport::Tcp(connection) => connection.report(record, live.tcp),
                Transport::Scripted(scripted) => {
                    scripted.report(record, live.tcp);
                    self.out.segments.append(&mut scripted.take_log());
                }
                Transport::Turned(_) => {}
                Transport::Quic(connection) => {
                    connection.report(record);
                    self.out.segments.append(&mut connection.take_log());
                }
                Transport::Udp(source) => {
                    source.report(record);
                    self.out.probes.append(&mut source.take_log());
                    self.out.arrivals.extend(source.take_arrivals());
                }
                Transport::Media(stream) => {
                    stream.report(record);
                    self.out.frames.append(&mut stream.take_log());
                }
            }
        }
        self.counted();
        self.out.packets = std::mem::take(&mut self.net.trace.packets);
        self.out.timeouts = std::mem::take(&mut self.net.trace.timeouts);
        let (beyond_trace, beyond_subflows) = (self.net.trace.beyond_limit, self.subflows.beyond_limit);
        self.out.subflows = std::mem::take(&mut self.subflows).into_rows();
        let peak = |ports: &Range<usize>| self.ports[ports.clone()].iter().map(Port::peak_busy).fold(0.0, f64::max);
        let peaks = [peak(&self.watched), peak(&self.reverse)];
        self.out.seconds = self.seconds();
        let gone = self.waits_of_gone();
        let counters = &mut self.out.counters;
        [counters.peak_utilisation, counters.reverse_peak_utilisation] = peaks;
        *counters = counters.since(&self.tally.before);
        (counters.beyond_trace, counters.beyond_subflows) = (beyond_trace, beyond_subflows);
        let waits = self.out.records.iter().map(|record| record.queue_delay).chain([gone]);
        counters.queue_delay = self.tally.all_waits(waits);
        counters.reverse_queue_delay = self.reverse_waits;
        counters.end = end;
        counters.packet_hops = self.net.hops;
        let begin = counters.begin;
        self.out.interfaces = self.ports.iter_mut().map(|port| port.totals(begin, end)).collect();
        for shaper in self.ports.iter().filter_map(|port| port.queue.shaper()) {
            self.out.tree_classes.extend(shaper.totals(end));
            self.out.departures.extend(shaper.departures());
        }
        self.out.classes = std::mem::take(&mut self.tally.counts);
        let reverse = &self.out.interfaces[self.reverse.clone()];
        counters.reverse_queue_mean_packets = reverse.iter().map(|interface| interface.queue_mean_packets).sum();
        for forward in &mut self.ports[self.watched.clone()] {
            counters.flow_table_bytes += forward.queue.flow_table_bytes() as u64;
            let (packets, flows) = forward.means(begin, end);
            counters.queue_mean_packets += packets;
            counters.flow_table_mean += flows;
            counters.flow_table_max += forward.flows_max;
        }
        self.out.wlan = self.cell.as_mut().map(|cell| std::mem::take(&mut cell.counts));
        let rest = self.rest();
        self.out.books = self.close_books()?;
        self.pass_the_rest(rest)?;
        Ok(self.out)
    }

    /// How busy the bottleneck was in each second, where the run has probes.
    fn seconds(&mut self) -> Vec<LinkSecond> {
        let end = self.end;
        let [mut forward, mut reverse] = [&self.watched, &self.reverse].map(Range::clone).map(Vec::from_iter);
        // Behind a shaper the link has a port of its own.
        forward.extend(self.modems[0]);
        reverse.extend(self.modems[1]);
        let mut busiest = |ports: Vec<usize>| {
            let shares = ports.into_iter().map(|port| self.ports[port].busy_shares(end));
            shares.reduce(|one, other| one.iter().zip(&other).map(|(one, other)| one.max(*other)).collect())
        };
        let [forward, reverse] = [busiest(forward), busiest(reverse)].map(Option::unwrap_or_default);
        let both = forward.into_iter().zip(reverse).enumerate();
        both.map(|(second, (forward, reverse))| LinkSecond { second: second as u32, forward, reverse }).collect()
    }

    /// Takes what the ports have counted since the start of the run.
    fn counted(&mut self) {
        let counters = &mut self.out.counters;
        let of =
            |ports: &Range<usize>, value: fn(&Port) -> u64| self.ports[ports.clone()].iter().map(value).sum::<u64>();
        let (forward, reverse) = (&self.watched, &self.reverse);
        let (there, back) = (self.probes.forward, self.probes.reverse);
        counters.arrivals = of(forward, |port| port.queue.stats().received) - there.arrivals;
        counters.drops = of(forward, |port| port.queue.stats().dropped()) - there.drops;
        counters.marks = of(forward, |port| port.queue.stats().marked) - there.marks;
        counters.sent = of(forward, |port| port.sent) - there.sent;
        counters.sent_bytes = of(forward, |port| port.sent_bytes) - there.sent_bytes;
        counters.lost = of(forward, |port| port.loss.lost) - there.lost;
        counters.reverse_arrivals = of(reverse, |port| port.queue.stats().received) - back.arrivals;
        counters.reverse_drops = of(reverse, |port| port.queue.stats().dropped()) - back.drops;
        counters.reverse_marks = of(reverse, |port| port.queue.stats().marked) - back.marks;
        counters.reverse_sent = of(reverse, |port| port.sent) - back.sent;
        counters.reverse_sent_bytes = of(reverse, |port| port.sent_bytes) - back.sent_bytes;
        counters.reverse_lost = of(reverse, |port| port.loss.lost) - back.lost;
        // Behind a shaper the link has a port of its own.
        let [forth, back] = self.modems.map(|port| port.map_or(0, |port| self.ports[port].loss.lost));
        counters.lost += forth;
        counters.reverse_lost += back;
    }

    pub(super) fn begin_counting(&mut self) {
        self.counted();
        self.out.records.iter_mut().for_each(|record| record.warm_up_bytes = record.delivered_bytes);
        for (slot, live) in self.live.iter_mut().enumerate().filter(|(_, live)| live.flow != u32::MAX) {
            let delivered = live.transport.delivered_bytes(live.tcp);
            let row = self.net.ledger.row_of(live.flow, slot);
            if let (Some(record), Some(bytes)) = (self.out.records.get_mut(row), delivered) {
                record.warm_up_bytes = bytes;
            }
        }
        let now = self.net.now;
        self.tally.restart(self.out.counters, now);
        self.reverse_waits = QueueDelay::default();
        self.ports.iter_mut().for_each(|port| port.restart(now));
        if let Some(cell) = &mut self.cell {
            cell.restart(now);
        }
    }
}
