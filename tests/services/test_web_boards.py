"""Boards on pages: how they look, what a move would change, replays, lines that are tried."""

import re
from importlib.resources import files

import pytest

from domain.rules import all_games, latest_rules
from services.app.matches import load_state
from services.http.web.boards.board_view import draw_figures, preview_move
from services.http.web.boards.live_try import start_of_try
from tests.services.matches_by_form import start

COLOUR = re.compile(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")
RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
TEXT, SHAPE = 4.5, 3.0
"""The contrast that WCAG's level AA asks of text, and of what has to be told from its ground."""


def test_a_legend_shows_figures_of_the_game_and_says_what_they_mean(come):
    for game in all_games():
        english, german = (
            come(**{"Accept-Language": language}).page(f"/games/{game.key}/try")
            for language in ("en", "de")
        )
        pattern = re.compile("<li[^>]*><(?:svg|span).*?</li>", re.DOTALL)
        lines = [pattern.findall(page) for page in (english, german)]
        assert f'data-legend="{game.key}"' in english
        assert len(lines[0]) == len(lines[1]) >= 4
        words = [{re.sub("<[^>]*>", "", line).strip() for line in found} for found in lines]
        assert not words[0] & words[1]
        assert 'class="board figure"' in english
        one, two = (draw_figures(game, *list(game.figures)[:count]) for count in (1, 2))
        assert 'viewBox="-20 -20 40 40"' in one
        assert 'viewBox="-20 -20 74 40"' in two
        assert two.count("<g transform") >= 1
    halves, free = "/games/halves/try", "a tile can be placed here"
    assert free not in come().page(halves)
    assert free in come().page(f"{halves}?options=-manual_start")


def themes():
    """Return the colours of each theme, in the light and in the dark."""
    styles = files("services.http.web").joinpath("static", "styles")
    style = "".join(
        styles.joinpath(name).read_text("utf-8") for name in ("tokens.css", "board.css")
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


def test_a_move_is_looked_at_before_it_is_played(api, one, two, board):
    json_ = {"headers": {"Accept": "application/json"}}
    found = one.get(f"/m/{board}/check?move=m13-m5:l4", **json_).json()
    assert found["legal"]
    kinds = {change["place"]: (change["kind"], change["now"]) for change in found["changes"]}
    assert kinds == {
        "m1": ("changes", "Light, aged"),
        "m13": ("goes", ""),
        "m5": ("comes", "Light, aged"),
        "l4": ("comes", "Light, fresh"),
    }
    assert found["said"] == f"It will be {two.name}'s turn."
    assert found["svg"].startswith("<svg")
    refused = one.get(f"/m/{board}/check?move=m13-k5", **json_).json()
    assert not refused["legal"]
    assert refused["said"] == "m13-k5: no line connects m13 and k5"
    assert "no line connects" in one.page(f"/m/{board}/check?move=m13-k5")
    assert "Play it" in one.page(f"/m/{board}/check?move=m13-m5:l4")
    assert "Play it" not in two.page(f"/m/{board}/check?move=m13-m5:l4")
    # a board that is shown beside a refusal is turned as on the page of the match
    refused = two.page(f"/m/{board}/check?move=m13-m1")
    assert "m1 is occupied by a light piece" in refused
    of_match = two.page(f"/m/{board}")
    beside = refused[refused.index("board-frame check") :]
    assert re.search("<svg.*?</svg>", beside, re.DOTALL)[0] in of_match
    assert load_state(api.parts, board).ply == 0


def test_every_ply_has_a_page_with_the_clocks_of_then_and_no_other(one, two, come):
    board = start(one, two, **{"time": "own", "own-bank": "5", "own-more": "1"})
    one.move(board, "m13-m5:l4")
    clocks = [
        re.findall(r'class="clock still"[^>]*>([^<]*)<', come().page(f"/m/{board}/{ply}"))
        for ply in (0, 1)
    ]
    assert clocks == [["5 d 0 h", "5 d 0 h"], ["5 d 0 h", "5 d 23 h"]]
    two.move(board, "a13-c11")
    page = one.page(f"/m/{board}/0")
    assert all(part in page for part in ("The start", 'id="flip"', 'class="looks"'))
    assert 'data-legend="pow2"' in page
    of_match = one.page(f"/m/{board}")
    assert re.findall(r'<li class="column-(\d)', of_match) == ["0", "1"]
    assert re.search(r"<span>Light</span><span>Dark</span>", of_match)
    assert "After move 1 of 2: m13-m5:l4." in one.page(f"/m/{board}/1")
    assert one.get(f"/m/{board}/3").status_code == 404
    assert one.get(f"/m/{board + 10_000}/0").status_code == 404
    one.act(board, "resign")
    assert 'class="clock' not in come().page(f"/m/{board}/1")


def test_what_if_goes_on_from_any_ply_keeps_its_chance_and_touches_nothing(api, come, one, board):
    one.move(board, "m13-m5:l4")
    guest = come()
    answer = guest.get(f"/m/{board}/0/if?move=m1-m7")
    assert answer.headers["location"] == f"/m/{board}/0/if?line=m1-m7"
    answer = guest.get(f"/m/{board}/0/if?line=m1-m7&move=A13-C11")
    assert answer.headers["location"] == f"/m/{board}/0/if?line=m1-m7+a13-c11"
    assert ">a13-c11</a>" in guest.page(answer.headers["location"])
    later = guest.page(f"/m/{board}/1/if?line=a13-c11")
    assert '<ol class="moves" start="2">' in later  # its number in the match
    found = guest.get(f"/m/{board}/0/if/moves?line=m1-m7+a13-c11").json()
    assert found["ply"] == 2
    assert found["moves"]
    said = guest.get(f"/m/{board}/0/if/check?line=m1-m7&move=m7-m9").json()["said"]
    assert "it is Dark's turn" in said
    wrong = guest.get(f"/m/{board}/0/if?line=m1-m7+m7-m9")
    assert wrong.status_code == 422
    assert "Move 2: " in wrong.text
    assert guest.get(f"/m/{board}/0/if?line={'m1-m7+' * 2000}").status_code in (400, 413)
    assert load_state(api.parts, board).ply == 1
    # chance stays in the address
    (seed,) = set(re.findall(r"seed=([0-9a-f]{16})", guest.page("/games/powerdrain/try")))
    drawn = [
        guest.get(f"/games/powerdrain/try?seed={one}").text.partition('<svg class="board"')[2]
        for one in (seed, seed, "00")
    ]
    boards = [text.partition("</svg>")[0] for text in drawn]
    assert boards[0] == boards[1] != boards[2]


def test_a_move_that_ends_the_match_is_said_to():
    rules = latest_rules("powerdrain")
    position = start_of_try(rules, rules.read_options(["-o1"]), 2, "x")
    while True:
        move = next(iter(rules.legal_moves(position)))
        after = rules.play(position, rules.check(position, rules.read(move)))
        if rules.outcome(after):
            break
        position = after
    found = preview_move(rules, position, move, ("ann", "bob"))
    assert found.said.startswith("This ends the match: ")
    assert not preview_move(rules, after, move, ()).legal


def test_who_chooses_a_colour_in_halves_reads_its_name_and_what_follows(one, two):
    board = start(one, two, game="halves")
    found = one.get(f"/m/{board}/moves").json()
    assert found["moves"] == ["keep", "swap"]
    assert found["prompt"] == "Which colour do you want?"
    assert found["words"] == {"keep": "Play the light tiles", "swap": "Play the dark tiles"}
    said = one.get(f"/m/{board}/check?move=swap", headers={"accept": "application/json"}).json()
    assert (said["label"], said["changes"]) == ("Play the dark tiles", [])
    assert said["said"] == f"the light ones go to {two.name}, who removes the first tile"
    tried = one.get("/games/halves/try/check?seed=00&move=keep").json()
    assert tried["said"] == "the dark ones go to B, who removes the first tile"
    page = one.page(f"/m/{board}/check?move=swap")
    assert "<h1>Play the dark tiles</h1>" in page
    assert f"The light ones go to {two.name}, who removes the first tile." in page
    assert "You’re playing Light." in one.page(f"/m/{board}")
    one.move(board, "swap")
    assert "You’re playing Dark." in one.page(f"/m/{board}")
    assert "You’re playing Light." in two.page(f"/m/{board}")
    assert two.get(f"/m/{board}/moves").json()["prompt"] == "Choose a tile to remove"
