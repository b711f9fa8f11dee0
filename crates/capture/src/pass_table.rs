//! Connections of the packets of a pass.

use std::io;

use crate::connections::connection::Connection;
use crate::connections::table::{Finished, Packet, Table};
use crate::connections::transfer::{Ideal, Train};
use crate::connections::volume_file::StoredVolumes;
use crate::connections::volumes::Volume;
use crate::counts::{Counts, Shown};
use crate::options::Options;
use crate::read::merge::Arrival;
use crate::read::pass::Taker;

/// What one capture contains.
#[must_use = "what was left out must reach the user"]
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// Connections and flows in the order of their first packets.
    pub connections: Vec<Connection>,
    /// Their numbers among all that were begun: those that were given up have numbers, too.
    pub serials: Vec<u64>,
    /// Trains of the TCP connections, by connection and time.
    pub trains: Vec<Train>,
    /// Packets of UDP flows, and data packets of TCP with new bytes, by connection and time.
    pub packets: Vec<Packet>,
    /// What each direction of a connection carried in each window with traffic, by connection and time; or by time alone
    /// ([`Options::volumes_in_time`]).
    pub volumes: Vec<Volume>,
    /// In place of these, where they did not fit and [`Options::volumes_to`] says where they are.
    pub stored_volumes: Option<StoredVolumes>,
    /// Packets read, skipped and evicted, and the time range.
    pub counts: Counts,
}

/// Who takes connections that are given up since there are too many: first those that are over. Those that nobody answered
/// are only summed up ([`Counts::unanswered`]), unless [all](Leaving::all) leave.
pub trait Leaving {
    /// Whether those that nobody answered leave, too.
    fn all(&self) -> bool {
        false
    }

    /// Whether volumes of those that leave are wanted; they have the numbers of connections in place of rows then.
    fn wants_volumes(&self) -> bool {
        false
    }

    /// Takes one as it stands, with its number among all that were begun.
    ///
    /// # Errors
    /// As whatever keeps it: the reading ends there.
    fn leaves(&mut self, serial: u64, connection: Connection) -> io::Result<()>;

    /// Forgets what left so far: what was taken for a series is none, and is read again.
    fn forgets(&mut self);
}

/// A table of connections that packets go into.
pub(crate) struct Tabled<'a, 'b> {
    pub(crate) table: Table,
    /// Of those that left.
    shown: Shown,
    ideal: Ideal,
    volumes_in_time: bool,
    leaving: Option<&'a mut (dyn Leaving + 'b)>,
}

impl Taker for Tabled<'_, '_> {
    #[inline]
    fn take(&mut self, arrival: &Arrival, counts: &Counts) -> io::Result<()> {
        self.table.add(&arrival.segment, arrival.tap, arrival.time_ns);
        if let Some(failed) = self.table.volumes_failed() {
            return Err(failed);
        }
        self.let_go(counts.first_ns.unwrap_or(0))
    }

    fn copy(&mut self, arrival: &Arrival) {
        self.table.add_copy(&arrival.segment, arrival.tap);
    }

    fn connections(&self) -> u64 {
        self.table.seen()
    }

    fn tighten(&mut self, counts: &Counts) -> io::Result<bool> {
        let Some(held) = self.table.tighter() else { return Ok(false) };
        while self.table.give_up_beyond(held) {
            self.let_go(counts.first_ns.unwrap_or(0))?;
        }
        Ok(true)
    }
}

impl<'a, 'b> Tabled<'a, 'b> {
    /// A table within the limits of `options`; `leaving` takes what is given up.
    pub(crate) fn of(options: &Options, leaving: Option<&'a mut (dyn Leaving + 'b)>) -> Self {
        let table = Table::with_limits(options.max_flows, options.max_trains).holding(options.max_held);
        let table = table.for_replay(options.pauses, options.max_packets, options.packets_of_tcp);
        let table = table.with_volumes(options.max_volumes);
        let (ideal, volumes_in_time) = (options.ideal, options.volumes_in_time);
        let table = match &leaving {
            Some(leaving) => table.leaving(leaving.all(), leaving.wants_volumes(), options.volumes_to.clone()),
            None => table,
        };
        Tabled { table, shown: Shown::default(), ideal, volumes_in_time, leaving }
    }

    /// Passes on what the table has given up.
    #[inline]
    fn let_go(&mut self, first_ns: i64) -> io::Result<()> {
        // An entry is large: it is moved only where there is one.
        if self.table.gives_up() { self.all_go(first_ns) } else { Ok(()) }
    }

    #[cold]
    fn all_go(&mut self, first_ns: i64) -> io::Result<()> {
        while let (Some(entry), Some(leaving)) = (self.table.left(), self.leaving.as_mut()) {
            let connection = entry.connection(first_ns, &self.ideal);
            self.shown.see(&connection);
            leaving.leaves(entry.serial, connection)?;
        }
        Ok(())
    }

    /// What it came to, with what was counted.
    ///
    /// # Errors
    /// As [`Table::finish`].
    pub(crate) fn finish(self, mut counts: Counts) -> io::Result<Capture> {
        (counts.evicted, counts.unanswered) = (self.table.evicted(), self.table.unanswered());
        counts.parted = self.table.parted();
        self.table.withdraw(&mut counts.account);
        counts.shown = self.shown;
        let finished = self.table.finish(counts.first_ns.unwrap_or(0), &self.ideal, self.volumes_in_time)?;
        counts.trains_left_out = finished.trains_left_out;
        counts.packets_left_out = finished.packets_left_out;
        counts.volume_width_ns = finished.volume_width_ns;
        counts.volumes_left_out = finished.volumes_left_out;
        finished.connections.iter().for_each(|connection| counts.shown.see(connection));
        let Finished { connections, serials, trains, packets, volumes, stored_volumes, .. } = finished;
        Ok(Capture { connections, serials, trains, packets, volumes, stored_volumes, counts })
    }
}
