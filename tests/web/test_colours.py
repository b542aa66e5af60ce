"""The colours of frames: words on them can be read, and kinds of code are told apart by everybody.

How colours look to people who lack a kind of cone is computed with the matrices of Machado, Oliveira and Fernandes,
"A Physiologically-based Model for Simulation of Color Vision Deficiency" (2009), for linear RGB; distances are those of
CIE L*a*b* (1976), in which about 2.3 can just be seen side by side.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from emberscope.profile.classify import FAMILIES

Vector = npt.NDArray[np.float64]

THEME = (Path(__file__).parents[2] / "web" / "theme.css").read_text(encoding="utf-8")
KINDS = ("user", "codegen", "spark_sql", "spark_core", "python", "scala", "java", "native", "kernel")
VISION: dict[str, Vector] = {
    "all cones": np.eye(3),
    "no long waves": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no middle waves": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no short waves": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.119192, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])


def colours(scheme: str) -> dict[str, Vector]:
    """sRGB from 0 to 1 of each `--flame-…` that has two colours."""
    pairs = re.findall(r"--flame-([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", THEME)
    place = 1 if scheme == "light" else 2
    return {pair[0]: np.array([int(pair[place][i : i + 2], 16) for i in (1, 3, 5)]) / 255 for pair in pairs}


def linear(rgb: Vector) -> Vector:
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(a: Vector, b: Vector) -> float:
    """By WCAG 2."""
    dark, light = sorted(float(TO_XYZ[1] @ linear(colour)) for colour in (a, b))
    return (light + 0.05) / (dark + 0.05)


def lab(rgb: Vector, vision: Vector) -> Vector:
    xyz = TO_XYZ @ np.clip(vision @ linear(rgb), 0, 1) / WHITE
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_on_every_colour_have_contrast_aa(scheme: str) -> None:
    known = colours(scheme)
    for name in (*FAMILIES, "root", "more", "less", "noise"):
        for share in (0, 0.2):  # names vary their colour towards the ground
            varied = (1 - share) * known[name] + share * known["ground"]
            assert contrast(varied, known["text"]) >= 4.5, name
    for name in FAMILIES:
        dimmed = 0.28 * known[name] + 0.72 * known["ground"]  # beside hits of a search, with fainter words
        assert contrast(dimmed, 0.75 * known["text"] + 0.25 * dimmed) >= 4.5, name
    assert contrast(known["hit"], np.ones(3)) >= 4.5
    assert contrast(known["found"], known["ground"]) >= 4.5


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_kinds_of_code_are_told_apart_whoever_looks(scheme: str, vision: str) -> None:
    seen = {name: lab(colour, VISION[vision]) for name, colour in colours(scheme).items()}
    for a, b in itertools.combinations(KINDS, 2):
        assert np.linalg.norm(seen[a] - seen[b]) >= 10, (a, b)
    for a, b in itertools.combinations(("more", "less", "noise"), 2):
        assert np.linalg.norm(seen[a] - seen[b]) >= 25, (a, b)
