"""Asks a judge model through an OpenAI-compatible endpoint whether an answer is right."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from task_packs.answers import Judge, NotGraded
from task_packs.grading import RawGrade
from task_packs.load import Pack

ENDPOINT, ENDPOINT_ENV = "https://api.openai.com/v1", "OPENAI_BASE_URL"
JUDGE_S = 300
ANSWER_CAP_BYTES = 4_000_000
PIECE_BYTES = 65536
PAUSES_S = (1.0, 4.0)
"""Before it is asked once more, where it is busy or broken for a moment."""
BUSY = (408, 429, 500, 502, 503, 504)
PROMPT = """\
Decide whether the response answers the question correctly, by the correct answer alone. Do not solve the question.

Question:
{question}

Response:
{response}

Correct answer:
{correct}

Reply with one JSON object: extracted_final_answer (the response's final answer, or "None"), reasoning (short),
correct ("yes" or "no"; small numeric rounding is no difference), confidence (0 to 100 as stated, else 100).
"""
"""In words of our own; it asks for the four fields that the benchmark's own judge returns."""


class JudgeRefused(NotGraded):
    """The judge was asked and would not say."""


class _NoVerdict(Exception):
    """The judge said something in which no verdict can be read."""


def key_name(pack: Pack) -> str:
    """Name of the variable that holds the key of the pack's judge; empty where it needs none."""
    return next(iter(pack.manifest.needs.keys), "")


def later(run: str) -> str:
    """What to type once it is mended."""
    return f"agenttime grade {run[:8]}" if run else "grade again"


def keyless(pack: Pack, run: str = "") -> str:
    """The sentence for a judge whose key is not set."""
    return f"the judge {pack.grade.judge} has no key: set {key_name(pack)}, then: {later(run)}"


def judge_of(pack: Pack, env: Mapping[str, str], run: str = "") -> Judge | None:
    """A judge with the pack's model, None where the pack has none. Without its key it says so when it is asked."""
    model, name = pack.grade.judge, key_name(pack)
    if not model or not name:
        return None
    base, secret = (env.get(ENDPOINT_ENV) or ENDPOINT).rstrip("/"), env.get(name, "")

    def judge(key: Mapping[str, Any], message: str) -> RawGrade:
        if not secret:
            raise NotGraded(keyless(pack, run))
        if not secret.isascii() or not secret.isprintable() or " " in secret:
            raise NotGraded(f"what {name} holds is no key: set it right, then: {later(run)}")
        prompt = PROMPT.format(question=key["question"], response=message, correct=key["correct"])
        asked = _Asked(base, secret, model, f"look at {name}", later(run))
        try:
            said = asked.verdict(prompt)
        except _NoVerdict as error:
            return RawGrade(1, stdout=f"the judge {model} {error}".encode())
        verdict = str(said.get("correct", "")).strip().lower()
        if verdict not in ("yes", "no"):
            return RawGrade(1, stdout=b"the judge said neither yes nor no")
        detail = f"judge {model}: {verdict}, read as {said.get('extracted_final_answer')!r}"
        detail = detail.replace(secret, "*" * len(secret))[:200]
        return RawGrade(0, json.dumps({"reward": int(verdict == "yes")}).encode(), None, detail.encode())

    return judge


class _Asked:
    """One endpoint with one key; the key and the endpoint's own login are in no message."""

    def __init__(self, base: str, secret: str, model: str, look: str, later: str) -> None:
        self._base, self._secret, self._model, self._look, self._later = base, secret, model, look, later

    def verdict(self, prompt: str) -> dict[str, Any]:
        """The judge's JSON object. NotGraded where it cannot be asked, JudgeRefused, _NoVerdict."""
        body = json.dumps(
            {
                "model": self._model,
                "messages": [{"role": "user", "content": prompt}],
                "response_format": {"type": "json_object"},
            }
        ).encode()
        try:
            whole = json.loads(self._posted(body))
            choice = whole["choices"][0]
            message = choice["message"]
            if message.get("refusal") or choice.get("finish_reason") == "content_filter":
                raise JudgeRefused(f"the judge {self._model} refused to judge it; to ask again: {self._later}")
            found = json.loads(message["content"])
        except (ValueError, RecursionError, KeyError, IndexError, TypeError, AttributeError):
            raise _NoVerdict("gave no JSON object") from None
        return found if isinstance(found, dict) else {}

    def _posted(self, body: bytes) -> bytes:
        for pause_s in (*PAUSES_S, None):
            try:
                return self._post(body)
            except urllib.error.HTTPError as error:
                error.close()
                if pause_s is None or error.code not in BUSY:
                    mend = self._look if error.code in (401, 403) else "it may be busy" if error.code in BUSY else ""
                    said = f"the judge {self._model} answered with HTTP {error.code}"
                    raise NotGraded(f"{said}; {f'{mend}, then' if mend else 'later'}: {self._later}") from None
            except (OSError, http.client.HTTPException) as error:
                if pause_s is None:
                    why = type(getattr(error, "reason", None) or error).__name__
                    raise NotGraded(
                        f"the judge {self._model} cannot be reached at {_shown(self._base)}: {why}; "
                        f"look at {ENDPOINT_ENV} and the network, then: {self._later}"
                    ) from None
            time.sleep(pause_s)
        raise AssertionError("the last try returns or raises")

    def _post(self, body: bytes) -> bytes:
        headers = {"Authorization": f"Bearer {self._secret}", "Content-Type": "application/json"}
        until_s = time.monotonic() + JUDGE_S
        try:
            if not self._base.startswith(("http://", "https://")):
                raise ValueError(self._base)
            request = urllib.request.Request(f"{self._base}/chat/completions", body, headers)
            opened = urllib.request.build_opener(_Unmoved).open(request, timeout=JUDGE_S)
        except ValueError:
            raise NotGraded(
                f"{ENDPOINT_ENV} is no address ({_shown(self._base)}): set it right, then: {self._later}"
            ) from None
        found = bytearray()
        with opened as answer:
            while piece := answer.read1(PIECE_BYTES):
                found += piece
                if len(found) > ANSWER_CAP_BYTES:
                    raise _NoVerdict("gave no JSON object: its answer has no end")
                if time.monotonic() > until_s:
                    raise TimeoutError  # one that says a little now and then would be waited for for ever
            if answer.length:
                raise http.client.IncompleteRead(bytes(found[:0]), answer.length)
        return bytes(found)


class _Unmoved(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the key goes nowhere but to the endpoint that was named."""

    def redirect_request(self, *_: Any) -> None:
        """None: a redirect is an error."""


def _shown(base: str) -> str:
    """The address without a login in it."""
    try:
        netloc = urlsplit(base).netloc
    except ValueError:
        return "an address that cannot be read"
    return base.replace(netloc, netloc.rpartition("@")[2], 1) if "@" in netloc else base.rpartition("@")[2]
