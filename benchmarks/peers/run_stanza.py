"""Driver for Stanza 1.15's in-order LSTM parser at its default sizes: speed only.

Random weights and random word vectors; gold tags are given, so its tagger is
not counted. How many steps a transition parser takes depends on what it
predicts, and random weights would take too many: the network is run in full at
every step, but the transitions taken are the given tree's, as many as a parser
that makes no mistake takes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from measure import Driver, Sentence, main

VECTOR_SIZE = 100


class Stanza(Driver):
    """The model behind its pipeline, called as the pipeline calls it: longest first."""

    name = "stanza"
    weights = "random, default sizes, gold transitions and tags: speed only"
    batch = 50

    def imports(self) -> None:
        """Import the peer."""
        import torch
        from stanza.models.common.foundation_cache import FoundationCache
        from stanza.models.constituency import transition_sequence, tree_reader
        from stanza.models.constituency.parse_tree import Tree
        from stanza.models.constituency.trainer import Trainer

        self.torch, self.cache, self.trainer = torch, FoundationCache, Trainer
        self.sequences, self.reader, self.tree = transition_sequence, tree_reader, Tree

    def load(self, model: Path) -> None:
        """Load a model that `build` made."""
        args = {"wordvec_pretrain_file": str(vectors(model)), "device": "cpu"}
        args |= {"charlm_forward_file": None, "charlm_backward_file": None}
        loaded = self.trainer.load(str(model), args=args, foundation_cache=self.cache())
        self.model = loaded.model
        self.model.eval()
        self.guides: dict[int, tuple[Sentence, list[Any]]] = {}

    def parse(self, sentences: list[Sentence], batch: int) -> list[Any]:
        """Parse tagged tokens along the given trees."""
        order = sorted(range(len(sentences)), key=lambda index: -len(sentences[index].words))
        guided = [(sentences[index], self._guide(sentences[index])) for index in order]
        results = self.model.parse_sentences_no_grad(
            iter(guided), self._states, batch, self.model.predict_gold
        )
        trees = [result.predictions[0].tree for result in results]
        if len(trees) != len(order):
            return trees
        return [
            tree for _, tree in sorted(zip(order, trees, strict=True), key=lambda pair: pair[0])
        ]

    def _guide(self, sentence: Sentence) -> list[Any]:
        """The transitions to take; kept, so that rounds after the first do not pay for them."""
        kept = self.guides.get(id(sentence))
        if kept is None:
            text = sentence.brackets
            tree = self.reader.read_trees(f"(ROOT {text})")[0] if text else self._flat(sentence)
            [guide] = self.sequences.build_treebank([tree], self.model.transition_scheme)
            # The sentence is kept as well, or another could get its id.
            kept = self.guides[id(sentence)] = (sentence, guide)
        return kept[1]

    def _flat(self, sentence: Sentence) -> Any:
        pairs = zip(sentence.words, sentence.tags, strict=True)
        leaves = [self.tree(tag, self.tree(word)) for word, tag in pairs]
        return self.tree("ROOT", self.tree("S", leaves))

    def _states(self, batch: int, source: Any) -> list[Any]:
        taken = [pair for pair, _ in zip(source, range(batch), strict=False)]
        if not taken:
            return []
        tagged = [list(zip(one.words, one.tags, strict=True)) for one, _ in taken]
        states = self.model.initial_state_from_words(tagged)
        guides = [guide for _, guide in taken]
        return [
            state._replace(gold_sequence=guide) for state, guide in zip(states, guides, strict=True)
        ]

    def brackets(self, tree: Any) -> str:
        """As it prints itself, on one line."""
        return str(tree)

    def build(self, model: Path, treebank: Path) -> None:
        """`treebank` is the training file under a ROOT."""
        from stanza.models.common.pretrain import Pretrain, PretrainedWordVocab
        from stanza.models.common.vocab import VOCAB_PREFIX
        from stanza.models.constituency.parser_training import build_trainer
        from stanza.models.constituency_parser import parse_args

        trees = self.reader.read_treebank(str(treebank))
        words = sorted({word for tree in trees for word in tree.leaf_labels()})
        self.torch.manual_seed(1)
        pretrain = Pretrain(str(vectors(model)), save_to_file=False)
        pretrain._vocab = PretrainedWordVocab(words, lower=True)
        pretrain._emb = self.torch.randn(len(words) + len(VOCAB_PREFIX), VECTOR_SIZE)
        pretrain.save(str(vectors(model)))
        args = parse_args(["--lang", "en", "--shorthand", "en_wsj", "--no_retag"])
        args |= {"wordvec_pretrain_file": str(vectors(model)), "device": "cpu"}
        trainer, *_ = build_trainer(args, trees, trees[:1], [], self.cache(), None)
        trainer.save(str(model), save_optimizer=False)


def vectors(model: Path) -> Path:
    return model.with_name("vectors.pt")


if __name__ == "__main__":
    main(Stanza())
