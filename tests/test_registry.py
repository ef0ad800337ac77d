"""Parts: names, options as text, and what is said when a name is wrong."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lookalike
from lookalike import registry
from lookalike.errors import BadInput, NotFound
from lookalike.rerankers.contract import Reranker
from lookalike.similarities.contract import SetSimilarity
from lookalike.similarities.max_correlation import MaxCorrelation
from lookalike.similarities.max_max import MaxMax
from tests.method.samples import B, C, tables_of

ALL = [(kind, name) for kind in registry.KINDS for name in registry.names(kind)]


@pytest.mark.parametrize("kind", registry.KINDS)
def test_a_part_is_a_file_of_its_folder(kind: str) -> None:
    folder = Path(lookalike.__file__).parent / kind
    files = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")} - {"contract"}
    assert files <= set(registry.names(kind))
    assert registry.names(kind) == sorted(registry.names(kind))


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_every_part_keeps_its_contract(kind: str, name: str) -> None:
    cls = registry.part_class(kind, name)
    assert issubclass(cls, registry.contract(kind))
    assert not inspect.isabstract(cls)
    assert cls.__doc__
    if cls.__module__.startswith("lookalike."):
        # What users have stored bears this name; the file may move.
        assert vars(cls)["stored_name"] == name
    # Every option has a default, so that a name alone is enough, and is stored under its own name.
    for option in inspect.signature(cls).parameters.values():
        assert option.default is not inspect.Parameter.empty


@pytest.mark.parametrize("kind", ["similarities", "rerankers"])
def test_a_written_part_is_the_same_part(kind: str) -> None:
    for name in registry.names(kind):
        part = registry.build(kind, name)
        text = registry.spec(part)
        again = registry.build(kind, text)
        assert text.partition(":")[0] == name
        assert type(again) is type(part)
        assert vars(again) == vars(part)
        assert registry.spec(again) == text


def test_options_by_hand() -> None:
    part = registry.build("similarities", "max_correlation:dimension=4,centre=True")
    assert isinstance(part, MaxCorrelation)
    assert (part.dimension, part.centre) == (4, True)
    assert registry.spec(part) == "max_correlation:dimension=4,centre=True"
    assert registry.spec(MaxCorrelation()) == "max_correlation:dimension=6,centre=False"
    learnt = registry.build("rerankers", "learnt:epsilon=0.25, penalty=1e2")
    assert (learnt.epsilon, learnt.penalty) == (0.25, 100.0)
    assert registry.build("similarities", "max_max:preimage=fixed-point").preimage == "fixed-point"
    assert registry.build("similarities", "max_max:").samples == 10
    assert registry.spec(registry.build("rerankers", "baseline")) == "baseline"


def test_equal_texts_mean_equal_parts() -> None:
    assert registry.spec(MaxMax()) == registry.spec(MaxMax(samples=10, preimage="nearest"))
    assert registry.spec(MaxMax()) != registry.spec(MaxMax(samples=0))


def test_an_option_added_later_is_written_only_where_it_differs() -> None:
    """Stored tables are found by this text: what was stored before the option came must be found again."""
    assert registry.spec(MaxMax()) == "max_max:samples=10,preimage=nearest,bandwidth=None"
    assert registry.spec(MaxMax(half=True)) == "max_max:samples=10,preimage=nearest,bandwidth=None,half=True"
    assert registry.build("similarities", "max_max:half=true").half is True
    assert registry.build("similarities", registry.spec(MaxMax(half=True))).half is True


class Elsewhere(MaxMax):
    """Not one of ours."""


def test_a_part_from_elsewhere_does_not_pass_for_ours() -> None:
    assert registry.spec(Elsewhere()) != registry.spec(MaxMax())
    assert "Elsewhere" in registry.spec(Elsewhere())


class Moved(MaxMax):
    """Lies somewhere else than it did."""

    stored_name = "max_max"


def test_what_is_stored_does_not_depend_on_where_a_class_lies() -> None:
    assert registry.spec(Moved()) == registry.spec(MaxMax())


def test_objects_are_kept() -> None:
    part = MaxMax(samples=3)
    assert registry.build("similarities", part) is part


def test_unknown_names() -> None:
    with pytest.raises(NotFound, match=r"no similarity called 'max_min': choose one of .*dffs, .*manifold, "):
        registry.build("similarities", "max_min")
    with pytest.raises(NotFound, match=r"there is no reranker called 'learned': choose one of .*adaptive, "):
        registry.build("rerankers", "learned")
    for hidden in ("contract", "_exemplars", "__init__", "", "../errors", "max_max.MaxMax"):
        with pytest.raises(NotFound, match="there is no similarity called"):
            registry.build("similarities", hidden)


@pytest.mark.parametrize("piece", ["dimensions=4", "dimension", "=4", "samples=3", "self=1"])
def test_unknown_options(piece: str) -> None:
    sentence = f"'max_correlation' has no option '{piece}': its options are dimension=..., centre=..."
    with pytest.raises(BadInput, match=sentence.replace("...", r"\.\.\.")):
        registry.build("similarities", f"max_correlation:{piece}")
    with pytest.raises(BadInput, match="'baseline' has no option 'proxies=3': its options are none"):
        registry.build("rerankers", "baseline:proxies=3")


def test_a_part_of_another_kind_is_refused() -> None:
    with pytest.raises(
        BadInput, match="a reranker is a name or a Reranker, got MaxMax: choose one of adaptive"
    ):
        registry.build("rerankers", MaxMax())
    with pytest.raises(BadInput, match="a similarity is a name or a SetSimilarity, got NoneType"):
        registry.build("similarities", None)
    with pytest.raises(BadInput, match="a similarity is a name or a SetSimilarity, got "):
        registry.build("similarities", MaxMax)  # the class, not a part


def test_contracts() -> None:
    assert registry.contract("similarities") is SetSimilarity
    assert registry.contract("rerankers") is Reranker


def test_values_are_data_and_never_run() -> None:
    part = registry.build("similarities", "max_max:preimage=__import__('os').getcwd()")
    assert part.preimage == "__import__('os').getcwd()"  # a text, which `prepare` refuses


def test_parts_are_imported_only_when_asked_for() -> None:
    program = (
        "import sys; from lookalike import registry; "
        "registry.names('similarities'); registry.names('rerankers'); "
        "print([name for name in sys.modules if name.endswith(('similarities.dffs', 'rerankers.learnt'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("text", ["false", "no", "0.0", "maybe"])
@pytest.mark.parametrize("option", ["max_correlation:centre", "dffs:centre"])
def test_a_switch_is_true_or_false(option: str, text: str) -> None:
    try:
        part = registry.build("similarities", f"{option}={text}")
        part.prepare(np.eye(3))
    except BadInput:
        return
    assert part.centre is False


@pytest.mark.parametrize("text", ["false", "maybe"])
def test_with_baseline_is_true_or_false(text: str) -> None:
    try:
        part = registry.build("rerankers", f"arithmetic_mean:with_baseline={text}")
        part.fit(tables_of([B, C]), np.random.default_rng(0))
    except BadInput:
        return
    assert part.with_baseline is False


@pytest.mark.parametrize("given", ["max_correlation:dimension=True", "manifold:neighbours=True"])
def test_true_is_no_number(given: str) -> None:
    with pytest.raises(BadInput, match="whole number"):
        registry.build("similarities", given).prepare(np.eye(3))


def test_spaces_do_not_matter() -> None:
    assert registry.build("similarities", "max_correlation: dimension = 3").dimension == 3
