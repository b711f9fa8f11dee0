//! The hosts of a table of connections: crate `hosts`, for tables that Python has.

use std::net::IpAddr;

use ::hosts::{Ends, FoundBy, Networks, Seen, Sites, Tally, UNANSWERED, class_of};
use capture::State;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::listing::networks;

/// Hosts of connections.
#[pyclass(frozen)]
pub struct Hosts {
    ends: Ends,
    wire_bytes: Vec<u64>,
    /// Of each connection whether its responder took it.
    taken: Vec<bool>,
    rows: Vec<usize>,
}

#[pymethods]
impl Hosts {
    /// States of connections that nobody took, whatever was answered.
    #[classattr]
    #[pyo3(name = "UNANSWERED")]
    fn unanswered() -> [&'static str; UNANSWERED.len()] {
        UNANSWERED.map(|state| State::NAMES[state as usize])
    }

    /// What a host can be.
    #[classattr]
    #[pyo3(name = "KINDS")]
    fn kinds() -> [&'static str; 5] {
        ::hosts::Kind::ALL.map(::hosts::Kind::name)
    }

    /// Of connections between addresses: the places of the opener and of the responder of each among `hosts`, the bytes of
    /// its IP packets, and whether the responder took it, 1 or 0.
    ///
    /// # Errors
    /// `ValueError` for what is no address, for columns of several lengths and a place beyond the last.
    #[new]
    fn new(
        py: Python<'_>,
        hosts: Vec<String>,
        opener: PyBuffer<i64>,
        responder: PyBuffer<i64>,
        wire_bytes: PyBuffer<i64>,
        taken: PyBuffer<u8>,
    ) -> PyResult<Hosts> {
        let parsed = |host: &String| {
            // Tables that people made may name the interface of a link-local address.
            let address = host.split_once('%').map_or(host.as_str(), |(address, _)| address);
            address.parse().map_err(|_| PyValueError::new_err(format!("{host}: no address")))
        };
        let addresses: Vec<IpAddr> = hosts.iter().map(parsed).collect::<PyResult<_>>()?;
        let (opener, responder, wire_bytes) = (opener.to_vec(py)?, responder.to_vec(py)?, wire_bytes.to_vec(py)?);
        let taken: Vec<bool> = taken.to_vec(py)?.into_iter().map(|taken| taken != 0).collect();
        let beyond = |place: &i64| usize::try_from(*place).map_or(true, |place| place >= addresses.len());
        let lengths = [responder.len(), wire_bytes.len(), taken.len()];
        if lengths.iter().any(|length| *length != opener.len()) || opener.iter().chain(&responder).any(beyond) {
            return Err(PyValueError::new_err("columns of several lengths, or a host beyond the last"));
        }
        let of = |places: Vec<i64>| places.into_iter().map(|place| place as u32).collect();
        let rows = (0..opener.len()).collect();
        let ends = Ends { addresses, opener: of(opener), responder: of(responder) };
        let wire_bytes = wire_bytes.into_iter().map(|bytes| bytes.max(0) as u64).collect();
        Ok(Hosts { ends, wire_bytes, taken, rows })
    }

    /// The site, of the networks `internal` or else found: how it was found, its networks, and what each address is, a byte
    /// each, its place in `KINDS`.
    ///
    /// # Errors
    /// `ValueError` with one line for what is no network, and when no host is in `internal`.
    #[pyo3(signature = (internal=None))]
    fn site<'py>(
        &self,
        py: Python<'py>,
        internal: Option<Vec<String>>,
    ) -> PyResult<(&'static str, Vec<String>, Bound<'py, PyBytes>)> {
        let internal = networks(internal)?;
        let found = py.detach(|| self.sites(internal.as_ref()));
        let sites = found.map_err(PyValueError::new_err)?;
        let kinds: Vec<u8> = self.ends.addresses.iter().map(|&address| sites.kind_of(address) as u8).collect();
        let networks = sites.networks.iter().map(ToString::to_string).collect();
        Ok((FoundBy::NAMES[sites.found_by as usize], networks, PyBytes::new(py, &kinds)))
    }

    /// The near side of the link: the hosts in the networks `internal`, of which none need be there, or else those that are
    /// found. Of each address 1 or 0, how the side was found, and the share of the bytes that crosses.
    ///
    /// # Errors
    /// `ValueError` with one line for what is no network.
    #[pyo3(signature = (internal=None))]
    fn near<'py>(&self, py: Python<'py>, internal: Option<Vec<String>>) -> PyResult<Side<'py>> {
        let internal = networks(internal)?;
        Ok(side(py, py.detach(|| self.seen().near(internal.as_ref()))))
    }

    /// The same where `inside` says of each address whether it is a host of the site, which was found by `found_by`.
    ///
    /// # Errors
    /// `ValueError` for another `found_by`, and where there are more or fewer addresses.
    fn near_of<'py>(&self, py: Python<'py>, found_by: &str, inside: Vec<bool>) -> PyResult<Side<'py>> {
        let known = [FoundBy::Given, FoundBy::Private, FoundBy::Network, FoundBy::Openers];
        let found = FoundBy::NAMES.iter().position(|name| *name == found_by).map(|place| known[place]);
        let found = found.ok_or_else(|| PyValueError::new_err(format!("found_by = {found_by}: is none")))?;
        self.check(&inside)?;
        Ok(side(py, py.detach(|| self.seen().near_of(found, inside))))
    }

    /// Share of the bytes that crosses between the addresses `inside` and others.
    ///
    /// # Errors
    /// `ValueError` where there are more or fewer addresses.
    fn crossing_share(&self, py: Python<'_>, inside: Vec<bool>) -> PyResult<f64> {
        self.check(&inside)?;
        Ok(py.detach(|| self.seen().crossing_share(&inside)))
    }
}

/// Flags of addresses, how they were found, and the share that crosses.
type Side<'py> = (Bound<'py, PyBytes>, &'static str, f64);

fn side(py: Python<'_>, near: ::hosts::Near) -> Side<'_> {
    let inside: Vec<u8> = near.inside.iter().map(|inside| u8::from(*inside)).collect();
    (PyBytes::new(py, &inside), ::hosts::NearBy::NAMES[near.found_by as usize], near.crossing)
}

impl Hosts {
    fn seen(&self) -> Seen<'_> {
        Seen { ends: &self.ends, wire_bytes: &self.wire_bytes, rows: &self.rows }
    }

    fn check(&self, inside: &[bool]) -> PyResult<()> {
        let wanted = self.ends.addresses.len();
        let same = inside.len() == wanted;
        if same { Ok(()) } else { Err(PyValueError::new_err(format!("{} flags of {wanted} hosts", inside.len()))) }
    }

    fn sites(&self, internal: Option<&Networks>) -> Result<Sites, String> {
        let mut tally = Tally::default();
        for (row, &taken) in self.taken.iter().enumerate() {
            let ends = [self.ends.opener[row], self.ends.responder[row]];
            let counted = tally.add_hosts(ends.map(|end| self.ends.addresses[end as usize]), taken);
            counted.map_err(|error| error.to_string())?;
        }
        Sites::of(&tally, internal).map_err(|none| none.to_string())
    }
}

/// The networks of a site as they are written: `10.0.0.0/255.0.0.0` is `10.0.0.0/8`.
///
/// # Errors
/// `ValueError` with one line for what is no network.
#[pyfunction]
pub fn networks_of(texts: Vec<String>) -> PyResult<Vec<String>> {
    let parsed = networks(Some(texts))?.unwrap_or_default();
    Ok(parsed.iter().map(ToString::to_string).collect())
}

/// Class, side and reason of a connection by what its two ends are, for each pair of them.
#[pyfunction]
pub fn connection_classes() -> Vec<(&'static str, &'static str, &'static str, &'static str, Option<&'static str>)> {
    let kinds = ::hosts::Kind::ALL;
    let row = |one: ::hosts::Kind, two: ::hosts::Kind| {
        let class = class_of(one, two);
        (one.name(), two.name(), class.class, class.side, class.reason)
    };
    kinds.into_iter().flat_map(|one| kinds.map(|two| row(one, two))).collect()
}
