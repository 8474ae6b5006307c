"""What a door carries: one model endpoint with its key, named hosts, or both; everything else is refused."""

from __future__ import annotations

import ipaddress
import os
import socket
import ssl

from remote_agent.door_http import Bad, Head

CONNECT_S = 30.0
PORTS = {"http": 80, "https": 443}
KEYS = frozenset(b"authorization x-api-key api-key x-goog-api-key accept-encoding".split())
"""Dropped where the door adds a key of its own; an answer must not hide that key in a compressed body."""

BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
           "/etc/ssl/cert.pem")  # fmt: skip
"""Where systems keep their certificates, for a Python that was built to look elsewhere."""

_SCHEME = b"http://"
_NAME = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789.-_")


class Route:
    """Where one request goes and with which lines; `tunnel` carries bytes instead of a request."""

    __slots__ = ("host", "lines", "listed", "port", "tls", "tunnel")

    def __init__(self, host: str, port: int, tls: bool, tunnel: bool, lines: list[bytes]) -> None:
        self.host = host
        self.port = port
        self.tls = tls
        self.tunnel = tunnel
        self.lines = lines
        self.listed = False
        """It goes to a host of the list, not to the model."""

    @property
    def name(self) -> str:
        """Host as records and Host fields have it: the port where it is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = self.port == PORTS["https" if self.tls or self.tunnel else "http"]
        return host if usual else f"{host}:{self.port}"


class Model:
    """One endpoint: only paths below its base; the session's own key is replaced by `key` where there is one."""

    def __init__(self, upstream: str, header: str, key: str) -> None:
        scheme, _, rest = upstream.partition("://")
        authority, slash, path = rest.partition("/")
        if scheme not in PORTS or not authority or "@" in authority or any(c in upstream for c in "?# \r\n"):
            raise ValueError(f"upstream {upstream!r} is not an http or https address without user and query")
        host, port = split(authority, PORTS[scheme])
        self._route = Route(host, port, scheme == "https", False, [])
        self._base = (slash + path).rstrip("/").encode()
        self._field, self._dropped = b"", frozenset(b"host".split())
        self.key = key
        if key:
            name, colon, before = header.partition(":")
            if not colon or not name.strip() or not (before + key).isprintable() or not (header + key).isascii():
                raise ValueError("the key or its header holds what no header may hold")
            self._field = f"{name.strip()}: {before[1:] if before.startswith(' ') else before}{key}".encode()
            self._dropped |= KEYS | {name.strip().lower().encode()}
        self._tls = context() if self._route.tls else None

    def route(self, head: Head) -> Route:
        """The way of a request; Bad for one that is not for the endpoint."""
        method, target = head.start[0], head.start[1]
        if method == b"CONNECT":
            raise Bad(403, "this way carries nothing but the model", _asked(target))
        if not target.startswith(b"/"):
            raise Bad(403, "this way carries nothing but the model", _asked(target.partition(b"//")[2]))
        if climbs(target) or b"#" in target:
            raise Bad(403, "this path is not below the model's own")
        to = self._route
        lines = [b" ".join([method, self._base + target, b"HTTP/1.1"]), b"Host: " + to.name.encode()]
        lines += head.passed(self._dropped)
        if self._field:
            lines += [b"Accept-Encoding: identity", self._field]
        return Route(to.host, to.port, to.tls, False, lines)

    def connect(self, route: Route) -> socket.socket:
        """A connection to the endpoint, its certificate checked; OSError."""
        sock = _first(addresses(route), route)
        return sock if self._tls is None else secured(sock, self._tls, route.host)


class Allow:
    """A proxy for named hosts: CONNECT, and plain http by whole addresses."""

    key = ""

    def __init__(self, allow: list[str]) -> None:
        self._any: set[str] = set()
        self._one: set[tuple[str, int]] = set()
        for entry in allow:
            host, port = split(entry.lower()[entry.startswith("*.") :], 0)  # *.a.org is kept as .a.org
            if port:
                self._one.add((host, port))
            else:
                self._any.add(host)
        self._hosts = self._any | {host for host, _ in self._one}

    def route(self, head: Head) -> Route:
        """The way of a request; Bad(403) for any host that is not listed."""
        method, target = head.start[0], head.start[1]
        if method == b"CONNECT":
            return self._allowed(Route(*_split(target, 443), False, True, []))
        if not target.lower().startswith(_SCHEME):
            raise Bad(403, "this is a proxy for the hosts that are allowed", _asked(b",".join(head.all(b"host"))))
        authority, slash, path = target[len(_SCHEME) :].partition(b"/")
        if b"?" in authority or b"#" in target:
            raise Bad(400, "this is not an address a proxy is asked for")
        route = self._allowed(Route(*_split(authority, 80), False, False, []))
        route.lines = [b" ".join([method, (slash or b"/") + path, b"HTTP/1.1"]), b"Host: " + route.name.encode()]
        route.lines += head.passed(frozenset([b"host"]))
        return route

    def _allowed(self, route: Route) -> Route:
        names = {route.host, *(route.host[at:] for at, sign in enumerate(route.host) if sign == "." and at)}
        usual = names & self._any and route.port in PORTS.values()
        if not usual and not {(name, route.port) for name in names} & self._one:
            raise Bad(403, "this host is not allowed", route.name)
        route.listed = True
        return route

    def connect(self, route: Route) -> socket.socket:
        """A connection to a public address of the host, or to one that is listed itself; Bad(403), OSError."""
        found = addresses(route)
        fit = [one for one in found if route.host == "localhost" or one[1][0] in self._hosts or public(one[1][0])]
        if found and not fit:
            raise Bad(403, "this host stands for a private address, which must be listed itself", route.name)
        return _first(fit, route)


class Both:
    """A model endpoint and named hosts: what is asked as of a proxy goes to the hosts, and never with the key."""

    def __init__(self, model: Model, allow: Allow) -> None:
        self._model = model
        self._allow = allow
        self.key = model.key

    def route(self, head: Head) -> Route:
        """The way of a request; Bad for one that is for neither."""
        method, target = head.start[0], head.start[1]
        proxied = method == b"CONNECT" or target.lower().startswith(_SCHEME)
        return self._allow.route(head) if proxied else self._model.route(head)

    def connect(self, route: Route) -> socket.socket:
        """As the policy that the route is of."""
        return self._allow.connect(route) if route.listed else self._model.connect(route)


def policy_of(upstream: str, header: str, key: str, allow: list[str]) -> Model | Allow | Both:
    """The policy that a door was asked for; ValueError."""
    if not upstream:
        return Allow(allow)
    model = Model(upstream, header, key)
    return Both(model, Allow(allow)) if allow else model


def climbs(target: bytes) -> bool:
    """Whether a path leaves the directory it begins in, however it is written."""
    path = target.partition(b"?")[0].lower()
    for _ in range(3):
        path = path.replace(b"%2e", b".").replace(b"%2f", b"/").replace(b"%5c", b"\\").replace(b"%25", b"%")
    return b".." in [part.partition(b";")[0] for part in path.replace(b"\\", b"/").split(b"/")]


def split(authority: str, usual: int) -> tuple[str, int]:
    """Host (lower case, without brackets and final dot) and port; ValueError."""
    host, colon, port = authority.rpartition(":") if not authority.endswith("]") else (authority, "", "")
    if not colon or (":" in host and not host.endswith("]")):
        host, port = authority, str(usual)
    if not port.isdigit() or not port.isascii() or int(port) > 65535:
        raise ValueError(f"{authority!r} has no proper port")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    bare = str(ipaddress.ip_address(bare)) if ":" in bare else bare.lower().rstrip(".")
    if not bare or (":" not in bare and not _NAME.issuperset(bare.encode())):
        raise ValueError(f"{authority!r} is not a host")
    return bare, int(port)


def public(address: str) -> bool:
    """Whether an address is one of the open internet."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        if found in ipaddress.ip_network("64:ff9b::/96"):
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is not None:
            return public(str(inner))
    return found.is_global and not found.is_multicast


def addresses(route: Route) -> list[tuple[int, tuple[str, int]]]:
    """(family, address) of a host, asked on this machine; OSError."""
    try:
        found = socket.getaddrinfo(route.host, route.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise OSError(f"its name is not known here ({error})") from None
    return [(int(family), (str(address[0]), route.port)) for family, _, _, _, address in found]


def context() -> ssl.SSLContext:
    """Certificates of this machine (SSL_CERT_FILE where it is set), checked always."""
    made = ssl.create_default_context()
    places = ssl.get_default_verify_paths()
    if not (places.cafile or places.capath or os.environ.get(places.openssl_cafile_env)):
        for bundle in BUNDLES:
            if os.path.exists(bundle):
                made.load_verify_locations(bundle)
                break
    made.set_alpn_protocols(["http/1.1"])
    return made


def secured(sock: socket.socket, tls: ssl.SSLContext, host: str) -> socket.socket:
    """The connection inside TLS; OSError when the certificate is not the host's."""
    try:
        return tls.wrap_socket(sock, server_hostname=host)
    except (OSError, ValueError) as error:
        sock.close()
        raise OSError(
            f"its certificate or TLS was not accepted ({getattr(error, 'verify_message', '') or error})"
        ) from None


def _first(found: list[tuple[int, tuple[str, int]]], route: Route) -> socket.socket:
    problem = "it has no address"
    for family, address in found:
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.settimeout(CONNECT_S)
            sock.connect(address)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for option, value in ((socket.TCP_KEEPIDLE, 60), (socket.TCP_KEEPINTVL, 20), (socket.TCP_KEEPCNT, 4)):
                sock.setsockopt(socket.IPPROTO_TCP, option, value)
            return sock
        except OSError as error:
            sock.close()
            problem = error.strerror or str(error)
    raise OSError(problem)


def _split(authority: bytes, usual: int) -> tuple[str, int]:
    try:
        return split(authority.decode("ascii"), usual)
    except ValueError:
        raise Bad(403, "this is not the name of a host", _asked(authority)) from None


def _asked(authority: bytes) -> str:
    """The host of something that is refused, for the count; never a path or a query."""
    for stop in (b"/", b"?", b"#"):
        authority = authority.partition(stop)[0]
    return authority.rpartition(b"@")[2].decode("latin-1") or "?"
