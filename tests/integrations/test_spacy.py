"""The spaCy component, in spaCy, with a small model."""

import pickle
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span

from cleft.discourse import DiscourseTree
from cleft.errors import FormatError, InputError, ModelError, TreeShapeError, UsageError
from cleft.integrations.spacy_spans import keep
from cleft.parser import load
from cleft.tree import Tree
from tests.runtime.models import model

TEXT = "The old (grey) heron waits.  \n\n So she left. \n"
FIRST = ["The", "old", "(", "grey", ")", "heron", "waits", "."]
SECOND = ["So", "she", "left", "."]


def pipeline(**config: object) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("cleft", config={"model": str(model("lstm")), **config})
    return nlp


@pytest.fixture(scope="module")
def nlp() -> Language:
    return pipeline()


@pytest.fixture(scope="module")
def doc(nlp: Language) -> Doc:
    return nlp(TEXT)


def trees(doc: Doc) -> list[str]:
    return [str(tree) for tree in doc._.cleft_syntax]


def parsed(words: list[str], **options: object):
    (result,) = load(model("lstm")).parse_tokens([words], **options)
    return result


def test_trees_are_those_of_the_parser_over_spacys_words(doc):
    one, two, _ = doc.sents
    for sentence, words in ((one, FIRST), (two, SECOND)):
        wanted = parsed(words)
        assert sentence._.cleft_syntax == wanted.syntax
        assert sentence._.parse_string == wanted.syntax.brackets()
        assert sentence._.cleft_syntax.log_prob == pytest.approx(wanted.syntax.log_prob)
        assert sentence._.cleft_discourse.splits() == wanted.discourse.splits()
        phrases = [node.probability for node in wanted.syntax.preorder() if node.word is None]
        assert sentence._.cleft_probability == phrases[0]
        below = [span._.cleft_probability for span in sentence._.constituents if span._.labels]
        assert set(below) <= set(phrases)
        leaves = [node for node in wanted.discourse.preorder() if node.is_leaf]
        edus = [span._.cleft_discourse.probability for span in sentence._.cleft_edus]
        assert edus == [leaf.probability for leaf in leaves]
        assert sentence._.cleft_error is None
    assert "-LRB-" in one._.parse_string


def test_beam_and_task_are_settings():
    beam = pipeline(beam=5, task="syntax")(TEXT)
    assert beam._.cleft_syntax[0] == parsed(FIRST, beam=5, task="syntax").syntax
    assert beam._.cleft_discourse == [None, None, None]
    assert beam._.cleft_edus == [[], [], []]
    discourse = pipeline(task="discourse")("So she left.")
    assert isinstance(discourse._.cleft_discourse[0], DiscourseTree)
    assert discourse._.cleft_syntax == [None]
    with pytest.raises(InputError, match=r"no syntactic tree.*task 'discourse'"):
        _ = discourse[:]._.parse_string


def test_constituents_are_a_preorder_walk_that_parents_and_children_agree_with(doc):
    for sentence in list(doc.sents)[:2]:
        spans = list(sentence._.constituents)
        assert spans[0]._.parent is None
        assert spans[0].text == sentence.text.strip()
        words = [span for span in spans if len(span) == 1 and not list(span._.children)]
        assert [span.text for span in words] == [t.text for t in sentence if not t.is_space]
        for span in spans:
            children = list(span._.children)
            assert all(child._.parent == span for child in children)
            if children:
                assert (children[0].start, children[-1].end) == (span.start, span.end)
        labels = [label for span in spans for label in span._.labels]
        phrases = [n.label for n in sentence._.cleft_syntax.preorder() if n.word is None]
        assert labels == phrases


def test_a_unary_chain_is_one_constituent_with_all_its_labels(nlp):
    doc = nlp.make_doc("she left")
    tree = Tree.from_brackets("(S (NP (PRP she)) (VP (VBD left)))")
    put(doc, tree)
    assert doc[:]._.labels == ("S",)
    assert [span.text for span in doc[:]._.constituents] == ["she left", "she", "left"]
    assert doc[0]._.labels == ("NP",)
    assert doc[0]._.parse_string == "(NP (PRP she))"
    assert doc[0]._.parent == doc[:]
    put(doc, Tree.from_brackets("(S (VP (X (PRP she) (VBD left))))"))
    assert doc[:]._.labels == ("S", "VP", "X")
    assert doc[:]._.parse_string == "(S (VP (X (PRP she) (VBD left))))"
    assert doc[1]._.labels == ()
    assert doc[1]._.parse_string == "(VBD left)"


def put(doc: Doc, tree: Tree) -> None:
    """A tree in the place where the component leaves it."""
    from cleft.formats.jsonl import Record, format_record

    keep(doc, [(doc[:], format_record(Record(syntax=tree)))])


def test_edus_have_the_places_they_have_in_the_text(doc):
    for sentence in list(doc.sents)[:2]:
        edus = sentence._.cleft_discourse.edus
        assert [span.text for span in sentence._.cleft_edus] == [
            doc.text[edu.start : edu.end] for edu in edus
        ]
        assert sentence._.cleft_edus[0]._.cleft_discourse.edus == edus[:1]
    parts = [tuple(span) for span, _ in doc._.cleft_discourse[0].spans()]
    left, right = next(pair for pair in ((1, 3), (2, 4), (0, 1)) if pair not in parts)
    with pytest.raises(TreeShapeError, match="no part of the discourse tree"):
        _ = doc[left:right]._.cleft_discourse


def test_white_space_alone_has_an_error_and_no_tree(doc):
    blank = list(doc.sents)[2]
    assert blank._.cleft_syntax is None
    assert blank._.cleft_error == "there are no tokens; give at least one"
    with pytest.raises(InputError, match=r"the sentence at token 13: there are no tokens"):
        _ = blank._.parse_string


def test_white_space_at_the_edges_of_a_span_does_not_matter(nlp):
    doc = nlp("\n Rain fell \n")
    assert [token.is_space for token in doc] == [True, False, False, True]
    assert doc[:]._.parse_string == doc[1:3]._.parse_string == str(parsed(["Rain", "fell"]).syntax)
    assert doc[1]._.parent == doc[1:3]


def test_what_is_no_constituent_is_refused(nlp, doc):
    split = next(s for s in next(iter(doc.sents))._.constituents if len(s) == 2)
    with pytest.raises(TreeShapeError, match="is no constituent"):
        _ = doc[split.start - 1 : split.end - 1]._.labels
    with pytest.raises(TreeShapeError, match="not within one sentence"):
        _ = doc[:]._.labels
    with pytest.raises(UsageError, match="the Doc was not parsed"):
        _ = nlp.make_doc("So")[:]._.labels


def test_a_doc_whose_tokens_changed_is_refused(nlp):
    doc = nlp("So she left.")
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    with pytest.raises(UsageError, match="had 4 tokens when it was parsed, and has others now"):
        _ = doc._.cleft_syntax


def test_given_tags_are_kept():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    ruler = nlp.add_pipe("attribute_ruler")
    ruler.add([[{"IS_PUNCT": True}]], {"TAG": "."})
    ruler.add([[{"IS_PUNCT": False}]], {"TAG": "WORD"})
    nlp.add_pipe("cleft", config={"model": str(model("lstm"))})
    assert nlp("So she left.")._.cleft_syntax[0].tags() == ["WORD", "WORD", "WORD", "."]


def test_a_sentence_that_cannot_be_parsed_leaves_the_others_alone(nlp):
    long = "x" * 10_001
    docs = list(nlp.pipe([f"So she left. {long} fell. Rain fell.", "Rain fell."]))
    errors = docs[0]._.cleft_error
    assert errors[1].startswith("token 1 has 10001 characters")
    assert errors[::2] == [None, None]
    assert docs[0]._.cleft_syntax[2] == docs[1]._.cleft_syntax[0]
    with pytest.raises(InputError, match="10001 characters"):
        _ = list(docs[0].sents)[1]._.labels


def test_sentence_boundaries_are_needed():
    nlp = spacy.blank("en")
    nlp.add_pipe("cleft", config={"model": str(model("lstm"))})
    with pytest.raises(UsageError, match=r"the pipe 'cleft': .*sentencizer"):
        nlp("So she left.")
    with pytest.raises(UsageError, match="no sentence boundaries"):
        list(nlp.pipe(["So she left."]))
    failed = []
    nlp.set_error_handler(lambda name, proc, docs, error: failed.append((name, len(docs))))
    nlp("So she left.")
    assert [doc.text for doc in nlp.pipe(["", "So she left.", "Rain"])] == ["", "Rain"]
    assert failed == [("cleft", 1), ("cleft", 1)]


def test_docs_keep_their_trees_when_they_are_written(nlp, doc):
    store = DocBin(store_user_data=True, docs=[doc])
    (binned,) = DocBin(store_user_data=True).from_bytes(store.to_bytes()).get_docs(nlp.vocab)
    copied = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    for other in (binned, copied, pickle.loads(pickle.dumps(doc))):
        assert trees(other) == trees(doc)
        assert other._.cleft_error == doc._.cleft_error
        assert other[0]._.labels == doc[0]._.labels
        assert [t and t.splits() for t in other._.cleft_discourse] == [
            t and t.splits() for t in doc._.cleft_discourse
        ]


def data(sentence: Span) -> tuple[object, ...]:
    """All that there is to know of a sentence, its EDUs as texts."""
    known = sentence._
    edus = [] if known.cleft_discourse is None else known.cleft_discourse.edus
    slices = [sentence.doc.text[edu.start : edu.end] for edu in edus]
    assert slices == [span.text for span in known.cleft_edus]
    splits = known.cleft_discourse and known.cleft_discourse.splits()
    return known.cleft_syntax, splits, slices, known.cleft_error


def test_a_part_of_a_doc_keeps_the_trees_of_its_whole_sentences(doc):
    first, second, blank, *_ = doc.sents
    part = doc[first.start + 1 : blank.end].as_doc(copy_user_data=True)
    assert [each.text for each in part.sents][-2:] == [second.text, blank.text]
    assert list(map(data, list(part.sents)[-2:])) == [data(second), data(blank)]
    assert part._.cleft_syntax == [second._.cleft_syntax, None]
    assert trees(second.as_doc(copy_user_data=True)) == [second._.parse_string]
    with pytest.raises(TreeShapeError, match="not within one sentence that was parsed"):
        _ = part[:1]._.labels
    with pytest.raises(UsageError, match=r"as_doc\(copy_user_data=True\) keeps the trees"):
        _ = second.as_doc()[:]._.labels


@pytest.mark.parametrize("ensure_whitespace", [True, False])
def test_docs_that_are_joined_keep_their_trees_without_a_warning(nlp, doc, ensure_whitespace):
    parts = [nlp("So she left."), nlp(""), doc, nlp("Rain fell\n"), nlp("She slept.")]
    joined = Doc.from_docs(parts, ensure_whitespace=ensure_whitespace)
    expected = [data(sentence) for part in parts for sentence in part.sents]
    assert len(expected) > 5
    assert [data(sentence) for sentence in joined.sents] == expected
    # A part has the data of what stands around it, too: it must not get into the way.
    sentences = [sentence.as_doc(copy_user_data=True) for sentence in joined.sents]
    again = Doc.from_docs(sentences[::-1], ensure_whitespace=ensure_whitespace)
    assert [data(sentence) for sentence in again.sents] == expected[::-1]


def test_a_doc_that_is_parsed_again_has_the_new_trees_alone(nlp):
    doc = nlp("So she left. Rain fell.")
    assert len(doc._.cleft_syntax) == 2
    doc[4].is_sent_start = False
    nlp.get_pipe("cleft")(doc)
    (tree,) = doc._.cleft_syntax
    assert tree.words() == [token.text for token in doc]
    assert nlp("")._.cleft_syntax == []


def test_the_pipeline_survives_bytes_and_disk(nlp, doc, tmp_path):
    other = pipeline(beam=3).from_bytes(nlp.to_bytes())
    assert other.get_pipe("cleft").settings == nlp.get_pipe("cleft").settings
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    assert trees(other(TEXT)) == trees(again(TEXT)) == trees(doc)
    moved = pickle.loads(pickle.dumps(nlp.get_pipe("cleft")))
    assert moved.settings == nlp.get_pipe("cleft").settings
    for data in (b"{", b"[]", b'{"model": "en"}'):
        with pytest.raises(FormatError, match="expected the settings model, task"):
            moved.from_bytes(data)


def test_two_processes_and_small_batches_give_the_same_in_the_same_order(nlp):
    texts = ["So she left.", "", "Rain fell. The heron waits.", "She left.", "Rain fell."] * 2
    wanted = [trees(nlp(text)) for text in texts]
    assert [trees(doc) for doc in nlp.pipe(texts, n_process=2, batch_size=3)] == wanted
    small = pipeline(batch_size=2)
    assert [trees(doc) for doc in small.pipe(texts)] == wanted


def test_wrong_settings_are_refused_at_once(tmp_path):
    with pytest.raises(UsageError, match="no task 'semantics'"):
        pipeline(task="semantics")
    with pytest.raises(UsageError, match="batch_size is 0"):
        pipeline(batch_size=0)
    with pytest.raises(UsageError, match="beam"):
        pipeline(beam=0)
    with pytest.raises(ModelError, match="nowhere"):
        pipeline(model=str(tmp_path / "nowhere"))


PAGE = (Path(__file__).parents[2] / "docs" / "spacy.md").read_text(encoding="utf-8")


def test_the_documented_example_runs(capsys):
    code = PAGE.split("```python\n")[1].partition("```")[0]
    assert 'nlp.add_pipe("cleft")' in code
    small = f'nlp.add_pipe("cleft", config={{"model": {str(model("lstm"))!r}}})'
    exec(code.replace('nlp.add_pipe("cleft")', small), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("(")
    assert lines[-1].endswith(".")  # the last EDU, wherever random weights begin it


def test_every_extension_is_documented():
    from spacy.tokens.underscore import Underscore

    assert "parse_string" in Underscore.span_extensions
    for name in Underscore.span_extensions:
        assert f"`span._.{name}`" in PAGE


def test_a_document_has_one_tree_and_offsets_into_the_doc(document_model):
    text = "The Day\n\nAnn  slept, because it rained. But Ben left. \n\n Eva won. So Tom smiled."
    nlp = pipeline(model=document_model, document=True)
    (doc,) = nlp.pipe([text])
    found = doc._.rst
    assert found.text == text
    assert found.tree is not None
    assert [text[token.start : token.end] for token in found.tokens] == list(found.words)
    for edu in found.edus:
        assert " ".join(text[edu.start : edu.end].split()) == edu.text
    begins = [found.sentences[number].words[0] for number in found.paragraphs]
    assert begins == ["The", "Eva"]  # the sentencizer does not end a sentence after a title
    for sentence, tree in zip(doc.sents, doc._.cleft_discourse, strict=True):
        assert sentence.start_char <= tree.edus[0].start < tree.edus[-1].end <= sentence.end_char
        assert text[tree.edus[0].start :].startswith(tree.edus[0].text.split()[0])
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert again._.rst.tree == found.tree
    assert doc[0:3].as_doc(copy_user_data=True)._.rst is None  # it is of another text
    assert pipeline()("So she left.")._.rst is None
    with pytest.raises(ModelError, match="no head for documents"):
        pipeline(document=True)
