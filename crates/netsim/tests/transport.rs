//! Every recovery with every window rule and option, over links that lose: all data arrives, and nothing is
//! repeated without need.

use netsim::FlowSpec;
use netsim::tcp::settings::{Congestion, EcnMode, Recovery, RtoRule};
use units::Time;

use crate::dumbbell::{go, ms, rate, transfer, wired};

const RECOVERIES: [Recovery; 3] = [Recovery::Reno, Recovery::NewReno, Recovery::Sack];
const ECN: [EcnMode; 4] = [EcnMode::Off, EcnMode::Classic, EcnMode::Dctcp, EcnMode::Accurate];
const RULES: [Congestion; 5] =
    [Congestion::Aimd, Congestion::Iiad, Congestion::Sqrt, Congestion::Cubic, Congestion::Dctcp];

#[test]
fn all_data_arrives_whatever_the_transport() {
    let flows: Vec<FlowSpec> = (0..12)
        .map(|n| FlowSpec {
            src: n % 5,
            up: n % 3 == 0,
            receiver_opens: n % 4 == 1,
            ..transfer(ms(40 * u64::from(n)), 1 + 40_000 * u64::from(n))
        })
        .collect();
    for recovery in RECOVERIES {
        for congestion in RULES {
            for options in 0..16 {
                let mut run = wired(["fifo", "las", "codel", "red"][options % 4]);
                let tcp = &mut run.tcp;
                (tcp.recovery, tcp.congestion) = (recovery, congestion);
                (tcp.timestamps, tcp.pacing) = (options & 1 != 0, options & 2 != 0);
                (tcp.ecn, tcp.fin) = (ECN[options / 4], options & 8 == 0);
                tcp.rto_rule = if options & 1 != 0 { RtoRule::Linux } else { RtoRule::Rfc6298 };
                (tcp.min_rto, tcp.initial_window) = (ms(200), 10);
                run.network.loss = 0.03;
                run.network.rate = rate(20_000_000);
                run.duration = ms(2_000_000);
                run.stop_when_idle = true;
                let output = go(&run, &flows);
                for (flow, record) in flows.iter().zip(&output.records) {
                    let what = format!("{recovery:?} {congestion:?} {options:04b}: {flow:?} {record:?}");
                    assert!(record.finish != Time::NEVER, "{what}");
                    assert_eq!(record.delivered_bytes, flow.size_bytes, "{what}");
                }
            }
        }
    }
}

#[test]
fn selective_acknowledgements_repeat_little_more_than_was_lost() {
    let repeated_per_loss = |recovery| {
        let mut run = wired("fifo");
        (run.tcp.recovery, run.tcp.min_rto, run.network.loss) = (recovery, ms(200), 0.02);
        (run.network.delay, run.duration) = (ms(20), ms(100_000));
        let output = go(&run, &[transfer(Time::ZERO, 1 << 32)]);
        let record = &output.records[0];
        assert!(record.lost > 100, "{recovery:?}: {record:?}");
        record.retransmits as f64 / (record.lost + record.drops) as f64
    };
    // Go-back-N after a timeout repeats what has come; SACK leaves that out. Rescues and repeats of what rule 3 took
    // for lost are the rest.
    let (newreno, sack) = (repeated_per_loss(Recovery::NewReno), repeated_per_loss(Recovery::Sack));
    assert!(sack < newreno, "{sack} for {newreno}");
    assert!((1.0..1.1).contains(&sack), "{sack}");
}
