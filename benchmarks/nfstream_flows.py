"""Flows that nfstream finds in a capture, by IP protocol number, as one line of JSON: for benchmarks/performance.py.

    python benchmarks/nfstream_flows.py CAPTURE

Run with a Python that has nfstream. One meter, no look at the contents, and the statistics of sizes and times after the
fact that are nearest to what a record of ours has.
"""

import json
import sys

from nfstream import NFStreamer

if __name__ == "__main__":
    found: dict[int, int] = {}
    for flow in NFStreamer(source=sys.argv[1], n_meters=1, n_dissections=0, statistical_analysis=True):
        found[flow.protocol] = found.get(flow.protocol, 0) + 1
    print(json.dumps(found))
