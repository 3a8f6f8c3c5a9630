"""Tournaments that are not for all, at each way in: invitations, codes, and matches lost on time."""

from domain.errors import Code
from infra.projections.notices import NoticeKind
from infra.projections.standings import tally_field, tally_key
from infra.redis.keys import TOURNAMENT_CODES
from tests.fakes.app import PASSWORDS, Terminal
from tests.helpers.api import Api, Player, code_of
from tests.helpers.web import door, refusal

ALICE = "alice mad-hatter"
CUP = {"name": "Closed Cup", "game": "pow2", "section": 3}


def opened(organiser: Player, **conditions: object) -> str:
    """Make a tournament with conditions and open it; gives its address."""
    made = organiser.post("/api/tournaments", {**CUP, **conditions})
    assert made.is_success, made.text
    path: str = made.headers["location"]
    assert organiser.post(f"{path}/open").is_success
    return path


def test_it_is_typed(terminal: Terminal) -> None:
    do = terminal.do
    new = f"tournament new {ALICE} goliath --invited --flags=20 --code --days=3 Closed Cup"
    assert do(new).code == do(f"tournament open 1 {ALICE}").code == ""
    shown = do("tournament 1").text
    for said in ("whom the organiser invites", "at most 20 % of their", "who know its code"):
        assert said in shown
    bob = f"tournament enter 1 bob {PASSWORDS['bob']}"
    made = do(f"tournament code 1 {ALICE}").sentence
    code = made.split(" is ")[1].split()[0]
    assert do(f"tournament invite 1 {ALICE} Bob").sentence == "invited to tournament 1: bob"
    assert do(f"{bob} --cod={code}").code == Code.BAD_OPTION
    assert do(bob).code == do(f"{bob} --code=0{code[1:]}x").code == Code.AGAINST_TERMS
    assert do(f"{bob} --code={code.upper()}").code == ""
    carol = do(f"tournament enter 1 carol {PASSWORDS['carol']} --code={code}")
    assert "only players whom the organiser has invited" in carol.sentence
    assert do(f"tournament new {ALICE} goliath --flags=101 Cup").code == Code.BAD_OPTION
    stored = terminal.app.client.hget(TOURNAMENT_CODES, "1")
    assert isinstance(stored, bytes)
    assert bytes.fromhex(code) not in stored
    assert code.encode() not in stored


def test_an_invited_player_gets_a_notice_and_enters_and_no_other(api: Api) -> None:
    host, guest, other, shy = (api.player() for _ in range(4))
    path = opened(host, entry={"invited": True})
    assert code_of(other.post(f"{path}/entry", {})) == "against-terms"
    assert other.get(path).json()["may_enter"] is False
    assert shy.put(f"/api/account/blocks/{host.name}", None).is_success
    refused = host.post(f"{path}/invitations", {"userids": [shy.name]})
    assert code_of(refused) == "not-wanted"
    named = {"userids": [guest.name, guest.name]}
    assert code_of(other.post(f"{path}/invitations", named)) == "not-an-organiser"
    assert host.post(f"{path}/invitations", named).is_success
    assert host.get(path).json()["invited"] == [guest.name]
    assert guest.get(path).json()["invited"] == []
    api.caught_up()
    told = [one["kind"] for one in guest.get("/api/notices").json()["notices"]]
    assert told == [NoticeKind.INVITED_TO_TOURNAMENT]
    assert guest.post(f"{path}/entry", {}).is_success
    assert host.post(f"{path}/entry", {}).is_success
    shown = host.get(path).json()
    assert (shown["terms"]["entry"]["invited"], shown["invited"]) == (True, [])


def test_a_page_invites_shows_a_code_once_and_takes_it(api: Api) -> None:
    host, guest, other = (api.player() for _ in range(3))
    terms = ["--days=3", "--vacation=9", "--rated-from=5"]
    path = opened(host, entry={"invited": True}, by_code=True, terms=terms).removeprefix("/api")
    with door(api) as come:
        desk, door_of_guest, stranger = come(host), come(guest), come(other)
        assert "Only players whom the organiser invites can enter" in stranger.page(path)
        asked = {"do": "invite", "players": f"{guest.name}, nobody-here"}
        assert "no user" in refusal(desk.send(f"{path}/act", asked, on=path).text)[1]
        done = desk.send(f"{path}/act", {"do": "invite", "players": guest.name}, on=path)
        assert done.status_code == 303
        assert f'href="/players/{guest.name}"' in desk.page(path)
        made = desk.send(f"{path}/code", {}, on=path).text
        code = made.partition('readonly value="')[2].partition('"')[0]
        assert len(code) == 16
        assert code not in desk.page(path)
        enter = {"do": "enter", "code": "0" * 16}
        answer = door_of_guest.send(f"{path}/act", enter, on=path)
        assert "isn't the code" in refusal(answer.text)[1]
        enter["code"] = code
        assert door_of_guest.send(f"{path}/act", enter, on=path).status_code == 303
        refused = stranger.send(f"{path}/code", {}, on=path)
        assert refused.status_code == 403
        like = f"/tournaments/new?like={path.rpartition('/')[2]}"
        again = desk.page(like)
    assert 'value="--days=3 --vacation=9"' in again
    assert 'name="rated-from" inputmode="numeric" class="short" value="5"' in again
    for name in ("invited", "code"):
        assert f'name="{name}" value="on" checked' in again


def test_a_share_of_matches_lost_on_time_is_too_large(api: Api) -> None:
    host, careless = api.player(), api.player()
    api.caught_up()
    tally = api.parts.standings._generation().of("pow2").key(tally_key("pow2"))
    api.parts.data.hset(tally, tally_field(careless.account, "played"), 10)
    api.parts.data.hset(tally, tally_field(careless.account, "timed"), 3)
    path = opened(host, entry={"most_flags": 29})
    refused = careless.post(f"{path}/entry", {})
    assert code_of(refused) == "against-terms"
    assert (
        "at most 29 % of their finished matches on time; it was 3 of 10" in refused.json()["detail"]
    )
    assert careless.post(f"{opened(host, entry={'most_flags': 30})}/entry", {}).is_success
    assert careless.post(f"{opened(host)}/entry", {}).is_success
    assert (
        code_of(host.post("/api/tournaments", {**CUP, "entry": {"most_flags": 101}}))
        == "bad-request"
    )
