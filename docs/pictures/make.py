"""The pictures of the documentation, drawn by cleft from invented sentences.

`python docs/pictures/make.py` writes the SVG files and a contact sheet in
light and dark, and turns them into PNG with Chromium (`--chromium PATH`, by
default the one on the search path). Only this script needs a browser.
"""

from __future__ import annotations

import argparse
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from cleft import DiscourseTree, Edu, Span, Tree
from cleft.draw import Drawable, Options, Theme, diff, lay_out, svg
from cleft.draw.theme import DARK, LIGHT
from cleft.evidence import Evidence

HERE = Path(__file__).parent
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

SHORT = """
(S (NP (DT The) (JJ old) (NN lighthouse))
   (VP (VBD watched)
       (S (NP (DT the) (NNS boats)) (VP (VB come) (ADVP (RB home))))
       (PP (IN with) (NP (DT the) (NN tide))))
   (. .))"""
PREDICTED = """
(S (NP (DT The) (JJ old) (NN lighthouse))
   (VP (VBD watched)
       (NP (NP (DT the) (NNS boats)) (VP (VB come) (NP (NN home)))
           (PP (IN with) (NP (DT the) (NN tide)))))
   (. .))"""
SIXTY = """
(S (SBAR (IN When)
         (S (NP (DT the) (JJ last) (NN ferry)) (VP (VBD left) (NP (DT the) (NN island)))))
   (, ,)
   (NP (NP (DT the) (JJ young) (NN baker)) (, ,)
       (SBAR (WHNP (WP who))
             (S (VP (VBD had)
                    (VP (VBN promised) (NP (PRP$ her) (NN brother))
                        (SBAR (IN that)
                              (S (NP (PRP she))
                                 (VP (MD would) (VP (VB sell) (NP (DT the) (NN shop))))))))))
       (, ,))
   (VP (VP (VBD closed) (NP (DT the) (JJ blue) (NNS shutters))
           (PP (IN for) (NP (DT the) (JJ first) (NN time))))
       (, ,)
       (VP (VBD put) (NP (DT the) (NN key))
           (PP (IN under) (NP (NP (DT a) (NN pot)) (PP (IN of) (NP (NN basil))))))
       (CC and)
       (VP (VBD walked) (ADVP (RB slowly) (RB down))
           (PP (IN towards)
               (NP (NP (DT the) (NN harbour)) (, ,)
                   (SBAR (WHADVP (WRB where))
                         (S (NP (NP (DT the) (NNS lights))
                                (PP (IN of) (NP (DT the) (NN city))))
                            (VP (VBD trembled) (PP (IN on) (NP (DT the) (NN water))))))))))
   (. .))"""
DEEP = """
(S (NP (PRP I))
   (VP (VBP think)
       (SBAR (S (NP (PRP she))
                (VP (VBZ hopes)
                    (SBAR (S (NP (PRP you))
                             (VP (VBP know)
                                 (SBAR (WHNP (WP what))
                                       (S (NP (PRP they))
                                          (VP (VBD wanted)
                                              (S (VP (TO to) (VP (VB say))))))))))))))
   (. .))"""
CHAIN = "(ROOT (FRAG (NP (NP (QP (CD Seven))) (ADVP (RB probably)))))"
HEBREW = """
(S (NP (DTT ה) (NN ילדה))
   (VP (VB קוראת) (NP (NN ספר) (JJ ישן)) (PP (IN ליד) (NP (NN החלון))))
   (yyDOT .))"""
LONG = """
(S (NP (DT The) (NN word)) (VP (VBZ is) (NP
   (NN Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft)))
   (. .))"""
CHINESE = """
(IP (NP (DP (DT 那) (CLP (M 位))) (NP (NN 老师)))
    (VP (ADVP (AD 常常)) (PP (P 在) (NP (NN 公园)))
        (VP (VV 教) (NP (NN 孩子们)) (IP (VP (VV 画) (NP (NN 风景))))))
    (PU 。))"""

RAIN = [
    "Although the forecast promised rain,",
    "the neighbours,",
    "who never miss a match,",
    "walked to the court",
    "and played until dusk,",
    "because the season was ending.",
]
TWELVE = [
    "The museum will close its north wing",
    "after the summer holidays,",
    "the director announced,",
    "since the roof,",
    "which was built in 1911,",
    "has begun to leak.",
    "If the council agrees,",
    "repairs could start in May;",
    "otherwise the paintings",
    "that hang there",
    "must be moved,",
    "and nobody knows where.",
]
SYNTAX_DOUBTS = {
    5: Evidence(label=0.99, split=0.55, splits=((7, 0.38), (6, 0.04))),
    7: Evidence(label=0.94, split=0.9),
    13: Evidence(label=0.52, labels=(("ADVP", 0.31), ("PRT", 0.12))),
    15: Evidence(label=0.98, split=0.9),
}


def evidence(tree: Tree, known: Mapping[int, Evidence]) -> Tree:
    """The tree with a model's evidence: that given, else that of a sure node."""
    nodes = tree.preorder()
    stack: list[Tree] = []
    for place in range(len(nodes) - 1, -1, -1):
        node, count = nodes[place], len(nodes[place].children)
        children = stack[: -count - 1 : -1] if count else []
        del stack[len(stack) - count :]
        found = known.get(place, Evidence(label=0.99, split=0.98))
        stack.append(Tree(node.label, children, node.word, None if node.word else found))
    return stack[0]


def leaves(texts: Sequence[str]) -> list[DiscourseTree]:
    """The EDUs of a text, one a string."""
    found, start = [], 0
    for text in texts:
        end = start + len(text.split())
        found.append(DiscourseTree.leaf(Edu(text, Span(start, end))))
        start = end
    return found


def sure(
    tree: DiscourseTree, split: float, label: float, *others: tuple[str, float]
) -> DiscourseTree:
    """The tree with a model's evidence on its root."""
    told = Evidence(split=split, label=label, labels=others)
    return DiscourseTree(tree.children, tree.nuclearity, tree.relations, tree.edu, told)


def rain() -> DiscourseTree:
    """The discourse example of the README."""
    join = DiscourseTree.join
    a, b, c, d, e, f = leaves(RAIN)
    subject = sure(join([b, c], "NS", "elaboration"), 0.97, 0.96)
    walked = sure(join([subject, d], "NN", "same-unit"), 0.93, 0.98)
    played = sure(join([e, f], "NS", "reason"), 0.71, 0.55, ("cause_NS", 0.4))
    main = sure(join([walked, played], "NN", "sequence"), 0.8, 0.83, ("joint_NN", 0.12))
    return sure(join([a, main], "SN", "concession"), 0.98, 0.94)


def twelve() -> DiscourseTree:
    """A text of twelve EDUs."""
    join = DiscourseTree.join
    e = leaves(TWELVE)
    close = join([join([e[0], e[1]], "NS", "circumstance"), e[2]], "NS", "attribution")
    roof = join([join([e[3], e[4]], "NS", "elaboration"), e[5]], "NN", "same-unit")
    repair = join([e[6], e[7]], "SN", "condition")
    paintings = join([join([e[8], e[9]], "NS", "elaboration"), e[10]], "NN", "same-unit")
    move = join([paintings, e[11]], "NN", "joint")
    return join(
        [join([close, roof], "NS", "explanation"), join([repair, move], "NN", "otherwise")],
        "NS",
        "elaboration",
    )


def examples() -> dict[str, Drawable]:
    """The pictures of the README by name."""
    return {"syntax": evidence(Tree.from_brackets(SHORT), SYNTAX_DOUBTS), "discourse": rain()}


def sheet() -> list[list[tuple[str, Drawable]]]:
    """The drawings of the contact sheet, row by row."""
    read = Tree.from_brackets
    short = read(SHORT)
    return [
        [
            ("A short sentence, with a model’s doubts", evidence(short, SYNTAX_DOUBTS)),
            ("Right to left", read(HEBREW)),
            ("Unary chains", read(CHAIN)),
        ],
        [("Sixty tokens, as an outline", read(SIXTY))],
        [("Twelve elementary discourse units", twelve())],
        [("Deep", read(DEEP)), ("Chinese", read(CHINESE))],
        [("Satellites, a joint and a bridge", rain()), ("One very long word", read(LONG))],
        [("Gold against predicted", diff(short, read(PREDICTED)))],
    ]


PAD, HEAD, WIDE = 16.0, 34.0, 1500


def contact_sheet(theme: Theme) -> tuple[str, int, int]:
    """The page of all drawings in a theme, with its width and height."""
    colour = DARK if theme == "dark" else LIGHT
    rows, total, widest = [], PAD, 0.0
    for row in sheet():
        sizes = [lay_out(tree, WIDE) for _, tree in row]
        total += HEAD + max(size.height for size in sizes) + PAD
        widest = max(widest, sum(size.width + PAD for size in sizes) + PAD)
        pictures = [svg(tree, Options(theme=theme, width=WIDE)) for _, tree in row]
        figures = "".join(
            f"<figure><figcaption>{name}</figcaption>{picture}</figure>"
            for (name, _), picture in zip(row, pictures, strict=True)
        )
        rows.append(f"<div>{figures}</div>")
    css = (
        f"body{{margin:0;padding:{PAD}px;background:{colour['page']};color:{colour['muted']};"
        "font:600 13px Inter,'Noto Sans',sans-serif}"
        f"div{{display:flex;gap:{PAD}px;margin-bottom:{PAD}px}}"
        f"figure{{margin:0;flex:1 0 auto;background:{colour['ground']};border-radius:10px}}"
        f"figcaption{{height:{HEAD}px;line-height:{HEAD}px;padding:0 14px}}"
        "svg{display:block;margin:auto}"
    )
    page = f'<!DOCTYPE html><meta charset="utf-8"><style>{css}</style>{"".join(rows)}'
    return page, math.ceil(widest), math.ceil(total)


def shoot(chromium: str, source: Path, target: Path, width: int, height: int, scale: float) -> None:
    """Turn a page or an SVG file into PNG."""
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(  # noqa: S603 - a fixed list, no shell
            [
                chromium,
                *FLAGS,
                f"--user-data-dir={profile}",
                f"--force-device-scale-factor={scale}",
                f"--window-size={width},{height}",
                f"--screenshot={target}",
                source.resolve().as_uri(),
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )


def main() -> int:
    """Write all pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    found = shutil.which("chromium") or shutil.which("chromium-browser") or "chromium"
    parser.add_argument("--chromium", default=found)
    parser.add_argument("--output", type=Path, default=HERE)
    args = parser.parse_args()
    for name, tree in examples().items():
        layout = lay_out(tree, 1200)
        (args.output / f"{name}.svg").write_text(svg(tree), encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.svg"
            page.write_text(svg(tree, Options(theme="light")), encoding="utf-8")
            size = math.ceil(layout.width), math.ceil(layout.height)
            shoot(args.chromium, page, args.output / f"{name}.png", *size, 2)
    themes: tuple[Theme, ...] = ("light", "dark")
    for theme in themes:
        text, width, height = contact_sheet(theme)
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            page.write_text(text, encoding="utf-8")
            target = args.output / f"contact-sheet-{theme}.png"
            shoot(args.chromium, page, target, width, height, 1.25)
    return 0


if __name__ == "__main__":
    sys.exit(main())
