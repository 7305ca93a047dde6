"""The languages whose text can be read, and what differs between them.

English has rules in full. Others that put spaces between words share generic
rules and bring a short list of abbreviations. The words of languages without
spaces are found by packages (`segmenters`) or have to be given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cleft.errors import UsageError

Hyphens = Literal["split", "keep"]
"""Whether a hyphen or a slash inside a word is a token of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """What the rules must know of a language; words in lower case, without their final period.

    `titles` are abbreviations that something follows and that never end a
    sentence, `abbreviations` those that may; `numbered` ones are abbreviations
    only before a number, `ambiguous` ones are also words, so that at the end of
    a sentence the period stands alone. `starters` are words that begin a
    sentence far more often than they continue one. With `ordinals` a number and a
    period make an ordinal, which ends no sentence before lower case nor, with
    `capital_nouns`, before a noun.

    What treebanks part: `elisions` are beginnings of words that an apostrophe
    joins to the next one, `prefixes` those that a hyphen does (and all that
    end in `prefix_end`), `pronouns` whether French ones follow a verb,
    `suffixes` endings that are words; `whole` keeps a word from it. With
    `measures` *mg/kg* is three tokens and *°C* one, with `percents` *30%* is one.
    """

    code: str
    titles: frozenset[str] = frozenset()
    abbreviations: frozenset[str] = frozenset()
    ambiguous: frozenset[str] = frozenset()
    numbered: frozenset[str] = frozenset()
    starters: frozenset[str] = frozenset()
    elisions: frozenset[str] = frozenset()
    prefixes: frozenset[str] = frozenset()
    prefix_end: str = ""
    pronouns: bool = False
    suffixes: tuple[str, ...] = ()
    whole: frozenset[str] = frozenset()
    ordinals: bool = False
    capital_nouns: bool = False
    measures: bool = False
    percents: bool = False
    english_clitics: bool = False
    hyphens: Hyphens = "keep"

    def is_abbreviation(self, word: str) -> bool:
        """Whether a word and a period can be one token."""
        return self.is_title(word) or self.may_end(word)

    def is_title(self, word: str) -> bool:
        """Whether a word is an abbreviation that ends no sentence."""
        return word.lower() in self.titles and not self._is_plain(word)

    def may_end(self, word: str) -> bool:
        """Whether a word is an abbreviation that may end a sentence."""
        return word.lower() in self.abbreviations and not self._is_plain(word)

    def _is_plain(self, word: str) -> bool:
        """Whether a word in lower case is more likely itself: *mass.* is not *Mass.*."""
        return word in self.ambiguous and word not in self.numbered


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH = Language(
    code="en",
    titles=_words(
        """adm amb assoc asst atty brig bros capt cdr cmdr col comdr cpl cpt dr drs esq fr gen gov
        gr hon insp lieut lt maj messrs mlle mme mmes mr mrs ms msgr mt mx ofc ph pres prof
        profs pvt rep reps rev revs sen sens sgt sr sra srta st ste supt vs viz e.g i.e cf ca
        approx eg esp incl resp ex fig figs eq eqs ref refs sec secs vol vols ed eds ch chap
        pt pts pp op cit trans no nos art dept univ natl intl govt gal tel ext est"""
    ),
    abbreviations=_words(
        """al etc inc ltd co corp cos llc plc jr bros ave blvd rd hwy rte sq bldg apt
        jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun
        ala ariz ark calif colo conn del fla ga ill ind kan kans ky md mich minn miss mo
        mont neb nebr nev okla ont ore pa penn que tenn tex va vt wash wis wisc wyo mass
        ft lb lbs oz yd yds hr hrs min mins mph wk wks yr yrs
        div dist mfg mfrs assn bldgs ibid id sp spp var cv abbr anon
        a.m p.m a.d b.c c.e b.c.e d.c u.s u.k u.n u.s.a ph.d m.d b.a m.a p.s n.d"""
    ),
    ambiguous=_words(
        """no art fig figs ed op ex gal trans pres rep reps hon ch pt miss mass ill ind del wash ore
        sun sat mon wed mar jun mo id min mins co gen col gr ms est tel ext ph pa ma sp var anon
        rev esp fri st dist ga va que ont penn sec secs nos"""
    ),
    numbered=_words("no nos art p pp c ca fig figs ch chap sec vol vols eq eqs v pt ed op"),
    starters=_words(
        """a after all also although an and another any are as at because before both but by can
        could did do does each even every few finally first for from had has have he her here his
        how however i if in instead is it its just later let many maybe more most my never no nobody
        not nothing now of oh okay on once one only or other our over perhaps please several she
        should since so some soon still such that the their then there therefore these they this
        those though through thus to today under until was we well were what when where whether
        which while who why will with would yeah yes yet you your i'm i've i'd i'll it's he's she's
        we're they're you're that's there's we've let's don't"""
    ),
    english_clitics=True,
    hyphens="split",
)

# What only the rules of English ask for.

REPORTING = _words(
    """said says say asked asks ask cried cries replied replies answered shouted shouts whispered
    added adds called calls told tells thought thinks exclaimed screamed yelled muttered murmured
    howled demanded wondered laughed continued began insisted explained repeated wrote writes
    snapped sighed declared remarked observed inquired enquired announced agreed admitted"""
)
"""Verbs after a quotation that belong to its sentence."""

CAPTIONS = _words(
    "figure fig table chapter section part step exercise appendix equation scheme box act example"
)
"""Words whose number, though a period follows, opens a title: *Figure 2. A map.*"""

CONTRACTIONS: dict[str, tuple[int, ...]] = {
    "cannot": (3,),
    "gonna": (3,),
    "wanna": (3,),
    "gotta": (3,),
    "gimme": (3,),
    "lemme": (3,),
    "lotta": (3,),
    "dunno": (2, 3),
    "d'you": (2,),
    "d'ye": (2,),
    "y'all": (2,),
    "'tis": (2,),
    "'twas": (2,),
    "'twere": (2,),
    "'twill": (2,),
    "'twould": (2,),
    **{f"{verb}nt": (len(verb),) for verb in (
        "do", "did", "does", "is", "was", "would", "could", "should", "have", "has", "had",
        "are", "were",
    )},
}  # fmt: skip
"""Words written as one that are several, with the places where they part."""

ELIDED = "bout cause cept coz cuz em er ere fore im kay n nother nuff round scuse til till un"
"""Words that lose their beginning to an apostrophe."""

CLIPPED = (
    "an ol bein cookin comin darlin doin drinkin dunkin evenin everythin feelin fishin freakin "
    "fuckin fixin gettin givin goin hangin havin huntin kickin killin livin lookin losin lovin "
    "makin mornin movin nothin playin puttin rockin runnin sayin seein singin sittin somethin "
    "standin stayin startin takin talkin tellin thinkin tryin waitin walkin watchin workin"
)
"""Words that lose their end to an apostrophe."""

PREFIXES = _words(
    """anti arch bi co counter cross cyber de e ex extra hyper infra inter intra macro mega
    micro mid mini multi non para peri post pre pro proto pseudo re semi socio sub super
    tri ultra un uni"""
)
"""What stays joined to the word after its hyphen even where hyphens are split."""

SUFFIXES = _words("esque ette fold gate itis less rama wise")
"""What stays joined to the word before its hyphen."""

INTERJECTIONS = _words(
    "uh-huh uh-oh uh-uh mm-hm mm-hmm m-hm m-hmm mhm-hm hm-m m-m m-mm oh-oh oh-ho whoo-hoo woo-hoo "
    "ha-ha a-ha u-haul"
)
"""Words that are one although a hyphen is in them."""

UNITS = (
    "km cm mm nm m kg g mg µg ml cl dl l lb lbs oz ft mi mph kph kmh hp am pm AM PM GB MB KB TB kB "
    "Hz kHz MHz GHz kW MW GW kWh mV ms hrs hr min mins sec secs px pt kcal cal bn ha kPa"
)
"""Units that are tokens of their own behind a number that touches them."""

FRENCH = Language(
    code="fr",
    titles=_words("m mm mme mmes mlle mlles dr drs pr me mgr st ste cf p pp vol no n° art ex fig"),
    abbreviations=_words("etc av bd apr env éd tél janv févr avr juil sept oct nov déc hab"),
    ambiguous=_words("no art ex st me"),
    numbered=_words("no art p pp vol fig"),
    starters=_words(
        """le la les l'on un une des du au aux il elle ils elles on je nous vous ce cette ces c'est
        cela ça son sa ses leur leurs mon ma mes notre nos votre vos et mais ou or donc car si
        quand lorsque comme dans en sur sous pour par avec sans après avant depuis selon à
        y qui que quoi où tout tous toute toutes plus puis ainsi enfin alors aussi d'abord
        cependant toutefois aujourd'hui hier demain c'était s'il qu'il l'an j'ai"""
    ),
    elisions=_words("l d c j m n s t qu jusqu lorsqu puisqu quoiqu"),
    prefixes=_words("ex anti non"),
    prefix_end="o",
    pronouns=True,
    whole=_words(
        "rendez-vous celui-là celle-là ceux-là celles-là jusque-là par-là oh-la-la garde-à-vous"
    ),
    measures=True,
)

GERMAN = Language(
    code="de",
    titles=_words(
        """dr prof hr fr frl st ca z.b d.h u.a bzw vgl sog ggf evtl inkl exkl z.t i.d.r v.a s.o s.u
        abs art nr str bd hrsg dipl ing rd tel max min zzgl gem lt"""
    ),
    abbreviations=_words(
        """usw etc uvm jan feb apr jun jul aug sept okt nov dez mio mrd jh jhd chr co
        mo di mi do sa so"""
    ),
    ambiguous=_words("art max min mo di mi do sa so fr"),
    numbered=_words("art nr bd abs"),
    starters=_words(
        """der die das den dem ein eine einen einem einer es er sie ich wir ihr man dies diese
        dieser dieses auch aber und oder doch denn wenn als wie was wer wo warum da dann so nun
        noch nur schon hier dort in im am an auf aus bei mit nach vor von zu für über unter
        seit bis um nicht kein keine alle viele mein meine sein seine unser ihre"""
    ),
    ordinals=True,
    capital_nouns=True,
)

INDONESIAN = Language(
    code="id",
    titles=_words("dr drs dra ir prof h hj kh k.h moh muh tn ny jl no hlm yth a.n s.d"),
    abbreviations=_words("dll dsb dkk dst tbk inc ltd corp"),
    ambiguous=_words("no"),
    numbered=_words("no hlm"),
    suffixes=("nya",),
    whole=_words(
        """hanya punya tanya bertanya ditanya menanya tertanya misalnya biasanya lainnya
        sebelumnya sesudahnya setelahnya akhirnya sebenarnya sebetulnya sesungguhnya adanya
        antaranya umumnya seharusnya selanjutnya tampaknya sebabnya sebaliknya khususnya rupanya
        soalnya awalnya setidaknya semestinya mestinya agaknya berikutnya anehnya sejatinya
        dulunya banyaknya selebihnya sayangnya akibatnya sepenuhnya nantinya mulanya sebagainya
        kabarnya tentunya layaknya kelihatannya sepertinya seandainya seluruhnya segalanya
        sebaiknya secepatnya pokoknya makanya bukannya pasalnya kiranya
        sekiranya memangnya celakanya nyatanya sedianya umpamanya terbentuknya
        terjadinya munculnya masuknya bocornya jatuhnya meningkatnya terciptanya lahirnya"""
    ),
    hyphens="split",
)

ICELANDIC = Language(
    code="is",
    titles=_words(
        """t.d þ.e þ.e.a.s m.a s.s u.þ.b m.v o.fl sbr skv dr sr nr hr frú kl bls gr mgr ca
        hæstv fr e.t.v f.kr e.kr sl þ.á.m mt st th"""
    ),
    abbreviations=_words(
        """o.s.frv hf ehf ohf sf jr jan feb mar apr jún júl ágú sept okt nóv des kr ma þús inc
        etc"""
    ),
    ambiguous=_words("mar des st"),
    numbered=_words("nr bls gr kl"),
    ordinals=True,
    percents=True,
)

FAROESE = Language(
    code="fo",
    titles=_words("t.d t.e t.v.s m.a s.s uml sbr dr nr kl bls hr frú ca v.m"),
    abbreviations=_words("o.s.fr osfr o.a p/f jan feb mar apr jun jul aug sept okt nov des"),
    numbered=_words("nr bls kl"),
    ordinals=True,
)

_COMMON = _words("dr dra prof sr sra srta st sta ing mr mrs ms cf ca nr vs vol pp")
_ENDING = _words("etc inc ltd co corp jr")

LANGUAGES = {one.code: one for one in (ENGLISH, FRENCH, GERMAN, INDONESIAN, ICELANDIC, FAROESE)}
"""The languages with lists of their own, by code; other codes get the generic rules."""

WITHOUT_SPACES = {
    "zh": "Chinese", "ja": "Japanese", "th": "Thai", "lo": "Lao", "km": "Khmer",
    "my": "Burmese", "bo": "Tibetan", "yue": "Cantonese",
}  # fmt: skip
"""Languages whose words no space parts."""
SEGMENTED = frozenset(["ja", "zh"])
"""Those whose words a package finds (`segmenters`)."""


def has_spaces(code: str) -> bool:
    """Whether a language parts its words by spaces.

    >>> has_spaces("fr-CA"), has_spaces("ja")
    (True, False)
    """
    return _base(code) not in WITHOUT_SPACES


def language_named(code: str) -> Language:
    """The rules for a language code such as `en`, `de` or `fr-CA`.

    >>> language_named("de-AT").ordinals
    True
    """
    base = _base(code)
    if base in WITHOUT_SPACES and base not in SEGMENTED:
        raise UsageError(
            f"{WITHOUT_SPACES[base]} puts no spaces between words, so its text cannot be"
            " tokenized here",
            where=f"language {code!r}",
            hint="give tokens: parse_tokens in Python; on the command line --input tokens, "
            "one sentence a line, its tokens apart by spaces",
        )
    return LANGUAGES.get(base) or Language(code=base, titles=_COMMON, abbreviations=_ENDING)


def _base(code: str) -> str:
    """The language of a code, without a country or script."""
    base = code.replace("_", "-").partition("-")[0].lower() if isinstance(code, str) else ""
    if not (base.isascii() and base.isalpha() and len(base) in (2, 3)):
        raise UsageError(
            "expected a language code of two or three letters",
            where=f"language {code!r}",
            hint="for example 'en', 'fr' or 'de'",
        )
    return base
