"""Rulings: as an arbiter writes them, and as commands of the match."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from domain.clocks.calendar import DAY
from domain.errors import Code, Refusal
from domain.match.commands import GiveRuling
from domain.match.disputes import decide_dispute
from domain.match.events import AccountId, Event
from domain.match.evolve import evolve
from domain.match.state import MatchState
from domain.rules import Seat, rules_by_id
from services.app.sentences import SAY

KINDS: Final = ("dismissed", "back", "result", "draw", "annul", "time")
"""The words for decisions."""

HOUR: Final = DAY // 24

_SPAN: Final = re.compile(r"([0-9]{1,4})(d|h|)", re.IGNORECASE)

_NO_TEXT: Final = bytes(32)
"""Stands for the digest of the reasons where a ruling is only tried."""


class Verdict(msgspec.Struct, frozen=True):
    """A decision in the words of an arbiter."""

    kind: str
    """One of `KINDS`."""
    ply: int | None = None
    """With `back`: the ply to go back to."""
    winners: tuple[str, ...] = ()
    """With `result`: sides or userids."""
    time: tuple[tuple[str, int], ...] = ()
    """With `time`, and maybe with `back`: sides or userids, and the ms that each gets."""


class TriedRuling(msgspec.Struct, frozen=True):
    """The effect that a ruling would have."""

    remedies: tuple[Event, ...]
    """The events that follow that of the ruling."""
    after: MatchState


def read_grants(text: str) -> tuple[tuple[str, int], ...]:
    """Read `Light=3d,bob=12h`; a number alone is of days. `usage` for any other form."""
    return tuple(map(_read_grant, text.split(",")))


def _read_grant(word: str) -> tuple[str, int]:
    who, _, span = word.rpartition("=")
    found = _SPAN.fullmatch(span)
    if not who or found is None:
        raise Refusal(Code.USAGE, SAY("time-form"))
    return who, int(found[1]) * (HOUR if found[2].lower() == "h" else DAY)


def ruling_of(
    state: MatchState,
    names: Sequence[str | None],
    verdict: Verdict,
    claim: int | None,
    digest: bytes = _NO_TEXT,
) -> GiveRuling:
    """Return the command of a ruling; `names` are the players' userids, None for deleted accounts.

    `bad-ruling` for a verdict that is not complete, and for a side or userid that the match does not have.
    """
    _check_parts(verdict)
    if claim is None and verdict.kind == "dismissed":
        raise Refusal(Code.BAD_RULING, SAY("dismiss-none"))
    seats = range(len(state.seats))
    winners: tuple[Seat, ...] | None = None
    if verdict.kind == "result":
        winners = tuple(sorted({_seat_named(state, names, word) for word in verdict.winners}))
    elif verdict.kind == "draw":
        winners = tuple(seats)
    return GiveRuling(
        claim=claim,
        upheld=verdict.kind != "dismissed",
        text=digest,
        back_to=verdict.ply,
        winners=winners,
        annul=verdict.kind == "annul",
        time=tuple((_seat_named(state, names, word), ms) for word, ms in verdict.time),
    )


def _check_parts(verdict: Verdict) -> None:
    kind = verdict.kind
    if kind not in KINDS:
        text = SAY("ruling-word", word=kind[:24], known=", ".join(KINDS))
        raise Refusal(Code.BAD_RULING, text)
    if (verdict.ply is not None) != (kind == "back"):
        raise Refusal(Code.BAD_RULING, SAY("back-ply"))
    if bool(verdict.winners) != (kind == "result"):
        raise Refusal(Code.BAD_RULING, SAY("result-sides"))
    if (kind == "time" and not verdict.time) or (verdict.time and kind not in ("back", "time")):
        raise Refusal(Code.BAD_RULING, SAY("time-sides"))


def _seat_named(state: MatchState, names: Sequence[str | None], word: str) -> Seat:
    sides = rules_by_id(state.rules).side_names
    for shown in (sides, names):
        for seat, one in enumerate(shown[: len(state.seats)]):
            if one is not None and one.lower() == word.strip().lower():
                return seat
    known = ", ".join(sides[: len(state.seats)])
    raise Refusal(Code.BAD_RULING, SAY("no-side", word=word[:24], known=known))


def try_ruling(arbiter: AccountId, state: MatchState, ruling: GiveRuling, now: int) -> TriedRuling:
    """Return what a ruling would do now; refuses it as the match would."""
    decision = decide_dispute(ruling, arbiter, state, now)
    events = tuple(decision.events)
    after = state
    for event in events:
        after = evolve(after, event, now, decision.position, actor=arbiter)
    return TriedRuling(events[1:], after)
