//! What the replay of a capture cannot say, and the answers that do not stand on it.
//!
//! UDP of a capture that is not QUIC is replayed as captured. Calls send so whatever happens; TCP and QUIC inside a VPN, of UDP
//! or of ESP and GRE, slow down. `docs/recommendation.md`, "UDP of a capture".

use serde::{Deserialize, Serialize};

use crate::recommendation::Kind;
use crate::recommendation::words;

/// Share of the bytes, in UDP that may slow down, from which on a link is not called overloaded on its account, and
/// disciplines not equal: a tenth of the packets that back off or not moves a link between 95 and 105 % of its rate.
const SOME: f64 = 0.1;

/// The same from which on no discipline is recommended either: most of the load is not as it would be.
const MOST: f64 = 0.5;

/// Shares of a capture that a replay does not have, or not as they would be.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Unknown {
    /// Of the packets, those in no connection.
    pub left_out_share: f64,
    /// Of the bytes, UDP that is no call, and other IP protocols.
    pub udp_share: f64,
    /// How much of the bytes is UDP that is not QUIC, and of other IP protocols, in words without an end.
    pub udp_text: String,
    /// Of the bytes, IP protocols other than TCP, UDP and ICMP: nobody knows the inside of a tunnel.
    #[serde(default)]
    pub opaque_share: f64,
}

impl Unknown {
    /// Why an answer of this kind cannot stand; `load` is that of the busier direction, as a share of its rate.
    pub(crate) fn withholds(&self, kind: Kind, load: f64) -> Option<String> {
        if self.left_out_share >= MOST {
            return Some(format!(
                "Mayfly cannot answer for this capture: {} of it are packets that it does not take apart, and what they \
                 ask of the link is not known: no rate and no discipline follows from the rest.",
                words::percent(self.left_out_share)
            ));
        }
        let stands = match kind {
            Kind::NeverFull | Kind::Unanswered => true,
            Kind::Use | Kind::Fastest => self.udp_share < MOST,
            Kind::NoDifference => self.udp_share < SOME,
            // What is known may be more than the link carries by itself.
            Kind::Overloaded => self.udp_share < SOME || load * (1.0 - self.udp_share) > 1.0,
        };
        (!stands).then(|| {
            let does = match self.opaque_share {
                0.0 => "TCP and QUIC inside a VPN do",
                share if 2.0 * share > self.udp_share => "TCP inside a tunnel does",
                _ => "TCP and QUIC inside a tunnel do",
            };
            format!(
                "Mayfly cannot yet answer for this traffic: {}, which it replays as captured: they do not slow down when \
                 they meet a queue, and {does}. What the link carries and loses here rests on them: no rate and no \
                 discipline follows from it.",
                self.udp_text
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn udp(share: f64) -> Unknown {
        Unknown { udp_share: share, udp_text: "some of the bytes are UDP".to_owned(), ..Unknown::default() }
    }

    #[test]
    fn an_answer_stands_unless_it_rests_on_udp_that_may_slow_down() {
        for (kind, load, share, withheld) in [
            (Kind::Overloaded, 1.05, SOME, true),
            (Kind::Overloaded, 1.05, SOME - 0.01, false),
            // TCP alone is more than the link carries.
            (Kind::Overloaded, 2.0, 0.4, false),
            (Kind::NoDifference, 0.9, SOME, true),
            (Kind::NoDifference, 0.9, 0.01, false),
            (Kind::Use, 0.9, MOST - 0.01, false),
            (Kind::Use, 0.9, MOST, true),
            (Kind::NeverFull, 0.1, 1.0, false),
        ] {
            assert_eq!(udp(share).withholds(kind, load).is_some(), withheld, "{kind:?} {load} {share}");
        }
        assert_eq!(
            udp(0.6).withholds(Kind::Use, 0.9).expect("most of it is unknown"),
            "Mayfly cannot yet answer for this traffic: some of the bytes are UDP, which it replays as captured: they do \
             not slow down when they meet a queue, and TCP and QUIC inside a VPN do. What the link carries and loses here rests on them: no \
             rate and no discipline follows from it."
        );
    }

    #[test]
    fn the_inside_of_a_tunnel_may_slow_down() {
        for (share, said) in
            [(0.9, "and TCP inside a tunnel does. What"), (0.2, "and TCP and QUIC inside a tunnel do. What")]
        {
            let found = Unknown { opaque_share: share, ..udp(0.9) };
            let sentence = found.withholds(Kind::Use, 0.9).expect("most of it is unknown");
            assert!(sentence.contains(said), "{sentence}");
        }
    }

    #[test]
    fn nothing_is_said_where_most_of_the_capture_is_left_out() {
        let found = Unknown { left_out_share: 0.961, ..Unknown::default() };
        for kind in [Kind::Use, Kind::NoDifference, Kind::NeverFull, Kind::Overloaded] {
            let sentence = found.withholds(kind, 0.5).expect("most of it is left out");
            assert!(
                sentence.starts_with("Mayfly cannot answer for this capture: 96.1 % of it are packets"),
                "{sentence}"
            );
        }
        assert_eq!(Unknown { left_out_share: 0.49, ..Unknown::default() }.withholds(Kind::NeverFull, 0.5), None);
    }
}
