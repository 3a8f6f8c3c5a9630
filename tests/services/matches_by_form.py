"""Matches that are started and played by forms alone."""

import re

from tests.helpers.web import Guest


def challenge(one: Guest, *others: Guest, game: str = "pow2", **fields) -> int:
    """Start a match by the form, which the others have yet to accept; who starts it moves first."""
    fields = {"game": game, "opponent": [other.name for other in others], "seat": "first", **fields}
    answer = one.send("/new", fields, on="/new" if others else "/puzzles")
    assert answer.status_code == 303, answer.text
    return int(re.fullmatch(r"/m/(\d+)", answer.headers["location"])[1])


def start(one: Guest, *others: Guest, **fields) -> int:
    """Start a match by the form, which the others accept; who starts it moves first."""
    board = challenge(one, *others, **fields)
    for other in others:
        assert other.act(board, "accept").status_code == 303
    return board


def turn(guest: Guest, board: int) -> str:
    """The line that says whose turn it is."""
    page = guest.page(f"/m/{board}")
    return re.sub(
        r"\s+", " ", re.search(r'<div id="turn"[^>]*>(.*?)</div>', page, re.DOTALL)[1]
    ).strip()


def moves(guest: Guest, board: int) -> list[str]:
    return guest.get(f"/m/{board}/moves").json()["moves"]
