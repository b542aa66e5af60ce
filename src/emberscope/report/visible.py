"""Text from data as text that can be seen: names may hold anything, and a page or a terminal obeys some of it.

Control characters become their pictures (␀, ␛), signs that turn the writing direction their code in brackets
(`[U+202E]`), and halves of surrogate pairs, which UTF-8 cannot hold, U+FFFD. Right-to-left letters stay as they are;
the page isolates them.
"""

from __future__ import annotations

from typing import Final

_DIRECTIONS: Final = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_TABLE: Final[dict[int, str]] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n\r"},
    0x7F: "\u2421",
    **dict.fromkeys(range(128, 160), "�"),
    **{code: f"[U+{code:04X}]" for code in _DIRECTIONS},
    **dict.fromkeys(range(55296, 57344), "�"),
}


def visible(text: str) -> str:
    """The text with nothing in it that acts instead of being read."""
    return text if text.isascii() and text.isprintable() else text.translate(_TABLE)


def clipped(text: str, most: int) -> str:
    """A long text without its middle, and how much that was."""
    if len(text) <= most:
        return text
    head = most * 2 // 3
    tail = most - head
    return f"{text[:head]} […{len(text) - most:,} characters left out…] {text[-tail:]}"


def tail(text: str, most: int) -> str:
    """The end of a long name, which tells more of a method or class than its package."""
    return text if len(text) <= most else "…" + text[1 - most :]
