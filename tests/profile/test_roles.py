"""Features, normalisation, hold-out, models and several traces, with exact answers; the commands."""

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from invocation import mayfly_here, refused_here
from rows import SILENT, frame, row

from mayfly.errors import MayflyError
from mayfly.profile.answer import profile
from mayfly.profile.roles.answer import Applied, applied, trained
from mayfly.profile.roles.c45 import Settings, probabilities
from mayfly.profile.roles.features import FEATURES, host_features, instances_of, normalised
from mayfly.profile.roles.instances import Attribute, Instances, read_arff
from mayfly.profile.roles.model import INSUFFICIENT, METHODS, read_model, train, training_rows
from mayfly.profile.roles.naive_bayes import naive_bayes
from mayfly.profile.roles.pruning import c45
from mayfly.profile.roles.several import histogram, over_traces
from mayfly.profile.roles.validation import hold_out, wilson

ROOT = Path(__file__).parents[2]
OFFICE = ROOT / "captures" / "office.pcap.gz"
TINY = ROOT / "tests" / "data" / "tiny.pcapng.gz"
SHARED = ROOT.parent / "shared" / "data" / "pcap"
INSIDE = ("10.10.0.0/24", "203.0.113.0/24", "198.51.100.0/24")
HOSTS = {f"10.10.0.{n}": "client" for n in range(11, 17)} | dict.fromkeys(
    ("203.0.113.10", "198.51.100.20", "203.0.113.130", "198.51.100.140"), "server"
)
OPTIONS = [word for cidr in INSIDE for word in ("--internal", cidr)]


def test_features_count_what_they_say():
    rows = [
        row("10.0.0.1", "10.0.0.8", port=80),
        row("10.0.0.1", "10.0.0.8", port=443),
        row("10.0.0.2", "10.0.0.8", port=80),
        row("10.0.0.1", "9.9.9.9", port=80),
        # Tried by .1, answered by nobody; refused by .8.
        row("10.0.0.1", "10.0.0.9", port=22, state="half_open", down=SILENT),
        row("10.0.0.2", "10.0.0.8", port=22, state="rejected"),
        row("10.0.0.8", "10.0.0.1", port=5000, protocol="udp", state="two_way"),
        row("10.0.0.8", "224.0.0.1", port=5353, protocol="udp", state="one_way", down=SILENT),
    ]
    found = host_features(frame(rows), ["10.0.0.1", "10.0.0.8", "10.0.0.9", "10.0.0.2"])
    told = {name: dict(zip(FEATURES, values, strict=True)) for name, *values in found.select("host", *FEATURES).rows()}
    names = ("incnx", "outcnx", "dportin", "dportout", "fanin", "fanout")
    assert told["10.0.0.1"] == dict(zip(names, (1, 4, 1, 3, 1, 3), strict=True))
    assert told["10.0.0.8"] == dict(zip(names, (3, 2, 2, 2, 2, 2), strict=True))
    assert told["10.0.0.2"] == dict(zip(names, (0, 2, 0, 2, 0, 1), strict=True))
    assert set(told["10.0.0.9"].values()) == {0}
    assert found["connections"].to_list() == [5, 2, 5, 0]
    assert found["bytes"].to_list() == [9000, 4000, 11000, 1000]


def test_normalisations():
    values = np.random.default_rng(1).random((40, 3)) * [1, 100, 0] + [0, 5, 7]
    linear, student = normalised(values, "linear"), normalised(values, "student")
    assert linear[:, :2].min(axis=0).tolist() == [0, 0] and linear[:, :2].max(axis=0).tolist() == [1, 1]
    assert student.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert student[:, :2].std(axis=0, ddof=1) == pytest.approx(1)
    assert not linear[:, 2].any() and not student[:, 2].any()
    # A site ten times as large looks the same.
    assert normalised(10 * values, "linear") == pytest.approx(linear)
    assert normalised(values[:1], "student").tolist() == [[0.0, 0.0, 0.0]]
    assert normalised(values[:0], "linear").shape == (0, 3)
    with pytest.raises(MayflyError, match="normalisation = log: must be linear, student, none"):
        normalised(values, "log")


def test_wilson_is_where_the_score_test_turns():
    for right, tested, z in ((0, 10, 1.645), (9, 10, 1.28), (50, 113, 1.96)):
        for end in wilson(right, tested, z):
            away = right / tested - end
            assert away**2 == pytest.approx(z**2 * end * (1 - end) / tested, abs=1e-12)
    low, high = wilson(0, 10, 1.645)
    assert low == pytest.approx(0, abs=1e-12) and high == pytest.approx(1.645**2 / (10 + 1.645**2))


def test_hold_out_tests_each_host_once_and_learns_from_the_others():
    data = Instances((Attribute("place"),), ("a", "b"), np.arange(451.0)[:, None], np.arange(451) % 2)
    seen = []

    def learn(part):
        known = set(part.values.ravel().tolist())

        def answer(values):
            assert not known & set(values.ravel().tolist()) and len(known) + len(values) == 451
            seen.extend(values.ravel().tolist())
            # Right on the first hundred places, always "a" else.
            says_b = (values.ravel() < 100) & (values.ravel() % 2 == 1)
            return np.stack([~says_b, says_b], axis=1).astype(float)

        return answer

    found = hold_out(data, learn, seed=3)
    assert sorted(seen) == list(range(451))
    assert [trial["tested"] for trial in found["trials"]] == [113, 113, 113, 112]
    assert found["confusion"] == [[226, 0], [175, 50]] and found["pooled"]["right"] == 276
    rates = [trial["right"] / trial["tested"] for trial in found["trials"]]
    assert found["mean"] == pytest.approx(np.mean(rates)) and found["std"] == pytest.approx(np.std(rates, ddof=1))
    assert found["majority"] == 226 / 451


def test_hold_out_refuses_what_it_cannot_do():
    data = Instances((Attribute("place"),), ("client", "server"), np.arange(8.0)[:, None], np.zeros(8, dtype=int))
    with pytest.raises(MayflyError, match="all 8 labelled hosts are clients"):
        hold_out(data, None)
    with pytest.raises(MayflyError, match="3 labelled hosts: must be at least 4 for 4 parts"):
        hold_out(data.chosen(np.arange(3)), None)


def test_naive_bayes_by_hand():
    """Two nominal attributes, Laplace: shares (n + 1) / (sum + values)."""
    attributes = (Attribute("w", ("p", "q")), Attribute("v", ("p", "q", "r")))
    data = Instances(attributes, ("x", "y"), np.array([[0, 0], [0, 1], [1, np.nan], [1, 2]]), np.array([0, 0, 0, 1]))
    x, y = 4 / 6 * 3 / 5 * 2 / 5, 2 / 6 * 1 / 3 * 1 / 4
    assert naive_bayes(data).probabilities(np.array([[0.0, 1.0]]))[0] == pytest.approx([x / (x + y), y / (x + y)])
    x, y = 4 / 6 * 3 / 5, 2 / 6 * 1 / 3
    assert naive_bayes(data).probabilities(np.array([[0.0, np.nan]]))[0] == pytest.approx([x / (x + y), y / (x + y)])


def test_naive_bayes_of_numbers_is_a_ratio_of_normal_masses():
    values = np.array([[1.0], [2.0], [3.0], [4.0], [7.0], [8.0], [9.0], [10.0]])
    data = Instances((Attribute("n"),), ("x", "y"), values, np.array([0] * 4 + [1] * 4))
    # Mean distance of neighbours 9/7; values rounded to its multiples.
    step = 9 / 7
    rounded = np.rint(values.ravel() / step) * step

    def mass(part, at):
        middle, width = part.mean(), max(part.std(), step / 6)
        ends = ((at + sign * step / 2 - middle) / width / math.sqrt(2) for sign in (1, -1))
        return (math.erf(next(ends)) - math.erf(next(ends))) / 2

    at = np.rint(5.0 / step) * step
    x, y = mass(rounded[:4], at), mass(rounded[4:], at)
    assert naive_bayes(data).probabilities(np.array([[5.0]]))[0] == pytest.approx([x / (x + y), y / (x + y)])


def site(scale=1, clients=30, servers=10, seed=1):
    """Features of a site whose servers answer and whose clients open, as a table."""
    rng = np.random.default_rng(seed)
    rows = []
    for n in range(clients + servers):
        serves = n >= clients
        many, few = (scale * rng.integers(low, high) for low, high in ((100, 400), (0, 20)))
        incnx, outcnx = (many, few) if serves else (few, many)
        rows.append((f"10.0.{int(serves)}.{n}", incnx, outcnx, *rng.integers(1, 9, 2), incnx // 3, outcnx // 5))
    table = pl.DataFrame(rows, schema=["host", *FEATURES], orient="row")
    table = table.with_columns((pl.col("incnx") + pl.col("outcnx")).alias("connections"), pl.lit(10).alias("bytes"))
    return table.sort("host"), {row[0]: "server" if row[0].startswith("10.0.1.") else "client" for row in rows}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("normalisation", ["linear", "student"])
def test_a_model_of_one_site_serves_another_of_other_size(method, normalisation):
    features, roles = site()
    model = train(features, roles, method=method, normalisation=normalisation)
    other, truth = site(scale=7, clients=50, servers=9, seed=2)
    told = dict(model.apply(other).select("host", "role").iter_rows())
    assert told == truth


def test_cuts_at_values_of_one_site_do_not_serve_another():
    """What makes midpoints the rule here: C4.5's own cut is the largest client of the site it learned on."""
    features, roles = site()
    data = training_rows(features, roles, "student", 10)
    other, truth = site(scale=7, clients=50, servers=9, seed=2)
    rows = training_rows(other, truth, "student", 10)
    right = [
        int((np.argmax(probabilities(c45(data, settings), rows.values), axis=1) == rows.labels).sum())
        for settings in (Settings(), Settings(midpoints=True))
    ]
    assert right == [13, 59]


@pytest.mark.parametrize("method", METHODS)
def test_models_are_kept_as_json(method, tmp_path):
    features, roles = site()
    model = train(features, roles, method=method, normalisation="student", least=7, captures=("a.pcap",))
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model.document(), allow_nan=False))
    again = read_model(path)
    assert again.document() == model.document() and again.text() == model.text()
    assert again.apply(features).equals(model.apply(features))


def test_too_little_traffic_gives_no_role():
    features, roles = site()
    few = features.with_columns(
        pl.when(pl.col("host") == "10.0.0.3").then(9).otherwise("connections").alias("connections")
    )
    model = train(few, roles, least=10)
    assert sum(model.trained_on["hosts"].values()) == 39
    told = model.apply(few).filter(pl.col("host") == "10.0.0.3").row(0, named=True)
    assert (told["role"], told["probability"]) == (INSUFFICIENT, None)
    assert train(few, roles, least=9).apply(few)["probability"].null_count() == 0
    nobody = model.apply(few.with_columns(pl.lit(0).alias("connections")))
    assert nobody["role"].unique().to_list() == [INSUFFICIENT]


def test_training_refuses_what_it_cannot_learn_from():
    features, roles = site()
    clients = {host: role for host, role in roles.items() if role == "client"}
    with pytest.raises(MayflyError, match="no labelled server with at least 10 connections"):
        train(features, clients)
    with pytest.raises(MayflyError, match="least connections = 0"):
        train(features, roles, least=0)
    with pytest.raises(MayflyError, match="method = svm: must be c45 or naive-bayes"):
        train(features, roles, method="svm")


def broken_models():
    features, roles = site()
    tree = train(features, roles).document()
    bayes = train(features, roles, method="naive-bayes").document()
    node = {"attribute": 9, "threshold": 0.5, "bags": [[1, 0], [0, 1]], "children": [{"bags": [[1, 0]]}] * 2}
    deep = {"bags": [[1, 0]]}
    for _ in range(201):
        deep = node | {"attribute": 0, "children": [deep, {"bags": [[1, 0]]}]}
    return {
        "no JSON": ("{", "no JSON"),
        "a list": ("[]", "not a model of roles"),
        "another format": (json.dumps(tree | {"version": 2}), "format mayfly roles 2: must be mayfly roles 1"),
        "no tree": (json.dumps({k: v for k, v in tree.items() if k != "classifier"}), "not a model of roles"),
        "an attribute too many": (json.dumps(tree | {"classifier": node}), "a node that does not fit"),
        "too deep": (json.dumps(tree | {"classifier": deep}), "a node that does not fit"),
        "a negative count": (json.dumps(tree | {"classifier": {"bags": [[-1, 0]]}}), "a node that does not fit"),
        "a leaf as laws": (json.dumps(bayes | {"classifier": {"bags": [[1, 0]]}}), "not a model of roles"),
        "no deviation": (
            json.dumps(bayes | {"classifier": bayes["classifier"] | {"priors": [0, 1]}}),
            "laws out of bounds",
        ),
        "another method": (json.dumps(tree | {"method": "svm"}), "is not one of those known"),
    }


@pytest.mark.parametrize("name", broken_models())
def test_models_refused(name, tmp_path):
    text, said = broken_models()[name]
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(MayflyError, match=said):
        read_model(path)


def trace(**roles):
    return pl.DataFrame(
        {"host": list(roles), "role": [{"s": "server", "c": "client", "-": INSUFFICIENT}[r] for r in roles.values()]}
    )


def test_roles_over_five_traces():
    """Chen 2012, 8.4.2.2: always when ever told one role only, likely server from half of the traces on."""
    said = {"a": "sssss", "b": "s----", "c": "sssc-", "d": "ssccc", "e": "sc---", "f": "-----", "g": "--ccc"}
    traces = [trace(**{host: told[n] for host, told in said.items()}) for n in range(5)]
    hosts = over_traces(traces)
    assert dict(hosts.select("host", "verdict").iter_rows()) == {
        "a": "always server",
        "b": "always server",
        "c": "likely server",
        "d": "likely client",
        "e": "likely server",
        "f": "insufficient traffic",
        "g": "always client",
    }
    assert [(row["verdict"], row["told"], row["hosts"]) for row in histogram(hosts)] == [
        ("always server", "5s", 1),
        ("always server", "1s", 1),
        ("likely server", "3s1c", 1),
        ("likely server", "1s1c", 1),
        ("likely client", "2s3c", 1),
        ("always client", "3c", 1),
    ]
    found = Applied(("x",) * 5, tuple(t.with_columns(pl.lit(1.0).alias("probability")) for t in traces), hosts, {})
    assert "2 of 5 hosts judged in two traces or more keep their role" in found.sentences()[-1]


class TestCaptures:
    def test_the_office_with_its_servers(self):
        found = trained([OFFICE], HOSTS, internal=INSIDE)
        assert found.document()["learned_from"] == 10 and found.trials["pooled"]["tested"] == 10
        assert (
            applied(found.model, [OFFICE], internal=INSIDE, hosts=HOSTS).document()["traces"][0]["score"]["right"] == 10
        )

    def test_a_scanner_stands_out_by_what_it_tries(self):
        """README of the data: one host scans 100 peers on 445 and 139."""
        path = SHARED / "smb_scanner.pcap.gz"
        if not path.exists():
            pytest.skip("smb_scanner.pcap.gz is not beside the checkout")
        from mayfly.workload.capture import connections as read
        from mayfly.workload.capture import hosts_of

        table, _ = read(path)
        found = host_features(table, hosts_of(table)).sort("fanout", descending=True)
        first, second = found.row(0, named=True), found.row(1, named=True)
        assert first["fanout"] >= 100 and first["fanout"] > 10 * second["fanout"]
        with_ports = table.filter(pl.col("protocol").is_in(["tcp", "udp"]))
        assert first["outcnx"] == with_ports.filter(pl.col("opener") == first["host"]).height

    def test_roles_of_a_model_make_the_classes(self, tmp_path):
        model = trained([OFFICE], HOSTS, internal=INSIDE).write(tmp_path / "m.json")
        found = profile([OFFICE], internal=INSIDE, model=model, bootstrap=0).document()
        assert found["site"]["roles_from"] == "model"
        assert (found["site"]["server"], found["site"]["client"], found["site"]["unknown"]) == (4, 6, 1)
        shares = {row["class"]: row["connections"] for row in found["composition"] if row["reason"] is None}
        # 704 answered by the four servers; three asked of the fifth and of nobody that answered.
        assert shares["lc-ls"] + sum(row["connections"] for row in found["composition"] if row["reason"]) == 707
        both = profile([OFFICE], internal=INSIDE, hosts={"198.51.100.99": "server"}, model=model, bootstrap=0)
        assert both.roles_from == "hosts file and model" and both.document()["site"]["unknown"] == 0


class TestCommands:
    @pytest.fixture
    def hosts(self, tmp_path):
        path = tmp_path / "hosts.csv"
        path.write_text("host,role\n" + "".join(f"{host},{role}\n" for host, role in HOSTS.items()))
        return path

    def test_train_and_apply(self, tmp_path, hosts):
        model, out = tmp_path / "m" / "roles.json", tmp_path / "roles.csv"
        ended = mayfly_here("profile", "roles", "train", OFFICE, *OPTIONS, "--hosts", hosts, "--out", model)
        assert ended.status == 0, ended.err
        assert "dportout <= 0.2: server (4.0)" in ended.out and "Hold-out" in ended.out
        ended = mayfly_here(
            "profile", "roles", "apply", model, OFFICE, TINY, *OPTIONS, "--hosts", hosts, "--out", out, "--json"
        )
        assert ended.document["traces"][0]["score"]["right"] == 10
        assert {row["verdict"] for row in ended.document["hosts"]} == {
            "always client",
            "always server",
            "insufficient traffic",
        }
        assert out.read_text().startswith("host,server,client,insufficient,verdict,role_1,role_2\n")

    def test_the_page_shows_what_is_printed(self, tmp_path, hosts, monkeypatch):
        page = (ROOT / "docs" / "profile-roles.md").read_text(encoding="utf-8")
        shown = page.partition("$ mayfly profile roles train")[2].partition("\n")[2].partition("\n```")[0]
        monkeypatch.setenv("COLUMNS", "100")
        ended = mayfly_here(
            "profile", "roles", "train", OFFICE, *OPTIONS, "--hosts", hosts, "--out", tmp_path / "roles.json"
        )
        assert ended.out.replace(str(tmp_path) + "/", "").split() == shown.split()

    def test_features_for_weka_are_those_it_learns_from(self, tmp_path, hosts):
        out = tmp_path / "f.arff"
        ended = mayfly_here("profile", "roles", "features", OFFICE, *OPTIONS, "--hosts", hosts, "--out", out)
        assert ended.status == 0 and ended.out.startswith("10 hosts")
        data = read_arff(out)
        found = trained([OFFICE], HOSTS, internal=INSIDE)
        same = training_rows(found.features, HOSTS, "linear", 10)
        assert (data.values == same.values).all() and (data.labels == same.labels).all()

    def test_features_as_measured(self, tmp_path, hosts):
        out = tmp_path / "f.csv"
        assert mayfly_here("profile", "roles", "features", OFFICE, *OPTIONS, "--hosts", hosts, "--out", out).status == 0
        table = pl.read_csv(out)
        assert table.height == 11 and table["role"].null_count() == 1 and table.columns[:3] == ["host", "role", "incnx"]

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["--method", "svm"], "method = svm: must be c45 or naive-bayes"),
            (["--normalisation", "log"], "normalisation = log"),
            (["--seed", "-1"], "seed = -1: must be 0 or more"),
            (["--least", "0"], "least connections = 0"),
            (["--least", "1000"], "no labelled client with at least 1000 connections"),
        ],
    )
    def test_refused(self, tmp_path, hosts, arguments, said):
        out = tmp_path / "out" / "roles.json"
        assert said in refused_here(
            "profile", "roles", "train", OFFICE, *OPTIONS, "--hosts", hosts, "--out", out, *arguments
        )
        assert not out.parent.exists()

    def test_labels_of_another_site_are_refused(self, tmp_path):
        path = tmp_path / "hosts.csv"
        path.write_text("host,role\n192.0.2.1,server\n")
        said = refused_here("profile", "roles", "train", OFFICE, "--hosts", path, "--out", tmp_path / "m.json")
        assert "none of the 1 labelled hosts is among the 6 hosts of the site" in said


def test_instances_keep_the_order_of_hosts():
    features, roles = site(clients=3, servers=2)
    data = instances_of(features, roles, "none")
    assert data.values[:, 0].tolist() == features["incnx"].to_list()
    assert [data.classes[label] for label in data.labels] == [roles[host] for host in features["host"]]
