"""The site's own name, contact, texts, banner and logo: who sets them, and where everybody sees them."""

import struct
from base64 import b64encode
from typing import Any

import pytest

from domain.errors import Code
from infra.languages.wording import wording
from infra.mail.addresses import ServerAddresses
from infra.people.accounts import AccountRole
from infra.people.acts import Act
from infra.people.logos import MOST_BYTES, MOST_PIXELS, logo_name
from infra.people.masthead import Masthead, SiteChanges, SiteText
from infra.people.tokens import Scope
from services.app.acts import TERMINAL, acts_of
from services.app.error_codes import CODE_INFO
from services.app.site import banner_end, change_site, last_day
from services.cli import site
from services.http.web.markdown import rendered_markdown
from services.mail.notification_texts import NotificationTexts
from services.words.acts import act_lines
from tests.helpers.api import Api, code_of
from tests.helpers.examples import refused
from tests.helpers.subcommands import exit_code

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">2I", 64, 32) + bytes(40)

PAGES = ("/house-rules", "/privacy", "/imprint", "/contact")


@pytest.fixture(autouse=True)
def nothing_set(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin with a site of which nothing is set, and wait for no change."""
    for key in api.parts.data.keys("{site}:*"):
        api.parts.data.delete(key)
    monkeypatch.setattr("infra.redis.recent.FRESH_SECONDS", 0.0)
    monkeypatch.setattr("services.app.site.FRESH_SECONDS", 0.0)


def change(api: Api, logo: bytes | None = None, **changes: Any) -> Masthead:
    return change_site(api.parts, SiteChanges(**changes), logo)


def at_terminal(api: Api, *words: str, **given: Any) -> int:
    action, *about = words or ("show",)
    options = {"name": None, "contact": None, "until": None, "remove": False} | given
    return exit_code(site.run, action, about, **options, settings=api.settings)


def title(page: str, name: str) -> str:
    return f"<title>{page} \N{EN DASH} {name}</title>"


# what is known of it


def test_what_is_left_out_stays_and_an_empty_text_takes_away(api):
    change(api, name="Nordclub", texts={(SiteText.RULES, "en"): "Be kind."}, banner={"en": "Hi"})
    found = change(api, contact="club@example.org", texts={(SiteText.PRIVACY, "de"): "Nichts."})
    assert (found.name, found.contact) == ("Nordclub", "club@example.org")
    assert found.pages == (SiteText.RULES, SiteText.PRIVACY, SiteText.CONTACT)
    found = change(api, name="", contact="", banner={"en": ""}, texts={(SiteText.RULES, "en"): " "})
    assert found == Masthead(texts=frozenset({SiteText.PRIVACY}))


def test_a_banner_ends_with_its_last_day(api, monkeypatch):
    end = banner_end("2026-12-24")
    assert (end, last_day(end)) == (1_798_156_800_000, "2026-12-24")
    change(api, banner={"en": "Closed over Christmas."}, banner_until=end)
    times = iter((end - 1, end))
    monkeypatch.setattr("infra.people.masthead.time_ms", lambda _: next(times))
    assert api.parts.mastheads.now().banner == {"en": "Closed over Christmas."}
    assert api.parts.mastheads.now().banner == {}
    refused(Code.BAD_OPTION, lambda: banner_end("tomorrow"))


# what can be set


def test_what_is_refused_changes_nothing(api):
    for code, changes in (
        (Code.TOO_LONG, {"name": "x" * 41}),
        (Code.BAD_OPTION, {"name": "Club\r\nBcc: all@example.org"}),
        (Code.BAD_OPTION, {"contact": "<club@example.org>"}),
        (Code.TOO_LONG, {"contact": "x" * 201}),
        (Code.TOO_LONG, {"banner": {"en": "x" * 501}}),
        (Code.BAD_OPTION, {"banner": {"xx": "Hi"}}),
        (Code.TOO_LONG, {"texts": {(SiteText.RULES, "en"): "x" * 20_001}}),
        (Code.BAD_OPTION, {"texts": {(SiteText.RULES, "en"): "a\x1b[31m"}}),
        (Code.BAD_OPTION, {"logo": b"<svg xmlns='http://www.w3.org/2000/svg'/>"}),
    ):
        given = {"contact": "club@example.org", "name": "Nordclub"} | changes
        refused(code, change, api, **given)
        assert api.parts.mastheads.now() == Masthead(), changes
        assert acts_of(api.parts, TERMINAL) == [], changes


def webp(kind: bytes, size: bytes) -> bytes:
    return b"RIFF" + bytes(4) + b"WEBP" + kind + bytes(4) + size + bytes(20)


def test_a_logo_is_known_by_its_first_bytes_and_not_too_large():
    for data, end in (
        (PNG, ".png"),
        (webp(b"VP8X", bytes(4) + b"\x3f\x00\x00\x1f\x00\x00"), ".webp"),
        (webp(b"VP8L", b"\x2f" + struct.pack("<I", 63 | 31 << 14)), ".webp"),
        (webp(b"VP8 ", bytes(3) + b"\x9d\x01\x2a" + struct.pack("<2H", 64, 32)), ".webp"),
        (webp(b"VP8L", b"\x00" + struct.pack("<I", 63 | 31 << 14)), ""),
        (webp(b"VP8X", bytes(4) + b"\x00\x04\x00\x1f\x00\x00"), ""),
        (PNG[:16] + struct.pack(">2I", MOST_PIXELS + 1, 1) + bytes(40), ""),
        (PNG[:16] + struct.pack(">2I", 0, 1) + bytes(40), ""),
        (PNG + bytes(MOST_BYTES), ""),
        (PNG[:20], ""),
        (b"<svg/>", ""),
        (b"GIF89a" + bytes(40), ""),
    ):
        name = logo_name(data)
        assert name.endswith(end), data[:40]
        assert len(name) == (32 + len(end) if end else 0), data[:40]


def test_a_text_has_no_html_no_pictures_and_no_links_that_run_anything():
    shown = rendered_markdown(
        "# Rules\n\nBe <b>kind</b>. [a](javascript:alert(1)) [b](https://example.org) "
        "![c](https://example.org/c.png) [d](data:text/html;base64,eA==)\n\n|x|\n|-|\n|y|"
    )
    assert "<h3>Rules</h3>" in shown
    assert "<td>y</td>" in shown
    assert '<a href="https://example.org" rel="nofollow noopener ugc">b</a>' in shown
    assert "&lt;b&gt;kind&lt;/b&gt;" in shown
    assert not any(one in shown for one in ("<img", 'href="javascript', 'href="data', "<b>"))


# where it is seen


def test_pages_have_the_name_and_the_logo_of_the_site(api, come):
    guest = come()
    assert title("Log in", "matchpost") in guest.page("/login")
    found = change(api, PNG, name="Nord & Süd")
    page = guest.page("/login")
    assert title("Log in", "Nord &amp; Süd") in page
    assert "matchpost" not in page.partition("</header>")[0].partition("<body")[2]
    assert f'src="/logo/{found.logo}"' in page
    manifest = guest.get("/manifest.webmanifest").json()
    assert (manifest["name"], manifest["short_name"]) == ("Nord & Süd", "Nord & Süd")
    logo = guest.get(f"/logo/{found.logo}")
    assert (logo.content, logo.headers["content-type"]) == (PNG, "image/png")
    assert logo.headers["x-content-type-options"] == "nosniff"
    assert "immutable" in logo.headers["cache-control"]
    change(api, b"")
    assert guest.get(f"/logo/{found.logo}").status_code == 404
    # an address that is no page has the name, too
    assert (
        title("Page not found", "Nord &amp; Süd")
        in guest.get("/nowhere", headers={"accept": "text/html"}).text
    )


def test_texts_are_pages_for_guests_in_their_language_also_on_a_server_for_members(api, come):
    guest, german = come(), come(**{"accept-language": "de"})
    assert [guest.get(path).status_code for path in PAGES] == [404] * 4
    assert not any(f'href="{path}"' in guest.page("/login") for path in PAGES)
    change(
        api,
        contact="club@example.org",
        texts={
            (SiteText.RULES, "en"): "# Be kind\n\n<script>alert(1)</script>",
            (SiteText.RULES, "de"): "Seid nett.",
            (SiteText.IMPRINT, "de"): "Nordclub e. V.",
        },
    )
    api.parts.admissions.change({"visible_to": "members"})
    front = guest.page("/login")
    shown = [path for path in PAGES if f'href="{path}"' in front.partition("<footer")[2]]
    assert shown == ["/house-rules", "/imprint", "/contact"]
    rules = guest.page("/house-rules")
    assert title("House rules", "matchpost") in rules
    assert '<article lang="en">\n<h2>Be kind</h2>' in rules
    assert "<script>alert" not in rules
    assert "Seid nett." in german.page("/house-rules")
    assert '<article lang="de">\n<p>Nordclub e. V.</p>' in guest.page("/imprint")
    assert "club@example.org" in guest.page("/contact")
    assert guest.get("/privacy").status_code == 404


def test_who_signs_up_is_told_of_the_rules_and_of_the_use_of_data(api, come):
    guest = come()
    assert "By signing up" not in guest.page("/signup")
    change(api, texts={(SiteText.RULES, "en"): "Be kind."})
    assert '<a href="/house-rules" target="_blank">house rules</a>.' in guest.page("/signup")
    change(api, texts={(SiteText.PRIVACY, "en"): "Nothing."})
    assert 'how your <a href="/privacy" target="_blank">data</a> are used.' in guest.page("/signup")


def test_everybody_sees_an_announcement_and_can_close_it_for_this_visit(api, come):
    guest, german, member = come(), come(**{"accept-language": "de"}), come(api.player())
    change(api, banner={"en": "Down on <b>Sunday</b>.", "de": "Sonntag aus."})
    said = '<p lang="en">Down on &lt;b&gt;Sunday&lt;/b&gt;.</p>'
    assert said in guest.page("/login")
    assert said in member.page("/")
    assert '<p lang="de">Sonntag aus.</p>' in german.page("/login")
    closed = guest.send("/banner", {"back": "/login"}, on="/login")
    assert (closed.status_code, closed.headers["location"]) == (303, "/login")
    assert "max-age" not in closed.headers["set-cookie"].lower()
    assert "Sunday" not in guest.page("/login")
    assert said in member.page("/")
    change(api, banner={"en": "Down on Monday.", "de": ""})
    assert "Down on Monday." in guest.page("/login")
    assert '<p lang="en">Down on Monday.</p>' in german.page("/login")
    assert guest.http.post("/banner", data={"back": "/login"}).status_code == 403


def test_mails_carry_the_name_and_the_contact(api):
    player = api.player()
    texts = NotificationTexts(api.parts, ServerAddresses(bytes(32), "play.example.org"))
    before = texts.code(player.account, "a" * 10)
    assert before.subject.startswith("matchpost: your code is")
    assert "\n-- \n" not in before.body
    change(api, name="Nordclub", contact="club@example.org")
    code, reset = texts.code(player.account, "a" * 10), texts.reset(player.account, "x")
    digest = texts.digest(player.account, ())
    assert code.subject.startswith("Nordclub: your code is")
    assert "Nordclub (play.example.org)" in code.body
    assert reset.subject == f"Nordclub: a new password for {player.name}"
    assert digest.subject == "Nordclub: what happened in your matches"
    for mail in (code, reset, digest):
        assert mail.body.endswith("Nordclub, club@example.org\n")
        assert mail.body.count("\n-- \n") == 1


# who sets it


def test_the_terminal_sets_it_and_shows_it(api, capsys, tmp_path):
    rules, logo = tmp_path / "rules.md", tmp_path / "logo.png"
    rules.write_text("Be kind.\n")
    logo.write_bytes(PNG)
    assert at_terminal(api, "set", name="Nordclub", contact="club@example.org") == 0
    assert at_terminal(api, "text", "rules", "en", str(rules)) == 0
    assert at_terminal(api, "logo", str(logo)) == 0
    capsys.readouterr()
    assert at_terminal(api, "banner", "en", str(rules), until="2099-12-24") == 0
    assert capsys.readouterr().out.splitlines() == [
        "name: Nordclub",
        "contact: club@example.org",
        "text rules: en (8 characters)",
        "text privacy: none",
        "text imprint: none",
        "text contact: none",
        "banner, en until 2099-12-24: Be kind.",
        f"logo: {logo_name(PNG)}",
    ]
    assert at_terminal(api, "text", "rules", "en", remove=True) == 0
    assert at_terminal(api, "logo", remove=True) == 0
    assert "text rules: none" in capsys.readouterr().out
    for words, said in (
        (("text", "laws", "en", str(rules)), "bad-option: the texts of a site are rules, privacy"),
        (("text", "rules", "en", str(tmp_path / "none")), "can't be read"),
        (("text", "rules", "en", str(tmp_path)), "can't be read"),
        (("set",), "usage: "),
        (("logo", str(rules)), "bad-option: a logo is a PNG or WebP picture"),
    ):
        assert at_terminal(api, *words) != 0
        assert said in capsys.readouterr().err


def test_an_operators_program_sets_it_and_nobody_elses(api):
    operator, other = api.player(), api.player()
    reading = api.player([Scope.READ])
    for one in (operator, reading):
        api.parts.accounts.set_role(one.name, AccountRole.OPERATOR, held=True)
    body = {
        "name": "Nordclub",
        "texts": {"rules": {"en": "Be kind."}},
        "banner": {"en": "Hi"},
        "banner_until": "2099-12-24",
        "logo": b64encode(PNG).decode(),
    }
    for who, code in ((other, "not-an-operator"), (reading, "missing-scope")):
        assert code_of(api.http.patch("/api/admin/site", json=body, headers=who.headers)) == code
    assert api.http.patch("/api/admin/site", json=body).status_code == 401
    assert api.http.get("/api/site").json()["name"] == "matchpost"
    answer = api.http.patch("/api/admin/site", json=body, headers=operator.headers)
    assert answer.json() == {
        "name": "Nordclub",
        "contact": "",
        "texts": {"rules": {"en": "Be kind."}},
        "banner": {"en": "Hi"},
        "banner_until": "2099-12-24",
        "logo": f"/logo/{logo_name(PNG)}",
    }
    assert api.http.get("/api/site").json() == answer.json()
    wrong = {"texts": {"laws": {"en": "x"}}}
    refusal = api.http.patch("/api/admin/site", json=wrong, headers=operator.headers)
    assert code_of(refusal) == "bad-request"
    (act,) = acts_of(api.parts, TERMINAL)
    assert (act.by, act.act) == (operator.account, Act.SITE_CHANGED)
    (line,) = act_lines(api.parts, [act], wording("de"))
    assert line.said == f"{operator.name} hat die Seite geändert: name, logo, banner en, rules en"


def test_an_operator_sets_it_on_the_admin_page_and_nobody_else(api, come):
    player, other = api.player(), api.player()
    api.parts.accounts.set_role(player.name, AccountRole.OPERATOR, held=True)
    operator, stranger = come(player), come(other)
    assert stranger.get("/admin/site").status_code == 403
    assert stranger.send("/admin/site", {"name": "Mine"}).status_code == 403
    saved = operator.send("/admin/site", {"name": "Nordclub", "part": "name"}, on="/admin/site")
    assert saved.headers["location"] == "/admin/site?saved=name"
    fields = {"text.rules.en": "Be kind.", "text.rules.de": "Seid nett.", "part": "rules"}
    assert operator.send("/admin/site", fields, on="/admin/site").status_code == 303
    upload = {"logo": ("logo.png", PNG, "image/png")}
    assert operator.send("/admin/site", on="/admin/site", files=upload).status_code == 303
    found = api.parts.mastheads.now()
    assert (found.name, found.logo, found.banner) == ("Nordclub", logo_name(PNG), {})
    page = operator.page("/admin/site?saved=rules")
    assert "Seid nett.</textarea>" in page
    # what is refused is still in the form
    wrong = operator.send("/admin/site", {"banner.en": "x" * 501}, on="/admin/site")
    assert wrong.status_code == CODE_INFO[Code.TOO_LONG].status
    assert "x" * 501 in wrong.text
    assert "the limit is 500" in wrong.text
    svg = {"logo": ("logo.png", b"<svg/>", "image/png")}
    refusal = operator.send("/admin/site", on="/admin/site", files=svg)
    assert "PNG or WebP picture" in refusal.text
    assert operator.send("/admin/site", {"no-logo": "yes"}, on="/admin/site").status_code == 303
    assert api.parts.mastheads.now().logo == ""
