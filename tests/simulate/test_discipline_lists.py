"""Disciplines as users write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mayfly.discipline_registry import FAMILIES, by_family, disciplines, named_in, parse, parse_list, slug, split
from mayfly.errors import MayflyError
from mayfly.simulate.run import named

IDS = [row["id"] for row in disciplines()]
ORDER = [row["id"] for rows in by_family().values() for row in rows]
OPTIONS = [(row["id"], param) for row in disciplines() for param in row["params"]]


@pytest.mark.parametrize("id", IDS)
def test_every_id_of_the_registry_is_a_discipline(id):
    assert parse(id).label == parse(f" {id} ").label == parse(f"{id}()").label == id


@pytest.mark.parametrize(("id", "param"), OPTIONS, ids=lambda x: x if isinstance(x, str) else x["name"])
def test_every_option_takes_its_default_and_its_bounds_and_nothing_beyond(id, param):
    name = param["name"]
    default = param["default"]
    default = ":".join(map(str, default)) if isinstance(default, list) else default
    for value in param.get("choices", [default, param.get("min"), param.get("max")]):
        try:
            found = parse(f"{id}({name}={value})")
        except MayflyError as error:
            # Within its own bounds, but not together with the defaults of other options.
            assert value != default and f"from {param['min']:g} to " not in str(error), error
        else:
            assert found.options == {name: str(value)} and found.label == f"{id}({name}={value})"
    bad = ["", "nonsense"] if "choices" in param else ["", "nonsense", "nan", "inf", -1e300, 1e300]
    for value in bad:
        with pytest.raises(MayflyError) as refused:
            parse(f"{id}({name}={value})")
        assert name in str(refused.value) and "\n" not in str(refused.value)


def test_all_is_the_registry_by_family_wherever_it_stands():
    assert sorted(ORDER) == sorted(IDS) and ORDER[0] == "fifo"
    assert [d.id for d in parse_list("all")] == ORDER
    assert [d.id for d in parse_list("efd, all")] == ["efd", *(id for id in ORDER if id != "efd")]


def test_every_family_has_a_place_in_the_order_and_stands_for_its_members():
    assert set(by_family()) <= set(FAMILIES)
    assert list(by_family()) == [family for family in FAMILIES if family in by_family()]
    for family, rows in by_family().items():
        assert (
            [d.id for d in parse_list(slug(family))]
            == [row["id"] for row in rows]
            == [row["id"] for row in disciplines() if row["family"] == family]
        )
        assert {d.family for d in parse_list(slug(family))} == {family}
        assert named_in(slug(family)) == rows


def test_a_minus_leaves_out():
    assert [d.id for d in parse_list("all,-las")] == [id for id in ORDER if id != "las"]
    assert parse_list("-las, all") == parse_list("-las") == parse_list("all,-las")
    families = [slug(family) for family in by_family()]
    assert parse_list(f"all,-{families[0]}") == parse_list(",".join(families[1:]))


def test_a_minus_without_options_leaves_out_every_variant_and_one_with_options_that_one():
    variants = "fifo,las,las(visit=1),las(visit=2)"
    assert [d.label for d in parse_list(f"{variants},-las")] == ["fifo"]
    assert [d.label for d in parse_list(f"{variants},-las(visit=1s)")] == ["fifo", "las", "las(visit=2)"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fifo,-las", "-las must be in the list to be left out"),
        ("fifo,las,-las(visit=1)", "-las(visit=1) must be in the list to be left out"),
        ("fifo,-fifo", "must leave at least one"),
        ("all,-laas", "unknown discipline 'laas': must be one that `mayfly disciplines` lists; did you mean las?"),
        ("size-base", "did you mean size-based?"),
        ("all(visit=1)", "must be without options, as all is several"),
    ],
)
def test_a_list_that_makes_no_sense_is_refused(text, said):
    with pytest.raises(MayflyError) as refused:
        parse_list(text)
    assert said in str(refused.value)


def test_times_and_sizes_take_suffixes_and_keep_them_in_the_label():
    found = parse("las(visit=200ms, timeout=2min)")
    assert found.label == "las(visit=200ms, timeout=2min)"
    assert found.options == {"visit": "0.2", "timeout": "120"} and found.native == ("las", [*found.options.items()])
    assert parse("run2c(threshold=30kB)").options == parse("run2c(threshold=30000)").options
    assert parse("run2c(threshold=30kB)") == parse("run2c(threshold=30000)")


def test_what_means_the_same_is_run_once_under_the_first_name():
    assert [d.label for d in parse_list("las(visit=5ms),las(visit=0.005)")] == ["las(visit=5ms)"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("las(visit=5ns)", "visit = '5ns': must be a number from 0.001"),
        ("las(visit=5kB)", "visit = '5kB': must be a number from 0.001"),
        ("run2c(threshold=5ms)", "threshold = '5ms': must be a number from 1"),
        ("run2c(threshold=0.1B)", "threshold = '0.1B': must be a number from 1"),
    ],
)
def test_a_refused_option_is_shown_as_it_was_written(text, said):
    with pytest.raises(MayflyError) as refused:
        parse(text)
    assert str(refused.value).startswith(said)


def test_commas_in_parentheses_belong_to_the_options():
    labels = [d.label for d in parse_list("fifo,efd(threshold=40000, high=las),las")]
    assert labels == ["fifo", "efd(threshold=40000, high=las)", "las"]


def test_repetitions_are_dropped_and_variants_kept():
    assert [d.label for d in parse_list("efd,fifo,efd,efd(threshold=30),efd( threshold = 30 )")] == [
        "efd",
        "fifo",
        "efd(threshold=30)",
    ]


def test_a_sequence_reads_like_a_list():
    assert named(["fifo", "efd(threshold=30, high=las)"]) == named("fifo,efd(threshold=30, high=las)")


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


@given(st.text(alphabet="efdlas(),=; 0123456789.all-"))
def test_any_text_is_read_or_refused(text):
    try:
        found = parse_list(text)
    except MayflyError as error:
        assert "\n" not in str(error)
    else:
        assert found and len({d.label for d in found}) == len(found)
        assert parse_list(",".join(d.label for d in found)) == found


@given(st.lists(st.sampled_from([*IDS, "efd(threshold=30, high=las)"]), min_size=1))
def test_split_undoes_join(names):
    assert split(", ".join(names)) == names
