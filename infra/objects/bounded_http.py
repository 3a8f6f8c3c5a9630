"""Answers of servers that nobody vouches for: read as they come, and never more than is expected."""

import time
from typing import Final

import httpx

MOST_NOTE: Final = 1 << 20
"""Bytes of the largest note, list of keys or tile of hashes that is read."""

MOST_BUNDLE: Final = 256 * 64 * 1024
"""Bytes of the largest tile of entries."""

_MOST_REDIRECTS: Final = 5
_MOST_SECONDS: Final = 60.0


def read_answer(
    http: httpx.Client, url: str, most: int = MOST_NOTE, *, posted: bytes | None = None
) -> tuple[int, bytes]:
    """Return status and body of an answer to GET, or to POST with the bytes `posted`.

    `httpx.HTTPError` if the body has more than `most` bytes, is compressed, takes a minute, or is on another host.
    """
    request = http.build_request(
        *("GET" if posted is None else "POST", url),
        content=posted,
        headers={"Accept-Encoding": "identity"},
    )
    for _ in range(_MOST_REDIRECTS):
        answer = http.send(request, stream=True, follow_redirects=False)
        try:
            after = answer.next_request
            if posted is not None or after is None:
                return answer.status_code, _body(answer, most)
        finally:
            answer.close()
        if after.url.host != request.url.host:
            raise httpx.HTTPError(f"it leads to another host, {after.url.host}")
        request = after
    raise httpx.HTTPError("it leads on and on")


def _body(answer: httpx.Response, most: int) -> bytes:
    if answer.headers.get("Content-Encoding", "identity") != "identity":
        raise httpx.HTTPError("the answer is compressed, which was not asked for")
    end, found = time.monotonic() + _MOST_SECONDS, bytearray()
    for chunk in answer.iter_raw():
        found += chunk
        if len(found) > most:
            raise httpx.HTTPError(f"the answer has more than {most} bytes")
        if time.monotonic() > end:
            raise httpx.HTTPError(f"the answer takes longer than {_MOST_SECONDS:g} s")
    return bytes(found)
