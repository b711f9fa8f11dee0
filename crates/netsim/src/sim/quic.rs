//! Connections of QUIC in a run.

use super::{Live, Owner, Packet, QuicConnection, QuicScene, Sim, Transport};
use crate::config::Run;
use crate::flow::FlowSpec;
use crate::script::TrainRecord;
use crate::tcp::Life;
use crate::tcp::settings::Tcp;
use crate::wire::handle::Handle;
use crate::wire::net::Net;

impl Sim<'_> {
    /// Begins flow `spec`.
    pub(super) fn start_quic(&mut self, owner: Owner, spec: &FlowSpec, pipes: (usize, usize)) {
        let Live { tcp, .. } = *self.live.at(owner.slot as usize);
        let dialogue = self.run.application(spec).and_then(|own| own.dialogue(owner.flow, self.net.now));
        let script = spec.script.map_or(&[][..], |script| self.run.scripts.list[script as usize].as_slice());
        let mut scene = scene(self.run, tcp, spec, &mut self.net, &mut self.out.trains);
        let connection = QuicConnection::open(owner, spec, pipes, script, dialogue, &mut scene);
        self.live.at(owner.slot as usize).transport = Transport::Quic(Box::new(connection));
    }

    /// A packet of QUIC reached its host.
    #[inline(never)]
    pub(super) fn deliver_quic(&mut self, packet: &Packet) {
        let slot = Handle::unpack(packet.handle).slot;
        let live = self.live.at(slot);
        let (tcp, Transport::Quic(connection)) = (live.tcp, &mut live.transport) else { return };
        let spec = &self.flows[packet.flow.connection() as usize];
        let mut scene = scene(self.run, tcp, spec, &mut self.net, &mut self.out.trains);
        let life = connection.on_packet(packet, &mut scene);
        self.tell_of_data(slot);
        if life == Life::Over {
            self.close(slot);
        }
    }

    pub(super) fn on_quic_timer(&mut self, slot: usize) {
        let live = self.live.at(slot);
        let (flow, tcp, Transport::Quic(connection)) = (live.flow, live.tcp, &mut live.transport) else { return };
        // A timer of a connection that is over finds its slot free.
        let Some(spec) = self.flows.get(flow as usize) else { return };
        let mut scene = scene(self.run, tcp, spec, &mut self.net, &mut self.out.trains);
        let life = connection.on_timer(&mut scene);
        self.tell_of_data(slot);
        if life == Life::Over {
            self.close(slot);
        }
    }
}

fn scene<'a>(
    run: &'a Run,
    tcp: &'a Tcp,
    spec: &FlowSpec,
    net: &'a mut Net,
    trains: &'a mut Vec<TrainRecord>,
) -> QuicScene<'a> {
    let scripts = &run.scripts;
    let parts = spec.script.map_or(&[][..], |script| scripts.parts_of(script));
    let streams = spec.script.map_or(&[][..], |script| scripts.streams_of(script));
    QuicScene { parts, streams, tcp, net, trains }
}
