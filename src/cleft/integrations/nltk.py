"""Trees to and from NLTK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cleft.errors import TreeShapeError
from cleft.tree import Tree, fold

if TYPE_CHECKING:
    import nltk

__all__ = ["from_nltk", "to_nltk"]


def to_nltk(tree: Tree) -> nltk.Tree:
    """The same tree as an `nltk.Tree`.

    >>> to_nltk(Tree.from_brackets("(NP (DT the) (NN cat))")).leaves()
    ['the', 'cat']
    """
    import nltk

    return fold(
        tree,
        lambda leaf: nltk.Tree(leaf.label, [leaf.word]) if leaf.label else leaf.word,
        lambda node, children: nltk.Tree(node.label, children),
    )


def from_nltk(tree: nltk.Tree) -> Tree:
    """The same tree as a cleft `Tree`.

    >>> import nltk
    >>> print(from_nltk(nltk.Tree("NP", [nltk.Tree("NN", ["rain"])])))
    (NP (NN rain))
    """
    order: list[Any] = []
    stack: list[Any] = [tree]
    while stack:
        node = _tagged(stack.pop(), tree)
        order.append(node)
        if not isinstance(node, str):
            stack.extend(reversed(node))
    built: list[Tree] = []
    for node in reversed(order):
        if isinstance(node, str):
            built.append(Tree("", (), node))
            continue
        count = len(node)
        if not count:
            raise TreeShapeError(f"the NLTK node {node.label()!r} has no children")
        children = built[: -count - 1 : -1]
        del built[-count:]
        label = str(node.label())
        word = children[0].word if isinstance(node[0], str) and count == 1 else None
        built.append(Tree(label, () if word is not None else children, word))
    return built[0]


def _tagged(node: Any, tree: Any) -> Any:
    """A node as it is, but a pair of word and tag, as NLTK's chunkers make them, as a node."""
    if isinstance(node, str) or hasattr(node, "label"):
        return node
    if isinstance(node, tuple) and len(node) == 2 and all(isinstance(part, str) for part in node):
        return type(tree)(node[1], [node[0]])
    raise TreeShapeError(
        f"expected a tree, a word or a pair of word and tag, found {node!r}",
        hint="make the leaves strings",
    )
