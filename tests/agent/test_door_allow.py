"""The listener as a proxy for named hosts, and what it thinks of names, addresses and certificates."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from asyncio import StreamReader as Reader
from asyncio import StreamWriter as Writer
from pathlib import Path

import pytest

from remote_agent.door_http import Bad, Head
from remote_agent.door_policy import Allow, climbs, public, split
from tests.agent.doors import KEY, Upstream, answered, ask, echo, get, listening, opened


async def test_a_listed_host_is_reached_by_a_tunnel_that_carries_bytes_both_ways() -> None:
    async def shout(reader: Reader, writer: Writer) -> None:
        writer.write((await reader.read(100)).upper())
        writer.write((await reader.read()).upper())
        writer.close()

    server = await asyncio.start_server(shout, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        with listening(allow=[f"localhost:{port}"]) as listener:
            reader, writer = await opened(listener.port)
            writer.write(f"CONNECT LOCALHOST.:{port} HTTP/1.1\r\nHost: x\r\n\r\n".encode() + b"at once")
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
            assert await reader.readexactly(7) == b"AT ONCE"
            writer.write(b"and later")
            writer.write_eof()
            assert await reader.read() == b"AND LATER"
            writer.close()
            host = listener.close()["hosts"][f"localhost:{port}"]
            assert (host["requests"], host["bytes_up"], host["bytes_down"], host["failures"]) == (1, 16, 16, 0)


async def test_a_listed_host_is_reached_by_a_whole_address() -> None:
    upstream = Upstream(echo)
    async with await upstream.start():
        with listening(allow=[f"127.0.0.1:{upstream.port}"]) as listener:
            reader, writer = await opened(listener.port)
            for path, asked in (("/a?b=1", "/a?b=1"), ("", "/")):
                writer.write(get(f"http://127.0.0.1:{upstream.port}{path}", "Authorization: Bearer own"))
                status, _, body = await answered(reader)
                assert status == 200
                assert body.startswith(f"GET {asked} HTTP/1.1\nHost: 127.0.0.1:{upstream.port}\n".encode())
            assert upstream.requests[0].get("authorization") == ["Bearer own"]
            assert upstream.connections == 1
            writer.close()


REFUSED = [
    (b"CONNECT other.example:443", "other.example"),
    (b"CONNECT listed.example:22", "listed.example:22"),
    (b"CONNECT ported.example:443", "ported.example"),
    (b"CONNECT 93.184.216.34:443", "93.184.216.34"),
    (b"CONNECT [2606:2800::1]:443", "[2606:2800::1]"),
    (b"CONNECT 127.1:443", "127.1"),
    (b"CONNECT 0x7f000001:443", "0x7f000001"),
    (b"CONNECT listed.example@other.example:443", "other.example:443"),
    (b"CONNECT listed.example.other.example:443", "listed.example.other.example"),
    (b"CONNECT listed.example%00.other.example:443", "listed.example?00.other.example:443"),
    (b"GET http://other.example/path?query=1", "other.example"),
    (b"GET http://listed.example@other.example/", "other.example"),
    (b"GET https://listed.example/", "inside"),
    (b"GET /", "inside"),
]


@pytest.mark.parametrize(("line", "name"), REFUSED, ids=range(len(REFUSED)))
async def test_every_other_host_is_refused_and_named(line: bytes, name: str) -> None:
    with listening(allow=["listed.example", "ported.example:8443"]) as listener:
        status, _, _ = await ask(listener.port, line + b" HTTP/1.1\r\nHost: inside\r\n\r\n")
        told = listener.close()
        assert (status, told["refused"], told["hosts"]) == (403, {name: 1}, {})


@pytest.mark.parametrize(
    ("entry", "asked", "let"),
    [
        ("*.a.example", "x.a.example:443", True), ("*.a.example", "X.Y.A.example:80", True),
        ("*.a.example", "a.example:443", False), ("*.a.example", "xa.example:443", False),
        ("*.a.example", "x.a.example:8443", False), ("*.a.example:8443", "x.a.example:8443", True),
        ("*.a.example", "x.a.example.evil.example:443", False), ("a.example", "x.a.example:443", False),
    ],
)  # fmt: skip
def test_a_star_stands_for_every_host_below(entry: str, asked: str, let: bool) -> None:
    policy = Allow([entry])
    head = Head(f"CONNECT {asked} HTTP/1.1\r\nHost: {asked}".encode())
    if let:
        assert policy.route(head).listed
    else:
        with pytest.raises(Bad, match="not allowed"):
            policy.route(head)


async def test_a_name_that_stands_for_a_private_address_needs_the_address_listed_too() -> None:
    name = Path("/proc/sys/kernel/hostname").read_text().strip()
    upstream = Upstream(echo)
    async with await upstream.start():
        raw = f"CONNECT {name}:{upstream.port} HTTP/1.1\r\n\r\n".encode()
        with listening(allow=[f"{name}:{upstream.port}"]) as listener:
            status, _, text = await ask(listener.port, raw)
            assert status in (403, 502)
            assert (b"private address" in text) == (status == 403)
        assert upstream.connections == 0


async def test_the_session_cannot_fill_the_count_with_names() -> None:
    with listening(allow=["listed.example"]) as listener:
        for number in range(230):
            await ask(listener.port, f"CONNECT n{number}.example:443 HTTP/1.1\r\n\r\n".encode())
        refused = listener.close()["refused"]
        assert (len(refused), refused["(others)"]) == (201, 30)


@pytest.mark.parametrize(
    ("address", "open_to_all"),
    [
        ("1.1.1.1", True), ("2606:4700::1111", True), ("127.0.0.1", False), ("10.0.0.1", False),
        ("169.254.169.254", False), ("100.64.0.1", False), ("192.168.1.1", False), ("0.0.0.0", False), ("::1", False),
        ("fe80::1%eth0", False), ("fd00::1", False), ("::ffff:10.0.0.1", False), ("64:ff9b::a00:1", False),
        ("2002:a00:1::", False), ("224.0.0.1", False), ("255.255.255.255", False),
    ],
)  # fmt: skip
def test_addresses_of_the_open_internet(address: str, open_to_all: bool) -> None:
    assert public(address) is open_to_all


@pytest.mark.parametrize(
    ("authority", "found"),
    [("A.Example.", ("a.example", 80)), ("a:1", ("a", 1)), ("[::1]:8", ("::1", 8)), ("[0:0::1]", ("::1", 80))],
)
def test_hosts_and_ports(authority: str, found: tuple[str, int]) -> None:
    assert split(authority, 80) == found


@pytest.mark.parametrize("authority", ["", ":1", "a:", "a:x", "a:70000", "a b", "a/b", "ü", "a:٣", "[::1", "a:1:2"])
def test_what_is_no_host(authority: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        split(authority, 80)


@pytest.mark.parametrize(
    ("path", "leaves"),
    [(b"/a/b", False), (b"/a..b/..c?x=/../", False), (b"/..", True), (b"/a/%2E./b", True), (b"/%5c..%5c", True)],
)
def test_paths_that_climb(path: bytes, leaves: bool) -> None:
    assert climbs(path) is leaves


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for localhost and 127.0.0.1 that only itself vouches for, with its key."""
    place = tmp_path_factory.mktemp("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", place / "key.pem", "-out", place / "cert.pem"],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    return place


async def secure(certificate: Path, host: str = "127.0.0.1") -> tuple[Upstream, asyncio.Server]:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    upstream = Upstream(echo)
    return upstream, await upstream.start(tls, host)


async def test_an_endpoint_whose_certificate_the_machine_knows_is_spoken_to(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    upstream, server = await secure(certificate)
    async with server:
        for name in ("localhost", "127.0.0.1"):
            with listening(upstream=f"https://{name}:{upstream.port}/v1", key=KEY) as listener:
                body = b"x" * 300_000
                status, _, got = await ask(listener.port, get("/t", method="POST", body=body))
                assert status == 200
                assert got.endswith(body)
    assert upstream.requests[0].get("authorization") == [f"Bearer {KEY}"]


@pytest.mark.parametrize("bundle", ["", "other"])
async def test_an_endpoint_with_a_certificate_nobody_vouches_for_never_hears_the_key(
    certificate: Path, bundle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if bundle:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "absent.pem"))
    else:
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    upstream, server = await secure(certificate)
    async with server:
        with listening(upstream=f"https://127.0.0.1:{upstream.port}", key=KEY) as listener:
            status, _, text = await ask(listener.port, get("/t"))
            assert status == 502
            assert b"its certificate or TLS was not accepted" in text
            (host,) = listener.close()["hosts"].values()
            assert host["failures"] == 1
    assert not upstream.requests


async def test_a_certificate_of_another_host_is_refused(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    upstream, server = await secure(certificate, "127.0.0.2")
    async with server:
        with listening(upstream=f"https://127.0.0.2:{upstream.port}", key=KEY) as listener:
            status, _, text = await ask(listener.port, get("/t"))
            assert status == 502
            assert b"IP address mismatch" in text
    assert not upstream.requests


async def test_a_door_of_both_kinds_gives_the_key_to_the_model_alone() -> None:
    model, listed = Upstream(echo), Upstream(echo)
    async with await model.start(), await listed.start():
        base = f"http://127.0.0.1:{model.port}"
        with listening(
            upstream=f"{base}/v1", key=KEY, allow=[f"127.0.0.1:{listed.port}", f"127.0.0.1:{model.port}"]
        ) as door:
            reader, writer = await opened(door.port)
            for asked, status in (
                ("/chat", 200), (f"http://127.0.0.1:{listed.port}/a", 200), (f"{base}/v1/b", 200), ("/chat", 200),
                ("http://127.0.0.1:1/", 403),
            ):  # fmt: skip
                writer.write(get(asked))
                assert (await answered(reader))[0] == status, asked
            writer.close()
            keys = [one.get("authorization") for one in model.requests]
            assert keys == [[f"Bearer {KEY}"], [], [f"Bearer {KEY}"]]
            assert [one.get("authorization") for one in listed.requests] == [[]]
            told = door.close()
            assert {name: host["requests"] for name, host in told["hosts"].items()} == {
                f"127.0.0.1:{model.port}": 3, f"127.0.0.1:{listed.port}": 1,
            }  # fmt: skip
            assert told["refused"] == {"127.0.0.1:1": 1}
