from __future__ import annotations

import unicodedata

from agenttime_tui.app import AgentTimeApp
from agenttime_tui.look.rows import faults
from agenttime_tui.panels.transcript_view import TranscriptView
from agenttime_tui.scenes import rows_of, settled
from tests.pilot.playing import LIVE, Played, text_of, until

HOSTILE = [
    "\x1b]52;c;aGVsbG8=\x07\x1b[2J\x1b[31mred\x1b[0m", "[/foo] [bold]x [[red]", "\u202egpj.exe", "\x9b31m c1",
    "a\u0300\u0301\u0302\u0303\u0304\u0305", "漢字" * 40, "nul\x00bell\x07", "👩‍🚀 \ufe0f", "x" * 100_000,
    "\ud800 lone",
    "tab\there", "one\rtwo\rthree", "\u2028line\u2029para", "",
]  # fmt: skip


async def test_the_transcript_follows_and_stays_put_once_the_reader_moves_up() -> None:
    source = Played()
    app = AgentTimeApp(source, open_run=LIVE)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        view = app.screen.query_one(TranscriptView)
        source.write("first news")
        await until(app, pilot, lambda: "first news" in text_of(app))
        await pilot.press("up", "up", "up")
        top = view.scroll_offset.y
        shown = [row.text for row in view.visible_rows()]
        source.write(*(f"news {n}" for n in range(40)))
        await until(app, pilot, lambda: view.held.total > 50)
        assert view.scroll_offset.y == top
        assert [row.text for row in view.visible_rows()] == shown
        assert "40 new" in text_of(app)
        await pilot.press("space")
        await until(app, pilot, lambda: "news 39" in text_of(app))
        assert view.following


async def test_a_long_transcript_is_read_in_pages_and_reading_on_never_jumps() -> None:
    source = Played()
    source.write(*(f"event number {n}" for n in range(30_000)))
    app = AgentTimeApp(source, open_run=LIVE)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        view = app.screen.query_one(TranscriptView)
        assert "event number 29999" in text_of(app)
        assert len(view.held.events) <= 4000
        for _ in range(30):
            await pilot.press("pageup")
        await settled(app, pilot)
        first = view.held.first
        for _ in range(10):
            await pilot.press("pageup")
        await settled(app, pilot)
        assert view.held.first <= first
        await pilot.press("home")
        await until(app, pilot, lambda: "Build a parametric" in text_of(app))
        await pilot.press("end")
        await until(app, pilot, lambda: "event number 29999" in text_of(app))
        assert view.following


async def test_hostile_text_reaches_no_cell_of_the_screen() -> None:
    source = Played()
    for kind in ("prompt", "think", "say", "tool", "out", "edit", "error", "note", "\x1b[31mkind"):
        source.write(*HOSTILE, kind=kind)
    app = AgentTimeApp(source, open_run=LIVE)
    async with app.run_test(size=(100, 40)) as pilot:
        await settled(app, pilot)
        for _ in range(12):
            for row in app.cells():
                for glyph, _ in row:
                    assert all(unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in glyph)
            assert faults(rows_of(app)) == []
            await pilot.press("pageup", "enter")
            await settled(app, pilot)
        await pilot.press("x")
        await settled(app, pilot)
        assert all(char.isprintable() or unicodedata.combining(char) for char in text_of(app).replace("\n", ""))


async def test_search_finds_in_what_is_not_loaded_too() -> None:
    source = Played()
    source.write("a needle", *(f"hay {n}" for n in range(3000)))
    app = AgentTimeApp(source, open_run=LIVE)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await pilot.press("slash", *"needle", "enter")
        await until(app, pilot, lambda: "a needle" in text_of(app))
        await pilot.press("n")
        await until(app, pilot, lambda: "no further needle" in text_of(app))


async def test_when_the_run_ends_the_same_screen_becomes_its_card() -> None:
    source = Played()
    app = AgentTimeApp(source, open_run=LIVE)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        assert "window opens in" in text_of(app)
        source.change(LIVE, execution="ended", ending="cutoff", worked_s=9600.4, lower_bound=True, cutoff_s=9600.0)
        await until(app, pilot, lambda: "a lower bound" in text_of(app))
        seen = text_of(app)
        assert "Worked 32.0 times as long as asked" in seen
        assert "Stopped by the safety cutoff" in seen
        await pilot.press("t")
        await settled(app, pilot)
        assert "python verify.py --strict" in text_of(app)
        await pilot.press("escape", "escape")
        await settled(app, pilot)
        assert "Cells" in text_of(app)


async def test_past_its_window_the_scale_goes_to_the_cutoff() -> None:
    source = Played()
    app = AgentTimeApp(source, open_run=LIVE)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        for elapsed_s, words in ((299, "in the window"), (4000, "window closed"), (9590, "window closed")):
            source.change(LIVE, last_boot_ns=10**15 + elapsed_s * 10**9, last_utc_ns=source.moment().utc_ns)
            await until(app, pilot, lambda words=words: words in text_of(app))
            assert faults(rows_of(app)) == []
        assert "╎" in text_of(app)


async def test_stop_asks_for_a_reason_and_turning_away_stops_nothing() -> None:
    source = Played()
    app = AgentTimeApp(source, open_run=LIVE)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await pilot.press("k")
        await settled(app, pilot)
        await pilot.press("escape")
        await settled(app, pilot)
        assert source.acted == []
        await pilot.press("k")
        await settled(app, pilot)
        await pilot.press(*"wrong", "enter")
        await until(app, pilot, lambda: source.acted == [("stop", LIVE, "wrong")])


async def test_copying_more_than_a_terminal_takes_goes_to_a_file_and_says_so() -> None:
    source = Played()
    source.write("y" * 200_000)
    app = AgentTimeApp(source, open_run=LIVE)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await pilot.press("y")
        await until(app, pilot, lambda: bool(source.saved))
        (text,) = source.saved.values()
        assert text == "y" * 200_000
        assert "Written" in text_of(app)


async def test_facts_fold_away_on_narrow_screens() -> None:
    app = AgentTimeApp(Played(), open_run=LIVE)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        assert "Facts" not in text_of(app)
        await pilot.press("i")
        await settled(app, pilot)
        assert "tokens in" in text_of(app)
        assert faults(rows_of(app)) == []


async def test_a_card_in_view_follows_the_other_runs_it_stands_beside() -> None:
    source = Played()
    app = AgentTimeApp(source, open_run="120c5c7fd0")
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        source.change("930fd630f1", execution="ended", ending="own", worked_s=917.0)
        await until(app, pilot, lambda: "15 min 17 s" in text_of(app))
