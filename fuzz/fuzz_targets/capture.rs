//! Any bytes: the capture reader neither panics nor loses count.
#![no_main]

use capture::{Options, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(read) = read(bytes, &Options { max_flows: 16, max_held: 40, ..Options::default() }, &mut || true) {
        assert_eq!(read.counts.packets, read.counts.decoded + read.counts.skipped_total());
        assert!(read.connections.len() <= 16);
        for flow in &read.connections {
            for side in [&flow.from_opener, &flow.from_responder] {
                assert!(side.distinct_bytes <= side.payload_bytes);
            }
        }
    }
});
