"""Boards on pages: their legends, how they look, and that all of it can be seen."""

import re
from collections.abc import Callable, Iterator
from importlib.resources import files

import pytest

from domain.rules import all_games, game_by_key
from services.http.web.boards.board_view import board_sample, draw_figures
from tests.helpers.api import Api
from tests.helpers.web import Guest, door

KEYS = [game.key for game in all_games()]
COLOUR = re.compile(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")
RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
TEXT, SHAPE = 4.5, 3.0
"""The contrast that WCAG's level AA asks of text, and of what has to be told from its ground."""


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("boards")) as api:
        yield api


@pytest.fixture
def come(api: Api) -> Iterator[Callable[..., Guest]]:
    with door(api) as come:
        yield come


# --- legends


@pytest.mark.parametrize("key", KEYS)
def test_a_legend_shows_figures_of_the_game_and_says_what_they_mean(come, key):
    english, german = (
        come(**{"Accept-Language": language}).page(f"/games/{key}/try") for language in ("en", "de")
    )
    lines = [
        re.findall("<li[^>]*><(?:svg|span).*?</li>", page, re.DOTALL) for page in (english, german)
    ]
    assert f'data-legend="{key}"' in english
    assert len(lines[0]) == len(lines[1]) >= 4
    words = [{re.sub("<[^>]*>", "", line).strip() for line in found} for found in lines]
    assert not words[0] & words[1]
    assert 'class="board figure"' in english


def test_a_legend_speaks_of_free_cells_where_there_are_some(come):
    halves = "/games/halves/try"
    assert "a tile can be placed here" not in come().page(halves)
    assert "a tile can be placed here" in come().page(f"{halves}?options=-manual_start")


@pytest.mark.parametrize("key", KEYS)
def test_figures_stand_side_by_side_in_one_drawing(key):
    game = game_by_key(key)
    one, two = (draw_figures(game, *list(game.figures)[:count]) for count in (1, 2))
    assert 'viewBox="-20 -20 40 40"' in one
    assert 'viewBox="-20 -20 74 40"' in two
    assert two.count("<g transform") >= 1


# --- looks


def test_a_browser_keeps_the_look_of_its_boards(come):
    guest = come()
    page = guest.page("/games/pow2/try")
    assert '<html lang="en" data-board="paper"' in page
    assert 'data-coordinates="off"' not in page
    for field, value in (("board", "wood"), ("coordinates", "false"), ("below", "first")):
        sent = {field: value, "back": "/games/pow2/try"}
        assert guest.send("/display", sent, on="/games/pow2/try").status_code == 303
    page = guest.page("/games/pow2/try")
    assert 'data-board="wood" data-coordinates="off"' in page
    pressed = re.findall(r'name="(\w+)" value="(\w+)" class="\w+" aria-pressed="(\w+)"', page)
    assert ("board", "wood", "true") in pressed
    assert ("coordinates", "true", "false") in pressed
    assert ("below", "mine", "false") in pressed


def test_my_side_of_the_board_is_below_unless_i_want_the_first_players(api, come):
    first, second = api.players()
    board = api.begun(first, second)
    guest = come()
    guest.log_in(second.name)

    def height(page):
        found = re.search(r'data-place="m13" transform="translate\(\S+ (\S+)\)"', page)
        return float(found[1])

    turned = guest.page(f"/m/{board}")
    guest.send("/display", {"below": "first"}, on=f"/m/{board}")
    plain = guest.page(f"/m/{board}")
    assert height(turned) < 256 < height(plain)


def test_samples_show_each_theme_and_no_place():
    samples = [board_sample(theme) for theme in ("paper", "wood", "slate")]
    assert [sample.count("data-place") for sample in samples] == [0, 0, 0]
    assert len(set(samples)) == 3


# --- contrast


def themes():
    """Return the colours of each theme, in the light and in the dark."""
    styles = files("services.http.web").joinpath("static", "styles")
    style = "".join(
        styles.joinpath(f"{name}.css").read_text("utf-8") for name in ("tokens", "board")
    )
    found = {"paper": {}, "wood": {}, "slate": {}}
    for selector, body in RULE.findall(style):
        colours = {name: (light, dark) for name, light, dark in COLOUR.findall(body)}
        wanted = [theme for theme in found if f'"{theme}"] .board' in selector]
        if selector.strip().endswith(":root") or selector.strip().endswith("\n.board"):
            wanted = list(found)
        for theme in wanted:
            found[theme] |= colours
    return [
        pytest.param({name: pair[at] for name, pair in colours.items()}, id=f"{theme} {mode}")
        for theme, colours in found.items()
        for at, mode in enumerate(("light", "dark"))
    ]


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    darker, brighter = sorted((luminance(one), luminance(other)))
    return (brighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("colours", themes())
def test_everything_on_a_board_stands_out_in_every_theme(colours):
    ground = colours["board-paper"]
    for name in ("board-ink", "board-muted"):
        assert contrast(colours[name], ground) >= TEXT, name
    for name in ("accent", "board-edge"):
        assert contrast(colours[name], ground) >= SHAPE, name
    for look in ("light", "dark", "third"):
        body, rim, ink = (colours[f"board-{look}{part}"] for part in ("", "-rim", "-ink"))
        assert max(contrast(body, ground), contrast(rim, ground)) >= SHAPE, look
        assert contrast(ink, body) >= TEXT, look
    assert contrast(colours["board-light"], colours["board-dark"]) >= 7
