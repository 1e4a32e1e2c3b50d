"""A proxy that stands between client and service and treats answers badly, after what was asked has been done."""

import http.client
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Union
from urllib.parse import urlsplit

Trouble = Union[str, tuple[int, "dict[str, str]", bytes]]


class Proxy:
    """`troubles` come over the next requests, one each, and then none. `lost`: the connection ends without an
    answer. `cut`: in the midst of its body. `half`: an answer whose body ends too soon, and says so. `unsent`:
    as `lost`, before the service was asked. Anything else is answered in the service's place, which did the work
    unless the status is 503 or 429.
    """

    def __init__(self, base_url: str) -> None:
        self.troubles: deque[Trouble] = deque()
        self.seen: list[str] = []
        self.bodies: list[bytes] = []
        self.only = ""
        """Only requests with this in their path meet trouble."""
        self._target = urlsplit(base_url).netloc
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:
                pass

            def answer(self) -> None:
                proxy.answer(self)

            do_GET = do_POST = answer

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers.get("content-length", 0)))
        trouble: Trouble = ""
        if self.only in request.path and self.troubles:
            trouble = self.troubles.popleft()
        self.seen.append(f"{request.command} {request.path.split('?')[0]}")
        self.bodies.append(body)
        refused = isinstance(trouble, tuple) and trouble[0] in (429, 503)
        status, headers, content = (0, {}, b"") if trouble == "unsent" or refused else self.ask(request, body)
        if trouble in ("lost", "unsent"):
            request.close_connection = True
            return
        if isinstance(trouble, tuple):
            status, headers, content = trouble
        if trouble == "half":
            content = content[: len(content) // 2]
        request.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "connection", "transfer-encoding", "date"):
                request.send_header(name, value)
        request.send_header("content-length", str(len(content)))
        request.end_headers()
        if trouble == "cut":
            request.wfile.write(content[: len(content) // 2])
            request.close_connection = True
            return
        request.wfile.write(content)

    def ask(self, request: BaseHTTPRequestHandler, body: bytes) -> "tuple[int, dict[str, str], bytes]":
        connection = http.client.HTTPConnection(self._target)
        headers = {
            name: value for name, value in request.headers.items() if name.lower() not in ("host", "accept-encoding")
        }
        connection.request(request.command, request.path, body or None, headers)
        response = connection.getresponse()
        found = response.status, dict(response.getheaders()), response.read()
        connection.close()
        return found

    @contextmanager
    def running(self) -> "Iterator[Proxy]":
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()
