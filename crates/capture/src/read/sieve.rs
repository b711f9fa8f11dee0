//! Between decoder and table: packets that a filter leaves out, and addresses under a key.

use std::net::IpAddr;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::anonymize::Anonymizer;
use crate::decode::link::vlan_ids;
use crate::decode::segment::Segment;
use crate::filter::Filter;
use crate::read::reader::Record;

/// Addresses whose images are held, each some 50 bytes; beyond, they are computed anew.
const MOST_IMAGES: usize = 1 << 18;

/// What a capture passes before it is counted.
#[derive(Clone, Debug, Default)]
pub struct Sieve {
    /// Times of the packets that count, nanoseconds since 1970, the second one excluded; all when absent.
    pub span_ns: Option<[i64; 2]>,
    /// Packets that count; all when absent.
    pub filter: Option<Arc<Filter>>,
    /// Addresses that the packets which count have in the end.
    pub anonymizer: Option<Arc<Anonymizer>>,
}

impl Sieve {
    /// Everything passes as it is.
    pub const NONE: Sieve = Sieve { span_ns: None, filter: None, anonymizer: None };
}

/// A sieve at work.
pub(crate) struct Sieving {
    sieve: Sieve,
    images: HashMap<IpAddr, IpAddr>,
    tags: Vec<u16>,
}

impl Sieving {
    /// None where everything passes as it is.
    pub(crate) fn with(sieve: &Sieve) -> Option<Box<Sieving>> {
        let works = sieve.span_ns.is_some() || sieve.filter.is_some() || sieve.anonymizer.is_some();
        works.then(|| Box::new(Sieving { sieve: sieve.clone(), images: HashMap::new(), tags: Vec::new() }))
    }

    /// Whether packets may be left out.
    pub(crate) fn filters(&self) -> bool {
        self.sieve.span_ns.is_some() || self.sieve.filter.is_some()
    }

    /// Whether a packet counts.
    pub(crate) fn passes(&mut self, record: &Record<'_>, segment: &Segment) -> bool {
        if self.sieve.span_ns.is_some_and(|[begin_ns, end_ns]| !(begin_ns..end_ns).contains(&record.time_ns)) {
            return false;
        }
        let Some(filter) = &self.sieve.filter else { return true };
        self.tags.clear();
        if filter.asks_tags() {
            self.tags.extend(vlan_ids(record));
        }
        filter.passes(segment, &self.tags)
    }

    /// Gives a packet the images of its addresses.
    pub(crate) fn rename(&mut self, segment: &mut Segment) {
        let Some(anonymizer) = &self.sieve.anonymizer else { return };
        for end in [&mut segment.source, &mut segment.destination] {
            end.address = match self.images.get(&end.address) {
                Some(&image) => image,
                None => {
                    let image = anonymizer.address(end.address);
                    if self.images.len() >= MOST_IMAGES {
                        self.images.clear();
                    }
                    self.images.insert(end.address, image);
                    image
                }
            };
        }
    }
}
