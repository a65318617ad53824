"""What a forward pass keeps of its blocks: all that the reader may ask for is much more than most pages need."""

from typing import Literal

from torch import Tensor

from core.block.residual import BlockTrace

Keep = Literal["logits", "maps", "all"]


class Kept:
    """Collects from one block after the other. Raises ValueError for another `keep` than the three."""

    def __init__(self, keep: Keep, first: Tensor):
        if keep not in ("logits", "maps", "all"):
            raise ValueError(f"keep must be 'logits', 'maps' or 'all', got {keep!r}")
        self.keep = keep
        self.states: tuple[Tensor, ...] = () if keep == "logits" else (first,)
        self.weights: tuple[Tensor, ...] = ()
        self.cross_weights: tuple[Tensor, ...] = ()
        self.blocks: tuple[BlockTrace, ...] = ()

    def add(self, block: BlockTrace) -> None:
        """Take from the block's trace what is to be kept; the rest can be forgotten."""
        if self.keep == "logits":
            return
        self.states += (block.output,)
        self.weights += (block.weights,)
        if block.cross is not None:
            self.cross_weights += (block.cross.inner.weights,)
        if self.keep == "all":
            self.blocks += (block,)
