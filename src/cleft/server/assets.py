"""The page's files, read once from the package: no path of a request ever reaches the disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response

from cleft.server.refusals import RequestError

__all__ = ["INDEX", "Asset", "asset_response", "load_assets"]

INDEX = "index.html"

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
"""What is served, by ending; nothing else is."""


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the page."""

    content: bytes
    type: str
    tag: str


def load_assets() -> dict[str, Asset]:
    """All files of the page by name, those in folders with `/` between."""
    found: dict[str, Asset] = {}
    folders: list[tuple[str, Traversable]] = [("", files("cleft.server") / "static")]
    while folders:
        prefix, folder = folders.pop()
        for entry in folder.iterdir():
            name = prefix + entry.name
            ending = entry.name[entry.name.rfind(".") :]
            if entry.is_dir():
                folders.append((f"{name}/", entry))
            elif ending in TYPES:
                content = entry.read_bytes()
                digest = sha256(content).hexdigest()[:32]
                found[name] = Asset(content, TYPES[ending], f'"{digest}"')
    return found


def asset_response(request: Request, assets: Mapping[str, Asset], name: str) -> Response:
    """A file, or that the client's copy is still good."""
    asset = assets.get(name)
    if asset is None:
        raise RequestError(404, "there is no such page", hint="the page is at /, the API at /v1/")
    headers = {"etag": asset.tag, "cache-control": "no-cache"}
    known = [tag.strip() for tag in request.headers.get("if-none-match", "").split(",")]
    if asset.tag in known:
        return Response(status_code=304, headers=headers)
    return Response(asset.content, headers={**headers, "content-type": asset.type})
