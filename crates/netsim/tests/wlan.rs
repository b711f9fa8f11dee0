//! The wireless cell against closed forms.

mod cell;
mod dumbbell;

use cell::{CHAIN, NS3, STANDARD, cell, endless, run_of, saturated};
use dumbbell::{go, ms};
use netsim::Output;
use units::Time;

fn mbps(bytes: u64, time: Time) -> f64 {
    bytes as f64 * 8e-6 / time.as_secs_f64()
}

#[test]
fn scratch() {
    for rules in [CHAIN, STANDARD, NS3] {
        for n in [1, 2, 5, 10, 20] {
            let mut run = run_of(cell("802.11a", "54mbit", 192, n as usize, rules), 300, ms(20_000));
            run.counting.warm_up = ms(1000);
            run.network.reverse_limit = qdisc::Limit::Packets(50);
            let began = std::time::Instant::now();
            let out: Output = go(&run, &saturated(n, 45_000_000));
            let cell = out.wlan.unwrap();
            let (acked, attempts, collided) = cell.nodes[1..]
                .iter()
                .fold((0, 0, 0), |(a, b, c), node| (a + node.acked, b + node.attempts, c + node.collided));
            println!(
                "n {n}: {:.3} Mb/s p {:.4} {:?}",
                mbps(acked * 1500, ms(19_000)),
                collided as f64 / attempts as f64,
                began.elapsed()
            );
        }
    }
    for (down, up) in [(1, 0), (0, 1), (5, 5)] {
        let mut run =
            run_of(cell("802.11a", "54mbit", 192, 10, NS3), if down + up == 1 { 299 } else { 29 }, ms(100_000));
        run.counting.warm_up = ms(11000);
        let began = std::time::Instant::now();
        let out: Output = go(&run, &endless(down, up));
        let took = began.elapsed();
        let cell = out.wlan.as_ref().unwrap();
        let upb: u64 = out.records.iter().zip(0..).filter(|(_, i)| *i >= down).map(|(r, _)| r.delivered_bytes).sum();
        let downb: u64 = out.records.iter().zip(0..).filter(|(_, i)| *i < down).map(|(r, _)| r.delivered_bytes).sum();
        println!(
            "{down} {up}: down {:.3} up {:.3} {:?} {:?} hops {} events {} {took:?}",
            mbps(downb, ms(100_000)),
            mbps(upb, ms(100_000)),
            cell.data,
            cell.acks,
            out.counters.packet_hops,
            out.counters.events
        );
        println!("{:?}", cell.nodes[0]);
        println!("{:?}", cell.nodes[1]);
    }
}
