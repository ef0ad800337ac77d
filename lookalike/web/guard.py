"""Guard: who may ask this server anything. Every request passes here first, every answer last.

The page shows faces of people to one person at one machine. Other pages that this person has open, other
programs and other machines must neither see them nor change anything:

- The ``Host`` must be ours: a foreign name that was made to point here (DNS rebinding) is refused.
- ``Origin`` and ``Sec-Fetch-Site`` must not name anybody else: other pages, and those of other ports of this
  machine, are refused.
- The address that was printed holds a token. It works once, and becomes a cookie that scripts cannot read and
  that the browser never sends along for another site. Without the cookie nothing is shown.
- What changes something is never a GET, must say that it comes from our own page, and carries a header and
  a content type that a form of another page cannot send.
- Programs show a key instead (``Authorization: Bearer``), if there are any. No page of others can send that
  header: browsers would ask us first, and are told nothing. It opens what its scopes are for (`web.keys`).
- Bodies have a largest size. The headers of every answer, errors too, forbid the browser everything foreign.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections import deque
from collections.abc import Callable, Collection
from hmac import compare_digest
from http import HTTPStatus

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lookalike.web.keys import Keys
from lookalike.web.load import KEY, OWNER, later, limited
from lookalike.web.wording import where

logger = logging.getLogger(__name__)

UPLOADS = ("/api/uploads", "/api/files")
PUBLIC = "/static/"
MOST_JSON, MOST_UPLOAD = 2**20, 2 * 2**30
# So many wrong tokens within so many seconds; then wrong ones are told to wait. The right one always works.
WRONG, WITHIN = 10, 60.0
ENTER = "Open the address that lookalike printed. It works once: stop lookalike and start it for a new one."
# What browsers say of a request from our own page, and of an address that somebody typed.
OURS = ("same-origin", "none")

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; img-src 'self'; media-src 'self'; "
    "style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# Files of our own show nobody: a browser may keep them, and asks each time whether they are still the same.
KEPT = "no-cache"

NO_KEYS = Keys()
Say = Callable[[Request, int, str], Response]


class Guard:
    """Lets through to an app what our own page asks, and nothing else.

    The parameters are those of `create_app`; `say` makes the answer out of a request, a status and a
    sentence.
    """

    def __init__(
        self,
        app: ASGIApp,
        token: str,
        hosts: Collection[str],
        say: Say,
        most_upload: int = MOST_UPLOAD,
        keys: Keys = NO_KEYS,
    ) -> None:
        self._app, self._say, self._most_upload, self._keys = app, say, most_upload, keys
        self._hosts = frozenset(hosts)
        self._token: bytes | None = token.encode()
        self._session: bytes | None = None
        self._wrong: deque[float] = deque(maxlen=WRONG)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        request, started = Request(scope), False

        async def guarded_send(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if scope["path"].startswith(PUBLIC) and message["status"] < 400:
                    headers["Cache-Control"] = KEPT
            await send(message)

        refused = self._refusal(request) or self._entering(request)
        if refused is not None:
            await refused(scope, receive, guarded_send)
            return
        try:
            most = self._most_upload if scope["path"] in UPLOADS else MOST_JSON
            await self._app(scope, limited(request, receive, most), guarded_send)
        except Exception as mistake:
            logger.error("a mistake of ours, at %s %s: %s", request.method, _route(scope), where(mistake))
            if not started:
                sentence = "Something went wrong on our side: try again, or start the server again."
                await self._say(request, 500, sentence)(scope, receive, guarded_send)

    def _refusal(self, request: Request) -> Response | None:
        """Why a request cannot come from our own page; None if it can."""
        headers = request.headers
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return self._say(request, 400, "This server is reached by its printed address only.")
        foreign = any(origin != f"http://{hosts[0]}" for origin in origins)
        sites = headers.getlist("sec-fetch-site")
        if foreign or any(site not in OURS for site in sites):
            return self._say(request, 403, "Another page asked for this. Open the printed address yourself.")
        if request.method in ("GET", "HEAD"):
            return None
        if request.method not in ("POST", "DELETE"):
            return self._say(request, 405, f"{request.method} is not done here.")
        from_page = (origins or sites == ["same-origin"]) and headers.get("x-lookalike") == "1"
        if not (from_page or self._shows_key(request)):
            return self._say(request, 403, "Changes are made from the page itself, or as its manual says.")
        wanted = "multipart/form-data" if request.scope["path"] in UPLOADS else "application/json"
        given = headers.get("content-type", "").partition(";")[0].strip().lower()
        if request.method == "POST" and given != wanted:
            return self._say(request, 415, f"This must be sent as {wanted}.")
        return None

    def _shows_key(self, request: Request) -> bool:
        return "authorization" in request.headers and bool(self._keys)

    def _entering(self, request: Request) -> Response | None:
        """Turn the token into a cookie, once; refuse who has neither. None if the cookie or key is right."""
        if self._shows_key(request):
            key = self._keys.find(request.headers["authorization"])
            if key is None:
                return self._wrong_secret(request, "There is no such key.")
            request.scope[OWNER], request.scope[KEY] = True, key.name
            denied = self._keys.denied(key, request.method, request.scope["path"])
            return None if denied is None else later(self._say(request, *denied[:2]), denied.wait)
        # Two servers on one machine share its cookies, which know no ports: each has its own name.
        cookie = f"lookalike-{(request.scope.get('server') or ('', 0))[1]}"
        given = request.cookies.get(cookie, "").encode()
        known = self._session is not None and compare_digest(given, self._session)
        if request.scope["path"] == "/" and request.method == "GET" and "token" in request.query_params:
            token = request.query_params["token"].encode()
            enter = RedirectResponse("/", HTTPStatus.SEE_OTHER)
            if self._token is not None and compare_digest(token, self._token):
                self._token, self._session = None, secrets.token_hex(16).encode()
                enter.set_cookie(cookie, self._session.decode(), path="/", httponly=True, samesite="strict")
                return enter
            return enter if known else self._wrong_secret(request, ENTER)
        request.scope[OWNER] = known
        if known or (request.method == "GET" and request.scope["path"].startswith(PUBLIC)):
            return None
        return self._say(request, 401, ENTER)

    def _wrong_secret(self, request: Request, sentence: str) -> Response:
        now = time.monotonic()
        if len(self._wrong) == WRONG and (wait := self._wrong[0] + WITHIN - now) > 0:
            said = "Too many wrong addresses or keys were tried: wait a minute."
            return later(self._say(request, 429, said), wait)
        self._wrong.append(now)
        return self._say(request, 401, sentence)


def _route(scope: Scope) -> str:
    """The pattern that a request matched: what stands in its place may name somebody, and is not logged."""
    return str(getattr(scope.get("route"), "path", "no known address"))
