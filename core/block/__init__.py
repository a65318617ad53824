"""The block: positions, feed-forward, experts, normalisation, residual, and what they do over many layers."""
