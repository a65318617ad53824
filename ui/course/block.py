"""The block: positions, feed-forward, normalisation, residual."""

from ui.course import feed_forward, normalization, positions, residual

PAGES = (
    positions.PAGE,
    feed_forward.PAGE,
    normalization.PAGE,
    residual.PAGE,
)
