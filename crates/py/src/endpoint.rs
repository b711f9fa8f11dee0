//! One end of a TCP connection, for scripts that play the other end.

use netsim::{Endpoint, Incoming, Role, Tcp};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use units::Time;

use crate::simulate::read_settings;

/// Time (ns), role, number, acknowledgement, ECE, CWR, ECT(0), TSval and TSecr (ns), SACK blocks.
type Sent = (u64, &'static str, u32, u32, bool, bool, bool, (u64, u64), Vec<(u32, u32)>);

/// Stays in the thread that made it.
#[pyclass(unsendable)]
pub struct TcpEndpoint(Endpoint);

#[pymethods]
impl TcpEndpoint {
    /// `settings` are those of `[tcp]`, as JSON.
    #[new]
    fn make(settings: &str, opens: bool) -> PyResult<TcpEndpoint> {
        let tcp: Tcp = read_settings(settings)?;
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
            Role::Probe => "probe",
        };
        let sent = self.0.take_sent().map(|out| {
            let stamps = (out.stamps.0.0, out.stamps.1.0);
            let role = named(out.role);
            (out.time.0, role, out.number, out.ack, out.ece, out.cwr, out.capable, stamps, out.blocks)
        });
        sent.collect()
    }

    #[expect(clippy::too_many_arguments, reason = "named in Python")]
    #[pyo3(signature = (*, syn, numbers, fin, ack, window, blocks, stamps, marked, ece, cwr))]
    fn receive(
        &mut self,
        syn: bool,
        numbers: Option<(u32, u32)>,
        fin: bool,
        ack: Option<u32>,
        window: u32,
        blocks: Vec<(u32, u32)>,
        stamps: Option<(u64, u64)>,
        marked: bool,
        ece: bool,
        cwr: bool,
    ) {
        let stamps = stamps.map(|(value, echoed)| (Time(value), Time(echoed)));
        self.0.receive(&Incoming { syn, numbers, fin, ack, window, blocks, stamps, marked, ece, cwr });
    }

    fn write(&mut self, segments: u32) {
        self.0.write(segments);
    }

    fn close(&mut self) -> bool {
        self.0.close()
    }

    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = PyDict::new(py);
        for (name, value) in self.0.state() {
            state.set_item(name, value)?;
        }
        Ok(state)
    }
}
