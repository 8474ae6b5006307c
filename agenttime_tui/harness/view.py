"""What a transcript says, whichever command line wrote it: typed items in order, and facts over all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

KINDS = (
    "prompt", "think", "say", "tool", "out", "edit", "clock", "sleep", "wait", "retry", "limit", "refusal", "model",
    "error", "note", "result", "raw",
)  # fmt: skip
"""prompt: what the agent was told. tool, edit, clock, sleep, wait: calls, by what they were for. out: what a call gave
back. retry, limit, refusal: the provider. model: another model answers. raw: a line that nobody can read."""

CALLS = ("tool", "edit", "clock", "sleep", "wait")
"""Kinds that may be a call: they run, and take time."""

CONNECTED = "connected"
"""What is said of a tool server that works."""

NO_RESULT = "no result"
"""Remark on a call whose result never came."""

STREAMS = ("out", "err", "session")
"""What a decoder is fed: the command line's output and errors as they come, and its own session file, if it is kept."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that an agent did or was told; text is raw, it is cleaned where it is drawn."""

    kind: str
    """One of KINDS."""
    text: str
    at_s: float | None = None
    """Seconds since the release of the prompt."""
    seq: int = 0
    """The journal record it was read from (the first, where a long line came in several)."""
    took_s: float | None = None
    """Seconds from a call to its result."""
    running: bool = False
    """A call without its result yet."""
    note: str = ""
    """Remark such as `+61 -0`."""
    call: str = ""
    """The command line's id of a call; its result (`out`, `error`) carries the same one."""
    tool: str = ""
    """Name of the tool that was called."""
    clock: bool = False
    """The call reads a clock, whatever else it does."""
    sleep_s: float | None = None
    """Seconds of sleep that the call names."""
    writes_sleep: bool = False
    """The file that it writes sleeps when it is run."""
    final: bool | None = None
    """Of a `say`: whether it closes a turn; None where the command line does not tell."""


@dataclass(slots=True)
class Facts:
    """What is counted over a transcript so far; None where the command line does not say."""

    clock_reads: int = 0
    first_clock_s: float | None = None
    calls_after_clock: int = 0
    """Calls that worked (tools and edits) after the first clock reading."""
    sleeps: int = 0
    slept_s: float = 0.0
    waits: int = 0
    waited_s: float = 0.0
    retries: int = 0
    stall_s: float = 0.0
    """Time between a first notice of a retry and the next sign of work: the provider's, not the agent's."""
    stalled_since_s: float | None = None
    """Since when nothing but retries came; None where work goes on."""
    tool_calls: int = 0
    calls_open: int = 0
    """Calls without a result now."""
    subagents: int = 0
    """Calls that start another agent."""
    steps: int = 0
    """Answers of the model."""
    tokens_in: int | None = None
    """As the command line counts: Codex includes cached tokens, Claude Code does not."""
    tokens_out: int | None = None
    tokens_cached: int | None = None
    tokens_reasoning: int | None = None
    tokens_partial: bool = False
    """The last usage was not reported in full (no final event): tokens are a lower bound."""
    tokens_thread: bool = False
    """The tokens are those of the whole thread, a resumed parent included."""
    cost_usd: float | None = None
    model: str | None = None
    models: tuple[str, ...] = ()
    """Every model that answered, in order of its first answer."""
    version: str | None = None
    effort: str | None = None
    session: str | None = None
    """The command line's own id of the session, by which it is resumed."""
    tools: tuple[str, ...] | None = None
    """Tools that were offered to the model."""
    servers: dict[str, str] | None = None
    """Tool servers by name with what the command line said of them; once not connected stays so."""
    tools_dead: bool = False
    """The command line said that its tools cannot work."""
    prompt_sha256: str | None = None
    """Of the first prompt as the command line took it."""
    prompts: int = 0
    limit: str | None = None
    """The provider's words on a usage limit."""
    limit_resets_utc_s: float | None = None
    refusal: str | None = None
    """What the provider refused, in its words or the event's name."""
    fallback_model: str | None = None
    """The model that the command line went on with after a refusal."""
    results: int = 0
    """Final events; there may be several."""
    result: str | None = None
    """The command line's own final word: success, done, or what went wrong; None while there is none."""
    failure: str | None = None
    """Of the final word: error, provider_limit or refusal; None where it is good or not there."""
    code: str | None = None
    """The command line's own code of the failure."""
    own_duration_s: float | None = None
    """How long the command line says it took: a second reading, never the runtime."""
    last_at_s: float | None = None
    """When the last line came."""
    said: str = ""
    """The last message of the agent."""
    errors: list[str] = field(default_factory=list)
    """The last few that the session was told of."""

    @property
    def only_retries(self) -> bool:
        """Nothing but retries comes."""
        return self.stalled_since_s is not None

    def silent_s(self, now_s: float) -> float | None:
        """Seconds without any line while no call runs and nothing is retried; None where that is no silence."""
        if self.last_at_s is None or self.calls_open or self.only_retries or self.result is not None:
            return None
        return max(0.0, now_s - self.last_at_s)

    def tokens_per_s(self, worked_s: float) -> float | None:
        """Tokens that the model wrote per second worked."""
        return self.tokens_out / worked_s if self.tokens_out is not None and worked_s > 0 else None

    def s_per_step(self, worked_s: float) -> float | None:
        """Seconds worked per answer of the model."""
        return worked_s / self.steps if self.steps else None


class Decoder(Protocol):
    """Reads the lines of one run in order; never raises on any bytes."""

    version: str
    """Changes when the same bytes would be read otherwise."""
    released_utc_s: float | None
    """When the prompt was released, by the machine's clock: places the lines of a session file in the run."""
    earlier_s: float
    """Lines of a session file that are older than this, in seconds since the release, are those of a parent."""

    @property
    def facts(self) -> Facts:
        """What is known so far."""

    def feed(self, seq: int, at_s: float | None, stream: str, data: bytes) -> list[tuple[int, Item]]:
        """The items of one captured line by their index; an item may come again, completed, under its old index.

        A piece of a line that is longer than a journal record gives nothing until the line is whole.
        """

    def close(self, at_s: float | None) -> list[tuple[int, Item]]:
        """Nothing more comes: completes what was left open, and gives what was held back."""
