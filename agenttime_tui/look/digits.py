"""Three-row digits of half blocks: the one loud number of a screen."""

from __future__ import annotations

from collections.abc import Sequence

from agenttime_tui.look.rows import Row

_PIXELS = {
    "0": "111101101101111", "1": "010110010010111", "2": "111001111100111", "3": "111001111001111",
    "4": "101101111001001", "5": "111100111001111", "6": "111100111101111", "7": "111001001001001",
    "8": "111101111101111", "9": "111101111001111", "×": "000101010101000", "h": "100100111101101",
    "d": "001001111101111",
    "m": "000000110101101", ":": "01010", ".": "00001", ",": "00001", " ": "00000", "–": "000000111000000",
    ">": "100010001010100", "?": "111001011000010",
}  # fmt: skip


def span(text: str) -> int:
    """Cells that `text` takes in big digits."""
    return sum(len(_PIXELS[char]) // 5 + 1 for char in text) - 1 if text else 0


def draw(rows: Sequence[Row], x: int, text: str, token: str) -> int:
    """Writes `text` over three rows from `x` and returns the cell after it; plain bold text where only ASCII may be."""
    if rows[0].mode.ascii:
        return rows[1].put(x, text.replace("×", "x").replace("–", "-"), f"{token.split()[0]} b")
    for char in text:
        bits = _PIXELS[char]
        across = len(bits) // 5
        pixels = [bits[i * across : (i + 1) * across] for i in range(5)] + ["0" * across]
        for i, row in enumerate(rows[:3]):
            for j in range(across):
                up, down = pixels[2 * i][j] == "1", pixels[2 * i + 1][j] == "1"
                if up or down:
                    row.put(x + j, "█" if up and down else "▀" if up else "▄", token)
        x += across + 1
    return x - 1
