"""The match that waits next: the most urgent first, and one after the other to all."""

from services.app.waiting import next_match, own_matches, waiting_matches


def test_the_most_urgent_match_comes_first_and_each_follows_once(pair):
    one, other = pair
    api = one.api.api
    app = api.parts
    account = one.api.account
    assert next_match(app, account) is None
    slow = api.begun(one.api, other.api, terms=["--days=7"])
    fast = api.begun(one.api, other.api, game="torere", terms=["--days=1"])
    asked = api.begun(other.api, one.api, terms=["--days=9"])
    assert other.api.give(asked, {"do": "offer", "kind": "draw"}).is_success
    api.caught_up()
    assert [row.board for row in waiting_matches(app, own_matches(app, account)).rows] == [
        asked,
        fast,
        slow,
    ]
    first = next_match(app, account)
    assert first is not None
    assert (first.board, first.asked, first.waiting) == (asked, True, 3)
    assert (first.title, first.others) == ("The Power of Two", (other.name,))
    following = [next_match(app, account, board) for board in (asked, fast, slow)]
    assert [each and (each.board, each.waiting) for each in following] == [
        (fast, 2), (slow, 2), (asked, 2),
    ]  # fmt: skip
    assert following[0] is not None
    assert following[0].deadline is not None


def test_a_match_is_never_its_own_next(pair):
    one, other = pair
    api = one.api.api
    board = api.match(one.api, other.api)
    api.caught_up()
    assert next_match(api.parts, one.api.account, board) is None
    assert next_match(api.parts, other.api.account, board) is None
