//! Scripted connections in a run: each has two slots, so that timers and packets of its second half find it.

use super::{Handle, History, Kind, Live, Owner, Packet, Scene, Scripted, Sim, Transport};
use crate::flow::FlowSpec;
use crate::tcp::Life;
use crate::tcp::settings::Tcp;
use units::Direction;

impl Sim<'_> {
    /// Begins flow `spec`, whose first half has the slot of `owner`.
    pub(super) fn start_scripted(&mut self, owner: Owner, spec: &FlowSpec, path: (usize, usize), history: History) {
        let Live { exits, tcp, .. } = *self.live.at(owner.slot as usize);
        let turned = Transport::Turned(owner.slot as usize);
        let second = self.live.claim(|| Live::free(tcp, Transport::Turned(0)));
        let live = self.live.at(second);
        live.begin(owner.flow, exits);
        (live.tcp, live.transport) = (tcp, turned);
        let mut scene = scene(self.run, tcp, spec, &mut self.net, &mut self.out.trains);
        let dialogue = self.run.application(spec).and_then(|own| own.dialogue(owner.flow, scene.net.now));
        let scripted = Scripted::open(owner, [owner.slot as usize, second], spec, path, history, dialogue, &mut scene);
        self.live.at(owner.slot as usize).transport = Transport::Scripted(Box::new(scripted));
    }

    /// A packet of a scripted connection reached its host.
    #[inline(never)]
    pub(super) fn deliver_scripted(&mut self, packet: &Packet, marked: bool) {
        let handle = Handle::unpack(packet.handle);
        let (main, half) = self.main_of(handle.slot);
        let forward = packet.flow.direction() == Direction::Forward;
        let live = self.live.at(main);
        let (tcp, Transport::Scripted(scripted)) = (live.tcp, &mut live.transport) else { return };
        let spec = &self.flows[packet.flow.connection() as usize];
        let mut scene = scene(self.run, tcp, spec, &mut self.net, &mut self.out.trains);
        let life = scripted.on_packet(half, forward == (half == 0), handle, packet.options, marked, &mut scene);
        self.net.options.release(packet.options);
        self.tell_of_data(main);
        if life == Life::Over {
            self.close(main);
        }
    }

    /// Starts what waits for the last train of a connection, where its script says so.
    pub(super) fn tell_of_data(&mut self, main: usize) {
        let live = self.live.at(main);
        let Some(spec) = self.flows.get(live.flow as usize) else { return };
        if let Some(stage) = spec.stage
            && self.run.scripts.is_done_with_data(spec.script)
            && match &mut live.transport {
                Transport::Scripted(scripted) => scripted.take_done(),
                Transport::Quic(connection) => connection.take_done(),
                _ => false,
            }
        {
            self.stages.on_over(stage, self.flows, self.net.now, &mut self.net.events);
        }
    }

    pub(super) fn on_scripted_timer(&mut self, kind: Kind, slot: usize) {
        let (main, half) = self.main_of(slot);
        let live = self.live.at(main);
        let (flow, tcp, Transport::Scripted(scripted)) = (live.flow, live.tcp, &mut live.transport) else { return };
        // A timer of a connection that is over finds its slot free.
        let Some(spec) = self.flows.get(flow as usize) else { return };
        let mut scene = scene(self.run, tcp, spec, &mut self.net, &mut self.out.trains);
        let life = scripted.on_timer(half, kind, &mut scene);
        self.tell_of_data(main);
        if life == Life::Over {
            self.close(main);
        }
    }

    /// Slot of the scripted connection that has `slot`, and which half `slot` is.
    fn main_of(&mut self, slot: usize) -> (usize, usize) {
        match self.live.at(slot).transport {
            Transport::Turned(main) => (main, 1),
            _ => (slot, 0),
        }
    }

    /// Gives back the slot of the second half.
    pub(super) fn release_turned(&mut self, slot: usize) {
        self.live.at(slot).flow = u32::MAX;
        self.live.release(slot);
    }
}

fn scene<'a>(
    run: &'a crate::config::Run,
    tcp: &'a Tcp,
    spec: &FlowSpec,
    net: &'a mut crate::wire::net::Net,
    trains: &'a mut Vec<crate::script::TrainRecord>,
) -> Scene<'a> {
    let script = spec.script.map_or(&[][..], |script| run.scripts.list[script as usize].as_slice());
    let parts = spec.script.map_or(&[][..], |script| run.scripts.parts_of(script));
    Scene { script, parts, tcp, net, trains }
}
