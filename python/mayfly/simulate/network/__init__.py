"""Networks that a run can use: a graph of links, a wireless cell, and the interfaces of both."""
