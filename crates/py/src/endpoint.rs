//! One end of a TCP connection, for scripts that play the other end.

use netsim::{ByteCounts, Endpoint, Incoming, Role, Tcp};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use qdisc::Ecn;
use units::Time;

use crate::simulate::refused;

/// Option of accurate ECN: whether ECT(1) comes first, and the counts.
type Counts = (bool, Vec<u32>);

/// Time (ns), role, number, acknowledgement, AE with CWR and ECE, code point, counts, TSval and TSecr (ns), SACK blocks.
type Sent = (u64, &'static str, u32, u32, u8, &'static str, Option<Counts>, (u64, u64), Vec<(u32, u32)>);

/// Code points, as packetdrill names them.
const CODEPOINTS: [(&str, Ecn); 4] =
    [("noecn", Ecn::NotEct), ("ect0", Ecn::Ect0), ("ect1", Ecn::Ect1), ("ce", Ecn::Ce)];

/// Stays in the thread that made it.
#[pyclass(unsendable)]
pub struct TcpEndpoint(Endpoint);

#[pymethods]
impl TcpEndpoint {
    /// `settings` are those of `[tcp]`, as JSON.
    #[new]
    fn make(settings: &str, opens: bool) -> PyResult<TcpEndpoint> {
        let tcp: Tcp = settings::read(settings).map_err(refused)?;
        let made = Endpoint::with(tcp, opens).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(TcpEndpoint(made))
    }

    #[getter]
    fn now_ns(&self) -> u64 {
        self.0.now().0
    }

    #[getter]
    fn over(&self) -> bool {
        self.0.is_over()
    }

    #[getter]
    fn expected(&self) -> u32 {
        self.0.expected()
    }

    #[getter]
    fn numbers(&self) -> (u32, u32) {
        self.0.numbers()
    }

    fn connect(&mut self) {
        self.0.connect();
    }

    fn advance(&mut self, end_ns: u64, stop: bool) {
        self.0.advance(Time(end_ns), stop);
    }

    fn take(&mut self) -> Vec<Sent> {
        let named = |role| match role {
            Role::Syn => "syn",
            Role::Data => "data",
            Role::Fin => "fin",
            Role::Ack => "ack",
            Role::Reset => "reset",
            Role::Probe => "probe",
        };
        let sent = self.0.take_sent().map(|out| {
            let stamps = (out.stamps.0.0, out.stamps.1.0);
            let role = named(out.role);
            let ecn = CODEPOINTS.iter().find(|&&(_, ecn)| ecn == out.ecn).map_or("", |&(name, _)| name);
            let counts = out.counts.map(|counts| (counts.ect1_first, counts.values));
            (out.time.0, role, out.number, out.ack, out.ace, ecn, counts, stamps, out.blocks)
        });
        sent.collect()
    }

    #[expect(clippy::too_many_arguments, reason = "named in Python")]
    #[pyo3(signature = (*, syn, numbers, fin, ack, window, blocks, stamps, payload, ecn, ace, counts))]
    fn receive(
        &mut self,
        syn: bool,
        numbers: Option<(u32, u32)>,
        fin: bool,
        ack: Option<u32>,
        window: u32,
        blocks: Vec<(u32, u32)>,
        stamps: Option<(u64, u64)>,
        payload: u32,
        ecn: &str,
        ace: u8,
        counts: Option<Counts>,
    ) -> PyResult<()> {
        let (_, ecn) = CODEPOINTS
            .into_iter()
            .find(|&(name, _)| name == ecn)
            .ok_or_else(|| PyValueError::new_err(format!("no code point of ECN: {ecn}")))?;
        let counts = counts.map(|(ect1_first, values)| ByteCounts { ect1_first, values });
        let stamps = stamps.map(|(value, echoed)| (Time(value), Time(echoed)));
        self.0.receive(&Incoming { syn, numbers, fin, ack, window, blocks, stamps, payload, ecn, ace, counts });
        Ok(())
    }

    fn set_ecn_habits(&mut self, option: u32, beacon: u32, fallback: bool) {
        self.0.set_ecn_habits(option, beacon, fallback);
    }

    fn set_user_timeout(&mut self, timeout_ns: u64) {
        self.0.set_user_timeout(Time(timeout_ns));
    }

    fn ecn_option_bytes(&self) -> u32 {
        self.0.ecn_option_bytes()
    }

    fn write(&mut self, segments: u32) {
        self.0.write(segments);
    }

    fn close(&mut self, wholly: bool) -> bool {
        self.0.close(wholly)
    }

    fn abort(&mut self) {
        self.0.abort();
    }

    fn on_reset(&mut self) {
        self.0.on_reset();
    }

    fn challenge(&mut self) {
        self.0.challenge();
    }

    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = PyDict::new(py);
        for (name, value) in self.0.state() {
            state.set_item(name, value)?;
        }
        Ok(state)
    }
}
