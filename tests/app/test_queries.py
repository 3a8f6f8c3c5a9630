"""What is asked about players and results is answered alike at every front end."""

from tests.fakes.front_ends import joined, plain, sentence


def test_a_puzzle_has_no_ratings_at_any_front_end(pair):
    one, _ = pair
    said = "jump is a puzzle and has scores instead; ask for those"
    assert one.terminal("jump ratings").sentence == said
    assert one.terminal("jump standings").sentence == said
    assert said in joined(one.mail("jump ratings"))
    for place in ("ratings/jump", "standings/jump", f"ratings/jump/{one.name}"):
        assert sentence(one.api.get(f"/api/{place}")) == said
    assert sentence(one.web.get("/ratings/jump")) == said


def test_nobody_is_compared_with_themselves(pair):
    one, _ = pair
    at_terminal = one.terminal(f"pow2 history {one.name} {one.name}")
    by_api = one.api.get(f"/api/head-to-head/pow2/{one.name}/{one.name}")
    assert at_terminal.code == by_api.json()["code"] == "bad-players"
    assert plain(at_terminal.sentence) == sentence(by_api)


def test_a_player_whom_nobody_knows_is_refused_alike(pair):
    one, _ = pair
    at_terminal = one.terminal("all show nobody")
    for answer in (one.api.get("/api/players/nobody"), one.web.get("/players/nobody")):
        assert answer.status_code == 404
        # a page leaves out how to sign up at the terminal
        assert plain(at_terminal.sentence).startswith(sentence(answer))


def test_ratings_are_the_same_for_all(pair):
    one, other = pair
    api = one.api.api
    board = api.match(one.api, other.api)
    assert one.api.move(board, "m13-j7").is_success
    assert other.api.move(board, "a13-d7").is_success
    assert one.api.give(board, {"do": "resign"}).is_success
    api.caught_up()
    series = other.api.get(f"/api/ratings/pow2/{other.name}").json()
    rating = series["rating"]
    assert [point["board"] for point in series["points"]] == [board]
    assert other.api.get(f"/api/players/{other.name}").json()["ratings"] == {"pow2": rating}
    assert str(rating) in other.terminal(f"pow2 ratings {other.name}").sentence
    assert str(rating) in other.web.page(f"/players/{other.name}")
