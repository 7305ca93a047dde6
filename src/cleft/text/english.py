"""What the English rules know: abbreviations, contractions, affixes.

Lists only; the rules that use them are in `tokens` and `sentences`. Words are
in lower case and without their final period.
"""

from __future__ import annotations

__all__ = [
    "ABBREVIATIONS",
    "AMBIGUOUS",
    "CAPTIONS",
    "CLIPPED",
    "CONTRACTIONS",
    "ELIDED",
    "INTERJECTIONS",
    "NUMBERED",
    "PREFIXES",
    "REPORTING",
    "STARTERS",
    "SUFFIXES",
    "TITLES",
    "UNITS",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TITLES = _words(
    """adm amb assoc asst atty brig bros capt cdr cmdr col comdr cpl cpt dr drs esq fr gen gov
    gr hon insp lieut lt maj messrs mlle mme mmes mr mrs ms msgr mt mx ofc ph pres prof
    profs pvt rep reps rev revs sen sens sgt sr sra srta st ste supt vs viz e.g i.e cf ca
    approx eg esp incl resp ex fig figs eq eqs ref refs sec secs vol vols ed eds ch chap
    pt pts pp op cit trans no nos art dept univ natl intl govt gal tel ext est"""
)
"""Abbreviations that something follows: a period after them ends no sentence."""

ABBREVIATIONS = _words(
    """al etc inc ltd co corp cos llc plc jr bros ave blvd rd hwy rte sq bldg apt
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun
    ala ariz ark calif colo conn del fla ga ill ind kan kans ky md mich minn miss mo
    mont neb nebr nev okla ont ore pa penn que tenn tex va vt wash wis wisc wyo mass
    ft lb lbs oz yd yds hr hrs min mins mph wk wks yr yrs
    div dist mfg mfrs assn bldgs ibid id sp spp var cv abbr anon
    a.m p.m a.d b.c c.e b.c.e d.c u.s u.k u.n u.s.a ph.d m.d b.a m.a p.s n.d"""
)
"""Abbreviations that can also end a sentence: what follows decides."""

NUMBERED = _words("no nos art p pp c ca fig figs ch chap sec vol vols eq eqs v pt ed op")
"""Abbreviations only before a number, where the same letters are also a word or an initial."""

AMBIGUOUS = _words(
    """no art fig figs ed op ex gal trans pres rep reps hon ch pt miss mass ill ind del wash ore
    sun sat mon wed mar jun mo id min mins co gen col gr ms est tel ext ph pa ma sp var anon
    rev esp fri st dist ga va que ont penn sec secs nos"""
)
"""Abbreviations that are also words, so that at the end of a sentence the period stands alone."""

STARTERS = _words(
    """a after all also although an and another any are as at because before both but by can could
    did do does each even every few finally first for from had has have he her here his how
    however i if in instead is it its just later let many maybe more most my never no nobody not
    nothing now of oh okay on once one only or other our over perhaps please several she should
    since so some soon still such that the their then there therefore these they this those though
    through thus to today under until was we well were what when where whether which while who
    why will with would yeah yes yet you your i'm i've i'd i'll it's he's she's we're they're you're
    that's there's we've let's don't"""
)
"""Words that begin a sentence far more often than they go on after an abbreviation."""

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
