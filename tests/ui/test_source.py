"""What is copied from a page runs on its own, and computes what the core computes."""

import ast
import importlib
import types

import numpy as np
import pytest
import torch

from core.attention import dot_product, masks, numpy_twin, toy
from tests.ui.outside import run_outside
from ui import course, source
from ui.names import names_used
from ui.source import closure, line_that_makes, source_of

SHOWN = sorted({name for page in course.PAGES.values() for name in page.shows})
TWINS = [page.twins for page in course.PAGES.values() if page.twins]
# How each shown function is tried outside: an expression of its module's names, giving a list of arrays.
# A page that shows a new function adds its own line here.
TRIALS = {
    "core.attention.mask_kinds.combined_mask": """
[combined_mask((a, b), 9, 7, MaskSettings(), torch.ones(9, 9) > 0) for a in KINDS for b in ("padding", "bigbird")]""",
    "core.attention.masks.causal": "[causal(5)]",
    "core.attention.masks.padding": "[padding([1, 3], 4)]",
    "core.attention.masks.prefix_lm": "[prefix_lm(5, 2)]",
    "core.attention.masks.sliding_window": "[sliding_window(7, 3), sliding_window(7, 3, causal=False)]",
    "core.attention.masks.dilated": "[dilated(9, 3, 2)]",
    "core.attention.masks.longformer": "[longformer(9, 3, [0, 4])]",
    "core.attention.masks.bigbird": "[bigbird(9, 3, 1, 2, torch.Generator().manual_seed(1))]",
    "core.attention.masks.strided": "[strided(9, 3)]",
    "core.attention.masks.fixed": "[fixed(9, 3)]",
    "core.attention.masks.combine": "[combine(torch.ones(3, 3) > 0, torch.eye(3) > 0)]",
    "core.attention.masks.reach": "[reach(torch.eye(4).roll(1, 0) > 0, 2)]",
    "core.attention.receptive.first_layer": "[first_layer(torch.eye(5).roll(1, 0) > 0, 3)]",
    "core.attention.dot_product.masked_softmax": "[masked_softmax(torch.arange(6.0).reshape(2, 3), torch.eye(2, 3) > 0)]",
    "core.attention.linear_maps.worked_map": "[*vars(worked_map((1.2, 0.6, -0.4, 1.0), (2.0, 1.0), (0.5, 0.0))).values()]",
    "core.attention.linear_maps.product_shape": "[*product_shape((4, 16, 512), (512, 64)).shape, product_shape((3, 4), (2, 4)).differ[1]]",
    "core.attention.linear_maps.describe": "[describe(torch.tensor([[1.2, 0.6], [-0.4, 1.0]])).determinant]",
    "core.attention.linear_maps.additivity_gap": "[additivity_gap(Tensor([[1, 2], [3, 4]]), Tensor([1, 0.5]), Tensor([0, 1]), Tensor([1, -1]))]",
    "core.attention.linear_maps.compare": "[compare(Tensor([0, 1, 2]), Tensor([1, 1, 1])).cosine]",
    "core.attention.shapes.batch_shapes": "[s.tensor for s in batch_shapes(torch.Generator().manual_seed(3), 2, 3, 4, 2)]",
    "core.attention.dot_product.attention": """
[*vars(attention(
    torch.arange(12.0).reshape(3, 4).sin(), torch.arange(20.0).reshape(5, 4).cos(), torch.arange(10.0).reshape(5, 2),
    torch.arange(15).reshape(3, 5) % 4 > 0, dropout_p=0.3, generator=torch.Generator().manual_seed(5),
)).values()]""",
    "core.attention.additive.additive_attention": """
[*vars(additive_attention(
    torch.arange(12.0).reshape(3, 4).sin(), torch.arange(20.0).reshape(5, 4).cos(), torch.arange(8.0).reshape(4, 2) / 9,
    torch.arange(8.0).reshape(4, 2).sin(), torch.ones(2), torch.arange(15).reshape(3, 5) % 4 > 0,
)).values()]""",
    "core.attention.complexity.layer_costs": """
[number for cost in layer_costs(300, 64, 5, 20) for number in (cost.work, cost.sequential, cost.path)]""",
    "core.attention.recurrent.recurrent_encoder": """
[*vars(recurrent_encoder(
    torch.arange(12.0).reshape(4, 3).sin(),
    RecurrentWeights(torch.arange(6.0).reshape(3, 2).cos(), torch.arange(4.0).reshape(2, 2).sin()),
)).values()]""",
    "core.attention.multi_head.MultiHeadAttention": """
[*vars(
    MultiHeadAttention.seeded(torch.Generator().manual_seed(1), 8, 4, 2).requires_grad_(False)(
        torch.arange(24.0).reshape(3, 8).sin(), head_mask=torch.tensor([1.0, 0, 1, 1]))
).values()]""",
    "core.attention.heads.head_contributions": """
(lambda w: [nn.init.eye_(w.weight).detach(), head_contributions(Tensor([*range(24)]).reshape(2, 3, 4), w).detach()])(
    nn.Linear(8, 8))""",
    "core.attention.heads.head_similarity": "[head_similarity(torch.arange(18.0).reshape(2, 3, 3).cos() ** 2)]",
    "core.attention.head_sizes.kv_cache_bytes_per_token": "[kv_cache_bytes_per_token(32, 8, 128)]",
    "core.block.feed_forward.feed_forward": """
[v for act in ("relu", "gelu", "gelu_tanh", "silu") for v in vars(feed_forward(
    torch.arange(6.0).reshape(2, 3).sin(), torch.arange(12.0).reshape(3, 4).cos(), torch.ones(4),
    torch.arange(12.0).reshape(4, 3).sin(), None, act)).values()]""",
    "core.block.feed_forward.feed_forward_backward": """
(lambda x, w1, w2: [*vars(feed_forward_backward(
    FeedForwardTrace(x @ w1, (x @ w1).sigmoid(), x), x, w1, w2, x.cos(), "gelu")).values()])(
    torch.arange(6.0).reshape(2, 3).sin(), torch.arange(12.0).reshape(3, 4).cos(), torch.arange(12.0).reshape(4, 3).sin())""",
    "core.block.feed_forward.swiglu": """
(lambda x, w: [*vars(swiglu(x, w.cos(), w.sin(), w.mT)).values()])(
    Tensor([*range(6)]).reshape(2, 3).sin(), Tensor([*range(12)]).reshape(3, 4))""",
    "core.block.feed_forward.gelu_tanh_derivative": "[gelu_tanh_derivative(Tensor([-3, -1, -0.5, 0, 0.5, 2]))]",
    "core.block.experts.route": """
[v for score in ("softmax", "sigmoid") for v in route(
    Tensor([*range(12)]).reshape(3, 4).sin(), 2, score=score, bias=Tensor([0, 0, 1, 0]))]""",
    "core.block.experts.mixture": """
(lambda x, w: [v for v in vars(mixture(x, x.mT.cos(), w, w.cos(), w.mT, 2, shared=(w[0], w[1], w[0].mT))).values()])(
    torch.arange(9.0).reshape(3, 3).sin(), torch.arange(36.0).reshape(3, 3, 4).sin())""",
    "core.block.experts.switch_loss": "[switch_loss(torch.arange(12.0).reshape(3, 4).sin(), 2, 0.1)]",
    "core.block.experts.update_bias": "[update_bias(Tensor([0, 0, 0]), Tensor([1, 2, 6]), 0.1)]",
    "core.block.expert_sizes.count_mixture": """
[count_mixture(MixtureSizes(4, 8, 100, 300, 4, 2, 16, n_dense=1, d_dense=32)).total]""",
    "core.block.normalization.layer_norm": "[*vars(layer_norm(Tensor([*range(12)]).reshape(3, 4).sin(), Tensor([*range(4)]), Tensor([1] * 4))).values()]",
    "core.block.normalization.rms_norm": "[*vars(rms_norm(Tensor([*range(12)]).reshape(3, 4).sin(), Tensor([*range(4)]))).values()]",
    "core.block.normalization.batch_norm": "[*vars(batch_norm(Tensor([*range(12)]).reshape(3, 4).sin(), Tensor([*range(4)]), Tensor([1] * 4))).values()]",
    "core.block.normalization.normalize_with": "[normalize_with(Tensor([[1, 2], [3, 5]]), Tensor([2, 1]), Tensor([3, 4]), Tensor([1, 2]), Tensor([0, 1])).output]",
    "core.block.normalization.moments": "[*vars(moments(Tensor([*range(12)]).reshape(3, 4).sin())).values()]",
    "core.block.running.running_statistics": "[*vars(running_statistics(torch.arange(24.0).reshape(2, 3, 4).sin(), 0.3)).values()]",
    **{
        f"core.block.norm_gradients.{name}_norm_backward": f"""
(lambda x, at: [*vars({name}_norm_backward(NormTrace(x, at, x.cos(), x), x.exp(), Tensor([*range(4)]))).values()])(
    Tensor([*range(12)]).reshape(3, 4).sin(), Tensor([1] * {count}).reshape({shape}))"""
        for name, count, shape in (("layer", 3, "3, 1"), ("rms", 3, "3, 1"), ("batch", 4, "1, 4"))
    },
    "core.block.residual.sublayer": """
(lambda norm: [t for place in ("pre", "post", "none") for t in (lambda s: [s.entering, s.update, s.summed, s.output])(
    sublayer(Tensor([*range(6)]).reshape(2, 3), norm, norm, place, place != "none"))])(
    lambda x: NormTrace(*[x.sin()] * 4))""",
    "core.block.depth.depth_experiment": """
(lambda t: [t.norm, t.gradient, t.similarity, t.loss])(
    depth_experiment(DepthSettings("pre", n_layers=2, d_model=8, n_tokens=4, batch=2, init="gpt2", seeds=(3, 4))))""",
    "core.block.depth.mean_cosine": "[mean_cosine(Tensor([*range(24)]).reshape(2, 4, 3).sin())]",
    "core.block.initialisation.deviation": "[deviation(8, 4, name, True, 6) for name in ('fan_in', 'he', 'xavier', 'gpt2')]",
    "core.block.dropout.many_draws": """
[*vars(many_draws(torch.arange(6.0), 0.3, 5, torch.Generator().manual_seed(2), then=torch.cos)).values()]""",
    "core.attention.pytorch_multi_head.batch_first_trap": """
[*vars(batch_first_trap(
    MultiHeadAttention.seeded(torch.Generator().manual_seed(1), 8, 4, 2), torch.arange(48.0).reshape(2, 3, 8).sin()
)).values()]""",
    "core.block.position_schemes.attend_at": """
[step for scheme in ("sinusoidal", "learned", "rope", "alibi") for step in [attend_at(
    torch.arange(12.0).reshape(3, 4).sin(), *torch.arange(48.0).reshape(3, 4, 4).cos(), scheme, 2, table=torch.ones(9, 4), head=1
)] for step in (step.q, step.k, step.attention.weights)]""",
    "core.block.positions.sinusoidal": "[sinusoidal(5, 6, 100.0)]",
    "core.block.positions.shift_matrix": "[shift_matrix(6, 3)]",
    "core.block.positions.similarity_at": "[similarity_at(torch.arange(5), 8)]",
    "core.block.positions.learned": "[learned(Tensor([[1, 2], [3, 4], [5, 6]]), 2)]",
    "core.block.positions.alibi_bias": "[alibi_bias(12, 4)]",
    "core.block.rope.apply_rope": """
[apply_rope(torch.arange(12.0).reshape(3, 4), torch.arange(3), torch.tensor([1.0, 0.1]), layout) for layout in ("half", "interleaved")]""",
    "core.block.rope.scores_by_distance": """
[*vars(scores_by_distance(torch.arange(4.0), torch.ones(4), torch.arange(7), torch.tensor([1.0, 0.1]))).values()]""",
    "core.block.rope.compare_layouts": """
[*vars(compare_layouts(
    torch.arange(12.0).reshape(3, 4).sin(), torch.arange(12.0).reshape(3, 4).cos(), torch.arange(3), torch.tensor([1.0, 0.1])
)).values()]""",
    "core.block.frequencies.position_interpolation": "[position_interpolation(8, 10000.0, 4.0)]",
    "core.block.frequencies.ntk_aware": "[ntk_aware(8, 10000.0, 4.0)]",
    "core.block.frequencies.yarn": "[*yarn(16, 10000.0, 4.0, 512)]",
    "core.block.frequencies.longrope": "[longrope(8, 10000.0, (1.0, 2.0, 3.0, 4.0))]",
    "core.block.extrapolation.range_test": """
[*vars(range_test(Head(torch.ones(4), torch.arange(4.0)), torch.tensor([1.0, 0.01]), torch.tensor([1.0, 0.005]), 64, 128)).values()]""",
    "core.block.position_order.shuffle_test": """
[shuffle_test(torch.arange(12.0).reshape(3, 4).sin(), *torch.arange(48.0).reshape(3, 4, 4).cos(), (2, 0, 1), "rope").expected_weights]""",
}
TRIALS |= {
    "core.cost.sizes.count_parameters": """
[v for place in ("pre", "post", "none") for v in vars(count_parameters(ModelConfig(
    "m", 0, 8, 4, 16, 50, "encoder-decoder", 2, 3, norm_place=place, limit=9, embedding_norm=True, tied=False))).values()]""",
    "core.models.families.family_maps": """
[x for a in family_maps(Tensor([0, 1, 2]).long(), Tensor([3, 1]).long(), 2, 4, 5).values() for x in vars(a).values()]""",
    "core.models.masked_language.mask_tokens": """
[*vars(mask_tokens(torch.arange(40), 50, 49, torch.Generator().manual_seed(3), 0.4, (1, 2))).values()]""",
    "core.models.masked_language.next_token_targets": "[next_token_targets(torch.arange(5))]",
    "core.models.denoising.span_corruption": """
(lambda t: [t.inputs, t.targets, *map(vars, t.spans)])(
    span_corruption(torch.arange(40), range(90, 99), torch.Generator().manual_seed(3), 0.4))[:2]""",
    "core.models.denoising.text_infilling": """
(lambda t: [t.inputs, t.targets])(text_infilling(torch.arange(40), 99, torch.Generator().manual_seed(3)))""",
    "core.models.denoising.next_sentence_pair": """
[n for i in range(6) for n in vars(next_sentence_pair(9, i, torch.Generator().manual_seed(i))).values()]""",
    "core.text.byte_pairs.learn": "[merge.count for merge in learn('the cat the hat\\nthe cat', 5)]",
    "core.text.byte_pairs.counts_of": "counts_of('aaa ab ab', [(b'a', b'b'), (b' ', b'ab')])",
    "core.text.byte_pairs.encode": "[*encode('鱼 cat', [Merge(b'a', b't', 2), Merge(b'c', b'at', 2)]).ids]",
    "core.text.byte_pairs.path": "[step.rule for step in path(b'cat', [Merge(b'a', b't', 2), Merge(b'c', b'at', 2)])]",
    "core.text.utf8.characters": "[b for sign in characters('aé鱼🙂') for p in sign.points for b in p.encoded]",
    "core.text.utf8.stretches": "[len(part.text) for part in stretches('鱼'.encode() + b'\\xe9')]",
    "core.text.closed_vocabulary.look_up": "[*look_up(('b', 'c'), {'a': 1, 'b': 2})]",
    "core.text.lookup.lookup": "[*vars(lookup(Tensor([2, 0]).long(), Tensor([[0, 1], [2, 3], [4, 5]]), True)).values()]",
    "core.text.lookup.tied_logits": "[tied_logits(Tensor([[0, 1], [2, 3]]), Tensor([[0, 1], [2, 3], [4, 5]]))]",
    "core.text.lookup.neighbours": "[*vars(neighbours(torch.arange(12.0).reshape(4, 3).sin(), 1, 2)).values()]",
}
# A decoder for three functions that need one.
TINY = """Decoder.seeded(
    Decoder.__init__.__annotations__['config']("m", 0, 8, 2, 16, 7, decoder_layers=2, limit=9), torch.Generator().manual_seed(1)
).requires_grad_(False)"""
TRIALS |= {
    "core.models.decoder.Decoder": f"(lambda t: [t.logits, *t.states, *t.weights])({TINY}(Tensor([3, 1, 4]).long()))",
    "core.models.decoder.logit_lens": f"[logit_lens({TINY}, {TINY}(Tensor([3, 1, 4]).long()).states)]",
    "core.models.sampling.next_token_distribution": "[*vars(next_token_distribution(torch.arange(9.0).sin(), 0.7, 5, 0.8)).values()]",
    "core.models.sampling.sample": """
[*vars(sample(Distribution(
    p := Tensor([0.2, 0.5, 0.3]), Tensor([1, 2, 0]).long(), p, p > 0, p > 0, p > 0, p.sum(), p
), torch.Generator().manual_seed(3))).values()]""",
    "core.models.generation.generate": f"""
[part for use_cache in (True, False) for step in generate(
    {TINY}, Tensor([3, 1, 4]).long(), 3, top_k=5, generator=torch.Generator().manual_seed(2), use_cache=use_cache
) for part in (step.logits, step.token, step.cost.total, step.cache_numbers)]""",
}
TINY_TASK = """__import__("types").SimpleNamespace(
    name="trial", vocabulary="abc", length=3, has_source=False,
    held_out=Batch(torch.tensor([[0, 1, 2]]), torch.tensor([[1, 2, -100]])), shown=Batch(torch.tensor([[0, 1]]), torch.tensor([[1, 2]])),
    draw=lambda size, generator: Batch(torch.randint(3, (size, 3), generator=generator), torch.tensor([[1, 2, 0]] * size)),
)"""
TINY = "TrainingSettings(layers=1, width=8, heads=2, steps=2, batch=2, warm_up=2, clip=0.5, label_smoothing=0.1, dropout=0.1)"
TRIALS |= {
    "core.models.training.train": f"[step.objective for step in train({TINY}, {TINY_TASK})]",
    "core.models.training.one_step": f"(lambda s, task: [*one_step(s, task, begin_run(s, task), 1).record.maps.flatten()])({TINY}, {TINY_TASK})",
    "core.models.training.cross_entropy": "[cross_entropy(Tensor([[[1.0, 2.0], [0.5, 0.1]]]), Tensor([[1, -100]]).long(), 0.1)]",
    "core.models.training.clip_gradients": """
(lambda model: [sum(p.sum() for p in model.parameters()).backward(), clip_gradients(model, 0.5), *(p.grad for p in model.parameters())][1:])(
    nn.Linear(2, 1)
)""",
    "core.models.schedule.learning_rate": "[learning_rate(t, 9, 0.1, 3, kind) for t in (1, 5, 9) for kind in ('constant', 'linear', 'cosine', 'inverse_sqrt')]",
    "core.models.induction.induction_score": "[induction_score(torch.arange(16.0).reshape(4, 4).tril(), Tensor([1, 2, 1, 2]).long())]",
}
TWIN_TRIAL = """
[*vars(attention_backward(
    attention(np.sin(np.arange(12.0).reshape(3, 4)), np.cos(np.arange(20.0).reshape(5, 4)), np.ones((5, 2)), np.arange(15).reshape(3, 5) % 4 > 0),
    np.sin(np.arange(12.0).reshape(3, 4)), np.cos(np.arange(20.0).reshape(5, 4)), np.arange(10.0).reshape(5, 2), np.arange(6.0).reshape(3, 2),
)).values()]"""

TWIN_TRIALS = {
    "core.attention.numpy_twin.multi_head": """
(lambda x, p: (lambda t: [
    t.output, *vars(multi_head_backward(t, x, x, p, 1, t.output).projections).values()
])(multi_head(x, x, p, 2, 1)))(
    np.sin(np.arange(12.0).reshape(3, 4)),
    NumpyProjections(*(np.cos(np.arange(n * 4.0).reshape(n, 4)) for n in (4, 2, 2, 4))),
)""",
}


def run_here(module: types.ModuleType, expression: str) -> list[np.ndarray]:
    return [np.asarray(value) for value in eval(expression.strip(), dict(vars(module)))]


def assert_equal(outside, here) -> None:
    assert len(outside) == len(here) > 0
    for one, other in zip(outside, here, strict=True):
        np.testing.assert_array_equal(one, other)


def test_every_shown_function_is_tried():
    assert set(TRIALS) == set(SHOWN)


@pytest.mark.parametrize("dotted", SHOWN)
def test_a_shown_function_runs_alone_and_gives_the_same_numbers(dotted, tmp_path):
    module = importlib.import_module(dotted.rpartition(".")[0])
    text = closure(dotted)
    assert source_of(dotted) in text
    assert_equal(run_outside(text, TRIALS[dotted], tmp_path), run_here(module, TRIALS[dotted]))


@pytest.mark.parametrize("twins", TWINS)
def test_the_numpy_twin_runs_alone_without_torch(twins, tmp_path):
    text = closure(twins)
    assert "torch" not in {name.partition(".")[0] for name in imported(text)}
    trial = TWIN_TRIALS.get(twins[0], TWIN_TRIAL)
    assert_equal(run_outside(text, trial, tmp_path), run_here(numpy_twin, trial))


def test_several_modules_become_one_file(tmp_path):
    text = closure(("core.attention.toy.toy_inputs", "core.attention.masks.bigbird"))
    trial = "[toy_inputs(('a', '我'), 3, 4).q, bigbird(9, 3, 1, 2, torch.Generator().manual_seed(1))]"
    here = [
        toy.toy_inputs(("a", "我"), 3, 4).q.numpy(),
        masks.bigbird(9, 3, 1, 2, torch.Generator().manual_seed(1)).numpy(),
    ]
    assert_equal(run_outside(text, trial, tmp_path), here)


def imported(text: str) -> set[str]:
    nodes = list(ast.walk(ast.parse(text)))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return names | {node.module for node in nodes if isinstance(node, ast.ImportFrom)}


def test_a_closure_imports_nothing_of_ours_and_nothing_unused():
    text = closure("core.attention.dot_product.attention")
    assert imported(text) == {"math", "dataclasses", "torch"}
    tops = [n.name for n in ast.parse(text).body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    assert tops == ["AttentionTrace", "masked_softmax", "draw_dropout", "attention"]


def test_two_things_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two things are called attention"):
        closure(("core.attention.dot_product.attention", "core.attention.numpy_twin.attention"))


def test_a_name_that_is_not_there_is_an_error():
    with pytest.raises(LookupError):
        closure("core.attention.dot_product.no_such_thing")
    with pytest.raises(LookupError):
        line_that_makes("no_such_variable", "core.attention.dot_product.attention")


FAKE = {
    "core/fake/low.py": """
from __future__ import annotations
import math
# Why three: a comment that belongs to it.
THREE: int = 3
A, B = 1, 2
def helper(x, math=math): return [x + THREE for THREE in (1,)][0] * A
def unused(): return never_bound
""",
    "core/fake/high.py": """
import torch.nn.functional as F
from torch import nn
from core.fake import low
from core.fake.low import THREE as LIMIT, B
class Base(nn.Module): pass
class Thing(Base):
    size = LIMIT
    double = size * 2
    def run(self, n: int = LIMIT):
        if n == 0: return B
        return other(n - 1) + low.helper(n) + (lambda low: low)(0)
def other(n): return Thing().run(n) if n else F.relu(nn.Parameter(__import__('torch').zeros(1))).item()
""",
}


@pytest.fixture
def fake_core(tmp_path, monkeypatch):
    """Modules with every shape that a closure has to follow, under names that look like core."""
    for name, text in FAKE.items():
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def find(name):
        path = tmp_path / "tree" / (name.replace(".", "/") + ".py")
        if not path.exists() and not path.with_suffix("").is_dir():
            return None
        return types.SimpleNamespace(origin=str(path))

    monkeypatch.setattr(
        source, "importlib", types.SimpleNamespace(util=types.SimpleNamespace(find_spec=find))
    )
    yield
    source._module.cache_clear()
    source._closure.cache_clear()


def test_aliases_modules_classes_constants_and_recursion_are_followed(fake_core, tmp_path):
    text = closure("core.fake.high.Thing")
    assert text.splitlines()[2] == "from __future__ import annotations"
    assert "# Why three: a comment that belongs to it.\nTHREE" in text
    assert "low = SimpleNamespace(helper=helper)" in text
    assert "unused" not in text
    # By hand: run(1) = other(0) + helper(1) = 0 + (1 + 1) · 1; run(2) = other(1) + helper(2) = 2 + 3.
    assert_equal(run_outside(text, "[Thing().run(2), Thing.double, Thing().run(0)]", tmp_path), [5, 6, 2])


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("def f(a, *b, c=d, **e): return a + b + c + g", ["d", "g"]),
        ("def f(x: T) -> U:\n y = x\n return [y for z in x if z] + z", ["T", "U", "z"]),
        ("def f():\n def g(): return a\n a = 1\n return g", []),
        ("class C(B):\n a = 1\n b = a\n def f(self): return a", ["B", "a"]),
        ("x = (lambda y, z=w: y + v)(1)", ["w", "v"]),
        ("def f():\n import os\n try: os\n except E as e: return e\n for i in r: i", ["E", "r"]),
        ("@decorated(1)\nasync def f(): await g()", ["decorated", "g"]),
        ("def f(s):\n match s:\n  case [P(), *rest]: return rest\n  case other: return other", ["P"]),
        ("def f(): return {k: v for k, v in d.items()}, {n for n in m}", ["d", "m"]),
    ],
)
def test_names_are_looked_up_as_python_does(code, names):
    assert list(names_used(ast.parse(code).body[0])) == names


def test_the_shown_line_is_the_line_of_the_file():
    line = line_that_makes("scores", "core.attention.dot_product.attention")
    assert line.startswith("scores = q @ k.mT")
    q, k = torch.ones(2, 3), torch.ones(4, 3)
    scope = {"q": q, "k": k}
    exec(line, scope)
    assert torch.equal(scope["scores"], dot_product.attention(q, k, torch.ones(4, 1)).scores)
