"""Takes the pictures of pages in README.md and docs/, from a demo server that it fills and runs.

    .venv/bin/python tools/pictures.py
    .venv/bin/python tools/pictures.py tournament-league tournament-phone

Without names it takes all.
The demo has the same matches each time, so the pictures change with the pages alone. It needs Chromium, as the
tests of pages do.
"""

import base64
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from playwright.sync_api import Browser, Page

ROOT: Final = Path(__file__).parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from tests.helpers.browser import chromium  # noqa: E402 - found where the path says

FIGURES: Final = ROOT / "docs" / "figures"
NAME: Final = "demo"
SETTLED_MS: Final = 700
"""For pictures and animations."""
DESK: Final = (1280, 900)
PHONE: Final = (390, 844)
TABLET: Final = (768, 1024)

TO_WEBP: Final = """async (png) => {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  canvas.getContext("2d").drawImage(image, 0, 0);
  return canvas.toDataURL("image/webp", 0.86).split(",")[1];
}"""


class Picture(NamedTuple):
    """A picture of a page."""

    name: str
    path: str
    """The page's address; one that begins with `.` is that of the first link which the selector finds `on` a page."""
    size: tuple[int, int]
    on: str = "/"
    dark: bool = False
    german: bool = False
    guest: bool = False


OWN: Final = ".match-tile:has-text('{}') a"
CUPS: Final = "/tournaments?state=running"
CUP: Final = ".tournaments a:has-text('{}')"
PICTURES: Final = (
    Picture("board", "/", (1000, 703)),
    Picture("phone", OWN.format("The Power of Two"), PHONE),
    Picture("web-match", OWN.format("The Power of Two"), DESK),
    Picture("web-match-phone", OWN.format("The Power of Two"), PHONE, dark=True, german=True),
    Picture("web-match-small", OWN.format("David and Goliath"), (375, 553)),
    Picture("web-match-wide-phone", OWN.format("Halves"), (844, 390)),
    Picture("web-match-tablet", OWN.format("Powerdrain"), TABLET, dark=True),
    Picture("web-replay", "/m/1/5", DESK, dark=True, german=True),
    Picture("web-home", "/", DESK),
    Picture("web-first", "/", DESK, guest=True),
    Picture("web-rules", "/games/halves", DESK, guest=True),
    Picture("web-new", "/new", PHONE),
    Picture("web-account", "/account", PHONE, dark=True, german=True),
    Picture("web-puzzle", "/games/one/try", TABLET, german=True),
    Picture("web-player", "/players/anneke", DESK, dark=True),
    Picture("tournament-table", CUP.format("Slingshot Cup"), (1000, 820), on=CUPS),
    Picture("tournament-league", CUP.format("Harbour League"), (1000, 820), on=CUPS),
    Picture("tournament-bracket", CUP.format("Cup of Eight"), (1000, 760), dark=True, on=CUPS),
    Picture("tournament-phone", CUP.format("Swiss Evenings"), PHONE, german=True, on=CUPS),
)


@contextmanager
def demo_server() -> Iterator[tuple[str, str]]:
    """Run a demo server in a scratch folder; yields its address, and the password of `demo`."""
    with tempfile.TemporaryDirectory() as folder:
        command = [Path(sys.executable).with_name("matchpost"), "demo", "--data", f"{folder}/data"]
        environment = {"MATCHPOST_HTTP": "127.0.0.1:0", "PATH": "/usr/bin:/bin", "HOME": folder}
        with subprocess.Popen(  # noqa: S603 - our own command
            command,
            cwd=ROOT,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as running:
            said = ""
            try:
                for line in running.stdout or ():
                    said += line
                    if line.rstrip().endswith("ready"):
                        break
                address = re.search(r"Open (http://\S+?)/? in a browser", said)
                password = re.search(r"password (\S+)", said)
                if address is None or password is None:
                    raise SystemExit(f"the demo server did not start:\n{said}")
                yield address[1], password[1]
            finally:
                running.terminate()


def take(browser: Browser, url: str, password: str, picture: Picture) -> bytes:
    """Return a picture as WebP."""
    width, height = picture.size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if picture.dark else "light",
        locale="de-DE" if picture.german else "en-GB",
        extra_http_headers={"Accept-Language": "de" if picture.german else "en"},
        reduced_motion="reduce",
    )
    page = context.new_page()
    if not picture.guest:
        _log_in(page, url, password)
    if picture.path.startswith("/"):
        page.goto(f"{url}{picture.path}")
    else:
        page.goto(f"{url}{picture.on}")
        page.goto(f"{url}{page.locator(picture.path).first.get_attribute('href')}")
    page.wait_for_function("!document.querySelector('script[data-module]')")
    page.wait_for_timeout(SETTLED_MS)
    shot = base64.b64encode(page.screenshot()).decode()
    blank = context.new_page()
    found = base64.b64decode(blank.evaluate(TO_WEBP, shot))
    context.close()
    return found


def _log_in(page: Page, url: str, password: str) -> None:
    page.goto(f"{url}/login")
    page.locator("[name=userid]").fill(NAME)
    page.locator("[name=password]").fill(password)
    page.locator("main form button").first.click()
    page.wait_for_url(lambda address: "/login" not in address)


def main() -> int:
    """Take all pictures, and write them into `docs/figures`."""
    with demo_server() as (url, password), chromium() as browser:
        for picture in [one for one in PICTURES if one.name in (sys.argv[1:] or [one.name])]:
            found = take(browser, url, password, picture)
            (FIGURES / f"{picture.name}.webp").write_bytes(found)
            sys.stdout.write(f"{picture.name}.webp {len(found)} bytes\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
