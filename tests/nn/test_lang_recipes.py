"""The recipes for other languages: one set of hyper-parameters, and what their cleaning does."""

import pytest

from cleft.nn.config import NetworkConfig
from cleft.nn.train.data import Sentence, derive_sentences, make_vocabulary
from cleft.nn.train.recipe import Recipe
from cleft.nn.train.recipe_file import read_recipe
from cleft.tree import Tree
from tests.nn.conftest import ROOT

PATHS = sorted((ROOT / "recipes").glob("lang-*.toml"))
FREE = {"train", "dev", "test", "portions"}
"""What the data of two recipes of one task may differ in."""
OWN = {"tasks", "tags", "edu_boundaries"}
"""What only one of the tasks has."""


def shared(recipe: Recipe) -> dict[str, object]:
    """All of a recipe but its name, its output, its task with its own switches, its files."""
    table = recipe.to_table()
    network = {key: value for key, value in table["network"].items() if key not in OWN}
    kept = {key: table[key] for key in ("seed", "vocabulary", "training", "ablation", "variants")}
    return {**kept, "network": network}


def test_recipes_for_languages_differ_in_data_task_and_output_alone() -> None:
    recipes = [read_recipe(path) for path in PATHS]
    assert len(recipes) == 7
    assert all(shared(recipe) == shared(recipes[0]) for recipe in recipes)
    assert [recipe.output for recipe in recipes] == [f"~/cleft-runs/{r.name}" for r in recipes]
    for recipe in recipes:
        assert recipe.network.tags == ("syntax" in recipe.data)
        assert recipe.network.edu_boundaries == ("none" if "syntax" in recipe.data else "pointer")
    for task, count in (("syntax", 5), ("discourse", 2)):
        data = [recipe.to_table()["data"][task] for recipe in recipes if task in recipe.data]
        kept = [{key: table[key] for key in table.keys() - FREE} for table in data]
        assert len(kept) == count
        assert all(table == kept[0] for table in kept)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_recipe_for_a_language_has_three_files_of_one_set(path) -> None:
    (config,) = read_recipe(path).data.values()
    (train,), (dev,), ((test,),) = config.train, config.dev, config.test.values()
    assert train.replace("train", "dev") == dev
    assert train.replace("train", "test") == test


def test_a_network_of_plain_forms_has_numbers_for_plain_forms() -> None:
    tree = Tree.from_brackets("(NP (-LRB- -LRB-) (N l’) (N “))")
    sentence = Sentence(words=tuple(tree.words()), tree=tree)
    data = {"syntax": derive_sentences("syntax", [sentence], NetworkConfig())}
    plain = make_vocabulary(data, NetworkConfig(forms="plain"), min_count=1)
    given = make_vocabulary(data, NetworkConfig(), min_count=1)
    assert set(plain.words[4:]) == {"(", "l'", '"'}
    assert set(given.words[4:]) == {"-lrb-", "l’", "“"}
