"""The files of the dump, for download."""

from typing import Annotated, Any

from litestar import Request, Response
from litestar.params import PathParameter
from litestar.response import Stream

from services.app.dump import PIECE, dump_file, file_pieces, read_dump
from services.http.etag import ETag
from services.http.web.declared import Pages
from services.http.web.params import Asked
from services.http.web.render import render

pages = Pages()

AnyRequest = Request[Any, Any, Any]
FileName = Annotated[str, PathParameter(max_length=80)]


@pages.get("/dump", weight=2)
def show_dump(asked: Asked) -> Response[str]:
    """List the files of the last dump."""
    index = read_dump(asked.app.objects)
    return render("dump.html", asked.visitor, index=index)


@pages.get("/dump/{name:str}", weight=5)
def download_dump(name: FileName, asked: Asked, request: AnyRequest) -> Response[Any]:
    """Send a file, which counts as a request for each piece that is read."""
    file = dump_file(asked.app.objects, name)
    tag = ETag("dump", file.sha256)
    if tag.is_current(request):
        return tag.not_modified()
    weight = file.bytes // PIECE
    asked.context.request_limits.count_more(request, asked.visitor.account, weight)
    headers = {
        **tag.headers,
        "Content-Length": str(file.bytes),
        "Content-Disposition": f'attachment; filename="{file.name}"',
    }
    pieces = file_pieces(asked.app.objects, file)
    return Stream(pieces, media_type="application/octet-stream", headers=headers)
