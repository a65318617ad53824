"""What float32 makes of the residual page's gradients, judged by the same stacks with 64-bit numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from core.block.depth import DepthSettings, depth_experiment, drawn, over_seeds, read_out_loss, stream
from tests.app.test_residual import DEFAULTS, Recorder
from ui.figures import residual as figure
from ui.figures.residual_deep import REFERENCE
from ui.figures.residual_notices import notices
from ui.words import LANGUAGES, Words


def exact(settings: DepthSettings, seed: int) -> np.ndarray:
    """The gradient of W₁ by layer [L], from the same weights and tokens in 64 bits, by autograd."""
    x, targets, readout, stack = drawn(settings, seed)
    states = stream(settings, stack.double(), x.double())
    loss = read_out_loss(settings, states[-1], readout.double(), targets)
    weights = [block.feed_forward.w1.weight for block in stack.blocks]
    return np.array([float(g.norm()) for g in torch.autograd.grad(loss, weights)])


@pytest.mark.parametrize("layers", [5, 12])
@pytest.mark.parametrize("init", ["fan_in", "he"])
@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("norm", ["pre", "post", "none"])
def test_gradients_that_are_rounding_are_not_passed_off_as_measured(norm, residual, init, layers):
    """Where 64 bits disagree, the page says so."""
    for seed in range(3):
        own = {"norm_a": norm, "res_a": residual, "init_a": init, "layers": layers, "seed": seed}
        result, words = figure.result(DEFAULTS | own), Recorder()
        notices(result, words)
        right = exact(figure.settings(norm, residual, init, layers, 64, seed), seed)
        agree = np.allclose(result.facts["a"].gradient, right, rtol=0.05)
        warned = any(key == "notice.rounding" and told["side"].startswith("A") for key, told in words.said)
        assert agree or warned, (seed, result.facts["a"].gradient, right)


@pytest.mark.parametrize(
    ("layers", "residual", "init"), [(2, True, "fan_in"), (3, True, "xavier"), (2, False, "he")]
)
def test_gradients_that_64_bits_confirm_are_not_called_rounding(layers, residual, init):
    own = {"norm_a": "none", "res_a": residual, "init_a": init, "layers": layers}
    result, words = figure.result(DEFAULTS | own), Recorder()
    right = exact(figure.settings("none", residual, init, layers, 64, 0), 0)
    np.testing.assert_allclose(result.facts["a"].gradient, right, rtol=1e-4)
    notices(result, words)
    assert "notice.rounding" not in [key for key, _ in words.said]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_64_bits_give_at_the_larger_size_can_be_measured_again(lang):
    larger = DepthSettings("none", True, 24, d_model=128, batch=8)
    low, _, middle, _, high = sorted(exact(larger, seed)[0] for seed in range(5))
    assert f"{middle:.1f} [{low:.2f}–{high:.0f}]" == "18.8 [1.55–1923]"
    assert f"{middle:.1f} [{low:.2f}–1920]" in Words(lang, "residual")("seeds.reference")


@pytest.mark.parametrize("row", REFERENCE, ids=[row[0] for row in REFERENCE])
def test_the_measurement_that_is_quoted_can_be_made_again(row):
    name, *quoted, likeness = row
    norm = {"post": "post", "no_residual": "post", "no_norm": "none", "neither": "none"}.get(name, "pre")
    residual = name not in ("no_residual", "neither")
    trace = depth_experiment(DepthSettings(norm, residual, 24, d_model=128, batch=8, seeds=(0, 1, 2, 3, 4)))
    middle = [float(over_seeds(values)[0][place]) for values, place in ((trace.gradient, 0), (trace.gradient, -1), (trace.norm, -1))]  # fmt: skip
    # Rounding in layer 1 of the stack without norms depends on the machine; the page says so.
    for value, cell in list(zip(middle, quoted, strict=True))[name == "no_norm" :]:
        told = float(cell.split()[0].replace("×10⁶", "e6"))
        assert told == pytest.approx(value, rel=0.03)
    alike = float(over_seeds(trace.similarity)[0][-1])
    assert alike > 0.99 if likeness.startswith(">") else alike == pytest.approx(float(likeness[:5]), abs=0.01)
