"""Options and times that can be chosen for a new match."""

import html
from collections.abc import Callable

from domain.game.options import OptionField, OptionKind
from domain.rules import all_games, all_rules, game_by_key
from services.http.web.challenges.match_draft import (
    TIME_CHOICES,
    chosen_options,
    featured_games,
    showcase_games,
    suggested_game,
)
from services.http.web.forms import Form
from tests.helpers.api import Api
from tests.helpers.web import Guest


def test_every_option_that_can_be_chosen_is_one_of_the_game():
    for rules in all_rules():
        for at, field in enumerate(game_by_key(rules.key).options_form):
            for name, value in values_of(field, at):
                flags = chosen_options(rules.key, Form({name: (value,)}))
                assert len(rules.write_options(rules.read_options(flags))) == 1, (name, value)


def values_of(field: OptionField, at: int) -> list[tuple[str, str]]:
    """Return what a form may send for an option, but for what is usual."""
    match field.kind:
        case OptionKind.NUMBER:
            numbers = {field.low, field.high} - {field.usual}
            return [(f"number-{at}", str(number)) for number in numbers]
        case OptionKind.NAMES:
            listed = field.names[: field.low]
            return [(f"names-{at}", ",".join(listed)), (f"names-{at}", ", ".join(listed))]
    return [(f"pick-{at}", pick.flag) for pick in field.picks if pick.flag]


def test_what_is_usual_is_no_option():
    for rules in all_rules():
        fields = list(enumerate(game_by_key(rules.key).options_form))
        form = Form(
            {f"number-{at}": (str(field.usual),) for at, field in fields}
            | {f"pick-{at}": ("",) for at, field in fields if field.kind is OptionKind.ONE_OF}
            | {f"names-{at}": ("",) for at, field in fields}
        )
        assert chosen_options(rules.key, form) == ()


def test_every_option_of_every_game_is_in_the_form(api: Api, come: Callable[..., Guest]):
    browser = come()
    browser.log_in(api.player().name)
    page = html.unescape(browser.page("/new"))
    for rules in showcase_games():
        for at, field in enumerate(game_by_key(rules.key).options_form):
            assert field.title in page, (rules.key, field.field)
            for pick in field.picks:
                assert f'name="{rules.key}-pick-{at}" value="{pick.flag}"' in page
            if not field.picks:
                assert f'name="{rules.key}-{field.kind}-{at}"' in page


def test_the_games_that_are_offered_are_those_that_say_so(api: Api, come: Callable[..., Guest]):
    assert {rules.key for rules in featured_games()} == {
        game.key for game in all_games() if game.featured
    }
    assert suggested_game() == featured_games()[0]
    shown = showcase_games()
    assert shown[: len(featured_games())] == featured_games()
    assert {rules.key for rules in shown} == {
        rules.key for rules in all_rules() if rules.players != (1,)
    }
    browser = come()
    browser.log_in(api.player().name)
    assert "<h1>New match</h1>" in browser.page("/new")
    assert f"The rules of {suggested_game().title}" in browser.page("/new")


def test_every_time_that_can_be_chosen_is_one():
    from domain.match.start import read_start_options  # noqa: PLC0415 - what it is judged by

    for _, words in TIME_CHOICES.values():
        assert read_start_options(words, 2).terms is not None
