//! The wireless cell of a run: its queues, and what becomes of the packets its medium carries.

use qdisc::{Packet, Qdisc};
use units::Stream;

use super::Sim;
use crate::error::ConfigError;
use crate::event::Kind;
use crate::graph::{Graph, Interface};
use crate::wire::loss::Loss;
use crate::wire::port::{Onward, Port};
use crate::wlan::Wlan;
use crate::wlan::cell::{Cell, station};

/// What an event of the medium is about.
const ACCESS: usize = 0;
const DATA: usize = 1;
const SETTLE: usize = 2;

/// The queues of the access point, then those of the stations. The random numbers of each have a name of their own.
pub(super) fn ports(wlan: &Wlan, graph: &Graph, seed: u64) -> Result<Vec<Port>, ConfigError> {
    let (link, down) = (&graph.links[0], Cell::down_ports(wlan));
    let all = down + wlan.stations.len() * wlan.categories.len();
    let port = |index: usize| {
        let forward = index < down;
        let interface: &Interface = if forward { &link.forward } else { &link.reverse };
        let (way, number) = if forward { ("forward", index) } else { ("reverse", index - down) };
        let name = if number == 0 { way.to_owned() } else { format!("{number}.{way}") };
        let stream = |what: &str| Stream::named(seed, &format!("{what}.{name}"));
        let (id, options) = &interface.discipline;
        let queue = Qdisc::from_options(id, options, interface.limit, stream("qdisc"))?;
        // The medium times itself, and loses frames by its own rules.
        let mut port = Port::over(queue, interface.rate, interface.delay, Loss::of(0.0, stream("loss")));
        port.onward = Onward::Air;
        Ok(port)
    };
    (0..all).map(port).collect()
}

impl Sim<'_> {
    /// A packet comes to its queue in the cell: from the wired side, or from a station.
    pub(super) fn offer_in_cell(&mut self, packet: Packet) {
        let Some(cell) = &mut self.cell else { return };
        let port = cell.port(&packet);
        if self.watched.contains(&port) {
            cell.counts.of(&packet).arrivals += 1;
            cell.came(packet.flow.connection() as usize, self.net.now);
        }
        cell.arrived(port);
        self.offer(port, packet);
    }

    /// Stations have sent packets during the last event.
    pub(super) fn offer_from_stations(&mut self) {
        while let Some(packet) = self.net.outbox.pop_front() {
            self.offer_in_cell(packet);
        }
    }

    pub(super) fn on_drop_at_access_point(&mut self, packet: &Packet) {
        if let Some(cell) = &mut self.cell {
            cell.counts.of(packet).drops += 1;
            self.leaves_access_point(packet);
        }
    }

    fn leaves_access_point(&mut self, packet: &Packet) {
        let flow = packet.flow.connection() as usize;
        if let Some(present) = self.cell.as_mut().and_then(|cell| cell.went(flow, self.net.now)) {
            self.out.records[flow].presence += present;
        }
    }

    /// The sender behind `port` may have become able to send.
    pub(super) fn rouse(&mut self, port: usize) {
        let Some(cell) = &self.cell else { return };
        let contender = cell.contender(port);
        if cell.has_frame(contender) || cell.is_sending(contender) {
            return;
        }
        if self.fetch(contender)
            && let Some(cell) = &mut self.cell
        {
            let replies = cell.replies(contender, self.net.now);
            cell.dcf.offer(contender, self.net.now, replies);
            self.wake_cell();
        }
    }

    fn wake_cell(&mut self) {
        if let Some(at) = self.cell.as_mut().and_then(|cell| cell.wake()) {
            self.net.events.schedule(at, Kind::Air, ACCESS);
        }
    }

    /// Hands `contender` its next packet, if one waits.
    fn fetch(&mut self, contender: usize) -> bool {
        while let Some(cell) = &mut self.cell {
            if cell.take_aside(contender) {
                return true;
            }
            let ports = &self.ports;
            let Some(port) = cell.source(contender, |port| ports[port].queue.backlog() > 0) else { return false };
            if self.fetch_from(port, contender) {
                return true;
            }
            if self.ports[port].queue.backlog() > 0 {
                // Its discipline lets nothing go yet.
                return false;
            }
        }
        false
    }

    /// Hands `contender` the next packet of `port`.
    fn fetch_from(&mut self, port: usize, contender: usize) -> bool {
        let packet = self.ports[port].take(self.net.now, port, &mut self.net.events);
        if !self.ports[port].queue.dropped().is_empty() {
            self.on_drops(port);
        }
        let Some(packet) = packet else { return false };
        self.on_departure(&packet, port);
        if let Some(cell) = &mut self.cell {
            cell.hand_over(contender, packet);
        }
        true
    }

    /// Fills the aggregate of `contender`.
    fn compose(&mut self, contender: usize) {
        loop {
            let ports = &self.ports;
            let Some(cell) = &self.cell else { return };
            let Some(port) = cell.room(contender, |port| ports[port].queue.peek().copied()) else { return };
            if !self.fetch_from(port, contender) {
                return;
            }
        }
    }

    /// An event of the medium.
    pub(super) fn on_air(&mut self, what: usize) {
        match what {
            ACCESS => self.on_access(),
            DATA => self.on_data(),
            _ => self.on_settle(),
        }
    }

    fn on_access(&mut self) {
        let now = self.net.now;
        if !self.cell.as_mut().is_some_and(|cell| cell.begin(now)) {
            return self.wake_cell();
        }
        let mut index = 0;
        while let Some(contender) = self.cell.as_ref().and_then(|cell| cell.accessing(index)) {
            self.compose(contender);
            index += 1;
        }
        if let Some(cell) = &mut self.cell {
            let (at, settles) = cell.send();
            self.net.events.schedule(at, Kind::Air, if settles { SETTLE } else { DATA });
        }
    }

    fn on_data(&mut self) {
        let mut arrived = std::mem::take(&mut self.arrived);
        if let Some(at) = self.cell.as_mut().and_then(|cell| cell.on_data(&mut arrived)) {
            self.net.events.schedule(at, Kind::Air, SETTLE);
        }
        self.arrive(arrived);
    }

    fn on_settle(&mut self) {
        let now = self.net.now;
        let (mut arrived, mut given_up) = (std::mem::take(&mut self.arrived), Vec::new());
        if let Some(cell) = &mut self.cell {
            cell.settle(now, &mut given_up, &mut arrived);
        }
        for packet in given_up {
            if station(packet.src).is_none() {
                self.leaves_access_point(&packet);
            }
            self.lose(&packet);
        }
        self.arrive(arrived);
        let mut index = 0;
        while let Some(contender) = self.cell.as_ref().and_then(|cell| cell.sent(index)) {
            if self.cell.as_ref().is_some_and(|cell| !cell.has_frame(contender)) {
                self.fetch(contender);
            }
            index += 1;
        }
        let Some(cell) = &mut self.cell else { return };
        if let Some(contender) = cell.may_go_on(now) {
            self.compose(contender);
        }
        let Some(cell) = &mut self.cell else { return };
        if let Some(at) = cell.goes_on(now) {
            return self.net.events.schedule(at, Kind::Air, DATA);
        }
        cell.contend(now);
        self.wake_cell();
    }

    /// Packets arrive over the air: at their station, or at the access point, which passes them on.
    fn arrive(&mut self, mut arrived: Vec<Packet>) {
        for packet in arrived.drain(..) {
            self.net.hops += 1;
            if station(packet.dst).is_some() {
                self.leaves_access_point(&packet);
                self.deliver(&packet);
            } else {
                self.pass_to_host(packet);
            }
        }
        self.arrived = arrived;
    }
}
