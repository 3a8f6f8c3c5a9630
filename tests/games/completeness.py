"""What a game needs to be played, drawn, explained, tested and replayed: what of it is missing."""

import json
import re
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec

from domain.fairness import DrawStream
from domain.game.options import unmatched_flags
from domain.game.painter import LOOKS, BoardInput
from domain.game.protocol import TextInput
from domain.rules import IllegalMove, rules_id
from tests.golden.make_games import GAMES

SCRIPT = files("services.http.web").joinpath("static/notation.js").read_text("utf-8")
PLACE = re.compile(re.search(r"PLACE = /(.+)/g;", SCRIPT)[1])
"""How pages find places in a move."""
LOOK = re.compile(rf'class="icon ({"|".join(LOOKS)})[ "]')
"""How pages find the look of a player's pieces."""
NAMES = ("alice", "bob", "carol", "dora", "emil", "flora")


def start(rules, players):
    """Return a first position of a match without options."""
    options = rules.read_options(())
    setup = rules.draw(options, players, DrawStream(bytes(32), "test/1"))
    return rules.start(options, players, setup)


def lacking(game, tests):
    """Return what a game lacks; `tests` is the package of its tests, such as `tests.games.pow2`."""
    found = {
        "text drawing": _is_drawn(game),
        "SVG painter": _is_painted(game),
        "places of moves": _has_places(game),
        "help": _is_explained(game, ""),
        "help in German": _is_explained(game, ".de"),
        "option form": _has_form(game),
    }
    missing = {name for name, there in found.items() if not there}
    return missing | _lacking_records(game, tests, _recorded(tests))


def _is_drawn(game):
    rules = game.latest
    return all(
        game.draw(TextInput(rules.to_json(start(rules, players)), display, NAMES[:players])).strip()
        for players in rules.players
        for display in rules.displays
    )


def _is_painted(game):
    rules = game.latest
    players = rules.players[0]
    at = start(rules, players)
    picture = game.paint(BoardInput(rules.to_json(at)))
    looks = [LOOK.search(player.icon) for player in picture.players]
    return "data-place=" in "".join(picture.body) and len(looks) == players and all(looks)


def _has_places(game):
    """Return whether a page finds each place that a first move names, as its script reads moves."""
    rules = game.latest
    for players in rules.players:
        at = start(rules, players)
        body = "".join(game.paint(BoardInput(rules.to_json(at))).body)
        known = set(re.findall(r'data-(?:place|plug)="([^"]*)"', body))
        moves, _ = rules.first_moves(at, 5_000)
        if any(not known.issuperset(PLACE.findall(move)) for move in moves):
            return False
    return True


def _page(game, suffix):
    page = files(game.package).joinpath(f"help{suffix}.txt")
    return page.read_text("utf-8") if page.is_file() else ""


def _is_explained(game, suffix):
    page = _page(game, suffix)
    other = _page(game, "" if suffix else ".de")
    return (
        f"{game.key} challenge" in page and page != other and max(map(len, page.splitlines())) <= 78
    )


def _has_form(game):
    if unmatched_flags(game.latest.options_type, game.options_form):
        return False
    texts = [text for field in game.options_form for text in _texts(field)]
    return all(texts)


def _texts(field):
    return [field.title, *(pick.label for pick in field.picks)]


def _recorded(tests):
    path = files(tests).joinpath("games.json")
    return json.loads(path.read_text("utf-8")) if path.is_file() else []


def _lacking_records(game, tests, recorded):
    missing = set()
    if find_spec(f"{tests}.record") is None:
        missing.add("record")
    elif any(_count(game, recorded, *family) != GAMES for family in _families(tests)):
        missing.add("recorded games")
    if find_spec(f"{tests}.reference") is None:
        missing.add("reference")
    if not files(tests).joinpath("board.svg").is_file():
        missing.add("board on file")
    own = [one for one in recorded if one["rules"] == rules_id(game.latest)]
    if not own or not _refuses(game, own[0]):
        missing.add("illegal-move sentence")
    return missing


def _families(tests):
    return import_module(f"{tests}.record").FAMILIES


def _count(game, recorded, players, flags):
    family = f"{players} {flags}".strip()
    name = rules_id(game.latest)
    return sum((one["rules"], one["family"]) == (name, family) for one in recorded)


def _positions(game, recorded):
    """Yield the options and positions of a recorded game as far as nobody left it."""
    rules = game.latest
    options = rules.read_options(recorded["options"])
    at = rules.start(options, recorded["players"], recorded["setup"])
    yield rules, options, at
    for text in recorded["moves"].split():
        if text.endswith("!") or text.startswith("out="):
            return
        at = rules.play(at, rules.check(at, rules.read(text)))
        yield rules, options, at


def _refuses(game, recorded):
    """Return whether a move is refused by its name and a reason once the match is over."""
    rules, _, last = list(_positions(game, recorded))[-1]
    text = recorded["moves"].split()[0]
    try:
        rules.check(last, rules.read(text))
    except IllegalMove as refusal:
        return refusal.sentence.startswith(f"{text}: ") and len(refusal.sentence.split()) > 3
    return False
