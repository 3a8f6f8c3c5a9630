"""Whole games on record are replayed by the rules of their version, every position compared.

Refusals of moves in every game: small as they are stored, the same when read again, in German too.

Laws of every game, in matches at random under all options on record: moves, notation, positions, endings.
"""

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from domain.errors import Refusal
from domain.fairness import DrawStream
from domain.game.protocol import AnyRules
from domain.rules import all_rules, game_by_key, rules_by_id, rules_id
from domain.rules.laws import keeps_the_laws
from infra.languages.wording import wording
from infra.store.outcomes import encode_stored, parse, tail
from tests.golden.make_games import GAMES, digest, read_games, record_of, replay, result
from tests.helpers.examples import FULL

KEYS = sorted({rules.key for rules in all_rules()})
POSITIONS = 3_000
"""Of a family whose games have more positions in all, every fourth is replayed each time, and the others in the long run."""


def family_games() -> Iterator[Any]:
    """Yield the recorded games of each family."""
    for key in KEYS:
        games = read_games(key)
        for family in dict.fromkeys(game["family"] for game in games):
            own = [game for game in games if game["family"] == family]
            name = f"{key} {family}"
            if sum(len(game["digests"].split()) for game in own) > POSITIONS:
                own, others = own[::4], [game for at, game in enumerate(own) if at % 4]
                yield pytest.param(others, id=f"{name} others", marks=pytest.mark.long)
            yield pytest.param(own, id=name)


@pytest.mark.parametrize("games", list(family_games()))
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
    for family, (players, flags) in enumerate(record_of(rules.key).FAMILIES):
        rng = Random(f"{rules.key} {family}")
        options = rules.read_options(flags.split())
        setup = rules.draw(options, players, DrawStream(bytes([family]) * 32, rules_id(rules)))
        at, seen = rules.start(options, players, setup), []
        for _ in range(60 if FULL or rules.players == (1,) else 25):
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


MATCHES = 4 if FULL else 1
"""For each family."""

FAMILIES = [
    pytest.param(key, players, flags.split(), id=f"{key} {players} {flags}".strip())
    for key in sorted({rules.key for rules in all_rules()})
    for players, flags in record_of(key).FAMILIES
]


@pytest.mark.parametrize(("key", "players", "flags"), FAMILIES)
def test_matches_at_random_keep_the_laws(key, players, flags):
    for seed in range(MATCHES):
        drawn = Random(f"{key} {flags} {seed}").randbytes(32)
        assert keeps_the_laws(game_by_key(key), players, flags, drawn) > 0
