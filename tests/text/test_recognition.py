"""Text in another language than the model's is noticed; text in its own, or too short, is not."""

import json

import pytest

from cleft.text import LanguageWatch, language_remark, other_language
from cleft.text.recognition import PROFILES, WINDOW

TEXTS = {
    "en": "The old bridge was closed after the storm, so we had to walk along the river.",
    "fr": "Le vieux pont est fermé depuis la tempête, et nous avons marché le long de la rivière.",
    "de": "Die alte Brücke ist seit dem Sturm gesperrt, und wir mussten am Fluss gehen.",
    "es": "El puente viejo está cerrado desde la tormenta y tuvimos que andar una hora por el río.",
    "pt": "A ponte velha foi fechada depois da tempestade e não podemos ir para o lado do rio.",
    "it": "Il vecchio ponte è chiuso dopo la tempesta e non abbiamo più una via per la città.",
    "nl": "De oude brug is na de storm dicht en het duurt nog een uur voor wij met hem gaan.",
    "sv": "Den gamla bron är stängd efter stormen och vi fick gå längs ån för att komma hem.",
    "da": "Den gamle bro er lukket efter stormen, og vi måtte gå langs åen for at komme hjem.",
    "no": "Den gamle broen er stengt etter stormen, og vi måtte gå langs elva da det ble natt.",
    "is": "Gamla brúin er lokuð eftir storminn og við þurftum að ganga í klukkustund með ánni.",
    "fo": "Tann gamla brúgvin er stongd, og tí máttu teir ganga ein tíma fram við ánni, "
    "áðrenn tey sum bíðaðu fyri teimum komu á land.",
    "fi": "Vanha silta on suljettu myrskyn jälkeen, mutta se ei haittaa, koska me kävelimme ja hän "
    "oli jo siellä.",
    "id": "Jembatan tua itu ditutup setelah badai dan kami harus berjalan satu jam di tepi sungai.",
    "pl": "Stary most jest zamknięty, bo po burzy nie było już nic, i dlatego szliśmy do domu "
    "przez las, który był ciemny.",
    "cs": "Starý most je po bouři zavřený, ale podle něho se dá jít až na druhou stranu, "
    "protože to není daleko.",
    "hu": "A régi híd a vihar óta zárva van, és nem lehet átmenni, mert már csak egy gerenda "
    "maradt meg belőle.",
    "ro": "Podul vechi este închis după furtună și a trebuit să mergem pe jos cu el de la un "
    "sat la altul.",
    "tr": "Eski köprü fırtınadan sonra kapandı ve bir saat yürümek için çok zaman var, ama bu yol "
    "daha uzun.",
    "vi": "Cây cầu cũ đã bị đóng sau cơn bão và chúng tôi không được đi qua, nên một người đã đưa "
    "các em về.",
    "ja": "古い橋は嵐のあとで閉まっていたので、私たちは川に沿って一時間歩いた。",
    "zh": "暴风雨过后旧桥关闭了，我们只好沿着河边走了一个小时。",
    "ko": "폭풍이 지나간 뒤 낡은 다리가 닫혀서 우리는 강을 따라 한 시간을 걸었다.",
    "ru": "Старый мост закрыли после бури, и нам пришлось целый час идти вдоль реки.",
    "el": "Η παλιά γέφυρα έκλεισε μετά την καταιγίδα και περπατήσαμε μια ώρα δίπλα στο ποτάμι.",
    "ar": "أغلق الجسر القديم بعد العاصفة فمشينا ساعة على طول النهر.",
    "hi": "पुराना पुल तूफ़ान के बाद बंद हो गया और हमें नदी के किनारे एक घंटा चलना पड़ा।",
    "th": "สะพานเก่าปิดหลังพายุ เราจึงต้องเดินเลียบแม่น้ำหนึ่งชั่วโมง",
    "he": "הגשר הישן נסגר אחרי הסערה ונאלצנו ללכת שעה לאורך הנהר.",
}
"""The same sentence, more or less, in each language."""
NAMED = {
    **{code: profile.name for code, profile in PROFILES.items()},
    **{"ja": "Japanese", "zh": "Chinese", "ko": "Korean", "th": "Thai"},
    **{"ru": "a language in Cyrillic script", "el": "a language in Greek script"},
    **{"ar": "a language in Arabic script", "he": "a language in Hebrew script"},
    **{"hi": "a language in Devanagari script"},
}


FAMILIES = [{"fr", "es", "pt", "it", "ro"}, {"da", "no", "sv"}, {"is", "fo"}, {"ja", "zh"}]
"""Languages of which one sentence is not always enough to tell them apart."""


@pytest.mark.parametrize("own", sorted(TEXTS))
def test_a_sentence_is_in_the_language_it_is_in(own):
    assert other_language(TEXTS[own], own) is None


@pytest.mark.parametrize("own", ["en", "fr", "de", "id", "is", "fo", "ja", "zh", "ru"])
@pytest.mark.parametrize("other", sorted(TEXTS))
def test_a_sentence_is_noticed_by_models_of_other_languages(own, other):
    if own != other:
        found = other_language(TEXTS[other], own)
        related = any({own, other} <= family for family in FAMILIES)
        assert found == NAMED[other] or (related and found is None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Yes.",
        "Rio de Janeiro",
        "La La Land",
        "Die Hard",
        "Los Angeles, Las Vegas, El Paso, San Francisco",
        "Antonín Dvořák, Bedřich Smetana and Leoš Janáček",
        "Tokyo (東京)",
        "Москва",
        "I'll come in a moment.",
        "N S A three, I think.",
        "I want a non-fat mocha, please.",
        "12.5 % → 14 % 😀",
        "Eggs, flour, butter, sugar, milk, yeast, salt, vanilla, cinnamon, walnuts, raisins.",
        "Café crème, crêpes, pâté, soupe à l'oignon",
        "x = a + b; y = c * d; print(x, y)",
    ],
)
def test_short_text_and_names_raise_no_alarm(text):
    assert other_language(text, "en") is None


def test_the_remark_names_both_languages():
    remark = language_remark(TEXTS["de"], "en-GB")
    assert "looks like German" in remark
    assert "trained on English" in remark
    assert language_remark(TEXTS["en"], "fr").count("English") == 1
    assert "trained on Japanese" in language_remark(TEXTS["en"], "ja")


def test_of_a_language_without_a_profile_nothing_is_said():
    assert other_language(TEXTS["de"], "eo") is None
    assert other_language(TEXTS["de"], "") is None


def test_a_language_without_a_profile_is_noticed_by_its_letters():
    latvian = (
        "Vecais tilts ir slēgts pēc vētras, tāpēc mēs gājām gar upi veselu stundu, līdz nonācām "
    )
    latvian += "mājās, kur mūs jau gaidīja māte, tēvs, brālis, māsa un vecāmāte ar siltu ēdienu."
    assert other_language(latvian, "en") == "another language"
    assert other_language(latvian, "fr") == "another language"


def test_a_watch_tells_once_and_as_soon_as_it_is_clear():
    watch = LanguageWatch("en")
    told = [watch.read(TEXTS["de"]) for _ in range(20)]
    first = next(number for number, remark in enumerate(told) if remark)
    assert len(TEXTS["de"]) * (first + 1) >= WINDOW > len(TEXTS["de"]) * first
    assert sum(remark is not None for remark in told) == 1
    assert watch.end() is None


def test_a_watch_judges_what_is_left_at_the_end():
    watch = LanguageWatch("en")
    assert watch.read(TEXTS["de"]) is None
    assert "German" in watch.end()
    assert LanguageWatch("en").end() is None


def test_a_watch_notices_a_change_of_language():
    watch = LanguageWatch("en")
    assert [watch.read(TEXTS["en"]) for _ in range(50)] == [None] * 50
    assert any(watch.read(TEXTS["fr"]) for _ in range(10))


def test_of_real_english_documents_none_raises_an_alarm(shared):
    count = 0
    for split in ("train", "dev", "test"):
        with (shared / f"data/discourse/gum/docs-{split}.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                document = json.loads(line)
                watch = LanguageWatch("en")
                remarks = [watch.read(one["text"]) for one in document["sents"]] + [watch.end()]
                assert not any(remarks), document["doc"]
                count += 1
    assert count > 200
