"""Models of TCP: the latency of a transfer, the throughput under loss, fluid equations."""
