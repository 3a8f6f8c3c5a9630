"""Whole games on record are replayed by the rules of their version, every position compared.

Refusals of moves in every game: small as they are stored, the same when read again, in German too.

Laws of every game, in matches at random under all options on record: moves, notation, positions, endings.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from random import Random

import pytest

from domain.errors import Refusal
from domain.fairness import DrawStream
from domain.game.protocol import AnyRules
from domain.rules import (
    all_rules,
    latest_rules,
    pack_position,
    rules_by_id,
    rules_id,
    unpack_position,
)
from infra.languages.wording import wording
from infra.store.outcomes import encode_stored, parse, tail
from tests.games.playing import legal, over, play, reads_alike_or_refuses, reads_what_it_writes
from tests.golden.make_games import GAMES, digest, read_games, record_of, replay, result

KEYS = sorted({rules.key for rules in all_rules()})
FAMILY_GAMES = [
    pytest.param([game for game in games if game["family"] == family], id=f"{key} {family}")
    for key in KEYS
    for games in [read_games(key)]
    for family in dict.fromkeys(game["family"] for game in games)
]


@pytest.mark.parametrize("games", FAMILY_GAMES)
def test_a_recorded_game_replays_to_the_same_positions_and_the_same_end(games):
    for game in games:
        rules = rules_by_id(game["rules"])
        positions = list(replay(game))
        digests = [digest(rules, at) for at in positions]
        assert digests == game["digests"].split(), (game["family"], game["number"])
        assert all(rules.outcome(at) is None for at in positions[:-1])
        # as JSON has lists where an outcome has tuples
        ending = result(game, positions[-1])
        assert ending | {"winners": list(ending["winners"])} == game["result"]


@pytest.mark.parametrize("key", KEYS)
def test_every_family_of_options_has_its_games_on_record(key):
    recorded = Counter((game["rules"], game["family"]) for game in read_games(key))
    for name in {rules_id(rules) for rules in all_rules() if rules.key == key}:
        for players, flags in record_of(key).FAMILIES:
            assert recorded[name, f"{players} {flags}".strip()] == GAMES


LISTPACK_VALUE = 64
"""Redis's and Valkey's default of `hash-max-listpack-value`."""
INDEX = 12_345_678
"""A log index of a big shard."""


def refusals(rules: AnyRules) -> Iterator[Refusal]:
    """Refusals of moves at random: legal at other times, cut, lengthened, or put together wrongly."""
    families = import_module(f"tests.games.{rules.key}.record").FAMILIES
    for family, (players, flags) in enumerate(families):
        rng = Random(f"{rules.key} {family}")
        options = rules.read_options(flags.split())
        setup = rules.draw(options, players, DrawStream(bytes([family]) * 32, rules_id(rules)))
        at, seen = rules.start(options, players, setup), []
        for _ in range(60):
            if rules.outcome(at):
                break
            legal, _ = rules.first_moves(at, 100)
            seen += rng.sample(legal, min(4, len(legal)))
            for text in (*rng.sample(seen, min(6, len(seen))), *wrong(seen, rng), "nonsense"):
                try:
                    rules.check(at, rules.read(text))
                except Refusal as reason:
                    yield reason
            at = rules.play(at, rules.check(at, rules.read(rng.choice(legal))))


def wrong(seen: list[str], rng: Random) -> Iterator[str]:
    """Moves that nobody would list."""
    for one in rng.sample(seen, min(6, len(seen))):
        other = rng.choice(seen)
        for mark in ":-,>":
            if mark in one and mark in other:
                yield one.partition(mark)[0] + mark + other.partition(mark)[2]
                yield one.partition(mark)[0]
                yield one + mark + other.rpartition(mark)[2]


@pytest.mark.parametrize("rules", all_rules(), ids=rules_id)
def test_a_refusal_is_stored_short_and_reads_as_it_was(rules: AnyRules) -> None:
    found = {}
    for reason in refusals(rules):
        stored = encode_stored(b"digest..", INDEX, tail(reason.code, 40, reason.text))
        outcome = parse(stored)
        assert (outcome.code, outcome.text) == (reason.code, reason.text)
        assert outcome.sentence == reason.sentence
        assert reason.in_language(wording("de")) != reason.sentence
        found[reason.sentence] = len(stored)
    assert len(found) > 10
    assert {said: size for said, size in found.items() if size > LISTPACK_VALUE} == {}


MATCHES = 4
MOST_PACKED = 300
"""Bytes of a packed position, of which a server keeps one for each match; a game's `record.py` may have another bound."""

FAMILIES = [
    pytest.param(key, players, flags.split(), id=f"{key} {players} {flags}".strip())
    for key in sorted({rules.key for rules in all_rules()})
    for players, flags in record_of(key).FAMILIES
]


@pytest.mark.parametrize(("key", "players", "flags"), FAMILIES)
def test_matches_at_random_keep_the_laws(key, players, flags):
    rules = latest_rules(key)
    for seed in range(MATCHES):
        rng = random.Random(f"{key} {flags} {seed}")
        options = rules.read_options(flags)
        setup = rules.draw(options, players, DrawStream(rng.randbytes(32), "test/1"))
        at = rules.start(options, players, setup)
        for _ in range(2_000):
            _is_a_value(rules_id(rules), at)
            if rules.outcome(at) is not None:
                break
            _has_moves(rules, at, rng)
            at = play(rules, at, rng.choice(legal(rules, at)))
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", over(rules, at).reason)


def _is_a_value(name, at):
    packed = pack_position(at)
    again = unpack_position(name, packed)
    assert again == at
    assert hash(again) == hash(at)
    assert len(packed) <= getattr(record_of(rules_by_id(name).key), "MOST_PACKED", MOST_PACKED)


def _has_moves(rules, at, rng):
    """Each move is listed once, and accepted as it is written; what is not listed is refused."""
    texts = legal(rules, at)
    assert len(set(texts)) == len(texts) == rules.count_moves(at) == len(rules.moves(at))
    text = rng.choice(texts)
    reads_what_it_writes(rules, rules.read(text))
    assert rules.write(rules.check(at, rules.read(text))) == text
    assert rules.write(rules.check(at, rules.read(f" {text.upper()} "))) == text
    for changed in (_changed(text, rng), rng.choice(texts)[: rng.randrange(9)] + text[1:]):
        if reads_alike_or_refuses(rules, changed):
            with suppress(Refusal):
                assert rules.write(rules.check(at, rules.read(changed))) in texts


def _changed(text, rng):
    """Return a text with a character dropped, doubled or replaced by one of a move's or any other."""
    place = rng.randrange(len(text))
    other = rng.choice(
        ["", text[place] * 2, rng.choice("abcdefgm0123456789-:,; "), chr(rng.randrange(32, 500))]
    )
    return text[:place] + other + text[place + 1 :]
