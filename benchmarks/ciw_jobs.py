"""Jobs through Ciw, for `jobs.py`: one JSON line per order with CPU time and response times.

    python benchmarks/ciw_jobs.py JOBS.npz

JOBS.npz holds `gaps` and `sizes`. Only simulating counts, not importing nor building the network.
"""

import json
import sys
import time

import ciw
import numpy as np

ORDERS = {"fcfs": (1, ciw.Node), "ps": (float("inf"), ciw.PSNode)}
NEVER = 1e15


def main(file: str) -> None:
    """Simulate the same jobs under each order that Ciw has."""
    with np.load(file) as jobs:
        gaps, sizes = jobs["gaps"].tolist(), jobs["sizes"].tolist()
    for order, (servers, node) in ORDERS.items():
        network = ciw.create_network(
            arrival_distributions=[ciw.dists.Sequential([*gaps, NEVER])],
            service_distributions=[ciw.dists.Sequential(sizes)],
            number_of_servers=[servers],
        )
        simulation = ciw.Simulation(network, node_class=node)
        begun = time.process_time()
        simulation.simulate_until_max_customers(len(sizes), method="Finish")
        took = time.process_time() - begun
        records = sorted(simulation.get_all_records(), key=lambda record: record.id_number)
        responses = [record.exit_date - record.arrival_date for record in records]
        print(json.dumps({"order": order, "version": ciw.__version__, "cpu_s": took, "responses": responses}))


if __name__ == "__main__":
    main(sys.argv[1])
