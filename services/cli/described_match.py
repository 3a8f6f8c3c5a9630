"""Sentences about the events of a match on a server elsewhere, made from the events themselves."""

from base64 import b64decode
from typing import Any, Final

import msgspec

from domain.match.evolve import evolve
from domain.match.history import decode_event
from domain.match.state import MatchState, initial
from domain.rules import rules_by_id
from infra.languages.wording import IN_ENGLISH, Wording
from services.app.names import shown_names
from services.client import Client
from services.words.matches import describe_events
from services.words.named_match import NamedMatch

_UNREADABLE: Final = (msgspec.MsgspecError, LookupError, TypeError, ValueError)
"""Errors of an event that this version does not know, because the server is newer."""


class DescribedMatch:
    """A match whose events are read in order, each once."""

    def __init__(self, client: Client, board: int, words: Wording = IN_ENGLISH) -> None:
        self._client = client
        self._words = words
        self.board = board
        self._names: tuple[str, ...] = ()
        self._state = initial()
        self._sentences: dict[int, str] = {}
        self.seq = 0
        """Number of the last event that was read."""

    @property
    def over(self) -> bool:
        """Whether the match is over after the events that were read."""
        return self._state.over

    def catch_up(self) -> None:
        """Read all events that the server has."""
        more = True
        while more:
            found = self._client.get(f"/api/matches/{self.board}/events", **{"from": self.seq + 1})
            for event in found:
                self.read(event)
            more = bool(found)

    def read(self, event: dict[str, Any]) -> str:
        """Return a sentence about an event, as the API shows it; it may have been read before."""
        seq = int(event["seq"])
        if seq <= self.seq:
            return self._sentences.get(seq, self._plain(event))
        if seq > self.seq + 1:
            self.catch_up()
            return self._sentences.get(seq, self._plain(event))
        self.seq = seq
        self._sentences[seq] = self._describe(event)
        return self._sentences[seq]

    def sentence(self, seq: int) -> str:
        """Return a sentence about the event of that number, which is read if it was not yet."""
        if seq > self.seq:
            self.catch_up()
        return self._sentences.get(seq, self._place)

    def _describe(self, event: dict[str, Any]) -> str:
        try:
            envelope = decode_event(b64decode(event["data"]))
            self._state = evolve(self._state, envelope.body, envelope.at, actor=envelope.actor)
            return describe_events(self._named(self._state), [envelope])
        except _UNREADABLE:
            return self._plain(event)

    def _named(self, state: MatchState) -> NamedMatch:
        """Return the match with the names of its players, which are asked for once."""
        if len(self._names) != len(state.seats):
            shown = self._client.match(self.board)["players"]
            userids = [player["userid"] for player in shown]
            self._names = shown_names(userids, self._words)
        rules = rules_by_id(state.rules)
        return NamedMatch(self.board, state, rules, self._names, None, self._words)

    @property
    def _place(self) -> str:
        return self._words.gettext("match %(board)s", board=self.board)

    def _plain(self, event: dict[str, Any]) -> str:
        return f"{self._place}: {event['type']}"
