"""Invented sentences that an exported model is tested on, in its own language."""

from __future__ import annotations

__all__ = ["samples"]

ENGLISH = (
    "She enjoys playing tennis .",
    "Although it rained all day , the old man in the blue coat went out to buy bread .",
    "Rain .",
    "The committee said that prices , which had fallen since March , would rise by 4.5 % .",
)

SAMPLES = {
    "de": (
        "Sie liest ein Buch .",
        "Obwohl es den ganzen Tag regnete , ging der alte Mann in die Stadt .",
        "Regen .",
    ),
    "fo": (
        "Hann kom heim .",
        "Tá fór maðurin til húsa og sá ein bát við sjógvin .",
        "Ja .",
    ),
    "fr": (
        "Le maire de la ville a lu le livre .",
        "Il pleut , mais la vieille dame est allée au marché pour acheter du pain .",
        "Oui .",
    ),
    "id": (
        "Ibu membeli buku baru .",
        "Mereka pergi ke pasar karena hujan sudah berhenti .",
        "Ya .",
    ),
    "is": (
        "Hún las bókina .",
        "Maðurinn fór heim þegar það byrjaði að rigna .",
        "Já .",
    ),
    "ja": (
        "私 は 本 を 読ん だ 。",
        "雨 が 降っ た ので 、 子供 たち は 家 に 帰っ た 。",
        "雨 。",
    ),
    "zh": (
        "她 喜欢 读 书 。",
        "虽然 下 雨 了 ， 老人 还是 出去 买 面包 。",
        "雨 。",
    ),
}


def samples(language: str | None) -> tuple[str, ...]:
    """Sentences of a language, tokens between spaces; English ones where we have none.

    >>> samples("fr")[2], samples(None)[2]
    ('Oui .', 'Rain .')
    """
    return SAMPLES.get(language or "en", ENGLISH)
