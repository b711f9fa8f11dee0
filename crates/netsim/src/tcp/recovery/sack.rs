//! Recovery by selective acknowledgements (RFC 6675, section 5): holes are filled and new data sent while fewer
//! segments are in the network than the window allows.
//!
//! After a timeout what was SACKed is forgotten (RFC 2018, 8), and what is SACKed from then on is not sent again on
//! the way back to where the sender was (RFC 6675, 5.1).

use crate::tcp::Shape;
use crate::tcp::recovery::DUP_THRESH;
use crate::tcp::scoreboard::Next;
use crate::tcp::sender::Sender;
use crate::tcp::settings::Tcp;
use crate::wire::net::Net;

impl Sender {
    /// An acknowledgement up to `ack` that tells of `marked` segments, whose SACK blocks are in `net`.
    #[inline]
    pub(in crate::tcp) fn on_sack(
        &mut self,
        ack: u32,
        options: u32,
        marked: u32,
        shape: &Shape,
        tcp: &Tcp,
        net: &mut Net,
    ) {
        let fresh =
            if self.model.is_some() { self.learn(ack, options, marked, net) } else { self.update(options, net) };
        if tcp.ecn.is_on() {
            let acked = self.board.missing(self.una, ack) + fresh;
            self.on_marks(ack, acked, marked, tcp, net);
        }
        if ack > self.una {
            if self.recovering && ack < self.recover {
                self.on_partial_sack(ack, options, shape, tcp, net);
                return;
            }
            self.on_new_ack(ack, options, marked, shape, tcp, net);
        }
        if self.recovering {
            self.fill_pipe(shape, tcp, net);
        } else if fresh > 0 && self.max > self.una {
            self.on_sacked(shape, tcp, net);
        }
    }

    /// `Update()`: how many segments are SACKed that were not.
    #[inline]
    fn update(&mut self, options: u32, net: &mut Net) -> u32 {
        let Some(options) = net.options.of(options) else { return 0 };
        options.blocks().iter().map(|&block| self.board.update(block, self.una, self.max, |_| {})).sum()
    }

    /// Step B. The timer restarts with every new acknowledgement: holes are filled faster than one per round trip,
    /// so there is nothing to be impatient about (RFC 6675, 6).
    fn on_partial_sack(&mut self, ack: u32, options: u32, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        self.on_sample(ack, options, tcp, net);
        self.advance(ack);
        self.arm(shape, tcp, net);
        self.fill_pipe(shape, tcp, net);
    }

    /// Something was SACKed outside recovery (steps 1 to 4).
    fn on_sacked(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        self.dup_acks += 1;
        if self.dup_acks < DUP_THRESH && !self.board.is_first_lost(self.una) {
            if tcp.limited_transmit {
                self.send_beside_pipe(shape, tcp, net);
            }
        } else if self.una >= self.recover {
            self.enter_recovery(shape, tcp, net);
            self.board.begin_recovery(self.una);
            self.fill_pipe(shape, tcp, net);
        }
    }

    /// Step 3: limited transmit, bounded by what is in the network.
    fn send_beside_pipe(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let mut pipe = self.board.pipe(self.una, self.max);
        while self.has_room(pipe) && self.may_send_fresh(shape, tcp) {
            self.output(self.nxt, shape, tcp, net);
            self.nxt += 1;
            self.limited += 1;
            pipe += 1;
        }
    }

    /// Step C: sends what `NextSeg()` says while the window has room for it.
    pub(in crate::tcp) fn fill_pipe(&mut self, shape: &Shape, tcp: &Tcp, net: &mut Net) {
        let mut pipe = self.board.pipe(self.una, self.max);
        let mut burst = if tcp.recovery_burst > 0 { tcp.recovery_burst } else { u32::MAX };
        while self.has_room(pipe) && burst > 0 && !self.must_wait(shape, tcp, net) {
            let fresh = self.may_send_fresh(shape, tcp);
            match self.board.next(self.una, self.max, fresh) {
                Next::Hole(seq) => {
                    self.board.on_repeat(seq);
                    self.output(seq, shape, tcp, net);
                }
                Next::Fresh => {
                    self.output(self.nxt, shape, tcp, net);
                    self.nxt += 1;
                }
                Next::Rescue(seq) => {
                    self.board.on_rescue(self.recover);
                    self.output(seq, shape, tcp, net);
                }
                Next::Nothing => return,
            }
            pipe += 1;
            burst -= 1;
        }
    }

    #[inline]
    fn has_room(&self, pipe: u32) -> bool {
        self.control.cwnd >= f64::from(pipe + 1)
    }

    /// Whether there is data never sent that the receiver takes.
    #[inline]
    fn may_send_fresh(&self, shape: &Shape, tcp: &Tcp) -> bool {
        self.nxt == self.max && self.nxt <= shape.last && self.nxt < self.una + tcp.receiver_window
    }
}
