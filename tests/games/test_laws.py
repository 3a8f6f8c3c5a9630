"""Laws of every game, in matches at random under all options on record: moves, notation, positions, endings."""

import random
import re
from contextlib import suppress

import pytest

from domain.errors import Refusal
from domain.fairness import DrawStream
from domain.rules import all_rules, latest_rules, pack_position, rules_id, unpack_position
from tests.games.playing import legal, over, play, reads_alike_or_refuses, reads_what_it_writes
from tests.golden.make_games import record_of

MATCHES = 10
MOST_PACKED = 300
"""Bytes of a packed position, of which a server keeps one for each match."""

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
    assert len(packed) <= MOST_PACKED


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
