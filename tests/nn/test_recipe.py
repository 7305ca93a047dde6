"""Recipes and configurations: what they read, and how they refuse."""

import json
import tomllib

import pytest

from cleft.errors import CleftError, InputError, RecipeError
from cleft.nn.config import NetworkConfig, from_table
from cleft.nn.train.recipe import DataConfig, TrainingConfig, parse_recipe
from cleft.nn.train.recipe_file import read_recipe
from tests.nn.conftest import PAPER, ROOT

DATA = {"syntax": {"train": "train.mrg"}}


@pytest.mark.parametrize("path", sorted((ROOT / "recipes").glob("*.toml")), ids=lambda p: p.stem)
def test_every_recipe_of_the_repository_can_be_read(path):
    recipe = read_recipe(path)
    assert recipe.name == path.stem
    assert parse_recipe(json.loads(json.dumps(recipe.to_table()))) == recipe


def test_the_defaults_are_the_papers_but_for_the_choices_that_won():
    paper = read_recipe(ROOT / "recipes" / "paper-syntax.toml")
    default = parse_recipe({"data": DATA})
    for config, other in ((paper.network, default.network), (paper.training, default.training)):
        shared = {"recurrent_dropout", "beam", "patience"}
        one, two = vars(config), {**vars(other), **(PAPER if other is default.network else {})}
        assert {key: one[key] for key in one if key not in shared} == {
            key: two[key] for key in two if key not in shared
        }
    won = {"history": False, "pointer_range": "span", "span_scores": 0}
    assert {key: vars(default.network)[key] for key in won} == won


def test_a_configuration_survives_json_and_toml():
    config = NetworkConfig(tasks=("discourse", "syntax"), encoder_hidden=30, dummy="one")
    assert NetworkConfig.from_table(json.loads(json.dumps(config.to_table()))) == config
    text = "\n".join(f"{key} = {json.dumps(value)}" for key, value in config.to_table().items())
    assert NetworkConfig.from_table(tomllib.loads(text)) == config


def test_tasks_are_those_that_have_data():
    recipe = parse_recipe({"data": {"discourse": {"train": ["a", "b"]}, **DATA}})
    assert recipe.network.tasks == ("syntax", "discourse")
    assert recipe.data["discourse"].train == ("a", "b")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"network": {"encoder_hiden": 3}},
            "network.encoder_hiden: no such key; did you mean 'encoder_hidden'",
        ),
        ({"network": {"zzz": 3}}, "network.zzz: no such key; known keys: tasks"),
        (
            {"network": {"encoder_hidden": "big"}},
            "network.encoder_hidden: expected a whole number, found 'big'",
        ),
        (
            {"network": {"encoder_hidden": True}},
            "network.encoder_hidden: expected a whole number, found True",
        ),
        ({"network": {"encoder_hidden": 0}}, "network.encoder_hidden: expected 1 or more, found 0"),
        (
            {"network": {"mlp_dropout": 1.0}},
            "network.mlp_dropout: expected at least 0 and less than 1",
        ),
        (
            {"network": {"encoder": "cnn"}},
            "network.encoder: expected one of 'lstm', 'transformer', 'sentences', found 'cnn'",
        ),
        ({"network": {"encoder": "transformer"}}, "network.transformer: expected the path"),
        ({"network": {"encoder_layers": 0}}, "network.encoder_layers: expected 1 or more for"),
        ({"network": {"casing_size": 2}}, "network.casing_size: expected 0 for"),
        ({"network": {"word_size": 0, "char_size": 0}}, "network.word_size: expected words or"),
        ({"network": {"char_hidden": 0}}, "network.char_hidden: expected 1 or more"),
        ({"network": {"edu_boundaries": "loss"}}, "network.edu_boundaries: expected 'none'"),
        ({"network": {"tasks": ["syntax", "syntax"]}}, "network.tasks: expected some of"),
        ({"network": {"tasks": ["discourse"]}}, "data: expected a table for each"),
        ({"network": {"tasks": ["discourse"], "tags": True}}, "network.tags: expected false"),
        ({"network": {"tasks": 3}}, "network.tasks: expected a list, found 3"),
        ({"network": 3}, "network: expected a table, found 3"),
        ({"training": {"epochs": 0}}, "training.epochs: expected more than 0, found 0"),
        (
            {"training": {"clip": -1}},
            "training.clip: expected a finite number, 0 or more, found -1",
        ),
        (
            {"training": {"learning_rate": float("nan")}},
            "training.learning_rate: expected a finite",
        ),
        ({"training": {"betas": [0.9]}}, "training.betas: expected a list of 2"),
        ({"training": {"betas": [0.9, 1.0]}}, "training.betas: expected two numbers"),
        ({"training": {"average": 1.0}}, "training.average: expected less than 1"),
        ({"vocabulary": {"min_count": 0}}, "vocabulary.min_count: expected 1 or more"),
        ({"vocabulary": {"vectors_limit": -1}}, "vocabulary.vectors_limit: expected 0 or more"),
        (
            {"vocabulary": {"label_min_count": 0}},
            "vocabulary.label_min_count: expected 1 or more",
        ),
        (
            {"data": {"syntax": {"train": "set/a.mrg", "portions": {"other": 0.5}}}},
            "data.syntax.portions: expected names of sets of train, found 'other'",
        ),
        (
            {"data": {"syntax": {"train": "set/a.mrg", "portions": {"set": 1.5}}}},
            "data.syntax.portions.set: expected more than 0 and at most 1, found 1.5",
        ),
        (
            {"data": {"syntax": {"train": "a", "confidence": 1.0}}},
            "data.syntax.confidence: expected at least 0 and less than 1, found 1.0",
        ),
        (
            {"data": {"syntax": {"train": "a", "heads": "b.conllu"}}},
            "data.syntax.heads: expected none, unless network.word_heads is above 0",
        ),
        (
            {
                "network": {"tasks": ["discourse"], "word_heads": 5},
                "data": {"discourse": {"train": "a", "heads": "b.conllu"}},
            },
            "data.discourse.heads: expected none, unless network.word_heads is above 0 and",
        ),
        ({"network": {"word_heads": 5}}, "network.word_heads: expected 0 without data.syntax.head"),
        ({"data": {}}, "data: expected a table"),
        ({"data": {"syntax": {}}}, "data.syntax.train: expected a value, found none"),
        ({"data": {"syntax": {"train": []}}}, "data.syntax.train: expected at least one file"),
        (
            {"data": {"syntax": {"train": "a", "clean": "b"}}},
            "data.syntax.clean: expected one of none, ptb",
        ),
        (
            {"data": {"syntax": {"train": "a", "limit": -1}}},
            "data.syntax.limit: expected 0 or more",
        ),
        (
            {"data": {"syntax": {"train": "a", "repeat": 0}}},
            "data.syntax.repeat: expected 1 or more",
        ),
        (
            {"data": {"syntax": {"train": "x/a.mrg", "test": "y/b.mrg", "silver": ["z"]}}},
            "data.syntax.silver: expected names of sets (x, y), found 'z'",
        ),
        (
            {"data": {"syntax": {"train": "x/a.mrg", "test": ["y/b.mrg", "x/a.mrg"]}}},
            "data.syntax.test: expected files that are not trained on, found 'x/a.mrg'",
        ),
        ({"seed": -1}, "seed: expected 0 or more"),
        ({"sed": 1}, "sed: no such key; known keys: ablation, data"),
        ({"name": 7}, "name: expected a string, found 7"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_recipe_names_the_key_and_what_was_expected_and_found(table, message):
    with pytest.raises(RecipeError) as caught:
        parse_recipe({"data": DATA, **table})
    assert str(caught.value).startswith(message)


def test_settings_are_put_over_the_recipe(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('[data.syntax]\ntrain = "a.mrg"\n')
    recipe = read_recipe(
        path,
        [
            "training.epochs=3",
            "data.syntax.dev=b.mrg",
            "training.betas=[0.8, 0.9]",
            "network.tags=true",
        ],
    )
    assert recipe.training.epochs == 3
    assert recipe.data["syntax"].dev == ("b.mrg",)
    assert recipe.training.betas == (0.8, 0.9)
    assert recipe.network.tags
    assert recipe.name == "mine"


@pytest.mark.parametrize("setting", ["epochs", "=3", "training..epochs=3"])
def test_a_setting_that_is_no_setting_is_refused(setting, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("")
    with pytest.raises(RecipeError, match="--set: expected key=value"):
        read_recipe(path, [setting])


@pytest.fixture
def varied(tmp_path):
    path = tmp_path / "varied.toml"
    path.write_text(
        "variants = { baseline = [], bare = ['network.tags=true'] }\n"
        "[data.syntax]\ntrain = 'a.mrg'\n"
    )
    return path


def test_the_variant_that_ablation_names_is_in_force_below_the_settings(varied):
    assert not read_recipe(varied).network.tags
    assert read_recipe(varied, ["ablation=bare"]).network.tags
    assert not read_recipe(varied, ["ablation=bare", "network.tags=false"]).network.tags


def test_a_variant_that_is_not_there_is_refused(varied):
    with pytest.raises(RecipeError, match=r"ablation: expected one of .* found 'x'"):
        read_recipe(varied, ["ablation=x"])


def test_a_setting_below_a_value_is_refused(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("seed = 1\n")
    with pytest.raises(RecipeError, match=r"--set seed.x: expected a table, found 1"):
        read_recipe(path, ["seed.x=2"])


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("[network]\nx = 1\n[data.syntax]\ntrain = 'a'\n")
    with pytest.raises(RecipeError, match=r"mine.toml: network.x: no such key"):
        read_recipe(path)
    path.write_text("[network\n")
    with pytest.raises(RecipeError, match=r"mine.toml: not TOML"):
        read_recipe(path)
    with pytest.raises(InputError, match="no such file"):
        read_recipe(tmp_path / "none.toml")


def test_whole_numbers_stand_for_numbers_and_one_string_for_a_list():
    assert TrainingConfig(clip=1).clip == 1
    config = from_table(TrainingConfig, {"clip": 1}, "training")
    assert config.clip == 1.0
    assert isinstance(config.clip, float)
    assert from_table(DataConfig, {"train": "a"}, "data").train == ("a",)


def test_a_recipe_is_frozen():
    recipe = parse_recipe({"data": DATA})
    with pytest.raises(AttributeError):
        recipe.seed = 2  # type: ignore[misc]


def test_only_a_decoder_without_history_can_explore():
    data = {"syntax": {"train": "train.mrg"}}
    with pytest.raises(RecipeError, match=r"training\.explore: expected 0, unless"):
        parse_recipe({"data": data, "network": PAPER, "training": {"explore": 1.0}})
    network = {"span_scores": 100}
    found = parse_recipe({"data": data, "network": network, "training": {"explore": 1.0}})
    assert found.training.explore == 1.0


BASE = """
name = "base"
output = "base-run"
seed = 3

[data.syntax]
train = "one/train.mrg"
dev = "one/dev.mrg"
portions = { one = 0.5 }

[training]
epochs = 7
batch_tokens = 100
"""


def test_a_recipe_has_the_keys_of_the_one_that_it_extends_but_for_its_own(tmp_path):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "base.toml").write_text(BASE)
    (tmp_path / "middle.toml").write_text('extends = "shared/base.toml"\noutput = "middle-run"\n')
    (tmp_path / "top.toml").write_text(
        'extends = "middle.toml"\n[data.syntax]\ntrain = ["two/train.mrg", "three/train.mrg"]\n'
        "portions = { two = 0.25 }\n[training]\nepochs = 2\n"
    )
    recipe = read_recipe(tmp_path / "top.toml", ["training.clip=2.0"])
    assert (recipe.name, recipe.output, recipe.seed) == ("top", "", 3)
    assert recipe.data["syntax"].train == ("two/train.mrg", "three/train.mrg")
    assert recipe.data["syntax"].dev == ("one/dev.mrg",)
    assert recipe.data["syntax"].portions == {"two": 0.25}
    training = recipe.training
    assert (training.epochs, training.batch_tokens, training.clip) == (2, 100, 2.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('extends = "top.toml"', "expected another recipe under 'extends'"),
        ("extends = 3", "top.toml: extends: expected a string, found 3"),
        ('extends = "none.toml"', "none.toml"),
        ('extends = "bad.toml"', "bad.toml: not TOML"),
    ],
)
def test_what_is_no_recipe_cannot_be_extended(tmp_path, text, message):
    (tmp_path / "bad.toml").write_text("[")
    (tmp_path / "top.toml").write_text(text)
    with pytest.raises(CleftError, match=message):
        read_recipe(tmp_path / "top.toml")
