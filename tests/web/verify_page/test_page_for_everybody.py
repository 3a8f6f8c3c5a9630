"""The page that checks files without Ed25519, on a phone, with the keyboard alone, under its policy."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from services.http.web.log.page import PAGE
from tests.helpers.browser import PHONE, faults_of
from tests.helpers.checked_files import changed, evidence
from tests.web.verify_page.checking import document, drop
from tests.web.verify_page.file_changes import of, of_proof, set_hash


def test_a_browser_without_ed25519_checks_the_rest_and_says_so(browser, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(PAGE, "utf-8")
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.add_init_script("Object.defineProperty(globalThis, 'crypto', { value: {} })")
    page.goto(file.as_uri())
    drop(page, document("timed", 0), keys=evidence().keys)
    expect(page.locator("#because")).to_contain_text("This browser can't check Ed25519 signatures")
    expect(page.locator(".steps [data-mark=open]")).to_have_count(1)
    expect(page.locator("[data-step=inclusion]")).to_have_attribute("data-mark", "holds")
    bad = changed(evidence("timed", 0).whole(), of_proof(set_hash(0)))
    drop(page, ("match.json", bad))
    expect(page.locator("#failure")).to_have_attribute("data-step", "inclusion")
    context.close()


def test_the_server_serves_it_with_a_policy_that_allows_no_connection(person):
    one = person()
    page = one.goes_to("/verify")
    drop(page, document("timed", 0), keys=evidence().keys)
    expect(page.locator("#headline")).to_have_text("Everything this page checks is correct.")
    expect(page.get_by_role("link", name="Save this page")).to_be_visible()
    one.expected.append("Content Security Policy")
    refused = page.evaluate("fetch('/healthz').then(() => 'came', () => 'refused')")
    assert refused == "refused"
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save this page").click()
    assert Path(saved.value.path()).read_text("utf-8") == PAGE
    assert saved.value.suggested_filename == "matchpost-verify.html"
    # it looks like the other pages, and the switch is theirs
    page.set_viewport_size({"width": 320, "height": 568})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for name in ("Games", "Puzzles"):
        expect(page.locator("header").get_by_role("link", name=name)).to_be_visible()
    page.get_by_role("button", name="Dark").click()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.goto("/help")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    page.get_by_role("button", name="Light").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.goto("/verify")
    expect(page.get_by_role("button", name="Light")).to_have_attribute("aria-pressed", "true")


@pytest.mark.long
def test_axe_finds_nothing_serious_in_any_state(page):
    faults = {}
    states = {
        "empty": (),
        "good": (document("timed", 0),),
        "bad": (("match.json", changed(evidence().whole(), of(moves=[]))),),
        "open": (document(),),
    }
    for name, files in states.items():
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            if files:
                drop(page, *files)
                for summary in page.locator(".steps > li > details > summary").all():
                    if not summary.evaluate("(one) => one.parentElement.open"):
                        summary.click()
            faults[name, scheme] = faults_of(page)
    page.emulate_media(color_scheme="light")
    assert {key: found for key, found in faults.items() if found} == {}


def test_on_a_phone_nothing_sticks_out(browser, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(PAGE, "utf-8")
    context = browser.new_context(offline=True, **PHONE)
    page = context.new_page()
    page.goto(file.as_uri())
    drop(page, document(), ("receipt.txt", evidence().receipt(evidence().indexes[1]).encode()))
    for summary in page.locator(".steps > li > details > summary").all():
        summary.click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()


def test_it_is_used_with_the_keyboard_alone(page):
    drop(page, ("match.json", changed(evidence().whole(), of(moves=[]))))
    page.get_by_role("link", name="Show the step").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    focused = "document.activeElement.closest('li')?.id + document.activeElement.tagName"
    assert page.evaluate(focused) == "failureSUMMARY"
    tree = page.get_by_role("status").aria_snapshot()
    assert "status" in tree
    assert "This check failed." in tree
    assert "Does not hold:" in page.locator("#failure").inner_text()
