"""`mayfly model compare`: table, document, page, refusals."""

from invocation import mayfly_here, refused_here

LAW = ["--law", "bounded-pareto:min=1,max=1e6,alpha=1.1"]


def test_table_and_document_agree():
    ended = mayfly_here("model", "compare", "fifo,las", *LAW, "--rho", "0.5,1.1", "--at", "1,100")
    assert (ended.status, ended.err) == (0, "")
    document = mayfly_here("model", "compare", "fifo,las", *LAW, "--rho", "0.5,1.1", "--at", "1,100", "--json").document
    fifo, las = document["policies"]
    assert [f"{value:.4g}" for value in las["loads"][0]["response_time"]] == ended.out.split("las")[1].split()[:2]
    assert fifo["loads"][1]["mean"] is None and "inf" in ended.out
    assert f"las lets jobs larger than {las['loads'][1]['starves_above']:.6g} wait without end" in ended.out


def test_the_page_is_written_beside_the_document(tmp_path):
    page = tmp_path / "new" / "report.html"
    ended = mayfly_here("model", "compare", "ps,las", *LAW, "--rho", "0.5", "--out", page.parent, "--json")
    assert (ended.status, ended.err) == (0, "")
    assert ended.document["files"] == {"report": str(page)}
    assert page.read_text().startswith("<!DOCTYPE html>") and [path.name for path in page.parent.iterdir()] == [
        page.name
    ]


def test_bad_input_is_one_line(tmp_path):
    assert "did you mean las?" in refused_here("model", "compare", "lass", *LAW)
    assert "must be numbers" in refused_here("model", "compare", "las", *LAW, "--rho", "half")
    (tmp_path / "file").touch()
    line = refused_here("model", "compare", "las", *LAW, "--out", tmp_path / "file" / "models", "--json")
    assert "is not a folder" in line
    line = refused_here("model", "compare", "las", *LAW, "--out", tmp_path / "models.html", "--json")
    assert "must be a folder, which gets report.html" in line and not (tmp_path / "models.html").exists()
