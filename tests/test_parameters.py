"""Every number of the method, once."""

from __future__ import annotations

import inspect

import pytest

from lookalike import parameters, registry
from lookalike.parameters import PARAMETERS

CONSTANTS = {
    name: value
    for name, value in vars(parameters).items()
    if name.isupper() and not name.startswith("_") and isinstance(value, int | float)
}


def test_every_constant_is_in_the_table_once() -> None:
    assert sorted(parameter.name for parameter in PARAMETERS) == sorted(CONSTANTS)
    for parameter in PARAMETERS:
        assert parameter.default == CONSTANTS[parameter.name]


def test_the_paper_s_values() -> None:
    assert {
        "PROXIES": 10,
        "REFERENCES": 200,
        "SAMPLES": 10,
        "DIMENSION": 6,
        "EPSILON": 0.4,
        "PENALTY": 1000,
        "GAMMA": 0.2,
    }.items() <= CONSTANTS.items()


def test_every_row_says_what_it_is() -> None:
    for parameter in PARAMETERS:
        assert parameter.symbol.strip()
        assert len(parameter.meaning.split()) >= 3
    symbols = {parameter.name: parameter.symbol for parameter in PARAMETERS}
    assert (symbols["PROXIES"], symbols["EPSILON"], symbols["PENALTY"]) == ("k_p", "ε", "C")


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda parameter: parameter.name)
def test_parts_take_their_defaults_from_the_table(parameter: parameters.Parameter) -> None:
    """An option named like a number of the method has its default, except where a part says why not."""
    exceptions = {("manifold", "samples"): 50}  # geodesics need more faces than a best pair does
    for kind in ("similarities", "rerankers"):
        for name in registry.names(kind):
            options = inspect.signature(registry.part_class(kind, name)).parameters
            option = options.get(parameter.name.lower())
            if option is not None:
                assert option.default == exceptions.get((name, option.name), parameter.default)
