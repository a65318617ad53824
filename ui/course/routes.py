"""Ways through the course for a given time: which pages to open, in order."""

ROUTES: dict[int, tuple[str, ...]] = {
    10: ("attention", "forward_pass"),
    40: ("linear_maps", "attention", "masks", "multi_head", "positions", "residual", "forward_pass"),
    90: (
        "linear_maps",
        "attention",
        "masks",
        "multi_head",
        "cross_attention",
        "positions",
        "feed_forward",
        "normalization",
        "residual",
        "forward_pass",
        "training",
        "real_models",
        "efficient_attention",
        "alignment",
    ),
}
