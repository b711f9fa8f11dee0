"""The section ``[probes]`` of a scenario: traffic that measures what users of the link would feel."""

from pydantic import Field

from mayfly.fields import Delay, Seconds, Section, as_written


class Probes(Section):
    """Probes beside the workload, over one bottleneck link: none counts in transfers, drops, UDP or queueing delays."""

    ping: bool = Field(
        False, description="packets of 64 bytes through both queues and back, on average one an interval"
    )
    call: bool = Field(False, description="a telephone call: 50 packets/s of 200 bytes each way (G.711, 20 ms)")
    interval: Seconds = Field(
        as_written("100ms"), ge=1e-3, le=3600, description="of the ping: one packet at random in each"
    )
    until: Seconds | None = Field(None, description="no probe is sent from then on; end of the run when absent")
    rtt: Delay | None = Field(
        None, description="round-trip time of their path without queueing; that of the network when absent"
    )

    @property
    def any(self) -> bool:
        """Whether there is a probe."""
        return self.ping or self.call
