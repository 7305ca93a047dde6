"""Pools of characters for the torture corpus, taken from Python's own Unicode tables.

Which characters a row of code points has depends on the version of those
tables; everything else is the same on every machine.
"""

from __future__ import annotations

import unicodedata
from functools import cache

__all__ = ["BIDI", "BREAKS", "MARKS", "SCRIPTS", "SPACES", "of_category", "rows"]

ROW = 256

SPACES = "\t\v\f\x1c\x1d\x1e\x1f \x85\xa0\u1680\u180e" + (
    "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)
"""White space, and the Mongolian vowel separator, which was white space once."""

BREAKS = (
    "\n",
    "\r",
    "\r\n",
    "\n\r",
    "\v",
    "\f",
    "\x1c",
    "\x1d",
    "\x1e",
    "\x85",
    "\u2028",
    "\u2029",
)
BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
MARKS = "\u0300\u0301\u0308\u0327\u0336\u0338\u0345\u0489\u05b8\u064b\u0e47\u20dd\u20e3\u302a\ufe0f"

SCRIPTS = {
    "latin": "river paper window slowly quiet under seven the a of and",
    "german": "Straße Übermut größer Öl nämlich heißt und das",
    "icelandic": "þorp eðli ævi ýmist hraun ég og",
    "turkish": "İstanbul ılık şişe ağaç çok ve",
    "vietnamese": "đường nước một người tiếng Việt và",
    "greek": "νερό δρόμος ὕδωρ σοφός ΣΟΦΟΣ και",
    "russian": "вода дорога ёлка съезд и не",
    "georgian": "წყალი გზა სახლი და",
    "armenian": "ջուր ճանապարհ տուն եւ։",
    "hebrew": "מים דרך בית וְהַיּוֹם לא",
    "arabic": "ماء طريق بيت وَاليَوْمَ لا",
    "persian": "می‌روم آب خانه و",
    "hindi": "पानी रास्ता घर क्षत्रिय और।",
    "tamil": "தண்ணீர் வழி வீடு மற்றும்",
    "thai": "น้ำ ถนน บ้าน และที่",
    "burmese": "ရေ လမ်း အိမ် နှင့်",
    "khmer": "ទឹក ផ្លូវ ផ្ទះ និង",
    "chinese": "河流 安静 慢慢地 窗户。 我们",
    "japanese": "かわ しずか ゆっくり 窓は カタカナ ﾊﾝｶｸ",
    "korean": "강물 조용히 창문 우리는",
    "amharic": "ውሃ መንገድ ቤት እና።",
    "cherokee": "ᎠᎹ ᏅᏃᎯ ᎦᎵᏦᏕ",
    "mathematical": "𝐑𝐢𝐯𝐞𝐫 𝓆𝓊𝒾𝑒𝓉 ℝⁿ ∀x∃y ½",
    "gothic": "𐍅𐌰𐍄𐍉 𐌲𐌰𐍂𐌳𐍃 𐌾𐌰𐌷",
}
"""A few words of many scripts; what they mean does not matter."""


@cache
def _categories() -> dict[int, str]:
    """The categories of all planes in which there is anything but private use."""
    planes = (range(0x40000), range(0xE0000, 0xE1000))
    return {code: unicodedata.category(chr(code)) for plane in planes for code in plane}


@cache
def of_category(*names: str) -> tuple[str, ...]:
    """All characters of these general categories, for example `Cc` or `Zs`."""
    return tuple(chr(code) for code, name in _categories().items() if name in names)


@cache
def rows() -> tuple[tuple[str, ...], ...]:
    """The assigned characters of every row of 256 code points that has some.

    Surrogates are left out; unassigned and private planes have one row each.
    """
    found = [tuple(map(chr, range(plane, plane + ROW))) for plane in range(0, 0x110000, 0x10000)]
    assigned: dict[int, list[str]] = {}
    for code, name in _categories().items():
        if name not in ("Cn", "Co", "Cs"):
            assigned.setdefault(code // ROW, []).append(chr(code))
    return (*found, *map(tuple, assigned.values()))
