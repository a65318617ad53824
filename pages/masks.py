"""Masks: who may look at whom, what that costs, and what several layers with the same mask let through."""

import streamlit as st
import torch

from core.attention.dot_product import attention
from core.attention.mask_kinds import MaskSettings, combined_mask, named_mask
from core.attention.masks import kept_pairs
from core.attention.receptive import first_layer, reached_counts
from core.attention.worked import mask_inputs
from ui import frame
from ui.batch import arrange, sentences_of
from ui.cached import cached
from ui.checks.masks import mask_checks
from ui.figures import masks as figure
from ui.figures import masks_batch as batches
from ui.figures import masks_conventions as conventions
from ui.figures import masks_hiding as hiding
from ui.figures import masks_reach as reaches
from ui.predictions.masks import PREDICTIONS
from ui.result import Array, Result

page = frame.open_page("masks")
D_K = 8  # width of the untrained queries and keys
NUMBERS = ("window", "two_sided", "dilation", "prefix", "globals", "randoms", "stride", "summary", "seed")
TAKES = {
    "prefix": ("prefix",),
    "window": ("window", "two_sided"),
    "dilated": ("window", "dilation", "two_sided"),
    "longformer": ("window", "globals"),
    "bigbird": ("window", "globals", "randoms", "seed"),
    "strided": ("stride",),
    "fixed": ("stride", "summary"),
}


@cached(max_entries=512)
def compute(tokens, length, worked, kinds, numbers, drawn, layers) -> Result:
    """One sentence with its padding under the chosen masks, and what the layers reach."""
    t, settings = len(tokens), MaskSettings(*numbers)
    grid = None if drawn is None else torch.from_numpy(page.entry.parameter("drawn").cells(drawn))
    each = {kind: named_mask(kind, t, length, settings, grid) for kind in kinds}
    mask = combined_mask(kinds, t, length, settings, grid)
    q, k, v, scale = mask_inputs(tokens, settings.seed, D_K, worked)
    trace = attention(q, k, v, mask, scale=scale)
    every = reached_counts(mask, figure.MOST_LAYERS)  # [layers, T]
    counts = every[:, :length]  # of the real queries: what padding hears is thrown away

    values = {"scores": trace.scaled, "mask": mask.double(), "weights": trace.weights}
    values["reach"] = first_layer(mask, layers).double()
    arrays = {n: Array.of(x, tokens, tokens, axes=("query", "key")) for n, x in values.items()}
    kept, most = kept_pairs(mask), counts[layers - 1].max(0)
    facts = {
        "each": {kind: one.numpy() for kind, one in each.items()},
        "q": q.numpy(),
        "k": k.numpy(),
        "drawn": drawn,
        "grid": grid,
        "kept": kept,
        "pairs": t * t,
        "share": kept / (t * t),
        "share_with_self": int((mask | torch.eye(t, dtype=torch.bool)).sum()) / (t * t),
        "reach_share": int(every[layers - 1].sum()) / (t * t),
        "connected": int(every[-1].sum()) / (t * t),
        "empty_rows": int((~mask.any(-1)).sum()),
        "most_seen": int(mask[:length].sum(-1).max()),
        "most_reached": int(most.values),
        "most_at": int(most.indices),
        "counts": counts.numpy(),
    }
    told = dict(zip(NUMBERS, numbers, strict=True)) | {"mask": kinds[0], "also": kinds[1], "kinds": kinds}
    told |= {
        "n_global": told["globals"],
        "n_random": told["randoms"],
        "tokens": tokens,
        "length": length,
        "worked": worked,
        "layers": layers,
        "dk": D_K,
    }
    told["drawn"] = None if grid is None else tuple(tuple(map(int, row)) for row in grid[:t, :t].tolist())
    return Result(told, arrays, facts, hidden=~mask.numpy())


def batch_of(values):
    """The reader's sentences in their positions, the place of the one in the picture, and the remarks."""
    sentences, remarks = sentences_of(values["text"], values["s"], page.entry.parameter("s"), page.words)
    return arrange(sentences, values["tokens"]), min(values["sentence"], len(sentences)) - 1, remarks


def result_of(values) -> Result:
    """The page's one value under any set of parameters."""
    batch, which, _ = batch_of(values)
    numbers = tuple(values[name] for name in NUMBERS)
    kinds = (values["mask"], values["also"])
    tokens, length = batch.padded(which), batch.lengths[which]
    return compute(
        tokens, length, values["text"] == "worked", kinds, numbers, values["drawn"], values["layers"]
    )


def draw(toggled) -> None:
    """The mask on screen becomes the reader's own, with the clicked cells the other way round."""
    code = figure.drawn_code(result_of(page.values), page.entry.parameter("drawn"), toggled)
    page.values.set(drawn=code, mask="drawn", also="none")


def layer_by_layer(result: Result) -> None:
    left, right = st.columns([3, 2], gap="large")
    with left:
        page.chart("reach", reaches.chart(result, page.words), summary=reaches.summary(result, page.words))
        st.markdown(reaches.table(result, page.words))
    with right:
        page.notice(reaches.notices(result, page.words))


def whole_batch(result: Result) -> None:
    batch, which, _ = batch_of(page.values)
    st.markdown(batches.table(batch, page.words))
    shown = batches.compute(batch, which, result, tuple(page[name] for name in NUMBERS))
    page.experiment(shown, batches, at="batch")


def nothing_left() -> None:
    st.markdown(page.words("hide.intro"))
    with page.controls("hiding"):
        page.slider("hide_row", width=180)
        page.slider("hide_keep", width=180)
    hidden = hiding.measure(page["hide_row"] - 1, page["hide_keep"])
    st.markdown(hiding.table(hidden, page.words))
    page.notice(hiding.notices(hidden, page.words))


def true_means(result: Result) -> None:
    st.markdown(page.words("conv.intro"))
    shown = conventions.compute(result)
    page.experiment(shown, conventions, at="conv")


def controls() -> None:
    page.choice("text", width=120)
    if page["text"] == "own":
        page.text("s", width=115)
    if page["text"] != "worked":
        page.slider("sentence", width=88)
    page.slider("tokens", width=85)
    page.choice("mask", width=146)
    page.choice("also", width=108)
    wanted = {name for kind in (page["mask"], page["also"]) for name in TAKES.get(kind, ())}
    for name in NUMBERS[:-1]:
        if name in wanted:
            page.switch(name) if name == "two_sided" else page.slider(name, width=85)
    page.slider("layers", width=85)
    if "seed" in wanted:
        page.number("seed", width=100)
    page.switch("draw")


@page.live
def who_looks_at_whom() -> None:
    page.above(controls)
    batch, which, remarks = batch_of(page.values)
    told = [*remarks, *batches.remarks(batch, which, page.values, page.words)]
    if told:
        st.info(page.words.sentences(told))

    page.predict(PREDICTIONS, result_of)
    picture = page.lesson(
        result_of, figure, footnote="notice.convention", draw=draw if page["draw"] else None
    )
    page.tabs(
        picture,
        mask_checks,
        reach=lambda: layer_by_layer(picture.result),
        batch=lambda: whole_batch(picture.result),
        hiding=nothing_left,
        conventions=lambda: true_means(picture.result),
    )


page.close()
