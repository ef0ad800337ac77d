"""Colours: each trait pulls the colour the way its name says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lookalike.demo.canvas import hair_colour, iris_colour, lip_colour, mix, shade, skin_colour
from lookalike.demo.people import draw_person

PERSON = draw_person(0, 0)


def test_mix_and_shade_by_hand() -> None:
    black, white = np.zeros(3), np.full(3, 200.0)
    np.testing.assert_allclose(mix(black, white, 0.25), 50)
    np.testing.assert_allclose(mix(black, white, 7), 200)
    np.testing.assert_allclose(shade(white, 2), 255)


def test_tone_darkens_skin_and_age_greys_hair() -> None:
    tones = [
        skin_colour(replace(PERSON, skin=replace(PERSON.skin, tone=tone))).mean() for tone in (0, 0.5, 1)
    ]
    assert tones == sorted(tones, reverse=True)
    old = hair_colour(replace(PERSON, skin=replace(PERSON.skin, age=1.0)))
    young = hair_colour(replace(PERSON, skin=replace(PERSON.skin, age=0.0)))
    assert old.mean() > young.mean()


def test_every_person_has_paintable_colours() -> None:
    for index in range(40):
        person = draw_person(2, index)
        for colour in (
            skin_colour(person),
            hair_colour(person),
            iris_colour(person),
            lip_colour(person),
        ):
            assert colour.min() >= 0
            assert colour.max() < 256
