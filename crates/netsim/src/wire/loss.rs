//! A link that loses packets by chance: Bernoulli, each packet that carries data with the same probability,
//! after the queue, so that it has taken its time on the link. Bare acknowledgements pass: the laws of TCP
//! in the long run (Mathis 1997, Padhye 1998, RFC 9438) are about lost data.

use qdisc::{Kind, Packet};
use units::Stream;

#[derive(Debug)]
pub(crate) struct Loss {
    probability: f64,
    stream: Stream,
    pub(crate) lost: u64,
}

impl Loss {
    pub(crate) fn of(probability: f64, stream: Stream) -> Loss {
        Loss { probability, stream, lost: 0 }
    }

    /// Whether `packet` is lost. A SYN and a FIN are data here, as they are to the sequence numbers.
    #[inline]
    pub(crate) fn takes(&mut self, packet: &Packet) -> bool {
        // A link without loss draws nothing.
        let lost = self.probability > 0.0 && packet.kind != Kind::Ack && self.stream.uniform() < self.probability;
        self.lost += u64::from(lost);
        lost
    }
}
