"""C4.5 against the trees and numbers of the literature, and against Weka's J48 where it is installed."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from mayfly.errors import MayflyError
from mayfly.profile.roles.c45 import Settings, _test, grow, probabilities, tree_document, tree_of, tree_text
from mayfly.profile.roles.instances import Attribute, Instances, arff_text, read_arff
from mayfly.profile.roles.naive_bayes import naive_bayes
from mayfly.profile.roles.pruning import added_errors, c45

ROOT = Path(__file__).parents[2]
JAR = Path("/usr/share/java/weka.jar")
EXAMPLES = Path("/usr/share/doc/weka/examples")

# Quinlan 1993, Fig. 2-1: outlook, temperature, humidity, windy, play.
PLAY = """
sunny 75 70 true yes|sunny 80 90 true no|sunny 85 85 false no|sunny 72 95 false no|sunny 69 70 false yes
overcast 72 90 true yes|overcast 83 78 false yes|overcast 64 65 true yes|overcast 81 75 false yes
rain 71 80 true no|rain 65 70 true no|rain 75 80 false yes|rain 68 80 false yes|rain 70 96 false yes
"""
OUTLOOK = ("sunny", "overcast", "rain")


def play(unknown_outlook=None):
    rows = [row.split() for row in PLAY.replace("\n", "|").split("|") if row]
    values = [
        [
            np.nan if place == unknown_outlook else OUTLOOK.index(row[0]),
            float(row[1]),
            float(row[2]),
            ("true", "false").index(row[3]),
        ]
        for place, row in enumerate(rows)
    ]
    attributes = (
        Attribute("outlook", OUTLOOK),
        Attribute("temperature"),
        Attribute("humidity"),
        Attribute("windy", ("true", "false")),
    )
    return Instances(
        attributes, ("yes", "no"), np.array(values), np.array([("yes", "no").index(row[4]) for row in rows])
    )


def lines(data, **settings):
    return tree_text(c45(data, Settings(**settings)), data.attributes, data.classes).split("\n")


def iris():
    rows = [line.split(",") for line in (ROOT / "tests" / "data" / "iris.csv").read_text().splitlines()]
    names = ("sepallength", "sepalwidth", "petallength", "petalwidth")
    classes = ("setosa", "versicolor", "virginica")
    values = np.array([[float(cell) for cell in row[:4]] for row in rows[1:]])
    return Instances(
        tuple(map(Attribute, names)), classes, values, np.array([classes.index(row[4]) for row in rows[1:]])
    )


def test_the_tree_of_quinlan():
    """Quinlan 1993, Fig. 2-2."""
    assert lines(play()) == [
        "outlook = sunny",
        "|   humidity <= 75: yes (2.0)",
        "|   humidity > 75: no (3.0)",
        "outlook = overcast: yes (4.0)",
        "outlook = rain",
        "|   windy = true: no (2.0)",
        "|   windy = false: yes (3.0)",
    ]


def test_gain_and_gain_ratio_of_quinlan():
    """Quinlan 1993, 2.2 and 3.2: 0.246 bits and 0.156 with all values; 0.199 and 0.110 when one outlook is unknown."""
    for data, gain, ratio in ((play(), 0.246, 0.156), (play(5), 0.199, 0.110)):
        root = grow(data, Settings())
        root.rows, root.weights = np.arange(14), np.ones(14)
        test = _test(data, root, 0, data.attributes[0], Settings())
        # The book prints sums of numbers rounded to three digits.
        assert test.gain == pytest.approx(gain, abs=1.1e-3)
        assert test.ratio == pytest.approx(ratio, abs=1.1e-3)


def test_a_case_without_value_is_in_every_branch_in_parts():
    """Quinlan 1993, 3.3: 5/13 of it are sunny, 3/13 overcast, 5/13 rain."""
    data = play(5)
    assert lines(data) == [
        "outlook = sunny",
        "|   humidity <= 75: yes (2.0)",
        "|   humidity > 75: no (3.38/0.38)",
        "outlook = overcast: yes (3.23)",
        "outlook = rain",
        "|   windy = true: no (2.38/0.38)",
        "|   windy = false: yes (3.0)",
    ]
    # Sunny, humidity unknown: 2.0 of 5.38 go left.
    known = probabilities(c45(data), np.array([[0, 70.0, np.nan, 1]]))[0]
    left = 2 / (5 + 5 / 13)
    assert known == pytest.approx([left + (1 - left) * (5 / 13) / (3 + 5 / 13), (1 - left) * 3 / (3 + 5 / 13)])


def test_the_tree_of_iris():
    """Fisher's irises: the tree of J48 that Witten and Frank print."""
    data = iris()
    assert len(data) == 150
    assert lines(data) == [
        "petalwidth <= 0.6: setosa (50.0)",
        "petalwidth > 0.6",
        "|   petalwidth <= 1.7",
        "|   |   petallength <= 4.9: versicolor (48.0/1.0)",
        "|   |   petallength > 4.9",
        "|   |   |   petalwidth <= 1.5: virginica (3.0)",
        "|   |   |   petalwidth > 1.5: versicolor (3.0/1.0)",
        "|   petalwidth > 1.7: virginica (46.0/1.0)",
    ]


def test_pessimistic_errors_of_quinlan():
    """Quinlan 1993, 4.2: the congressional votes, 6, 9 and 1 cases without error, 16 with one, at 25 %."""
    leaves = [n + 0 for n in (6, 9, 1)]
    expected = sum(added_errors(n, 0, 0.25) for n in leaves)
    # He prints 6 x 0.206 + 9 x 0.143 + 1 x 0.750 = 3.273 and 16 x 0.157 = 2.512, from the binomial law itself.
    assert expected == pytest.approx(3.273, abs=0.01)
    assert 1 + added_errors(16, 1, 0.25) == pytest.approx(16 * 0.157, rel=0.02)
    assert added_errors(10, 10, 0.25) == 0.0
    assert added_errors(10, 0.5, 0.25) == pytest.approx((added_errors(10, 0, 0.25) + added_errors(10, 1, 0.25)) / 2)


def test_noise_is_pruned_away():
    """Words that tell nothing: a tree is grown, and cut down to the more frequent class."""
    rng = np.random.default_rng(1)
    words = tuple(Attribute(f"a{n}", ("p", "q", "r")) for n in range(3))
    labels = (rng.random(300) < 0.1).astype(int)
    data = Instances(words, ("x", "y"), rng.integers(0, 3, (300, 3)).astype(float), labels)
    assert len(grow(data, Settings()).children) == 3
    assert lines(data) == [f": x (300.0/{labels.sum()}.0)"]


def test_midpoints_make_the_same_tree_with_other_numbers():
    data = iris()
    there, midway = (c45(data, Settings(midpoints=midpoints)) for midpoints in (False, True))
    assert re.sub(r"[<>=]+ [0-9.]+", "", tree_text(there, data.attributes, data.classes)) == re.sub(
        r"[<>=]+ [0-9.]+", "", tree_text(midway, data.attributes, data.classes)
    )
    assert midway.threshold == pytest.approx(0.8) and there.threshold == 0.6


def test_one_class_or_one_row_is_a_leaf():
    data = play().chosen(np.array([0, 4, 5]))
    assert lines(data) == [": yes (3.0)"]
    with pytest.raises(MayflyError, match="0 labelled instances"):
        c45(Instances(data.attributes, data.classes, data.values, np.full(3, -1)))


@pytest.mark.parametrize(("name", "value"), [("least", 0), ("confidence", 0.0), ("confidence", 0.6)])
def test_settings_are_checked(name, value):
    with pytest.raises(MayflyError, match=f"{name} = {value}"):
        Settings(**{name: value})


def test_a_tree_is_data():
    import json

    root = c45(play(5))
    again = tree_of(json.loads(json.dumps(tree_document(root))))
    assert tree_text(again, play().attributes, play().classes) == "\n".join(lines(play(5)))
    assert (probabilities(again, play(2).values) == probabilities(root, play(2).values)).all()


def test_arff_is_read_as_written(tmp_path):
    path = tmp_path / "play.arff"
    path.write_text(arff_text(play(5), "play"))
    again = read_arff(path)
    assert again.attributes == play().attributes and again.classes == ("yes", "no")
    np.testing.assert_array_equal(again.values, play(5).values)
    np.testing.assert_array_equal(again.labels, play().labels)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("@relation a\n", "no line @data"),
        ("@attribute a numeric\n@attribute c numeric\n@data\n", "the class, must be nominal"),
        ("@attribute a string\n@attribute c {x}\n@data\n", "line 1: attribute of type string"),
        ("@attribute a numeric\n@attribute c {x}\n@data\n1\n", "line 4: 1 values: must be 2"),
        ("@attribute a numeric\n@attribute c {x}\n@data\n1,y\n", "line 4: c = y: must be one of x"),
        ("@attribute a numeric\n@attribute c {x}\n@data\n{0 1}\n", "sparse rows"),
    ],
)
def test_arff_refused(tmp_path, text, said):
    path = tmp_path / "bad.arff"
    path.write_text(text)
    with pytest.raises(MayflyError, match=said):
        read_arff(path)


def weka(learner, path):
    done = subprocess.run(
        ["java", "-cp", f"{JAR}:/usr/share/java/cup.jar", f"weka.classifiers.{learner}", "-t", str(path), "-no-cv"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


def same_tree_as_weka(path):
    data = read_arff(path)
    theirs = re.search(r"J48 pruned tree\n-+\n\n?(.*?)\n\nNumber of Leaves", weka("trees.J48", path), re.DOTALL)[1]

    def plain(text):
        # Of a leaf no instance came to, Weka prints the first class and takes that of the node above, as we print.
        return [re.sub(r": .* \(0\.0\)$", ": (0.0)", line.rstrip()) for line in text.split("\n") if line.strip()]

    return plain("\n".join(lines(data))), plain(theirs)


needs_weka = pytest.mark.skipif(
    not JAR.exists() or shutil.which("java") is None, reason="Weka is not installed (Debian: weka)"
)


WEKA_FILES = (
    *("weather.nominal", "weather.numeric", "iris", "iris.2D", "contact-lenses", "labor", "vote", "breast-cancer"),
    *("diabetes", "glass", "ionosphere", "soybean", "credit-g", "unbalanced", "segment-challenge"),
)


@pytest.mark.slow
@needs_weka
@pytest.mark.parametrize(
    "name",
    WEKA_FILES,
)
def test_the_tree_is_that_of_weka(name):
    ours, theirs = same_tree_as_weka(EXAMPLES / f"{name}.arff")
    assert ours == theirs


@pytest.mark.slow
@needs_weka
@pytest.mark.parametrize("seed", range(12))
def test_the_tree_of_drawn_instances_is_that_of_weka(seed, tmp_path):
    path = tmp_path / "drawn.arff"
    path.write_text(arff_text(drawn(seed), "drawn"))
    ours, theirs = same_tree_as_weka(path)
    assert ours == theirs


def drawn(seed):
    """Numbers with ties, nominal values, values missing, two to four classes that depend on them with noise."""
    rng = np.random.default_rng(seed)
    n, classes = int(rng.integers(30, 400)), int(rng.integers(2, 5))
    numbers = np.round(rng.normal(size=(n, 3)) * 10, int(rng.integers(0, 3)))
    words = rng.integers(0, 4, (n, 2)).astype(float)
    score = numbers[:, 0] + 4 * words[:, 0] + rng.normal(size=n) * 5
    labels = np.clip(((score - score.min()) / np.ptp(score) * classes).astype(int), 0, classes - 1)
    values = np.hstack([numbers, words])
    values[rng.random(values.shape) < 0.08 * (seed % 3)] = np.nan
    attributes = (*(Attribute(f"n{k}") for k in range(3)), *(Attribute(f"w{k}", tuple("abcd")) for k in range(2)))
    return Instances(attributes, tuple(f"c{k}" for k in range(classes)), values, labels)


@pytest.mark.slow
@needs_weka
@pytest.mark.parametrize("name", ["weather.nominal", "weather.numeric", "iris", "labor", "vote", "diabetes", "glass"])
def test_naive_bayes_is_right_as_often_as_wekas(name):
    data = read_arff(EXAMPLES / f"{name}.arff")
    said = np.argmax(naive_bayes(data).probabilities(data.values), axis=1)
    theirs = re.search(r"Correctly Classified Instances\s+(\d+)", weka("bayes.NaiveBayes", EXAMPLES / f"{name}.arff"))
    assert int((said == data.labels).sum()) == int(theirs[1])
