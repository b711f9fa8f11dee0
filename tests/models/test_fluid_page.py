"""The page of a trajectory in headless Chromium: a page without table draws its plots."""

from browser import Visit, figures_in, in_browser
from typer.testing import CliRunner

from mayfly.cli.app import app


@in_browser
def test_the_page_is_drawn_without_error_or_network(tmp_path):
    page = tmp_path / "fluid.html"
    words = "model fluid --rate 28mbit --tcp 30 --rtt 50ms --nonresponsive 10mbit --duration 5s --trajectory"
    assert CliRunner().invoke(app, [*words.split(), str(page)]).exit_code == 0
    visit = Visit(page, tmp_path)
    plots = len(figures_in(page.read_text(encoding="utf-8")))
    assert plots >= 2 and f'data-plots="{plots}"' in visit.dom
    assert 'data-errors="[]"' in visit.dom
    assert (visit.console, visit.requests) == ([], [])
