"""What docs/apps.md shows, with a browser whose user presses the buttons; and the page of a player's own bots."""

import json
import re
import subprocess
import webbrowser
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.helpers.api import Player, code_of
from tests.helpers.browser import faults_of

PAGE = Path(__file__).parents[2] / "docs" / "apps.md"
BLOCKS = re.findall(r"^```(sh|python)\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
PYTHON = next(text for kind, text in BLOCKS if kind == "python")
REGISTER, REFRESH, REVOKE, ASK, POLL = (text for kind, text in BLOCKS if kind == "sh")


@pytest.fixture
def shell(api, tmp_path):
    """Run blocks of the page one after the other, in one folder and with the variables that they export."""

    def run(*blocks: str, **variables: str) -> list[str]:
        text = "set -eu\n" + "".join(blocks)
        done = subprocess.run(
            ["bash", "-c", text],
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "SERVER": api.url, **variables},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines()

    return run


@pytest.fixture
def client(api, shell) -> str:
    (found,) = shell(REGISTER, OWNER_TOKEN=api.player().token)
    return found


def test_the_program_of_the_page_acts_for_the_player_who_presses_allow(
    api, person, client, monkeypatch, capsys
):
    alice = api.player()
    one = person(alice)

    def opened(address: str) -> None:
        one.page.goto(address)
        expect(one.page.get_by_role("heading", name="Connect an app")).to_be_visible()
        expect(one.page.get_by_text("play for you")).to_be_visible()
        assert faults_of(one.page) == []
        one.page.get_by_role("button", name="Allow", exact=True).click(no_wait_after=True)

    monkeypatch.setattr(webbrowser, "open", opened)
    monkeypatch.setenv("SERVER", api.url)
    monkeypatch.setenv("CLIENT_ID", client)
    exec(compile(PYTHON, str(PAGE), "exec"), {})
    assert capsys.readouterr().out == f"acting for {alice.name}\n"
    expect(one.page.get_by_text("You can close this page.")).to_be_visible()
    one.elsewhere.clear()  # it went to the app
    one.page.goto(f"{api.url}/account")
    one.page.get_by_role("button", name="Disconnect").click()
    expect(one.page.get_by_text("An app of somebody else asks you here")).to_be_visible()
    assert alice.get("/api/account/apps").json() == []


def test_the_lines_of_the_page_connect_a_device_renew_its_token_and_give_it_back(
    api, person, client, shell, tmp_path
):
    alice = api.player()
    one = person(alice)
    (said,) = shell(ASK, CLIENT_ID=client)
    address, code = re.fullmatch(r"open (\S+) and type (\S+)", said).groups()
    one.page.goto(address)
    one.page.get_by_label("The code that your device shows").fill(code.lower())
    one.page.get_by_role("button", name="Go on").click()
    expect(one.page.get_by_text(f"shows the code {code}")).to_be_visible()
    one.page.get_by_role("button", name="Allow", exact=True).click()
    expect(one.page.get_by_text("Done. Go on at your device.")).to_be_visible()
    assert shell(POLL, REFRESH, CLIENT_ID=client) == ["read play", alice.name]
    token = json.loads((tmp_path / "token.json").read_text())
    shell(REVOKE, CLIENT_ID=client, REFRESH_TOKEN=token["refresh_token"])
    refused = api.http.get(
        "/api/account", headers={"Authorization": f"Bearer {token['access_token']}"}
    )
    assert refused.status_code == 401


def test_a_bot_is_made_set_given_a_token_and_deleted_on_its_page(api, person):
    owner, guest = api.player(name="otto"), api.player()
    page = person(owner).page
    page.goto(f"{api.url}/account/bots")
    page.get_by_label("Name", exact=True).fill("bot-deep")
    page.get_by_role("button", name="Make a bot").click()
    page.get_by_label("The Power of Two").check()
    page.get_by_label("Most days per move").fill("3")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text("Saved.")
    expect(page.get_by_label("The Power of Two")).to_be_checked()

    page.get_by_text("Tokens").click()
    page.get_by_label("Where it runs").fill("at home")
    page.get_by_role("button", name="Create token").click()
    token = page.get_by_label("The token").input_value()
    bot = Player(api, "bot-deep", api.parts.accounts.id_of("bot-deep"), token)
    assert bot.get("/api/account").json()["userid"] == "bot-deep"
    body = {"game": "line", "players": [guest.name, "bot-deep"]}
    assert code_of(guest.post("/api/matches", body)) == "not-wanted"

    # a mistake is shown at the form in which it was made
    page.get_by_label("Name", exact=True).fill("bot-deep")
    page.get_by_role("button", name="Make a bot").click()
    expect(page.locator("#new").get_by_role("alert")).to_contain_text("bot-deep")

    page.goto(f"{api.url}/players/bot-deep")
    expect(page.get_by_text("A program of")).to_contain_text("otto")
    page.goto(f"{api.url}/account/bots")
    page.get_by_text("Delete bot-deep").click()
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_role("heading", name=re.compile("bot-deep"))).to_have_count(0)
    assert code_of(bot.get("/api/account")) == "unknown-token"
