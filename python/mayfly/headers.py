"""Headers of packets on the wire, bytes."""

UDP_HEADER_BYTES = 28
"""IPv4 and UDP (RFC 791, 768); `HEADER` of `crates/netsim/src/udp.rs`, which a test compares."""

FULL_PACKET_BYTES = 1514
"""A full IP packet of Ethernet with its link header, which is what `tc` counts."""
