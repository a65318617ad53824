"""The registry's entry for the forward pass: a tiny decoder from the reader's prompt to the next token."""

from ui.course.page import Page
from ui.parameters import Cell, Choice, Pinned, Real, Text, Whole

HEADS = ("h1", "h2", "h3", "h4")
STEPS = ("token", "position", "x", *HEADS, "mid", "after", "normed", "logits", "probs")
EMBEDDINGS = ("token", "position", "x", "token_cos", "x_cos")
# What the distribution depends on; a pinned state holds these.
MODEL = (
    Text("s", "小猫爱吃", limit=80),
    Real("temperature", 0.0, 3.0, 1.0, step=0.1),
    Whole("top_k", 0, 40, 0),
    Real("top_p", 0.05, 1.0, 1.0, step=0.05),
    Choice("layer", ("1", "2"), "2"),
    Whole("draw", 0, 999, 1),
    Whole("training", 0, 99, 0),
)
PARAMETERS = (
    *MODEL,
    Choice("step", STEPS, "probs"),
    Cell("cell", STEPS, ("probs", 4, 0)),
    Pinned("a", MODEL),
    Choice("emb_step", EMBEDDINGS, "x_cos"),
    Cell("emb_cell", EMBEDDINGS, ("x_cos", 1, 1)),
    Choice("lens_step", ("lens",), "lens"),
    Cell("lens_cell", ("lens",), ("lens", 2, 4)),
    Whole("new", 1, 10, 6),
    Whole("at", 1, 10, 1),
    Text("find", "小猫", limit=40),
)
PAGE = Page(
    "forward_pass",
    parameters=PARAMETERS,
    predictions=("temperature", "nucleus", "verb", "cache"),
    shows=(
        "core.models.decoder.Decoder",
        "core.models.decoder.logit_lens",
        "core.models.sampling.next_token_distribution",
        "core.models.sampling.sample",
        "core.models.generation.generate",
    ),
    needs=("tokens", "positions", "attention", "feed_forward", "normalization", "residual"),
    sources=("radford2019", "vaswani2017", "press2017", "fan2018", "holtzman2020", "nostalgebraist2020"),
)
