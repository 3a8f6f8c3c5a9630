"""Draws whose players commit first, on the whole path: the sealed seed is the one that draws."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from msgspec.structs import replace
from redis import Redis

from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.fairness import CHAIN_LENGTH, Commitment, previous_seed
from domain.match.commands import (
    AnswerOffer,
    DeclineMatch,
    FlagPlayer,
    MakeOffer,
    RevealText,
    StartMatch,
)
from domain.match.deals import DealKind, deal_kind
from domain.match.events import (
    SERVER_ACCOUNT,
    Absent,
    Accepted,
    Called,
    Declined,
    MatchStarted,
    Revealed,
    Sealed,
    Withheld,
)
from domain.match.history import decode_event
from infra.audit.draws import DEALS
from infra.audit.leaf_order import LeafOrder
from infra.audit.stored_match import check
from infra.durability.durability import Mode
from infra.people.account_lists import SeenTexts
from infra.people.accounts import Accounts
from infra.projections.standings import StandingsQuery
from infra.redis import keys
from infra.store.kept_texts import DrawTexts
from infra.store.port import CommitResult, Write
from infra.store.redis_store import RedisStore
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.lanes import LANE
from tests.helpers.side import catch_up
from tests.helpers.timed import BEGIN, SHORT, TimedBench
from workers.commands.drain import Drain

TEXTS = {ALICE: b"alice's text", BOB: b"bob's text", CAROL: b"carol's text"}
NOBODY = Commitment()


def to(account: bytes) -> Commitment:
    return Commitment(sha256(TEXTS[account]).digest())


def call(*commitments: Commitment, **more: object) -> StartMatch:
    return StartMatch(
        rules="powerdrain/1",
        options=(),
        seats=(ALICE, BOB),
        gather=True,
        commitments=commitments,
        **more,  # type: ignore[arg-type]
    )


def bodies(bench: Bench, board: int, kind: type) -> list:
    found = [decode_event(data).body for data in bench.store.events(board)]
    return [body for body in found if isinstance(body, kind)]


def seal(bench: Bench, board: int) -> None:
    bench.send(ALICE, call(to(ALICE), NOBODY), board)
    bench.send(BOB, AnswerOffer(accept=True, commitment=to(BOB)), board)
    bench.drain()


def reveal(bench: Bench, board: int, *accounts: bytes) -> None:
    for account in accounts:
        bench.send(account, RevealText(text=TEXTS[account]), board)
    bench.drain()


def plain(bench: Bench, board: int) -> MatchStarted:
    bench.send(ALICE, StartMatch(rules="powerdrain/1", options=(), seats=(ALICE, BOB)), board)
    bench.drain()
    return bodies(bench, board, MatchStarted)[0]


def drawn(bench: Bench, board: int) -> tuple[int, int]:
    draw = bodies(bench, board, MatchStarted)[0].draw
    return draw.chain, draw.k


def test_the_seed_that_was_sealed_draws_though_others_were_drawn_since(bench: Bench) -> None:
    seal(bench, 3)
    seal(bench, 7)
    # its start reveals a seed after those that are sealed, and so makes them known
    public = plain(bench, 11)
    assert public.draw is not None
    assert public.draw.k == 3
    reveal(bench, 7, BOB, ALICE)
    reveal(bench, 3, ALICE, BOB)
    assert [drawn(bench, board) for board in (3, 7, 11)] == [(1, 1), (1, 2), (1, 3)]
    seeds = [bodies(bench, board, MatchStarted)[0].draw.seed for board in (3, 7, 11)]
    assert [previous_seed(seeds[1]), previous_seed(seeds[2])] == seeds[:2]
    assert plain(bench, 15).draw.k == 4
    for board in (3, 7, 11, 15):
        assert "holds" in check(bench.store, board)
    assert "all players had committed to their texts before its seed was sealed" in check(
        bench.store, 3
    )
    assert "the deal was not gathered: only the challenger added to it" in check(bench.store, 11)


def test_several_seals_and_starts_of_one_batch_use_one_seed_each(bench: Bench) -> None:
    for board in (3, 7, 11):
        bench.send(ALICE, call(to(ALICE), to(BOB)), board)
        bench.send(ALICE, RevealText(text=TEXTS[ALICE]), board)
        bench.send(BOB, RevealText(text=TEXTS[BOB]), board)
    bench.drain()
    assert sorted(drawn(bench, board) for board in (3, 7, 11)) == [(1, 1), (1, 2), (1, 3)]
    for board in (3, 7, 11):
        assert "holds" in check(bench.store, board)


def test_a_sealed_seed_of_a_chain_that_has_come_to_its_end_still_draws(bench: Bench) -> None:
    plain(bench, 3)
    bench.client.hset(keys.seed_chain(3), "k", CHAIN_LENGTH - 1)
    seal(bench, 7)
    plain(bench, 11)
    reveal(bench, 7, ALICE, BOB)
    assert [drawn(bench, board) for board in (7, 11)] == [(1, CHAIN_LENGTH), (2, 1)]
    assert "seed 65536 of chain 1" in check(bench.store, 7)


def test_what_the_server_keeps_is_revealed_with_the_seal(bench: Bench) -> None:
    words = DrawTexts(bench.client)
    bench.send(ALICE, call(words.commitment(3, ALICE, "luck"), NOBODY), 3)
    bench.drain()
    assert bodies(bench, 3, Revealed) == []
    bench.send(BOB, AnswerOffer(accept=True, commitment=words.commitment(3, BOB)), 3)
    bench.drain()
    revealed = bodies(bench, 3, Revealed)
    assert [body.seat for body in revealed] == [0, 1]
    assert revealed[0].text == words.text(3, ALICE) + sha256(b"luck").digest()
    actors = {decode_event(data).actor for data in bench.store.events(3) if b"revealed" in data}
    assert actors == {SERVER_ACCOUNT}
    assert not bench.state(3).awaits_entropy
    assert "and kept the texts of all players" in check(bench.store, 3)


def test_every_process_keeps_the_same_texts_and_each_board_and_player_has_another(
    bench: Bench,
) -> None:
    one, other = DrawTexts(bench.client), DrawTexts(bench.client)
    assert one.text(3, ALICE) == other.text(3, ALICE)
    assert len({one.text(board, who) for board in (3, 7) for who in (ALICE, BOB)}) == 4


def test_a_text_that_is_revealed_again_changes_nothing(bench: Bench) -> None:
    seal(bench, 3)
    first = bench.send(ALICE, RevealText(text=TEXTS[ALICE]), 3)
    bench.submit(first)
    again = bench.send(ALICE, RevealText(text=TEXTS[ALICE]), 3)
    bench.drain()
    outcomes = [bench.outcome(order) for order in (first, again)]
    assert [one.code for one in outcomes if one] == ["", Code.TOO_LATE]
    assert len(bodies(bench, 3, Revealed)) == 1


def test_a_drain_killed_with_the_last_reveal_has_started_the_match_or_not_begun(
    bench: Bench,
) -> None:
    seal(bench, 3)
    reveal(bench, 3, ALICE)
    bench.send(BOB, RevealText(text=TEXTS[BOB]), 3)

    class Killed(Exception):  # noqa: N818 - it is one
        pass

    class BeforeTheCommit(RedisStore):
        def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
            del writes
            raise Killed

    class AfterTheCommit(RedisStore):
        def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
            super().commit(writes)
            raise Killed

    for store in (BeforeTheCommit, AfterTheCommit):
        waits = bench.state(3).awaits_entropy
        assert waits
        with pytest.raises(Killed):
            Drain(
                store(bench.client, Mode.FSYNC),
                bench.lanes,
                bench.queue,
                LANE,
                seeds=bench.seeds,
                data=bench.client,
            ).run()
        bench.queue.delete(keys.lease(LANE))
    assert drawn(bench, 3) == (1, 1)
    bench.drain()
    assert [type(body) for body in bodies(bench, 3, MatchStarted | Revealed)] == [
        Revealed,
        Revealed,
        MatchStarted,
    ]
    assert "holds" in check(bench.store, 3)


def test_three_players_of_halves_commit_and_reveal(bench: Bench) -> None:
    start = StartMatch(
        rules="halves/1",
        options=(),
        seats=(ALICE, BOB, CAROL),
        gather=True,
        commitments=(to(ALICE), NOBODY, NOBODY),
    )
    bench.send(ALICE, start, 3)
    for account in (CAROL, BOB):
        bench.send(account, AnswerOffer(accept=True, commitment=to(account)), 3)
    reveal(bench, 3, BOB, CAROL, ALICE)
    assert [type(body) for body in bodies(bench, 3, Called | Sealed | MatchStarted)] == [
        Called,
        Sealed,
        MatchStarted,
    ]
    assert bench.state(3).setup is not None
    assert "holds" in check(bench.store, 3)


def test_a_match_declined_in_each_phase_holds(bench: Bench) -> None:
    bench.send(ALICE, call(to(ALICE), NOBODY), 3)
    bench.send(BOB, DeclineMatch(), 3)
    # a browser with the text of one match was seen, and none with that of the other
    SeenTexts(bench.client).note(ALICE, [7], BEGIN)
    for board in (7, 11):
        seal(bench, board)
        reveal(bench, board, BOB)
        bench.send(ALICE, DeclineMatch(), board)
    bench.drain()
    assert [bodies(bench, board, Declined | Withheld) for board in (3, 7, 11)] == [
        [Declined(seat=1)],
        [Withheld(seat=0)],
        [Declined(seat=0)],
    ]
    assert "because seat 1 didn't reveal a text" in check(bench.store, 7)
    for board in (3, 11):
        assert "did not reveal" not in check(bench.store, board)
    # their seeds are used up, and draw nothing else
    assert plain(bench, 15).draw.k == 3


# with clocks


@pytest.fixture
def timed(redis_client: Redis, tmp_path: Path) -> TimedBench:
    return TimedBench(redis_client, tmp_path / "seeds")


def test_the_scheduler_ends_a_match_whose_players_do_not_reveal(timed: TimedBench) -> None:
    for board in (1, 2):
        timed.send(ALICE, call(to(ALICE), to(BOB), terms=SHORT), board)
        timed.send(BOB, RevealText(text=TEXTS[BOB]), board)
    timed.drain()
    SeenTexts(timed.client).note(ALICE, [1], BEGIN)
    keeper = timed.keeper()
    timed.tick(keeper, 3 * DAY - 1)
    assert not timed.state().over
    timed.tick(keeper, 3 * DAY)
    assert bodies(timed, 1, Declined | Withheld) == [Withheld(seat=0)]
    # of the other match no browser with alice's text was seen
    assert bodies(timed, 2, Declined | Withheld) == [Declined(seat=0)]
    for board in (1, 2):
        assert decode_event(timed.store.events(board)[-1]).actor == SERVER_ACCOUNT
        assert "holds" in check(timed.store, board)
    assert timed.store.due_boards(1, BEGIN + 99 * DAY, 10) == []
    timed.tick(keeper, 4 * DAY)
    assert timed.waits() == 0


def test_the_scheduler_ends_a_match_that_is_not_accepted(timed: TimedBench) -> None:
    timed.send(ALICE, call(to(ALICE), NOBODY, terms=SHORT), 1)
    timed.drain()
    timed.tick(timed.keeper(), 3 * DAY)
    assert bodies(timed, 1, Declined) == [Declined(seat=1)]
    assert "holds" in check(timed.store, 1)


def test_a_player_on_vacation_loses_no_time_whatever_command_starts_the_match(
    timed: TimedBench,
) -> None:
    accounts = Accounts(timed.client, PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    away = accounts.signup("away", "mad-hatter")
    accounts.change_of(away, lambda record: replace(record, vacations=((BEGIN, 9),)))
    commitments = (to(ALICE), NOBODY)
    start = StartMatch(
        rules="powerdrain/1", options=(), seats=(away, BOB), terms=SHORT, gather=True,
        commitments=commitments,
    )  # fmt: skip
    timed.send(away, start, 1)
    timed.send(BOB, AnswerOffer(accept=True, commitment=to(BOB)), 1)
    timed.send(away, RevealText(text=TEXTS[ALICE]), 1)
    timed.send(BOB, RevealText(text=TEXTS[BOB]), 1)
    # texts given at once, as before commitments; and nothing gathered at all
    timed.send(
        BOB,
        StartMatch(rules="powerdrain/1", options=(), seats=(BOB, away), terms=SHORT, gather=True),
        2,
    )
    timed.send(away, AnswerOffer(accept=True), 2)
    timed.send(away, StartMatch(rules="pow2/1", options=(), seats=(away, BOB), terms=SHORT), 3)
    timed.drain()
    for board in (1, 2, 3):
        assert Absent(seat=1 if board == 2 else 0, until=BEGIN + 9 * DAY) in bodies(
            timed, board, Absent
        )
        assert "holds" in check(timed.store, board)
    keeper = timed.keeper()
    timed.tick(keeper, 12 * DAY - 1)
    assert [timed.state(board).over for board in (1, 3)] == [False, False]
    timed.tick(keeper, 12 * DAY)
    assert [timed.state(board).over for board in (1, 3)] == [True, True]


LAPSE = 14 * DAY
DEALT = {
    3: DealKind.ALONE,
    7: DealKind.IN_TURN,
    11: DealKind.BY_SERVER,
    15: DealKind.SEALED,
    19: DealKind.AGREED,
}
"""A match of each kind of deal, all of one shard."""


def deal_each(bench: Bench) -> None:
    """Play the matches of `DEALT` to their start, all commands of each batch decided together."""
    words = DrawTexts(bench.client)
    start = StartMatch(rules="powerdrain/1", options=(), seats=(ALICE, BOB))
    bench.send(ALICE, start, 3)
    bench.send(ALICE, replace(start, gather=True, text=b"alice's"), 7)
    kept = words.commitment(11, ALICE), NOBODY
    bench.send(ALICE, call(*kept, lapse=LAPSE, server_deals=True), 11)
    for board in (15, 19):
        bench.send(ALICE, call(to(ALICE), NOBODY, lapse=LAPSE), board)
    bench.send(BOB, AnswerOffer(accept=True, text=b"bob's"), 7)
    bench.send(BOB, AnswerOffer(accept=True, commitment=words.commitment(11, BOB)), 11)
    for board in (15, 19):
        bench.send(BOB, AnswerOffer(accept=True, commitment=to(BOB)), board)
        bench.send(ALICE, RevealText(text=TEXTS[ALICE]), board)
    bench.send(BOB, RevealText(text=TEXTS[BOB]), 15)
    bench.send(BOB, MakeOffer(kind="deal"), 19)
    bench.send(ALICE, AnswerOffer(accept=True), 19)
    bench.drain()


def test_verify_says_what_kind_of_deal_it_was(bench: Bench) -> None:
    deal_each(bench)
    assert {deal_kind(bodies(bench, board, object)) for board in DEALT} == {*DealKind}
    for board, kind in DEALT.items():
        said = check(bench.store, board)
        assert "holds" in said
        assert f"; {DEALS[kind]}; what was dealt follows from seed" in said
        assert all(
            DEALS[other] == DEALS[kind] or f"{DEALS[other]};" not in said for other in DealKind
        )


def test_each_kind_of_deal_uses_a_seed_of_its_own_and_none_is_skipped(bench: Bench) -> None:
    deal_each(bench)
    assert sorted(drawn(bench, board) for board in DEALT) == [(1, k) for k in range(1, 6)]
    order = LeafOrder(3, 4)
    for index, leaf in bench.store.leaves(3, 0, 100):
        order.add(index, leaf)
    assert (order.faults, order.used) == ([], {1: 5})
    public = plain(bench, 23)
    assert public.draw is not None
    assert public.draw.k == 6


def test_a_sealed_match_can_be_declined_while_the_secrets_are_lost_but_not_dealt(
    bench: Bench,
) -> None:
    for board in (3, 7):
        seal(bench, board)
    bench.send(BOB, MakeOffer(kind="deal"), 7)
    bench.drain()
    for file in bench.folder.iterdir():
        file.unlink()
    bench.seeds = type(bench.seeds)(bench.store, bench.folder)
    bench.send(BOB, AnswerOffer(accept=False), 3)
    bench.send(ALICE, AnswerOffer(accept=True), 7)
    bench.drain()
    assert bench.state(3).over
    assert bench.state(7).sealed
    assert bench.store.inbox_size(range(4)) == 1


@pytest.mark.parametrize("first", ["accept", "decline", "flag"])
def test_of_an_acceptance_a_refusal_and_the_lapse_at_once_the_first_counts(
    timed: TimedBench, first: str
) -> None:
    """All of them are decided in one batch; a match by name without chance, and one that the server deals."""
    own = DrawTexts(timed.client).commitment
    start = StartMatch(rules="pow2/1", options=(), seats=(ALICE, BOB), terms=SHORT, lapse=LAPSE)
    timed.send(ALICE, start, 1)
    commitments = own(2, ALICE), NOBODY
    timed.send(ALICE, call(*commitments, lapse=LAPSE, server_deals=True, terms=SHORT), 2)
    timed.drain()
    commands = {
        "accept": lambda board: (
            BOB,
            AnswerOffer(accept=True, **({"commitment": own(2, BOB)} if board == 2 else {})),
        ),
        "decline": lambda _: (ALICE, DeclineMatch()),
        "flag": lambda _: (SERVER_ACCOUNT, FlagPlayer(ply=0)),
    }
    timed.now = BEGIN + (LAPSE if first == "flag" else LAPSE - 1)
    turns = [first, *(name for name in commands if name != first)]
    for board in (1, 2):
        for name in turns:
            timed.send(*commands[name](board), board)
    timed.drain()
    for board in (1, 2):
        declined = bodies(timed, board, Declined)
        assert timed.state(board).over
        # after the acceptance the challenger, who has not moved, may still decline
        assert declined == [Declined(seat=1 if first == "flag" else 0)]
        assert bool(bodies(timed, board, Accepted | MatchStarted)) == (
            first == "accept" or board == 1
        )
        assert "holds" in check(timed.store, board)


def test_who_declines_what_was_dealt_refused_a_draw_and_who_lets_an_invitation_lapse_did_not(
    timed: TimedBench,
) -> None:
    own = DrawTexts(timed.client).commitment
    for board in (1, 2):
        start = call(own(board, ALICE), NOBODY, lapse=LAPSE, server_deals=True, terms=SHORT)
        timed.send(ALICE, start, board)
    timed.send(BOB, AnswerOffer(accept=True, commitment=own(1, BOB)), 1)
    timed.send(BOB, DeclineMatch(), 1)
    timed.drain()
    keeper = timed.keeper()
    timed.tick(keeper, LAPSE - 1)
    assert not timed.state(2).over
    timed.tick(keeper, LAPSE)
    assert all(timed.state(board).over for board in (1, 2))
    catch_up(timed.store, timed.client)
    assert StandingsQuery(timed.client).refused(BOB) == 1
