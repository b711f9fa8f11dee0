"""Lists of plain transfers."""

import numpy as np
import polars as pl


def drawn(path, flows, seed, end_s=20.0, columns=("flow_id", "start_s", "src", "dst", "size_packets")):
    """A list of transfers, a few of them large, of hosts whose numbers sort otherwise as text."""
    rng = np.random.default_rng(seed)
    table = pl.DataFrame(
        {
            "flow_id": rng.permutation(flows) - flows // 2,
            "start_s": rng.uniform(0, end_s * 1.1, flows),
            "src": rng.integers(1, 13, flows),
            "dst": rng.integers(90, 120, flows),
            "size_packets": np.minimum(1 + rng.pareto(1.1, flows) * 5, 2000).astype(int),
        }
    )
    table.select(columns).write_csv(path)
    return path
