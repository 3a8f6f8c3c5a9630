"""A match as the API describes it, in the words that the board shows beside the drawing."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from infra.languages.wording import IN_ENGLISH, Wording, capitalised
from services.tui.move_choice import ListedMove, list_move
from services.words.agreements import offered, own_offer
from services.words.endings import ending_in_list

_SECOND: Final = 1_000
_MINUTE_SECONDS: Final = 60
_HOUR_SECONDS: Final = 3_600
_DAY_SECONDS: Final = 86_400
_LIST_MOVES: Final = 40
"""The most moves that the list of moves shows."""


class ShownMatch(msgspec.Struct, frozen=True):
    """A match, seen by an account or by a spectator."""

    match: Mapping[str, Any]
    """The document of `/api/matches/{board}`."""
    userid: str
    """The player at this terminal; empty for a spectator."""
    words: Wording = IN_ENGLISH
    """Those of the player's language."""

    @property
    def board(self) -> int:
        """The number of the match."""
        return int(self.match["board"])

    @property
    def ply(self) -> int:
        """The number of moves played."""
        return int(self.match["ply"])

    @property
    def moves(self) -> tuple[str, ...]:
        """All moves that were played."""
        return tuple(self.match["moves"])

    @property
    def legal(self) -> tuple[ListedMove, ...]:
        """The moves that the player at this terminal can play now."""
        return tuple(map(list_move, self.match["at"]["legal"] or ())) if self.may_move else ()

    @property
    def seats(self) -> tuple[int, ...]:
        """The seats of the player at this terminal; none for a spectator."""
        return tuple(
            one["seat"]
            for one in self.match["players"]
            if self.userid and one["userid"] == self.userid
        )

    @property
    def is_over(self) -> bool:
        """Whether the match is over."""
        return bool(self.match["state"] == "over")

    @property
    def waits_for_consent(self) -> bool:
        """Whether the match has not begun because players have yet to accept it."""
        return bool(self.match["state"] == "waiting")

    @property
    def asks_to_accept(self) -> bool:
        """Whether the player at this terminal has yet to accept the match."""
        invitation = self.match.get("invitation")
        asked = invitation["seats"] if invitation else self.match["waits_for"]
        return self.waits_for_consent and not self.is_sealed and bool(set(asked) & set(self.seats))

    @property
    def is_sealed(self) -> bool:
        """Whether the match waits for texts of its players, without which it can't be dealt."""
        draw = self.match.get("draw")
        return bool(draw and draw["phase"] == "reveal")

    @property
    def has_board(self) -> bool:
        """Whether there is a position to draw."""
        return self.match["at"]["position"] is not None

    @property
    def may_move(self) -> bool:
        """Whether it is the turn of the player at this terminal."""
        return not self.is_over and self.match["at"]["to_move"] in self.seats

    @property
    def may_rematch(self) -> bool:
        """Whether the player at this terminal can start a rematch; a puzzle has none."""
        return self.is_over and bool(self.seats) and len(self.match["players"]) > 1

    @property
    def must_act(self) -> bool:
        """Whether the match waits for the player at this terminal."""
        return not self.is_over and bool(set(self.match["waits_for"]) & set(self.seats))

    @property
    def foreign_offer(self) -> str:
        """The kind of the open offer that the player at this terminal can answer; empty if none."""
        offer = self.match["offer"]
        if not offer or self.is_over:
            return ""
        done = {offer["seat"], *offer["accepted"]}
        return str(offer["kind"]) if any(seat not in done for seat in self.seats) else ""

    def name(self, seat: int) -> str:
        """Return the name of a seat's player."""
        return self.match["players"][seat]["userid"] or self.words.gettext("(deleted account)")

    # --- sentences

    @property
    def heading(self) -> str:
        """The first line: the number of the match, and its game."""
        options = " ".join(self.match["options"])
        return f"{self.board} {self.match['title']} {options}".rstrip()

    @property
    def turn_sentence(self) -> str:
        """A sentence on what the match waits for, or how it has ended."""
        _ = self.words.gettext
        if self.is_over:
            again = _("o starts a rematch.") if self.may_rematch else ""
            return f"{self._ending}. {again}".rstrip()
        if self.is_paused:
            return (
                _("The match is paused; o resumes it.") if self.seats else _("The match is paused.")
            )
        if self.asks_to_accept:
            waits = _("The match is waiting for you: a accepts it, r declines it.")
            moves = _("A move accepts it, too.") if self.may_move else ""
            return f"{waits} {moves}".rstrip()
        if self.waits_for_consent and not self.may_move:
            return _("The match is waiting for %(names)s.", names=self._waited)
        if self.may_move:
            return _("It is your turn.")
        return _("It is %(names)s's turn.", names=self._waited)

    @property
    def _ending(self) -> str:
        result, players = self.match["result"], self.match["players"]
        winners = [self.name(seat) for seat in result["winners"]]
        return capitalised(ending_in_list(result["reason"], winners, len(players), self.words))

    @property
    def _waited(self) -> str:
        names = [self.name(seat) for seat in self.match["waits_for"]]
        return self.words.names(names) or self.words.gettext("the server")

    @property
    def is_paused(self) -> bool:
        """Whether the clocks stand still because the players have agreed to a pause."""
        clock = self.match["clock"]
        return bool(clock and clock["paused_since"] is not None) and not self.is_over

    @property
    def offer_sentence(self) -> str:
        """A sentence on the open offer; empty without one."""
        offer = self.match["offer"]
        if not offer or self.is_over:
            return ""
        if offer["seat"] in self.seats and not self.foreign_offer:
            return own_offer(offer["kind"], self.words)
        answer = self.words.gettext("a accepts, r rejects.") if self.foreign_offer else ""
        return f"{offered(offer['kind'], self.name(offer['seat']), self.words)}. {answer}".rstrip()

    def player_lines(self, elapsed: float, width: int) -> Iterator[tuple[bool, str]]:
        """Yield for each player whether the match waits for the player, and name and clock.

        `elapsed` are the seconds since the match was read.
        """
        clocks, _ = self._clock_texts(elapsed), self.words.gettext
        for seat, player in enumerate(self.match["players"]):
            waits = not self.is_over and seat in self.match["waits_for"]
            notes = (
                _("you") if seat in self.seats else "",
                "" if player["playing"] else _("out"),
                _("robot") if player.get("robot") else _("bot") if player.get("bot") else "",
            )
            said = "".join(f" ({note})" for note in notes if note)
            name = f"{'>' if waits else ' '} {player['side']} {self.name(seat)}{said}"
            yield waits, name[:width]
            if clocks[seat]:
                yield waits, f"    {clocks[seat]}"

    def _clock_texts(self, elapsed: float) -> list[str]:
        clock = self.match["clock"]
        players = self.match["players"]
        if clock is None:
            return ["" for _ in players]
        runs = self.match["at"]["to_move"] if clock["deadline"] is not None else None
        texts = []
        for one in clock["seats"]:
            left = one["left_ms"]
            if left is None or self.is_over:
                texts.append("")
            else:
                texts.append(clock_text(left / _SECOND - (elapsed if one["seat"] == runs else 0)))
        return texts

    def move_lines(self) -> Sequence[str]:
        """Return the last moves, a line for each round, the last line last."""
        moves, count = self.moves, len(self.match["players"])
        first = max(0, (len(moves) - _LIST_MOVES) // count * count)
        width = max(map(len, moves[first:]), default=0)
        return [
            f"{at // count + 1:3} "
            + " ".join(move.ljust(width) for move in moves[at : at + count]).rstrip()
            for at in range(first, len(moves), count)
        ]

    def news_since(self, before: "ShownMatch") -> str:
        """Return a sentence on what others have done since; empty if that is nothing."""
        if self.is_over and not before.is_over:
            return self.turn_sentence
        if self.foreign_offer and self.offer_sentence != before.offer_sentence:
            return self.offer_sentence
        if before.offer_sentence and not self.offer_sentence and self.moves == before.moves:
            closed = self.words.gettext("The offer is no longer open.")
            return f"{closed} {self.turn_sentence}"
        played = self._moves_since(before)
        if played or self.turn_sentence != before.turn_sentence:
            return f"{played} {self.turn_sentence}".lstrip()
        return ""

    def _moves_since(self, before: "ShownMatch") -> str:
        if self.moves[: before.ply] != before.moves:
            return self.words.ngettext(
                "Moves were taken back; %(count)s move is left.",
                "Moves were taken back; %(count)s moves are left.",
                self.ply,
            )
        if self.ply > before.ply:
            return self.words.gettext(
                "Played: %(moves)s.", moves=", ".join(self.moves[before.ply :])
            )
        return ""


def clock_text(seconds: float) -> str:
    """Return a time that is left, such as `2d 03:04:05`; none is less than zero."""
    whole = max(0, int(seconds))
    days, rest = divmod(whole, _DAY_SECONDS)
    hours, rest = divmod(rest, _HOUR_SECONDS)
    minutes, left = divmod(rest, _MINUTE_SECONDS)
    clock = f"{hours:02}:{minutes:02}:{left:02}"
    return f"{days}d {clock}" if days else clock
