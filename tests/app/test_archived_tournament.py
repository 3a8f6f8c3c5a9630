"""A tournament that was retired looks as before, whichever of it and its matches left Redis first, and takes no command."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from domain.errors import Refusal
from infra.log.key_files import generate_keys
from infra.redis import keys
from services.app.accounts import delete_account
from services.app.context import App
from services.app.exports import OPERATOR, export_tournament
from services.app.tournament_names import names_in_notices
from services.app.tournaments import view_of
from services.cli import verify, verify_all
from services.language import Language
from tests.app.test_archived_everywhere import VOLATILE, retire
from tests.helpers.api import PASSWORD, Api, Player
from tests.helpers.publishing import publish
from tests.services.test_tournament_records import WHY, played
from workers.projections import PROJECTIONS, maintenance
from workers.scrub import job
from workers.scrub.scrubber import make_parts

QUIET: Any = SimpleNamespace(progress=lambda *_: None, line=lambda _: None)


class Kept(NamedTuple):
    """A tournament with confirmed places, and its matches."""

    api: Api
    organiser: Player
    players: list[Player]
    number: int
    boards: list[int]

    def in_redis(self) -> list[int]:
        exists, all_ = self.api.parts.data.exists, (self.number, *self.boards)
        return [one for one in all_ if exists(keys.events(one % 4, one))]

    def reads(self) -> Mapping[str, Any]:
        """What the ways of reading answer."""
        api, page = self.api, f"/tournaments/{self.number}"
        document = export_tournament(api.parts, self.number, OPERATOR)
        found: dict[str, Any] = {"document": document.partition(b'"log"')[0]}
        paths = [page, f"{page}/table.csv", f"{page}/receipt.txt", f"/api{page}"]
        paths += ["/api/tournaments?list=ended", f"/api/matches/{self.number}/events/3/proof"]
        paths += [f"{where}/{board}" for board in self.boards for where in ("/m", "/api/matches")]
        for path in paths:
            answer = api.http.get(path)
            assert answer.status_code == 200, path
            found[path] = VOLATILE.sub("", answer.text)
        for line in (f"tournament {self.number}", "tournaments ended"):
            found[line] = Language(api.parts, "test").do(line).sentence
        return found


def prepare(api: Api) -> None:
    generate_keys(api.settings.data / "keys", "example.org")


@pytest.fixture
def kept(api: Api) -> Kept:
    organiser, *players = api.players(4)
    number = played(api, organiser, players)
    boards = [one.board for one in api.parts.tournaments.matches(number).values()]
    publish(api)  # so that no receipt is in its document
    return Kept(api, organiser, players, number, boards)


def test_it_is_read_and_checked_as_before_whatever_of_it_is_in_the_archive(
    kept, capsys, monkeypatch
):
    api, parts, own = kept.api, kept.api.parts, kept.number % 4
    before = kept.reads()
    retire(api, *{0, 1, 2, 3} - {own})
    assert kept.in_redis()[0] == kept.number
    assert kept.reads() == before
    retire(api)
    assert set(kept.in_redis()) < {*kept.boards}  # the match whose ruling may be appealed against
    assert kept.reads() == before
    (entry,) = parts.store.entries([kept.number])
    assert entry.summary is None
    assert verify.run(str(kept.number), api.settings) == 0
    said = capsys.readouterr().out
    assert f"tournament {kept.number} holds" in said
    assert "it is in the archive" in said
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert verify_all.run(api.settings).exit_code == 0
    server = make_parts(api.settings, parts.store, parts.data, parts.queue)
    with api.asleep():
        assert job.make_scrubber(server, lambda _: None).round() == []
    assert maintenance.check(parts.store, parts.data, PROJECTIONS, QUIET)


def test_a_new_command_is_refused_by_what_ended_it_and_a_repeated_one_is_not(kept):
    retire(kept.api)
    path, organiser = f"/api/tournaments/{kept.number}", kept.organiser
    left = {"userid": kept.players[1].name, "kind": "silent", "text": "Again."}
    for sent in (
        organiser.post(f"{path}/confirm"),
        organiser.post(f"{path}/withdrawals", left),
        kept.players[2].post(f"{path}/entry", {}),
    ):
        said = sent.json()
        assert (said["code"], said["detail"]) == ("too-late", "the places have been confirmed")
    assert [one.text for one in kept.api.parts.statements.of_match(kept.number)] == [WHY]
    again = organiser.post(f"{path}/confirm", headers={"Idempotency-Key": "the places"})
    assert (again.status_code, again.json()["accepted"]) == (200, True)


def test_an_account_is_erased_while_the_archive_is_away(kept, tmp_path: Path):
    retire(kept.api)
    folder, gone = kept.api.settings.data / "log", kept.players[2]
    path = f"/tournaments/{kept.number}"
    assert gone.name in kept.api.http.get(path).text
    folder.rename(tmp_path / "away")
    with App(kept.api.settings) as fresh:  # which has read nothing of the archive
        delete_account(fresh, gone.name, PASSWORD)
        with pytest.raises(Refusal, match="archive can't be read"):
            view_of(fresh, None, kept.number)
        told = names_in_notices(fresh, kept.organiser.account, [kept.number])
        assert told == {kept.number: "Slingshot Cup"}
    (tmp_path / "away").rename(folder)
    assert gone.name not in kept.api.http.get(path).text
