"""Tool servers of a task for tests: one over standard input and output in sh, one over HTTP in both its manners."""

from __future__ import annotations

import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

from agenttime_tui.harness.config_home import program

TOOL, FOUND = "count_books", "The shelf holds 4711 books"
"""Of the server in sh, which says its first argument too."""
GUESTS_TOOL, GUESTS = "count_guests", "Nine guests are in."
"""Of the server over HTTP."""
SHELL = f"""\
server=shelf tool={TOOL} title='Count the books of the shelf.' protocol=2025-06-18 strict= ping=1 more=$1
result() {{ printf '"content":[{{"type":"text","text":"{FOUND}%s"}}]' "$more"; }}
. "${{0%/*}}/mcp_tool.sh"
"""


def shell_server(folder: Path) -> Path:
    """The program of a server over standard input and output."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("mcp_tool.sh", "json_rpc.awk"):
        (folder / name).write_bytes(program(name))
    path = folder / "shelf.sh"
    path.write_text(SHELL)
    return path


class HttpServer(ThreadingHTTPServer):
    """Answers at /mcp by streamable HTTP and at /sse by the older pair of an event stream and posts."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.headers_seen: list[dict[str, str]] = []
        self.methods: list[str] = []
        self.stream: queue.Queue[dict[str, Any]] = queue.Queue()

    def url(self, path: str) -> str:
        """The address of a way in."""
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def __enter__(self) -> HttpServer:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HttpServer

    def do_POST(self) -> None:
        """One message of the client."""
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.headers_seen.append({name.lower(): value for name, value in self.headers.items()})
        self.server.methods.append(str(asked.get("method")))
        answer = _answer(asked)
        if answer is not None and self.path == "/mcp":
            self._send(200, json.dumps(answer).encode(), "application/json")
            return
        if answer is not None:
            self.server.stream.put(answer)
        self._send(202)

    def do_GET(self) -> None:
        """The event stream of the older manner; the newer one has none here."""
        if self.path != "/sse":
            self._send(405)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(b"event: endpoint\ndata: /posts\n\n")
        while True:
            try:
                self.wfile.write(f"event: message\ndata: {json.dumps(self.server.stream.get())}\n\n".encode())
                self.wfile.flush()
            except OSError:
                return

    def do_DELETE(self) -> None:
        """The end of a session."""
        self._send(200)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Says nothing."""

    def _send(self, status: int, body: bytes = b"", kind: str = "text/plain") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _answer(asked: dict[str, Any]) -> dict[str, Any] | None:
    """What the server says to a message; None to a notification."""
    if "id" not in asked:
        return None
    said: dict[str, Any] = {"jsonrpc": "2.0", "id": asked["id"]}
    method, params = asked.get("method"), asked.get("params") or {}
    if method == "initialize":
        info = {"name": "desk", "version": "1"}
        told = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
        return said | {"result": told}
    if method == "tools/list":
        schema = {"type": "object", "properties": {}, "additionalProperties": False}
        tool = {"name": GUESTS_TOOL, "description": "Count the guests.", "inputSchema": schema}
        return said | {"result": {"tools": [tool]}}
    if method == "tools/call":
        return said | {"result": {"content": [{"type": "text", "text": GUESTS}], "isError": False}}
    if method == "ping":
        return said | {"result": {}}
    return said | {"error": {"code": -32601, "message": "Method not found"}}
