"""Claims, rulings and appeals of the tests."""

from typing import Any

from domain.match.commands import GiveRuling, MakeAppeal, MakeClaim, ResignMatch
from tests.domain.given import two
from tests.helpers.given import ALICE, Match

ARBITER, OTHER_ARBITER = b"arbiter1", b"arbiter2"
TEXT, REASONS = b"t" * 32, b"r" * 32


def claim(ply: int = 0) -> MakeClaim:
    return MakeClaim(ply=ply, text=TEXT)


def rule(claim: int | None = None, **changes: Any) -> GiveRuling:
    return GiveRuling(claim=claim, upheld=bool(changes), text=REASONS, **changes)


def appeal(claim: int) -> MakeAppeal:
    return MakeAppeal(claim=claim, text=TEXT)


def resigned() -> Match:
    """A match of two moves, which Light has resigned."""
    match = two()
    match.play("m13-m9", "a13-c11")
    match.do(ALICE, ResignMatch())
    return match
