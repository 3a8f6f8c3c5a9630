"""A tournament that was retired looks as before, whichever of it and its matches left Redis first, and takes no command."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from domain.errors import Refusal
from infra.audit.stored_match import check
from infra.log.key_files import generate_keys
from infra.redis import keys
from services.app.accounts import erase_account
from services.app.context import App
from services.app.exports import OPERATOR, export_tournament
from services.app.tournaments import view_of
from services.cli import verify_all
from services.language import Language
from tests.app.test_archived_everywhere import retire
from tests.helpers.api import PASSWORD, Api, Player, code_of, until
from tests.helpers.publishing import publish
from tests.services.test_api_tournaments import started, turn
from workers.projections import PROJECTIONS, maintenance
from workers.scrub import job
from workers.scrub.scrubber import make_parts

_VOLATILE = re.compile(
    r'name="(csrf|key)" value="[^"]*"|"X-CSRF-Token": "[^"]*"|"now":[0-9]+'
    r'|<p id="recorded".*?</p>|\s*<li( hidden)?><a id="proof".*?</li>'
)


CONFIRMED = {"Idempotency-Key": "the places"}


class Quiet:
    """Takes reports that nobody reads."""

    def progress(self, about: str, done: int, total: int) -> None:
        """Do nothing."""

    def line(self, text: str) -> None:
        """Do nothing."""


class Kept(NamedTuple):
    """A server with a tournament of four, of whom one plays, that is over, and its matches."""

    api: Api
    organiser: Player
    players: list[Player]
    number: int
    boards: list[int]
    left: dict[str, str]
    """The withdrawal of a player, which was sent without a key."""

    def in_redis(self) -> set[int]:
        shards = self.api.parts.store.layout().shards
        return {
            one
            for one in (self.number, *self.boards)
            if self.api.parts.data.exists(keys.events(one % shards, one))
        }

    def reads(self) -> Mapping[str, Any]:
        """What every way of reading answers."""
        api, number = self.api, self.number
        found: dict[str, Any] = {
            "verify": check(api.parts.store, number).partition("; 1 refusal")[
                0
            ]  # its command is kept in Redis alone
        }
        found["document"] = export_tournament(api.parts, number, OPERATOR).partition(b'"log"')[0]
        places = ["", "/table.csv", "/receipt.txt"]
        paths = [f"/tournaments/{number}{one}" for one in places]
        paths += [f"/api/tournaments/{number}", "/api/tournaments?list=ended"]
        paths += [f"/api/matches/{number}/events/3/receipt", f"/players/{self.players[0].name}"]
        paths += [
            path for board in self.boards for path in (f"/m/{board}", f"/api/matches/{board}")
        ]
        for path in paths:
            answer: httpx.Response = api.http.get(path)
            assert answer.status_code == 200, path
            found[path] = _VOLATILE.sub("", answer.text)
        for line in (f"tournament {number}", "tournaments ended"):
            found[line] = Language(api.parts, "test").do(line).sentence
        return found


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    with Api(tmp_path_factory.mktemp("archived")) as api:
        generate_keys(api.settings.data / "keys", "example.org")
        organiser, *players = api.players(4)
        number = started(api, organiser, players)
        path = f"/api/tournaments/{number}"
        assert code_of(players[0].post(f"{path}/confirm")) == "not-an-organiser"
        boards = [one.board for one in api.parts.tournaments.matches(number).values()]
        for board in boards:
            players[0].give(board, {"do": "resign"})
        left = {"userid": players[1].name, "kind": "silent", "text": "gone for a month"}
        assert organiser.post(f"{path}/withdrawals", left).is_success

        def is_finished() -> bool:
            turn(api)
            return bool(api.http.get(path).json()["phase"] == "finished")

        until(is_finished)
        assert organiser.post(f"{path}/confirm", headers=CONFIRMED).is_success
        api.caught_up()
        yield Kept(api, organiser, players, number, boards, left)


def test_it_is_read_as_before_whatever_of_it_is_in_the_archive(kept: Kept) -> None:
    publish(kept.api)  # so that no receipt is in its document
    before = kept.reads()
    shards = range(kept.api.parts.store.layout().shards)
    own = kept.number % len(shards)
    retire(kept.api, *(shard for shard in shards if shard != own))
    assert kept.number in kept.in_redis()
    assert kept.reads() == before
    retire(kept.api)
    assert len(kept.in_redis()) == 1  # a match whose ruling may still be appealed against
    assert kept.number not in kept.in_redis()
    assert kept.reads() == before
    (entry,) = kept.api.parts.store.entries([kept.number])
    assert entry is not None
    assert entry.summary is None
    assert verify_all.run(kept.api.settings).exit_code == 0


def test_the_scrubber_finds_nothing_wrong_and_a_rebuild_makes_the_same_lists(kept: Kept) -> None:
    parts = kept.api.parts
    retire(kept.api)
    scrubber = job.make_scrubber(
        make_parts(kept.api.settings, parts.store, parts.data, parts.queue), lambda _: None
    )
    with kept.api.asleep():
        assert scrubber.round() == []
    assert maintenance.check(parts.store, parts.data, PROJECTIONS, Quiet())


def test_a_new_command_is_refused_by_what_ended_it_and_a_repeated_one_is_not(kept: Kept) -> None:
    retire(kept.api)
    path = f"/api/tournaments/{kept.number}"
    for sent in (
        kept.organiser.post(f"{path}/confirm"),
        kept.organiser.post(f"{path}/withdrawals", kept.left),
        kept.players[2].post(f"{path}/entry", {}),
    ):
        assert (sent.json()["code"], sent.json()["detail"]) == (
            "too-late",
            "the places have been confirmed",
        )
    assert not kept.api.parts.statements.of_match(kept.number)[1:]
    again = kept.organiser.post(f"{path}/confirm", headers=CONFIRMED)
    assert (again.status_code, again.json()["accepted"]) == (200, True)


def test_an_account_is_erased_while_the_archive_is_away(kept: Kept, tmp_path: Path) -> None:
    retire(kept.api)
    folder, gone = kept.api.settings.data / "log", kept.players[2]
    path = f"/tournaments/{kept.number}"
    assert gone.name in kept.api.http.get(path).text
    folder.rename(tmp_path / "away")
    fresh = App(kept.api.settings)  # which has read nothing of the archive
    try:
        erase_account(fresh, gone.account)
        fresh.accounts.delete(gone.name, PASSWORD, lambda _: None)
        with pytest.raises(Refusal, match="archive can't be read"):
            view_of(fresh, None, kept.number)
    finally:
        fresh.close()
        (tmp_path / "away").rename(folder)
    assert gone.name not in kept.api.http.get(path).text
