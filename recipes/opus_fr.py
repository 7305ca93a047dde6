r"""Make the French encoder that recipes/fr.toml fine-tunes out of Helsinki-NLP's opus-mt-fr-en.

    python recipes/opus_fr.py ~/cleft-runs/pretrained/opus-fr ~/cleft-runs/pretrained/opus-fr-cut \
        --treebank ../shared/data/syntax/sequoia-fr/train.mrg --pieces 15000

The translator's encoder half, and of its 59,514 pieces those that French needs: all that the
treebank's words are cut into, all single characters of the French SentencePiece model, and its most
frequent pieces (a unigram model's scores are log-frequencies). Its tokenizer becomes a
`tokenizer.json`, so that nobody needs SentencePiece afterwards; words that both cut differently are
counted. Needs cleft[train] and sentencepiece.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from cleft.formats.brackets import read_brackets
from cleft.formats.cleaning import SPMRL

MARK = "▁"
SPECIAL = ("</s>", "<unk>", "<pad>")
"""The first pieces. Marian begins a sentence with none, so `</s>` stands at both ends here."""


def chosen(processor: Any, words: list[str], most: int) -> list[tuple[str, float]]:
    """The pieces to keep with their scores, most frequent first."""
    scores = {
        processor.id_to_piece(number): processor.get_score(number)
        for number in range(processor.get_piece_size())
        if not (processor.is_control(number) or processor.is_unknown(number))
    }
    needed = {piece for word in words for piece in processor.encode(word, out_type=str)}
    kept = [p for p in scores if p in needed or len(p) == 1 or (len(p) == 2 and p[0] == MARK)]
    kept = sorted(kept, key=scores.__getitem__, reverse=True)[:most]
    known = set(kept)
    others = sorted((p for p in scores if p not in known), key=scores.__getitem__, reverse=True)
    kept += others[: max(0, most - len(kept))]
    return sorted(((piece, scores[piece]) for piece in kept), key=lambda one: -one[1])


def tokenizer_of(pieces: list[tuple[str, float]]) -> Any:
    """A tokenizer of these pieces in the manner of SentencePiece."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = [*((name, 0.0) for name in SPECIAL), *pieces]
    made = Tokenizer(models.Unigram(vocabulary, unk_id=1, byte_fallback=False))
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace(replacement=MARK, prepend_scheme="always")
    end, unknown, pad = SPECIAL
    return PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token=end, eos_token=end, unk_token=unknown, pad_token=pad
    )


def encoder_of(source: Path, pieces: list[tuple[str, float]]) -> Any:
    """The encoder half with the vectors of these pieces."""
    import json

    from transformers import MarianModel, MarianMTModel

    numbers = json.loads((source / "vocab.json").read_text(encoding="utf-8"))
    full = MarianMTModel.from_pretrained(source, local_files_only=True, use_safetensors=True)
    config = full.config
    config.vocab_size = config.decoder_vocab_size = len(SPECIAL) + len(pieces)
    config.decoder_layers = 0
    config.bos_token_id = config.eos_token_id = config.forced_eos_token_id = 0
    config.pad_token_id = config.decoder_start_token_id = SPECIAL.index("<pad>")
    cut = MarianModel(config)
    names = [*SPECIAL, *(piece for piece, _ in pieces)]
    weights = full.get_encoder().state_dict()
    rows = [numbers.get(name, numbers["<unk>"]) for name in names]
    weights["embed_tokens.weight"] = weights["embed_tokens.weight"][rows]
    cut.get_encoder().load_state_dict(weights)
    cut.tie_weights()
    return cut


def main() -> None:
    """Write the directory, and say how often words are cut as before."""
    import sentencepiece

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("source", type=Path, help="the whole translator")
    parser.add_argument("target", type=Path, help="where to write the encoder")
    parser.add_argument("--treebank", type=Path, required=True, help="trees whose words are kept")
    parser.add_argument("--pieces", type=int, default=15_000, help="how many to keep")
    args = parser.parse_args()
    processor = sentencepiece.SentencePieceProcessor(model_file=str(args.source / "source.spm"))
    words = [word for tree in read_brackets(args.treebank, SPMRL) for word in tree.words()]
    pieces = chosen(processor, sorted(set(words)), args.pieces)
    tokenizer = tokenizer_of(pieces)
    tokenizer.save_pretrained(args.target)
    encoder_of(args.source, pieces).save_pretrained(args.target)
    names = [*SPECIAL, *(piece for piece, _ in pieces)]
    same = sum(
        [names[number] for number in tokenizer.encode(word, add_special_tokens=False)]
        == processor.encode(word, out_type=str)
        for word in words
    )
    print(f"{args.target}: {len(pieces)} pieces; {same} of {len(words)} words are cut as before")


if __name__ == "__main__":
    main()
