"""EVALB in the plainest form: every pair of brackets is looked at. An oracle for tests."""

from cleft.tree import Tree


def plain_score(gold: Tree, predicted: Tree, delete=(), cut="-=", equal=(), labelled=True):
    """(matched, gold, predicted, crossing, words, correct tags), or None where words differ."""

    def same(one, two):
        return one == two or (one, two) in equal or (two, one) in equal

    def parts(tree):
        leaves = [leaf for leaf in tree.leaves() if leaf.label not in delete]
        brackets = []
        for node in tree.preorder():
            if node.word is not None:
                continue
            label = node.label
            for mark in cut:
                label = label.split(mark)[0]
            own = [i for i, leaf in enumerate(leaves) if any(leaf is x for x in node.leaves())]
            if own and not any(same(label, name) for name in delete):
                brackets.append((own[0], own[-1] + 1, label))
        return leaves, brackets

    words, wanted = parts(gold)
    others, found = parts(predicted)
    if [leaf.word for leaf in words] != [leaf.word for leaf in others]:
        return None
    used = set()
    for left, right, label in wanted:
        for index, (a, b, name) in enumerate(found):
            fits = not labelled or same(label, name)
            if fits and index not in used and (a, b) == (left, right):
                used.add(index)
                break
    crossing = sum(
        any(a < left < b < right or left < a < right < b for a, b, _ in wanted)
        for left, right, _ in found
    )
    tags = sum(same(one.label, two.label) for one, two in zip(words, others, strict=True))
    return len(used), len(wanted), len(found), crossing, len(words), tags
