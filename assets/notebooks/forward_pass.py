"""The forward pass, as a script. The notebook of the page is made of this file, cell by cell.

The first cell gets the reader's values; the imports from core become the source of what they name.
"""

import torch

from core.models.corpus import Corpus
from core.models.decoder import logit_lens
from core.models.generation import generate
from core.models.sampling import next_token_distribution
from core.models.tasks import language
from core.models.toy import train_toy_on

# %% parameters
tokens = ("小", "猫", "爱", "吃")
temperature = 1.0
top_k = 0
top_p = 1.0
layer = "2"
draw_seed = 1
training_seed = 0
new = 6
train_zh = ("小猫爱吃鱼。", "小狗爱吃骨头。", "小猫很可爱。")
train_en = ("the kitten eats fish .", "the puppy eats bones .", "the kitten is cute .")
held_out_zh = ("小狗很可爱。",)
held_out_en = ("the puppy is cute .",)

# %% steps
torch.set_num_threads(1)
corpora = (Corpus("zh", train_zh, held_out_zh), Corpus("en", train_en, held_out_en))
toy = train_toy_on(language("both", corpora, train_zh[0]), training_seed)
model = toy.model.double()
ids = torch.tensor([toy.vocabulary.index(token) for token in (toy.vocabulary[0], *tokens)])
cuts = (temperature, top_k or None, top_p)
with torch.no_grad():
    trace = model(ids, keep="all")
    lens = logit_lens(model, trace.states).softmax(-1)
each = next_token_distribution(trace.logits, *cuts)

# %% numbers
block = trace.blocks[int(layer) - 1]
shown = trace.logits[-1].argsort(descending=True, stable=True)[:12]
arrays = {"token": trace.embeddings.token, "position": trace.embeddings.position}
arrays |= {"x": trace.states[int(layer) - 1]}
arrays |= {f"h{h + 1}": weights for h, weights in enumerate(block.weights)}
arrays |= {"mid": block.attention.output, "after": block.output, "normed": trace.normed}
arrays |= {"logits": trace.logits[:, shown], "probs": each.probabilities[:, shown]}
torch.set_printoptions(precision=3, sci_mode=False, linewidth=160)
for name, values in arrays.items():
    print(f"{name} {list(values.shape)}\n{values}\n")
print(f"loss {toy.losses[0]:.3f} → {toy.losses[-1]:.3f}, on sentences kept apart {toy.held_out_loss:.3f}")
for layer_said in lens:
    print([toy.vocabulary[i] for i in layer_said.argmax(-1)])
count = min(new, model.config.limit - len(ids) + 1)
texts = []
for use_cache in (True, False):
    generator = torch.Generator().manual_seed(draw_seed)
    written = [*generate(model, ids, count, *cuts, generator, use_cache, stop=(0,))]
    texts.append([step.token for step in written])
    multiply_adds = sum(step.cost.total for step in written)
    print("with cache" if use_cache else "without", [toy.vocabulary[i] for i in texts[-1]], multiply_adds)

# %% check
assert texts[0] == texts[1]
last = next_token_distribution(trace.logits[-1], *cuts)
if temperature > 0:
    full = torch.softmax(trace.logits[-1] / temperature, -1)
    likeliest_first = full.argsort(descending=True, stable=True).tolist()
    kept, mass = [], 0.0
    for rank, i in enumerate(likeliest_first):
        if (top_k and rank >= top_k) or (top_p < 1 and mass >= top_p - 1e-12):
            break
        kept.append(i)
        mass += full[i].item()
    theirs = torch.zeros_like(full)
    theirs[kept] = full[kept] / full[kept].sum()
else:
    theirs = torch.zeros_like(last.probabilities)
    theirs[trace.logits[-1].argmax()] = 1.0
difference = (last.probabilities - theirs).abs().max().item()
print(f"max |ours − PyTorch| = {difference:.1e}")
assert difference < 1e-10
