"""What to notice about two runs: sentences that ask the numbers first whether they may be said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.models.induction import strongest
from core.models.tasks import Task
from ui.course.training import SIDES
from ui.figures.training import NEAR, all_settings, corpora, half_at, name_of
from ui.figures.training_side import Side, lengths, scores, shown
from ui.result import Result
from ui.words import Raw, Words

LEARNED = 0.5  # a loss below so much of the frequency-only one counts as learned
ROSE = 1.05  # times its lowest: a held-out loss that ends above has turned, if it is more than
RISE = 0.02  # nats, too
LATELY = 3  # looks for which it has to
FELL = 0.98  # times what it was at that low: a training loss that ends below has gone on falling
SURE = 0.4  # a head that gives so much of its weight, on average, does that for its living
HELPS = 0.2  # a head below that gives so much to the previous token can tell the one above what stood there
CLEAR = 0.01  # nats; held-out losses that differ by less are not called better or worse
FEW = 30  # steps after which "learned" and "stayed" mean something


def notices(result: Result, words: Words) -> list[str]:
    """How both ended, how fast, where the gradient is large, and what each setting did."""
    sides = result.facts["sides"]
    there = [side for side in SIDES if sides[side].done or sides[side].failed]
    if not there:
        return [words("notice.none")]
    parts = [words("notice.same")] if same(result) else []
    parts += [outcome(side, result, words) for side in (there[:1] if same(result) else there)]
    parts += _speed(result, words)
    parts += _turned(result, words)
    parts += _gradients(result, words)
    parts += _heads(result, words)
    return parts + _settings(result, words)


def same(result: Result) -> bool:
    """Whether A and B are the same run."""
    a, b = (result.facts["sides"][side].settings for side in SIDES)
    return a == b


def kind(side: Side, result: Result) -> str:
    """`failed`, `early`, `frequencies`, `learned`, `between` or `above`: how a run stands."""
    if side.failed:
        return "failed"
    if side.done < FEW and side.done < side.settings.steps:
        return "early"
    share = side.end / result.facts["frequency"]
    if abs(share - 1) <= NEAR:
        return "frequencies"
    if share > 1:
        return "above"
    return "learned" if share < LEARNED else "between"


def outcome(name: str, result: Result, words: Words) -> str:
    """One run in a sentence."""
    side: Side = result.facts["sides"][name]
    how = kind(side, result)
    told = {"side": Raw(name_of(name, result, words)), "end": side.end, "done": side.done}
    told |= {"frequency": result.facts["frequency"], "last": min(10, side.done), "step": side.failed}
    if len(side.looked):
        told |= {"held": float(side.held_out[-1]), "hits": 100 * float(side.accuracy[-1])}
    if how == "failed" and not side.done:
        return words("notice.failed_at_once", **told)
    sentence = words(f"notice.{how}", **told)
    if how in ("learned", "between", "frequencies", "above") and np.isfinite(told.get("held", np.nan)):
        sentence = joined([sentence, words("notice.held", **told)], words)
    if how in ("frequencies", "above") and side.done == side.settings.steps:
        sentence = joined([sentence, words("notice.not_never", **told)], words)
    return sentence


def joined(parts: list[str], words: Words) -> str:
    """Sentences behind each other, as the language has them."""
    return (" " if words.lang == "en" else "").join(parts)


def _speed(result: Result, words: Words) -> list[str]:
    half = {side: half_at(result.facts["sides"][side], result) for side in SIDES}
    told = {f"half_{side}": half[side] for side in SIDES} | {"limit": result.facts["frequency"] / 2}
    if same(result) or not any(half.values()):
        return []
    if all(half.values()):
        return [words("notice.half_both", **told)]
    first = next(side for side in SIDES if half[side])
    other = "b" if first == "a" else "a"
    done = result.facts["sides"][other].done
    return [
        words(
            "notice.half_one",
            side=Raw(first.upper()),
            other=Raw(other.upper()),
            half=half[first],
            done=done,
            limit=told["limit"],
        )
    ]


def turned(side: Side) -> tuple[int, float, float] | None:
    """Step and value of the lowest held-out loss, and the last one, where it has risen while training loss fell.

    A single look may be bad luck: the last few must all lie above.
    """
    if not len(side.looked) or not np.isfinite(side.held_out).all():
        return None
    low = int(side.held_out.argmin())
    step = int(side.looked[low])
    after = side.held_out[low + 1 :][-LATELY:]
    if len(after) < LATELY or after.min() <= max(ROSE * side.held_out[low], side.held_out[low] + RISE):
        return None
    then = float(side.losses[max(0, step - 10) : step].mean())
    if side.end > FELL * then:
        return None
    return step, float(side.held_out[low]), float(side.held_out[-1])


def _turned(result: Result, words: Words) -> list[str]:
    known = bool(
        corpora(result.parameters["task"])
    )  # symbols are drawn anew: there is nothing to know by heart
    found = {side: turned(result.facts["sides"][side]) if known else None for side in SIDES}
    sentences = []
    for side in SIDES[:1] if same(result) else SIDES:
        if found[side]:
            step, low, last = found[side]
            run: Side = result.facts["sides"][side]
            then = float(run.losses[max(0, step - 10) : step].mean())
            told = {"step": step, "low": low, "end": last, "then": then, "now": run.end}
            sentences.append(words("notice.turned", side=Raw(side.upper()), **told))
    return sentences + _dropout(result, words)


def _dropout(result: Result, words: Words) -> list[str]:
    """What dropout cost and saved, where it is all that A and B differ in."""
    a, b = (result.facts["sides"][side] for side in SIDES)
    alone = replace(a.settings, dropout=0.0) == replace(b.settings, dropout=0.0)
    if not alone or same(result) or not (len(a.looked) and len(b.looked)):
        return []
    more, less = ("a", "b") if a.settings.dropout > b.settings.dropout else ("b", "a")
    one, other = (result.facts["sides"][side] for side in (more, less))
    told = {"more": Raw(more.upper()), "less": Raw(less.upper()), "train": one.end, "train_less": other.end}
    told |= {"held": float(one.held_out[-1]), "held_less": float(other.held_out[-1])}
    if (
        one.looked[-1] != other.looked[-1]
        or one.looked[-1] == 1
        or not all(map(np.isfinite, list(told.values())[2:]))
    ):
        return []
    if told["held"] < told["held_less"] - CLEAR and told["train"] > told["train_less"]:
        return [words("notice.dropout_saves", **told)]
    return [words("notice.dropout_costs", **told)] if told["held"] > told["held_less"] + CLEAR else []


def _gradients(result: Result, words: Words) -> list[str]:
    sentences = []
    for side in SIDES[:1] if same(result) else SIDES:
        run: Side = result.facts["sides"][side]
        if not len(run.looked):
            continue
        k = shown(run, result.facts["at"])
        values = run.gradients[k]
        if len(values) < 2 or not np.isfinite(values).all() or values.min() <= 0:
            continue
        names = result.arrays[f"grad_{side}"].rows
        told = {"side": Raw(side.upper()), "step": int(run.looked[k]), "large": names[values.argmax()]}
        told |= {"small": names[values.argmin()], "high": float(values.max()), "low": float(values.min())}
        told |= {name: Raw(told[name]) for name in ("large", "small")}
        sentences.append(words("notice.gradient", ratio=told["high"] / told["low"], **told))
    return [joined(sentences, words)] if sentences else []


def _heads(result: Result, words: Words) -> list[str]:
    task: Task = result.facts["task"]
    if result.parameters["task"] == "reverse":
        return _mirrors(result, task, words)
    if result.parameters["task"] not in ("repeat", "repeat-fixed"):
        return []
    sentences = []
    for side in SIDES[:1] if same(result) else SIDES:
        run: Side = result.facts["sides"][side]
        if len(run.looked):
            sentences.append(induction(side, run, task, words))
    if sentences and result.parameters["task"] == "repeat-fixed":
        sentences.append(words("notice.fixed"))
    return [joined(sentences, words)] if sentences else []


def _mirrors(result: Result, task: Task, words: Words) -> list[str]:
    """How far the best cross-attention head reads the source backwards."""
    n, sentences = lengths(task)[1] - 1, [words("notice.mirror_why")]  # without END
    for side in SIDES[:1] if same(result) else SIDES:
        run: Side = result.facts["sides"][side]
        if not len(run.looked) or not run.maps[-1]["cross"].isfinite().all():
            continue
        layer, head, score = strongest(scores(run, len(run.looked) - 1, "cross", task, "mirror"))
        start = float(scores(run, 0, "cross", task, "mirror")[layer, head])
        told = {
            "side": Raw(side.upper()),
            "layer": layer + 1,
            "head": head + 1,
            "score": score,
            "start": start,
        }
        sentences.append(words("notice.mirror", **told, n=n))
    return [joined(sentences, words)] if len(sentences) > 1 else []


def induction(name: str, run: Side, task: Task, words: Words) -> str:
    """The strongest induction head of a run, and the strongest previous-token head below it."""
    found, before = (scores(run, len(run.looked) - 1, "own", task, how) for how in ("induction", "previous"))
    if found is None or found.isnan().any():
        return words("notice.no_heads", side=Raw(name.upper()))
    layer, head = divmod(int(found.argmax()), found.shape[1])
    told = {"side": Raw(name.upper()), "layer": layer + 1, "head": head + 1, "score": float(found.max())}
    told["start"] = float(scores(run, 0, "own", task, "induction")[layer, head])
    sentence = words("notice.induction" if told["score"] >= SURE else "notice.no_induction", **told)
    if told["score"] < SURE or layer == 0:
        return sentence
    below = before[:layer]
    if below.max() < HELPS:
        return sentence
    place = divmod(int(below.argmax()), below.shape[1])
    told |= {"layer": place[0] + 1, "head": place[1] + 1, "score": float(below.max())}
    return joined([sentence, words("notice.previous", **told)], words)


def _settings(result: Result, words: Words) -> list[str]:
    """What clipping, smoothing and a warm-up longer than the run did."""
    sentences = []
    for name in SIDES[:1] if same(result) else SIDES:
        run: Side = result.facts["sides"][name]
        s, side = run.settings, Raw(name.upper())
        if s.clip is not None and run.done:
            cut = int((run.norms > s.clip).sum())
            told = {"cut": cut, "done": run.done, "largest": float(run.norms.max()), "clip": s.clip}
            sentences.append(words("notice.clip", side=side, **told))
        if s.label_smoothing and run.done:
            vocab = len(result.facts["task"].vocabulary)
            told = {"eps": s.label_smoothing, "floor": floor(s.label_smoothing, vocab), "vocab": vocab}
            told["best"] = 1 - s.label_smoothing + s.label_smoothing / vocab
            sentences.append(words("notice.smooth", side=side, **told))
        if s.warm_up > s.steps:
            high = float(result.values("rate")[SIDES.index(name)].max())
            sentences.append(words("notice.warm_long", side=side, warm=s.warm_up, steps=s.steps, high=high))
    return sentences


def floor(eps: float, vocab: int) -> float:
    """The plain cross-entropy of a model that gives exactly the smoothed target: −ln(1 − ε + ε/V)."""
    return float(-np.log(1 - eps + eps / vocab))


def told_settings(result: Result, words: Words) -> str:
    """The settings that the curves belong to, A and B."""
    p = result.parameters
    shared = words(
        "belongs.shared",
        task=Raw(words(f"choice.task.{p['task']}")),
        steps=p["steps"],
        width=Raw(p["width"]),
        seed=p["seed"],
    )
    return "  \n".join([shared, *(f"**{s.upper()}** {all_settings(s, p, words)}" for s in SIDES)])
