"""What the runs learn from: an example of the data as it is read and predicted, and its numbers."""

from __future__ import annotations

import math

from core.models.tasks import IGNORED, Task
from ui.figures.training import corpora
from ui.result import Result
from ui.words import Raw, Words, quote

EXAMPLES = 4


def table(result: Result, words: Words) -> str:
    """A few held-out texts: what is read, what has to be predicted, "·" where there is no loss."""
    task: Task = result.facts["task"]
    lines = [words("data.table_source" if task.has_source else "data.table")]
    lines.append("|:--|:--|:--|" if task.has_source else "|:--|:--|")
    for i in range(min(EXAMPLES, len(task.held_out.tokens))):
        targets = task.held_out.targets[i]
        n = int((targets != IGNORED).nonzero()[-1]) + 1
        cells = [_said(task, task.held_out.tokens[i, :n].tolist()), _said(task, targets[:n].tolist())]
        if task.has_source:
            length = int(task.held_out.source_mask[i].sum())
            cells.insert(0, _said(task, task.held_out.source[i, :length].tolist()))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _said(task: Task, ids: list[int]) -> str:
    return quote(" ".join("·" if i == IGNORED else task.vocabulary[i] for i in ids))


def facts(result: Result, words: Words) -> str:
    """Vocabulary, sizes, and the losses that a model without knowledge would have."""
    task: Task = result.facts["task"]
    name = result.parameters["task"]
    told = {"vocab": len(task.vocabulary), "uniform": math.log(len(task.vocabulary))}
    told |= {"frequency": task.frequency_loss, "held": len(task.held_out.tokens)}
    told |= {"targets": int((task.held_out.targets != IGNORED).sum())}
    texts = corpora(name)
    told["train"] = 0 if not texts else len(task.train.tokens)
    key = "data.sentences" if texts else "data.symbols"
    return "\n\n".join(
        [
            words(f"data.task.{name}"),
            words(key, **told),
            words("data.losses", label=Raw(words(f"choice.task.{name}")), **told),
        ]
    )
