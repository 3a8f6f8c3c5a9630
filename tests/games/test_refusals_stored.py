"""Refusals of moves in every game: small as they are stored, the same when read again, in German too."""

from collections.abc import Iterator
from importlib import import_module
from random import Random

import pytest

from domain.errors import Refusal
from domain.fairness import DrawStream
from domain.game.protocol import AnyRules
from domain.rules import all_rules, rules_id
from infra.languages.wording import wording
from infra.store.outcomes import encode_stored, parse, tail

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
