"""Tokens and embeddings, as a script. The notebook of the page is made of this file, cell by cell.

The first cell gets the reader's values; the imports from core become the source of what they name.
"""

import torch

from core.text.byte_pairs import encode, learn, vocabulary
from core.text.closed_vocabulary import look_up, numbered
from core.text.lookup import lookup, seeded_table
from core.text.tokens import graphemes, split
from core.text.utf8 import characters, stretches

# %% parameters
text = "the kitten eats fish"
n_merges = 4
seed = 7
corpus = "the cat eats the fish\nthe kitten eats the cat's fish"

# %% steps
merges = learn(corpus, n_merges)
encoded = encode(text, merges)
known_characters = numbered(graphemes(corpus))
known_words = numbered(split(corpus, 100_000).tokens)

# %% numbers
arrays = {
    "characters": torch.tensor([look_up(graphemes(text), known_characters)]),
    "words": torch.tensor([look_up(split(text, 100_000).tokens, known_words)]),
    "pairs": torch.tensor([encoded.ids]),
}
for name, ids in arrays.items():
    print(f"{name}: {ids.shape[1]} tokens\n{ids}\n")
for token, number in zip(encoded.tokens, encoded.ids, strict=True):
    print(number, token.hex(" "), " ".join(part.text for part in stretches(token)))
for merge in merges[-5:]:
    print(f"{merge.left} + {merge.right} stood together {merge.count} times")

# %% check
ours = b"".join(point.encoded for sign in characters(text) for point in sign.points)
assert ours == text.encode("utf-8") == b"".join(encoded.tokens)
table = seeded_table(seed, len(vocabulary(merges)), 8)
trace = lookup(torch.tensor(encoded.ids), table)
theirs = torch.nn.Embedding.from_pretrained(table)(torch.tensor(encoded.ids))
difference = (trace.rows - theirs).abs().max().item()
print(f"max |ours − PyTorch| = {difference:.1e}")
assert difference < 1e-10
