"""Chen 2012, Tables A.1 to A.6 as printed: mean response times of the mixed workload in a cell of 802.11a."""

from dataclasses import dataclass

from mayfly_papers.declare.declaration import Printed

LARS = "lars(count=acknowledged)"
COLUMNS = ("down_short_s", "down_long_s", "up_short_s", "up_long_s")
"""In the order of the tables, by the names of :func:`mayfly_papers.chen2012.wlan.measures.transfers`."""


@dataclass(frozen=True)
class Table:
    """One table.

    Parameters
    ----------
    sizes : tuple of int
        Mean sizes, MSS, by `COLUMNS`.
    cells : dict of tuple of Printed
        Mean response times, s, by discipline, then `COLUMNS`.
    """

    sizes: tuple[int, ...]
    cells: dict[str, tuple[Printed, ...]]


TABLES = {
    "A.1": Table(
        sizes=(21, 1063, 21, 1055),
        cells={
            "fifo": (
                Printed(0.432, (0.416, 0.448)),
                Printed(2.404, (2.172, 2.637)),
                Printed(0.301, (0.286, 0.317)),
                Printed(1.202, (1.025, 1.380)),
            ),
            "lasack": (
                Printed(0.081, (0.078, 0.085)),
                Printed(2.547, (2.276, 2.818)),
                Printed(0.082, (0.078, 0.086)),
                Printed(2.158, (1.900, 2.415)),
            ),
            LARS: (
                Printed(0.082, (0.078, 0.086)),
                Printed(2.418, (2.183, 2.653)),
                Printed(0.083, (0.079, 0.087)),
                Printed(2.039, (1.824, 2.253)),
            ),
            "pefd": (
                Printed(0.071, (0.069, 0.073)),
                Printed(1.965, (1.797, 2.134)),
                Printed(0.048, (0.047, 0.049)),
                Printed(1.197, (1.102, 1.292)),
            ),
            "efdack": (
                Printed(0.069, (0.068, 0.071)),
                Printed(1.930, (1.770, 2.091)),
                Printed(0.050, (0.049, 0.051)),
                Printed(1.191, (1.097, 1.285)),
            ),
            "run2cack": (
                Printed(0.136, (0.130, 0.141)),
                Printed(2.483, (2.256, 2.710)),
                Printed(0.066, (0.063, 0.068)),
                Printed(1.135, (1.041, 1.228)),
            ),
        },
    ),
    "A.2": Table(
        sizes=(21, 1112, 21, 1124),
        cells={
            "fifo": (
                Printed(4.034, (3.940, 4.129)),
                Printed(21.514, (19.572, 23.455)),
                Printed(1.974, (1.926, 2.022)),
                Printed(3.276, (2.914, 3.638)),
            ),
            "lasack": (
                Printed(0.189, (0.184, 0.194)),
                Printed(21.929, (19.039, 24.818)),
                Printed(0.188, (0.182, 0.194)),
                Printed(17.395, (15.130, 19.661)),
            ),
            LARS: (
                Printed(0.282, (0.276, 0.288)),
                Printed(17.349, (15.881, 18.818)),
                Printed(0.286, (0.278, 0.293)),
                Printed(14.644, (13.393, 15.894)),
            ),
            "pefd": (
                Printed(0.825, (0.796, 0.853)),
                Printed(16.913, (15.443, 18.382)),
                Printed(0.423, (0.406, 0.439)),
                Printed(6.750, (6.262, 7.238)),
            ),
            "efdack": (
                Printed(0.746, (0.720, 0.773)),
                Printed(16.707, (15.185, 18.230)),
                Printed(0.398, (0.383, 0.413)),
                Printed(8.070, (7.449, 8.692)),
            ),
            "run2cack": (
                Printed(1.088, (1.049, 1.127)),
                Printed(22.950, (21.007, 24.892)),
                Printed(0.249, (0.238, 0.259)),
                Printed(2.991, (2.729, 3.254)),
            ),
        },
    ),
    "A.3": Table(
        sizes=(21, 1065, 21, 1064),
        cells={
            "fifo": (
                Printed(0.231, (0.227, 0.235)),
                Printed(1.827, (1.765, 1.889)),
                Printed(0.132, (0.121, 0.142)),
                Printed(0.801, (0.699, 0.904)),
            ),
            "lasack": (
                Printed(0.092, (0.090, 0.095)),
                Printed(3.195, (3.039, 3.351)),
                Printed(0.066, (0.061, 0.072)),
                Printed(2.157, (1.815, 2.500)),
            ),
            LARS: (
                Printed(0.089, (0.087, 0.091)),
                Printed(3.031, (2.894, 3.167)),
                Printed(0.067, (0.062, 0.073)),
                Printed(1.992, (1.709, 2.276)),
            ),
            "pefd": (
                Printed(0.076, (0.075, 0.077)),
                Printed(1.852, (1.789, 1.914)),
                Printed(0.044, (0.043, 0.045)),
                Printed(1.045, (0.914, 1.176)),
            ),
            "efdack": (
                Printed(0.075, (0.074, 0.076)),
                Printed(1.865, (1.802, 1.929)),
                Printed(0.046, (0.045, 0.048)),
                Printed(1.101, (0.960, 1.242)),
            ),
            "run2cack": (
                Printed(0.097, (0.095, 0.098)),
                Printed(1.837, (1.777, 1.897)),
                Printed(0.046, (0.045, 0.048)),
                Printed(0.887, (0.766, 1.007)),
            ),
        },
    ),
    "A.4": Table(
        sizes=(21, 1042, 21, 1015),
        cells={
            "fifo": (
                Printed(1.658, (1.603, 1.714)),
                Printed(11.919, (10.621, 13.217)),
                Printed(1.973, (1.925, 2.021)),
                Printed(3.189, (2.848, 3.530)),
            ),
            "lasack": (
                Printed(0.188, (0.185, 0.191)),
                Printed(27.104, (25.355, 28.854)),
                Printed(0.152, (0.144, 0.161)),
                Printed(16.385, (13.366, 19.404)),
            ),
            LARS: (
                Printed(0.238, (0.235, 0.241)),
                Printed(13.944, (13.482, 14.407)),
                Printed(0.201, (0.192, 0.211)),
                Printed(10.961, (9.692, 12.229)),
            ),
            "pefd": (
                Printed(0.274, (0.270, 0.277)),
                Printed(8.200, (7.938, 8.462)),
                Printed(0.147, (0.139, 0.156)),
                Printed(4.752, (4.220, 5.284)),
            ),
            "efdack": (
                Printed(0.278, (0.275, 0.281)),
                Printed(8.133, (7.874, 8.393)),
                Printed(0.162, (0.155, 0.169)),
                Printed(5.492, (4.844, 6.139)),
            ),
            "run2cack": (
                Printed(0.337, (0.331, 0.343)),
                Printed(9.170, (8.818, 9.522)),
                Printed(0.093, (0.089, 0.096)),
                Printed(1.258, (1.150, 1.367)),
            ),
        },
    ),
    "A.5": Table(
        sizes=(21, 1079, 21, 1108),
        cells={
            "fifo": (
                Printed(0.112, (0.111, 0.113)),
                Printed(1.210, (1.155, 1.266)),
                Printed(0.114, (0.112, 0.116)),
                Printed(1.247, (1.083, 1.410)),
            ),
            "lasack": (
                Printed(0.042, (0.041, 0.042)),
                Printed(1.179, (1.112, 1.246)),
                Printed(0.043, (0.042, 0.044)),
                Printed(1.219, (1.009, 1.428)),
            ),
            LARS: (
                Printed(0.042, (0.041, 0.042)),
                Printed(1.199, (1.138, 1.260)),
                Printed(0.044, (0.043, 0.044)),
                Printed(1.246, (1.046, 1.446)),
            ),
            "pefd": (
                Printed(0.042, (0.042, 0.043)),
                Printed(1.245, (1.186, 1.304)),
                Printed(0.040, (0.040, 0.041)),
                Printed(1.244, (1.054, 1.435)),
            ),
            "efdack": (
                Printed(0.042, (0.042, 0.042)),
                Printed(1.241, (1.182, 1.300)),
                Printed(0.041, (0.040, 0.041)),
                Printed(1.248, (1.058, 1.438)),
            ),
            "run2cack": (
                Printed(0.047, (0.047, 0.047)),
                Printed(1.241, (1.184, 1.298)),
                Printed(0.048, (0.047, 0.049)),
                Printed(1.259, (1.092, 1.426)),
            ),
        },
    ),
    "A.6": Table(
        sizes=(21, 1041, 21, 1034),
        cells={
            "fifo": (
                Printed(0.668, (0.664, 0.671)),
                Printed(6.463, (6.221, 6.705)),
                Printed(0.571, (0.564, 0.578)),
                Printed(3.200, (2.931, 3.469)),
            ),
            "lasack": (
                Printed(0.065, (0.064, 0.065)),
                Printed(6.187, (5.668, 6.706)),
                Printed(0.072, (0.070, 0.075)),
                Printed(5.932, (4.387, 7.478)),
            ),
            LARS: (
                Printed(0.086, (0.085, 0.087)),
                Printed(5.720, (5.496, 5.943)),
                Printed(0.090, (0.087, 0.093)),
                Printed(5.385, (4.709, 6.060)),
            ),
            "pefd": (
                Printed(0.087, (0.086, 0.088)),
                Printed(6.106, (5.860, 6.353)),
                Printed(0.060, (0.059, 0.061)),
                Printed(4.307, (3.776, 4.838)),
            ),
            "efdack": (
                Printed(0.086, (0.085, 0.086)),
                Printed(6.096, (5.850, 6.342)),
                Printed(0.067, (0.065, 0.068)),
                Printed(4.368, (3.844, 4.892)),
            ),
            "run2cack": (
                Printed(0.138, (0.137, 0.140)),
                Printed(6.597, (6.341, 6.854)),
                Printed(0.108, (0.106, 0.110)),
                Printed(3.442, (3.107, 3.778)),
            ),
        },
    ),
}
"""By number."""
