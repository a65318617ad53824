"""Byte-level byte pair encoding: learned and applied by the `tokenizers` package, counted and retraced here.

Every text is bytes in UTF-8, and all 256 bytes are in the vocabulary, so nothing is ever unknown. Learning joins,
again and again, the two neighbours that stand together most often.
Sources: Gage 1994 (the compression method), Sennrich et al. 2016 (its use for words), Radford et al. 2019 (on bytes).
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

Pair = tuple[bytes, bytes]
Parts = tuple[bytes, ...]  # one word of the text, cut into its present tokens

BYTES = 256


@dataclass(frozen=True)
class Merge:
    """One learned rule: where `left` stands before `right`, they become one token."""

    left: bytes
    right: bytes
    count: int  # how often the pair stood in the corpus just before it was merged

    @property
    def joined(self) -> bytes:
        """The token that the rule makes."""
        return self.left + self.right


@dataclass(frozen=True)
class Encoded:
    """A text as tokens. Joined together, the tokens are the text in UTF-8."""

    tokens: tuple[bytes, ...]  # [T]
    ids: tuple[int, ...]  # [T]


@dataclass(frozen=True)
class Step:
    """One merge inside one word."""

    rule: int  # the number of the rule, counted from 1
    parts: Parts  # the word after it


@cache
def letters() -> tuple[str, ...]:
    """The letter by which the library writes each byte, as GPT-2 does: itself if it is printable in Latin-1, else one from 256 on."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(BYTES) if byte not in printable]
    return tuple(chr(byte) if byte in printable else chr(BYTES + others.index(byte)) for byte in range(BYTES))


def spelled(token: bytes) -> str:
    """A token as the library writes it: a space is Ġ, the bytes of 鱼 are é±¼."""
    alphabet = letters()
    return "".join(alphabet[byte] for byte in token)


def unspelled(text: str) -> bytes:
    """The bytes behind a token that the library wrote."""
    alphabet = letters()
    return bytes(alphabet.index(letter) for letter in text)


def words_of(text: str) -> tuple[bytes, ...]:
    """The words between which nothing is merged: letters with the space before them, digits, signs (GPT-2's rule).

    Chinese has no spaces, so that everything between two punctuation marks is one such word.
    """
    cut = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str(text)
    return tuple(unspelled(word) for word, _ in cut)


def learn(corpus: str, most: int) -> tuple[Merge, ...]:
    """At most `most` merges from a corpus, in the order of learning; no pair that occurs only once is merged.

    The library chooses the pairs, ties included; the counts are ours. Paragraphs are learned from one by one.
    """
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=BYTES + most,
        min_frequency=2,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    learner.train_from_iterator(corpus.splitlines(), trainer)
    written = json.loads(learner.to_str())["model"]["merges"][:most]
    pairs = [(unspelled(left), unspelled(right)) for left, right in written]
    counts = counts_of(corpus, pairs)
    return tuple(Merge(left, right, count) for (left, right), count in zip(pairs, counts, strict=True))


def counts_of(corpus: str, pairs: Sequence[Pair]) -> list[int]:
    """How often each pair stands in the corpus once all pairs before it have been merged."""
    words = cut_words(corpus, ())
    counts = []
    for pair in pairs:
        counts.append(sum(n * tuple(pairwise(parts)).count(pair) for parts, n in words.items()))
        words = _merged(words, pair)
    return counts


def cut_words(corpus: str, pairs: Iterable[Pair]) -> Counter[Parts]:
    """Every different word of the corpus, cut into its tokens under these merges, with its number of occurrences."""
    whole = Counter(word for line in corpus.splitlines() for word in words_of(line))
    words = Counter({tuple(bytes([byte]) for byte in word): n for word, n in whole.items()})
    for pair in pairs:
        words = _merged(words, pair)
    return words


def pair_counts(words: Counter[Parts]) -> Counter[Pair]:
    """How often each two tokens stand side by side inside a word."""
    counts: Counter[Pair] = Counter()
    for parts, n in words.items():
        for pair in pairwise(parts):
            counts[pair] += n
    return counts


def _merged(words: Counter[Parts], pair: Pair) -> Counter[Parts]:
    return Counter({join(parts, pair) if pair[0] in parts else parts: n for parts, n in words.items()})


def join(parts: Parts, pair: Pair) -> Parts:
    """The word with every occurrence of the pair made one token, from the left."""
    made: list[bytes] = []
    for part in parts:
        if made and (made[-1], part) == pair:
            made[-1] = pair[0] + pair[1]
        else:
            made.append(part)
    return tuple(made)


def vocabulary(merges: Sequence[Merge]) -> dict[bytes, int]:
    """Every token and its id: bytes are their own ids, merged tokens follow in the order of learning."""
    ids = {bytes([byte]): byte for byte in range(BYTES)}
    for merge in merges:
        ids.setdefault(merge.joined, len(ids))  # two rules may make the same token
    return ids


def encoder(merges: Sequence[Merge]) -> Tokenizer:
    """The library's tokenizer with these merges and our ids."""
    ids = {spelled(token): number for token, number in vocabulary(merges).items()}
    rules = [(spelled(merge.left), spelled(merge.right)) for merge in merges]
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=rules))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def encode(text: str, merges: Sequence[Merge]) -> Encoded:
    """The tokens of a text by the library. No text is refused, and none is shortened."""
    encoding = encoder(merges).encode(text)
    ids = tuple(encoding.ids)  # [T]
    return Encoded(tuple(unspelled(token) for token in encoding.tokens), ids)


def path(word: bytes, merges: Sequence[Merge]) -> tuple[Step, ...]:
    """How a word gets its tokens, merge by merge: the rule that was learned first is applied first."""
    parts = tuple(bytes([byte]) for byte in word)
    rules: dict[Pair, int] = {}
    for number, merge in enumerate(merges, start=1):
        rules.setdefault((merge.left, merge.right), number)
    steps = []
    while found := [pair for pair in pairwise(parts) if pair in rules]:
        first = min(found, key=rules.__getitem__)
        parts = join(parts, first)
        steps.append(Step(rules[first], parts))
    return tuple(steps)
