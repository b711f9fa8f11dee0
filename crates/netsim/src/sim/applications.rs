//! Streams of applications in the loop, in a run.

use units::Stream;

use super::{MediaStream, Owner, Sim, Transport};
use crate::app::Application;
use crate::flow::FlowSpec;

impl Sim<'_> {
    /// Begins flow `spec`, whose datagrams `application` makes.
    pub(super) fn start_stream(
        &mut self,
        owner: Owner,
        spec: &FlowSpec,
        pipes: (usize, usize),
        application: &Application,
    ) {
        let random = Stream::named(self.run.seed, &self.application_stream(owner.flow));
        let Some(source) = application.source(self.net.now, random) else { return };
        let ends = (owner, pipes.0, pipes.1);
        let stream = MediaStream::start(ends, spec.size_bytes, source, &mut self.net);
        self.live.at(owner.slot as usize).transport = Transport::Media(Box::new(stream));
    }
}
