//! The two ends of a connection, each in one of the forms that a transport may ask for.

use units::Time;

use crate::options::Block;
use crate::out::records::FlowRecord;
use crate::tcp::linux;
use crate::tcp::receiver::Receiver;
use crate::tcp::rtt::Rtt;
use crate::tcp::sender::Sender;
use crate::tcp::settings::Tcp;
use crate::tcp::{Life, Riding, Shape};
use crate::wire::handle::Handle;
use crate::wire::net::Net;

/// The end that sends the data.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "the form of most runs is read at every packet")]
pub(crate) enum SendingEnd {
    /// As RFC 5681 and its companions say.
    Rfc(Sender),
    /// As Linux does.
    Linux(Box<linux::Sender>),
}

/// The end that receives the data.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "the form of most runs is read at every packet")]
pub(crate) enum ReceivingEnd {
    /// As RFC 5681 and its companions say.
    Rfc(Receiver),
    /// As Linux does.
    Linux(Box<linux::Receiver>),
}

/// Calls `$call` of whatever form an end has.
macro_rules! each {
    ($end:expr, $kind:ident, $name:ident => $call:expr) => {
        match $end {
            $kind::Rfc($name) => $call,
            $kind::Linux($name) => $call,
        }
    };
}

impl SendingEnd {
    /// Bytes from its beginning that every packet reads.
    pub(crate) const OFTEN: usize = Sender::OFTEN;

    /// Memory for connections with settings `tcp`.
    pub(crate) fn idle(tcp: &Tcp) -> SendingEnd {
        if tcp.recovery.is_linux() {
            SendingEnd::Linux(Box::new(linux::Sender::idle(tcp)))
        } else {
            SendingEnd::Rfc(Sender::idle(tcp))
        }
    }

    /// Begins another connection in the same memory.
    pub(crate) fn restart(&mut self, tcp: &Tcp, clock_phase: Time, syn_lost: bool) {
        each!(self, SendingEnd, sender => {
            sender.restart(tcp, clock_phase);
            sender.syn_lost = syn_lost;
        })
    }

    /// Begins with what is known of the path, if it is of a kind that remembers.
    pub(crate) fn recall(&mut self, known: Option<linux::Metrics>) {
        if let SendingEnd::Linux(sender) = self {
            sender.known = known;
        }
    }

    /// What is known of the path now, with what was `known` before.
    pub(crate) fn learn(&self, known: Option<linux::Metrics>, tcp: &Tcp, now: Time) -> Option<linux::Metrics> {
        match self {
            SendingEnd::Linux(sender) => sender.learn(known, tcp, now),
            SendingEnd::Rfc(_) => known,
        }
    }

    /// Sends the SYN, or answers the receiver's with SYN-ACK.
    pub(crate) fn open(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        each!(self, SendingEnd, sender => sender.open(shape, tcp, net))
    }

    /// Begins connected, without a SYN of its own.
    pub(crate) fn connected(&mut self) {
        each!(self, SendingEnd, sender => sender.connected())
    }

    /// Takes what the handshake told the receiver at the same host: round-trip time, a lost SYN; and begins its window.
    pub(crate) fn begin_beside(&mut self, other: &ReceivingEnd, opened: bool, shape: &Shape, tcp: &Tcp, net: &Net) {
        match (self, other) {
            (SendingEnd::Linux(sender), ReceivingEnd::Linux(receiver)) => {
                sender.begin_beside(receiver, shape, tcp, net)
            }
            (SendingEnd::Rfc(sender), other) => {
                sender.rtt = other.rtt(tcp);
                sender.syn_lost = other.syn_lost();
                if opened && other.syn_lost() {
                    sender.rtt.after_lost_syn(tcp);
                }
                sender.begin_window(shape, tcp, net);
            }
            (SendingEnd::Linux(_), ReceivingEnd::Rfc(_)) => {
                unreachable!("both ends have the settings of one connection")
            }
        }
    }

    /// The application has more to send after `idle`.
    pub(crate) fn on_more(&mut self, idle: Time, tcp: &Tcp, net: &Net) {
        match self {
            SendingEnd::Rfc(sender) => sender.on_more(idle, tcp),
            SendingEnd::Linux(sender) => sender.on_more(idle, tcp, net),
        }
    }

    /// Whether everything up to the last segment is acknowledged.
    #[inline]
    pub(crate) fn is_finished(&self, shape: &Shape) -> bool {
        self.una() > shape.last
    }

    /// First number not acknowledged.
    #[inline]
    pub(crate) fn una(&self) -> u32 {
        each!(self, SendingEnd, sender => sender.una)
    }

    /// One above the highest number sent.
    pub(crate) fn max(&self) -> u32 {
        match self {
            SendingEnd::Rfc(sender) => sender.max,
            SendingEnd::Linux(sender) => sender.nxt(),
        }
    }

    /// What it knows, by the names of `struct tcp_info` without `tcpi_`; times in microseconds.
    pub(crate) fn state(&self, tcp: &Tcp) -> Vec<(&'static str, f64)> {
        each!(self, SendingEnd, sender => sender.state(tcp))
    }

    /// Segments sent.
    #[inline]
    pub(crate) fn sent(&self) -> u64 {
        each!(self, SendingEnd, sender => sender.sent)
    }

    #[inline]
    pub(crate) fn on_ack(&mut self, handle: Handle, options: u32, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        each!(self, SendingEnd, sender => sender.on_ack(handle, options, shape, tcp, net))
    }

    /// The retransmission timer went off.
    pub(crate) fn on_timer(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) -> Life {
        each!(self, SendingEnd, sender => sender.on_timer(shape, tcp, net))
    }

    /// A segment that had to wait for its time may leave.
    pub(crate) fn on_pace_timer(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        each!(self, SendingEnd, sender => sender.on_pace_timer(shape, tcp, net))
    }

    /// Goes on sending after a wait.
    pub(crate) fn send_allowed(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        each!(self, SendingEnd, sender => sender.send_allowed(shape, tcp, net))
    }

    /// Data may be unacknowledged for `timeout`; zero for as long as retransmissions last.
    pub(crate) fn set_user_timeout(&mut self, timeout: Time) {
        if let SendingEnd::Linux(sender) = self {
            sender.user_timeout_ms = timeout.0 / 1_000_000;
        }
    }

    /// Asks for what is remembered of gaps.
    #[inline]
    pub(crate) fn ask_for_runs(&self) {
        if let SendingEnd::Rfc(sender) = self {
            sender.board.ask_for_runs();
        }
    }

    pub(crate) fn disarm(&mut self) {
        each!(self, SendingEnd, sender => sender.disarm())
    }

    /// Whether it, or one it was recycled from, lost a SYN.
    pub(crate) fn syn_lost(&self) -> bool {
        each!(self, SendingEnd, sender => sender.syn_lost)
    }

    /// The same segment was repeated as often as it may.
    pub(crate) fn gave_up(&self) -> bool {
        each!(self, SendingEnd, sender => sender.gave_up)
    }

    pub(crate) fn report(&self, record: &mut FlowRecord) {
        each!(self, SendingEnd, sender => sender.report(record))
    }

    /// The sender of a connection whose settings ask for the RFCs'.
    #[cfg(test)]
    pub(crate) fn rfc(&self) -> &Sender {
        match self {
            SendingEnd::Rfc(sender) => sender,
            SendingEnd::Linux(_) => panic!("a sender of Linux"),
        }
    }
}

impl ReceivingEnd {
    /// Bytes from its beginning that every packet reads.
    pub(crate) const OFTEN: usize = Receiver::OFTEN;

    /// Memory for connections with settings `tcp`.
    pub(crate) fn idle(tcp: &Tcp) -> ReceivingEnd {
        if tcp.recovery.is_linux() {
            ReceivingEnd::Linux(Box::new(linux::Receiver::idle(tcp)))
        } else {
            ReceivingEnd::Rfc(Receiver::idle())
        }
    }

    /// Begins another connection in the same memory.
    pub(crate) fn restart(&mut self, tcp: &Tcp, clock_phase: Time) {
        match self {
            ReceivingEnd::Rfc(receiver) => receiver.restart(),
            ReceivingEnd::Linux(receiver) => receiver.restart(tcp, clock_phase),
        }
    }

    /// Sends the SYN, as the end that opens.
    pub(crate) fn open(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        each!(self, ReceivingEnd, receiver => receiver.open(shape, tcp, net))
    }

    /// Begins connected, without a SYN of its sender.
    pub(crate) fn connected(&mut self) {
        each!(self, ReceivingEnd, receiver => receiver.connected())
    }

    /// Next number expected.
    #[inline]
    pub(crate) fn next(&self) -> u32 {
        each!(self, ReceivingEnd, receiver => receiver.next())
    }

    /// What data to the sender may acknowledge now: the next number expected, and the timestamp to echo.
    pub(crate) fn riding(&self, tcp: &Tcp) -> Option<Riding> {
        match self {
            ReceivingEnd::Rfc(receiver) => receiver.riding(tcp),
            ReceivingEnd::Linux(receiver) => receiver.riding(),
        }
    }

    /// Data that was sent now carries the acknowledgement that may have been due; not its echo of a mark.
    pub(crate) fn on_ride(&mut self, tcp: &Tcp) {
        match self {
            ReceivingEnd::Rfc(receiver) => receiver.on_ride(tcp),
            ReceivingEnd::Linux(receiver) => receiver.on_ride(),
        }
    }

    #[inline]
    pub(crate) fn on_segment(
        &mut self,
        handle: Handle,
        options: u32,
        marked: bool,
        shape: &Shape,
        tcp: &Tcp,
        net: &mut Net,
    ) {
        each!(self, ReceivingEnd, receiver => receiver.on_segment(handle, options, marked, shape, tcp, net))
    }

    /// The sender asks for the window.
    pub(crate) fn on_probe(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        match self {
            ReceivingEnd::Rfc(_) => unreachable!("a sender of the RFCs does not probe"),
            ReceivingEnd::Linux(receiver) => receiver.on_probe(shape, tcp, net),
        }
    }

    /// Takes the timestamp of segment `seq`, whose options are in `net`.
    pub(crate) fn on_stamp(&mut self, seq: u32, options: u32, net: &mut Net) {
        each!(self, ReceivingEnd, receiver => receiver.on_stamp(seq, options, net))
    }

    /// An acknowledgement arrives that is neither data nor a SYN: what it tells of congestion.
    pub(crate) fn hear(&mut self, options: u32, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        if let ReceivingEnd::Linux(receiver) = self {
            receiver.hear(1, options, shape, tcp, net);
        }
    }

    /// Of a segment with numbers from `first` to before `end` those that are not held; where it is one of Linux, also what
    /// to report as received twice. If all are held they are one, the first.
    pub(crate) fn unheld(&self, first: u32, end: u32) -> (Vec<u32>, Option<Block>) {
        let ReceivingEnd::Linux(receiver) = self else { return ((first..end).collect(), None) };
        let fresh: Vec<u32> = (first..end).filter(|&number| !receiver.holds(number)).collect();
        if fresh.is_empty() {
            return (vec![first], Some((first, end)));
        }
        let start = (first..end).find(|&number| receiver.holds(number));
        let block = start.map(|start| (start, (start..end).find(|&number| !receiver.holds(number)).unwrap_or(end)));
        (fresh, block)
    }

    /// The segment that comes next is a part of one that brings `block` again.
    pub(crate) fn bring_twice(&mut self, block: Block) {
        if let ReceivingEnd::Linux(receiver) = self {
            receiver.bring_twice(block);
        }
    }

    /// An acknowledgement that answers something unexpected leaves now.
    pub(crate) fn challenge(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        each!(self, ReceivingEnd, receiver => receiver.acknowledge(shape, tcp, net))
    }

    /// The sender acknowledged the SYN-ACK, or the FIN: then it is the last FIN-ACK.
    pub(crate) fn on_close(&mut self, tcp: &Tcp, net: &mut Net) {
        match self {
            ReceivingEnd::Rfc(receiver) => receiver.on_close(net),
            ReceivingEnd::Linux(receiver) => receiver.on_close(tcp, net),
        }
    }

    pub(crate) fn on_timer(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) -> Life {
        each!(self, ReceivingEnd, receiver => receiver.on_timer(shape, tcp, net))
    }

    /// Asks for what is remembered of a gap.
    #[inline]
    pub(crate) fn ask_for_gap(&self) {
        if let ReceivingEnd::Rfc(receiver) = self {
            receiver.ask_for_gap();
        }
    }

    pub(crate) fn disarm(&mut self) {
        each!(self, ReceivingEnd, receiver => receiver.disarm())
    }

    /// The receiver of a connection whose settings ask for the RFCs'.
    #[cfg(test)]
    pub(crate) fn rfc(&self) -> &Receiver {
        match self {
            ReceivingEnd::Rfc(receiver) => receiver,
            ReceivingEnd::Linux(_) => panic!("a receiver of Linux"),
        }
    }

    /// What the handshake told of the round-trip time.
    pub(crate) fn rtt(&self, tcp: &Tcp) -> Rtt {
        match self {
            ReceivingEnd::Rfc(receiver) => receiver.rtt(tcp),
            ReceivingEnd::Linux(receiver) => *receiver.rtt(),
        }
    }

    /// A SYN or its answer was lost, as this end can tell.
    pub(crate) fn syn_lost(&self) -> bool {
        each!(self, ReceivingEnd, receiver => receiver.syn_lost)
    }

    /// When all was received and acknowledged; `NEVER` until then.
    #[inline]
    pub(crate) fn finish(&self) -> Time {
        each!(self, ReceivingEnd, receiver => receiver.finish)
    }

    pub(crate) fn report(&self, record: &mut FlowRecord) {
        each!(self, ReceivingEnd, receiver => {
            record.finish = receiver.finish;
            record.first_data = receiver.first_data;
            record.last_data = receiver.complete;
            record.gave_up |= receiver.gave_up;
        })
    }
}
