//! Conservation of packets, end to end: per flow, what was sent is what was delivered, dropped, lost, came late, or is
//! under way; per queue, what was received is what was sent, dropped, or waits.
//!
//! At the end of every run all queues are emptied and everything under way is looked at, so that a discipline that keeps
//! or invents a packet is seen whatever its counters say. Debug builds also look at the books while the run goes on: an
//! event is a batch of its own, and the next look comes after as many events as the last one looked at places, so that
//! it takes a constant time per event. Queues cannot be emptied then: what waits in them is told by what came and went.

use qdisc::Packet;

use super::Sim;
use crate::error::ConfigError;
use crate::out::accounting::{Books, Count};
use crate::wlan::cell::Cell;

impl Sim<'_> {
    /// Packets that are in no queue: on links, and on the air.
    pub(super) fn outside_queues(&self) -> impl Iterator<Item = &Packet> {
        let on_air = self.cell.iter().flat_map(|cell| cell.packets());
        self.net.on_links().chain(on_air).chain(&self.net.outbox)
    }

    /// What a queue is called.
    fn name_of(&self, port: usize) -> String {
        match &self.run.wlan {
            Some(wlan) if port < Cell::down_ports(wlan) => format!("queue {port} of the access point"),
            Some(wlan) => format!("queue {} of the stations", port - Cell::down_ports(wlan)),
            None if self.modems.contains(&Some(port)) => format!("modem, port {port}"),
            None => format!("link {}, {}", port / 2, ["forward", "reverse"][port % 2]),
        }
    }

    /// Looks at the books in mid-run, and leaves everything as it was.
    ///
    /// # Errors
    /// A flow or a queue that does not add up.
    #[cold]
    pub(super) fn audit(&mut self) -> Result<(), ConfigError> {
        let (now, event) = (self.net.now, self.out.counters.events);
        let failed = |reason| ConfigError::Unbalanced(format!("after event {event}, at {} ns: {reason}", now.0));
        let mut ledger = self.net.ledger.clone();
        let mut looked = ledger.places() + self.net.lanes.len() + self.net.flights.len();
        for packet in self.outside_queues() {
            ledger.find(packet);
            looked += 1;
        }
        for (index, port) in self.ports.iter().enumerate() {
            let mut waiting = Count::default();
            for (place, [packets, bytes]) in port.waiting() {
                let (Ok(packets), Ok(bytes)) = (u64::try_from(packets), u64::try_from(bytes)) else {
                    let (flow, name) = (place / 2, self.name_of(index));
                    return Err(failed(format!("{name}: {packets} packets and {bytes} bytes of flow {flow} wait")));
                };
                waiting += Count { packets, bytes };
                ledger.find_all(place, Count { packets, bytes });
                looked += 1;
            }
            let (stats, Count { packets, bytes }) = (port.queue.stats(), waiting);
            let told = port.balanced(stats, waiting).and_then(|()| match (stats.backlog(), stats.backlog_bytes()) {
                counted if counted == (packets, bytes) => Ok(()),
                (counted, more) => {
                    Err(format!("{counted} packets and {more} bytes wait, {packets} and {bytes} should"))
                }
            });
            told.map_err(|reason| failed(format!("{}: {reason}", self.name_of(index))))?;
        }
        ledger.balanced().map_err(failed)?;
        self.next_audit = event + looked as u64;
        Ok(())
    }

    /// Empties the network at the end of the run, and closes the books.
    ///
    /// # Errors
    /// A flow or a queue that does not add up.
    pub(super) fn close_books(&mut self) -> Result<Books, ConfigError> {
        let mut ledger = std::mem::take(&mut self.net.ledger);
        let mut held = 0;
        let mut find = |packet: &Packet| {
            ledger.find(packet);
            held += u32::from(packet.options > 0);
        };
        self.outside_queues().for_each(&mut find);
        for index in 0..self.ports.len() {
            let mut waiting = Count::default();
            let stats = *self.ports[index].queue.stats();
            self.ports[index].drain(self.end, |packet| {
                waiting.add(packet);
                find(packet);
            });
            let balanced = self.ports[index].balanced(&stats, waiting);
            balanced.map_err(|reason| ConfigError::Unbalanced(format!("{}: {reason}", self.name_of(index))))?;
        }
        let options = self.net.options.held();
        if held != options {
            return Err(ConfigError::Unbalanced(format!("{held} segments under way have options, {options} are kept")));
        }
        ledger.balanced().map_err(ConfigError::Unbalanced)
    }
}
