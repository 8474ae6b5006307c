"""What the listener in front of a model endpoint refuses: other hosts, climbing paths, smuggled requests, bad words."""

from __future__ import annotations

from typing import Any

import pytest

from remote_agent.spec import Environment, SpecError
from tests.agent.doors import Listener, ask, get
from tests.agent.test_door_model import model

REFUSED = [
    (b"CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n", 403, "elsewhere.example:443"),
    (b"GET http://elsewhere.example/x?q=1 HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n", 403, "elsewhere.example"),
    (get("/../admin"), 403, None),
    (get("/a/%2e%2E/%2e./b"), 403, None),
    (get("/a/..%2fb"), 403, None),
    (get("/a/%252e%252e/b"), 403, None),
    (get("/a/..;x/b"), 403, None),
    (get("/a\\..\\b"), 403, None),
    (get("/x", "Connection: Upgrade", "Upgrade: websocket"), 426, None),
    (get("/x", "Transfer-Encoding: chunked", "Content-Length: 3"), 400, None),
    (get("/x", "Transfer-Encoding: gzip, chunked"), 400, None),
    (get("/x", "Content-Length: 3", "Content-Length: 4"), 400, None),
    (get("/x", "Content-Length: +3"), 400, None),
    (get("/x", "A: b\nAuthorization: Bearer x"), 400, None),
    (get("/x", "A: b\rAuthorization: Bearer x"), 400, None),
    (get("/x", "A: b\r\n folded"), 400, None),
    (get("/x", "A : b"), 400, None),
    (get("/x", "Host: other"), 400, None),
    (b"GET /x\r\n\r\n", 400, None),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, None),
    (b"\x16\x03\x01\x02\x00\r\n\r\n", 400, None),
    (get("/x", "A: " + "b" * 70000), 431, None),
]


@pytest.mark.parametrize(("raw", "status", "name"), REFUSED, ids=range(len(REFUSED)))
async def test_what_is_not_for_the_model_is_refused_and_never_reaches_it(
    raw: bytes, status: int, name: str | None
) -> None:
    async with model() as (listener, upstream):
        got, fields, text = await ask(listener.port, raw)
        assert (got, fields["connection"]) == (status, "close")
        assert text.endswith(b"\n")
        assert b" " in text
        assert not upstream.requests
        told = listener.close()
        assert told["refused"] == ({name: 1} if name else {})
        assert told["hosts"] == {}


@pytest.mark.parametrize(
    "chunk", [b"zz\r\nab", b"0x2\r\nab\r\n0\r\n\r\n", b"-1\r\n", b"3\r\nabcdef\r\n0\r\n\r\n", b"\r\n"]
)
async def test_a_chunk_that_lies_is_refused_and_smuggles_nothing(chunk: bytes) -> None:
    async with model() as (listener, upstream):
        status, _, _ = await ask(listener.port, get("/x", "Transfer-Encoding: chunked", method="POST") + chunk)
        assert status == 400
        assert not upstream.requests


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"upstream": "ftp://x"}, "is not an http or https address"),
        ({"upstream": "http://u:p@x/"}, "without user and query"),
        ({"upstream": "http://x/", "key": "a\r\nb: c"}, "no header may hold"),
        ({"upstream": "http://x/", "key": "sk", "header": "nothing"}, "no header may hold"),
        ({"upstream": "http://x:99999/"}, "no proper port"),
        ({"allow": ["a b"]}, "is not a host"),
        ({"allow": ["*"]}, "is not a host"),
        ({"allow": ["*a.example"]}, "is not a host"),
        ({"upstream": "http://x/", "socket": "/no/such/place/s"}, "cannot be made"),
    ],
)
def test_what_cannot_be_is_one_sentence(config: dict[str, Any], said: str) -> None:
    made = Listener(**config)
    assert said in made.first["failed"]
    made.close()


@pytest.mark.parametrize(
    ("door", "said"),
    [
        ({"port": 1}, r"environment\.door needs upstream or allow"),
        ({"upstream": "http://x"}, "needs port or socket_dir"),
        ({"upstream": "http://x", "port": 70000}, r"door\.port 70000 is not a port"),
        ({"upstream": "http://x", "socket_dir": "run"}, "'run' is not an absolute path"),
        ({"upstream": "http://x", "port": 1, "how": "magic"}, "'magic' is not one of auto, netns, sidecar"),
    ],
)
def test_a_door_that_cannot_be_is_refused_before_anything_is_made(door: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        Environment({"door": door})


def test_a_door_in_the_machines_own_network_is_refused() -> None:
    with pytest.raises(SpecError, match="a network of the environment's own"):
        Environment({"network": "host", "door": {"upstream": "http://x", "port": 1}})
