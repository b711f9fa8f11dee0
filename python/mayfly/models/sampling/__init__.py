"""What sampling of packets leaves of the sizes of flows."""
