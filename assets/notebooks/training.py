"""Two training runs side by side, as a script. The notebook of the page is made of this file, cell by cell.

The first cell gets the reader's values; the imports from core become the source of what they name.
"""

import torch

from core.models.corpus import Corpus
from core.models.schedule import learning_rate
from core.models.tasks import IGNORED, Repetition, Reversal, generator_for, language, translation
from core.models.training import TrainingSettings, begin_run, run, train

# %% parameters
task = "repeat"
corpora = ()
width = "48"
steps = 20
seed = 0
layers_a = 1
norm_a = "pre"
res_a = True
rate_a = "0.003"
warm_a = 0
plan_a = "constant"
clip_a = "none"
drop_a = "0"
smooth_a = "0"
done_a = 20
map_kind_a = "maps"
map_layer_a = 0
map_head_a = 0
map_step_a = 20
layers_b = 1
norm_b = "post"
res_b = True
rate_b = "0.003"
warm_b = 10
plan_b = "constant"
clip_b = "none"
drop_b = "0"
smooth_b = "0"
done_b = 20
map_kind_b = "maps"
map_layer_b = 0
map_head_b = 0
map_step_b = 20

# %% steps
torch.set_num_threads(1)
if task.startswith("repeat"):
    data = Repetition(task) if task == "repeat" else Repetition(task, shortest=8, longest=8)
elif task == "reverse":
    data = Reversal()
else:
    texts = [Corpus(*one) for one in corpora]
    data = translation(*texts) if task == "translate" else language(task, texts, texts[0].train[0])
shared = {"task": task, "width": int(width), "heads": 4, "steps": steps, "seed": seed}
own_a = (layers_a, norm_a, res_a, rate_a, warm_a, plan_a, clip_a, drop_a, smooth_a)
own_b = (layers_b, norm_b, res_b, rate_b, warm_b, plan_b, clip_b, drop_b, smooth_b)
settings = [
    TrainingSettings(
        **shared,
        layers=layers,
        norm_place=norm,
        residual=res,
        learning_rate=float(rate),
        warm_up=warm,
        schedule=plan,
        clip=None if clip == "none" else float(clip),
        dropout=float(drop),
        label_smoothing=float(smooth),
    )
    for layers, norm, res, rate, warm, plan, clip, drop, smooth in (own_a, own_b)
]
runs = []
for s, done in zip(settings, (done_a, done_b), strict=True):
    taken = []
    if done:
        for step in train(s, data, every=steps // 20):
            taken.append(step)
            if step.step == done:
                break
    runs.append(taken)
    if taken:
        print(f"{len(taken)} steps, last loss {taken[-1].loss:.3f}")

# %% numbers
looks = [1] + [k * (steps // 20) for k in range(1, 21)]
nothing = float("nan")
arrays = {
    "rate": torch.tensor(
        [
            [learning_rate(t, steps, s.learning_rate, s.warm_up, s.schedule) for t in range(1, steps + 1)]
            for s in settings
        ]
    )
}
longest = max(done_a, done_b)
by_look = [{step.step: step.record for step in taken if step.record} for taken in runs]
if longest:
    for name, of in (("train", "loss"), ("norm", "gradient_norm")):
        rows = [[getattr(step, of) for step in taken] for taken in runs]
        arrays[name] = torch.tensor([row + [nothing] * (longest - len(row)) for row in rows])
    arrays["held_out"] = torch.tensor(
        [[r[t].held_out_loss if t in r else nothing for t in looks] for r in by_look]
    )
shown = {
    "a": (map_kind_a, map_layer_a, map_head_a, map_step_a),
    "b": (map_kind_b, map_layer_b, map_head_b, map_step_b),
}
target = int((data.shown.targets[0] != IGNORED).nonzero()[-1]) + 1
source = 0 if data.shown.source is None else int(data.shown.source_mask[0].sum())
sizes = {"maps": (target, target), "cross_maps": (target, source), "encoder_maps": (source, source)}
for (side, (kind, layer, head, at)), records in zip(shown.items(), by_look, strict=True):
    if not records:
        continue
    blocks = len(records[1].gradient_by_layer)
    missing = torch.full((blocks,), nothing)
    gradients = [records[t].gradient_by_layer if t in records else missing for t in looks]
    arrays[f"grad_{side}"] = torch.stack(gradients, 1)
    rows, columns = sizes[kind]
    arrays[f"map_{side}"] = getattr(records[at], kind)[layer, head, :rows, :columns]
torch.set_printoptions(precision=3, sci_mode=False, linewidth=140)
for name, values in arrays.items():
    print(f"{name} {list(values.shape)}\n{values}\n")

# %% check
for s, taken in zip(settings, runs, strict=True):
    if not taken:
        continue
    model = begin_run(s, data).model
    batch = data.draw(s.batch, generator_for(s.seed, "data", 1))
    noise = generator_for(s.seed, "dropout", 1) if s.dropout else None
    logits = run(model, batch, generator=noise).logits.flatten(0, 1)
    loss = torch.nn.functional.cross_entropy(logits, batch.targets.flatten(), ignore_index=-100)
    difference = abs(float(loss.detach()) - taken[0].loss) / max(1.0, taken[0].loss)
    print(f"first loss: |ours − PyTorch| = {difference:.1e}")
    assert difference < 1e-5
