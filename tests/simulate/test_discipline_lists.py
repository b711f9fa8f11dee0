"""Disciplines as users write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mayfly.errors import MayflyError
from mayfly.simulate.disciplines import disciplines, parse, parse_list, split
from mayfly.simulate.run import named

IDS = [row["id"] for row in disciplines()]
OPTIONS = [(row["id"], param) for row in disciplines() for param in row["params"]]


@pytest.mark.parametrize("id", IDS)
def test_every_id_of_the_registry_is_a_discipline(id):
    assert parse(id).label == parse(f" {id} ").label == parse(f"{id}()").label == id


@pytest.mark.parametrize(("id", "param"), OPTIONS, ids=lambda x: x if isinstance(x, str) else x["name"])
def test_every_option_takes_its_default_and_its_bounds_and_nothing_beyond(id, param):
    name = param["name"]
    good = param["choices"] if "choices" in param else [param["default"], param["min"], param["max"]]
    for value in good:
        found = parse(f"{id}({name}={value})")
        assert found.options == {name: str(value)} and found.label == f"{id}({name}={value})"
    bad = ["", "nonsense"] if "choices" in param else ["", "nonsense", "nan", "inf", -1e300, 1e300]
    for value in bad:
        with pytest.raises(MayflyError) as refused:
            parse(f"{id}({name}={value})")
        assert name in str(refused.value) and "\n" not in str(refused.value)


def test_all_is_the_registry_wherever_it_stands():
    assert [d.id for d in parse_list("all")] == IDS
    assert [d.id for d in parse_list("efd, all")] == ["efd", *(id for id in IDS if id != "efd")]


def test_commas_in_parentheses_belong_to_the_options():
    labels = [d.label for d in parse_list("fifo,efd(threshold=40000, count=bytes),las")]
    assert labels == ["fifo", "efd(threshold=40000, count=bytes)", "las"]


def test_repetitions_are_dropped_and_variants_kept():
    assert [d.label for d in parse_list("efd,fifo,efd,efd(threshold=30),efd( threshold = 30 )")] == [
        "efd",
        "fifo",
        "efd(threshold=30)",
    ]


def test_a_sequence_reads_like_a_list():
    assert named(["fifo", "efd(threshold=30, count=packets)"]) == named("fifo,efd(threshold=30, count=packets)")


@pytest.mark.parametrize(("typo", "near"), [("efdd", "efd"), ("EFD", "efd"), ("fif0", "fifo"), ("lass", "las")])
def test_an_unknown_id_is_refused_with_the_nearest(typo, near):
    with pytest.raises(MayflyError, match=f"did you mean {near}\\?$"):
        parse(typo)


@pytest.mark.parametrize(
    "bad",
    ["", " ", ",", ",,", "()", "efd(", "efd)", "efd(threshold", "efd(threshold)", "efd(=3)", "efd fifo", "fifo;las",
     "efd(threshold=1)(threshold=2)", "efd(threshold=1, threshold=2)", "efd(nothing=1)", "fifo(threshold=1)",
     "\x1b[2J"],
)  # fmt: skip
def test_junk_is_refused_in_one_line(bad):
    with pytest.raises(MayflyError) as refused:
        parse_list(bad)
    assert str(refused.value).isprintable(), "one line, nothing that moves the cursor"


@given(st.text(alphabet="efdlas(),=; 0123456789.all"))
def test_any_text_is_read_or_refused(text):
    try:
        found = parse_list(text)
    except MayflyError as error:
        assert "\n" not in str(error)
    else:
        assert found and len({d.label for d in found}) == len(found)
        assert parse_list(",".join(d.label for d in found)) == found


@given(st.lists(st.sampled_from([*IDS, "efd(threshold=30, count=packets)"]), min_size=1))
def test_split_undoes_join(names):
    assert split(", ".join(names)) == names
