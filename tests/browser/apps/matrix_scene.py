"""One head of attention over a few tokens, as linked matrices: what matrix_app.py shows and the tests expect."""

from __future__ import annotations

import numpy as np

from ui.matrix import Matrix

ENGLISH = [
    "The",
    "small",
    "cat",
    "saw",
    "the",
    "other",
    "cat",
    "and",
    "it",
    "ran",
    "away",
    "over",
    "the",
    "old",
    "wall",
    "because",
    "the",
    "dog",
    "was",
    "not",
    "far",
]
CHINESE = tuple("苹果发布了新款手机，它的价格很亲民，我爱学习。")
HOSTILE = (
    "<script>alert(1)</script>",
    "$x$ `c` **b**",
    "\u202eright to left",
    "👩‍👩‍👧‍👦🙂",
    "a\x00b\n",
    "",
    "a very long label that cannot fit anywhere",
)
WORDS = {
    "en": {
        "readout": "{title} · {row_axis} {row} {row_label} → {column_axis} {column} {column_label} · {value}",
        "grid": "{title}, {rows} rows, {columns} columns",
        "focus": "Show {title} large",
        "hidden": "−∞ (hidden)",
        "nan": "not a number",
        "point": "point at a cell for its number",
        "larger": "Draw larger",
        "smaller": "Fit to the page",
        "table": "Numbers as a table",
        "download": "Save as SVG",
        "filename": "attention",
        "query": "query",
        "key": "key",
        "feature": "feature",
    },
    "zh": {
        "readout": "{title} · {row_axis} {row} {row_label} → {column_axis} {column} {column_label} · {value}",
        "grid": "{title}，{rows} 行 {columns} 列",
        "focus": "放大 {title}",
        "hidden": "−∞（已遮住）",
        "nan": "不是数",
        "point": "指向格子看数",
        "larger": "放大显示数字",
        "smaller": "缩回页面宽度",
        "table": "以表格查看数值",
        "download": "保存为 SVG",
        "filename": "注意力",
        "query": "查询",
        "key": "键",
        "feature": "特征",
    },
}
TITLES = {
    "en": (
        "Input X",
        "Scores QKᵀ",
        "Scaled S",
        "Masked",
        "Weights A",
        "Output O",
        "queries",
        "keys",
        "features",
    ),
    "zh": ("输入 X", "得分 QKᵀ", "缩放后 S", "掩码后", "权重 A", "输出 O", "查询", "键", "特征"),
}


def scene(t: int, d: int, temperature: float, lang: str, labels: tuple[str, ...], look: bool):
    """Rows of matrices as the attention page will have them."""
    x_title, s_title, scaled_title, masked_title, a_title, o_title, queries, keys, features = TITLES[lang]
    draw = np.random.default_rng(7)
    x, q, k, v = (draw.normal(size=(t, d)) for _ in range(4))
    scores = q @ k.T
    scaled = scores / np.sqrt(d) / temperature
    hidden = np.triu(np.ones((t, t), bool), 1)
    masked = np.where(hidden, -np.inf, scaled)
    weights = np.exp(masked - masked.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    output = weights @ v
    if look:
        scores[1, 1] = np.nan
    named = tuple(str(i + 1) for i in range(d))
    size = f"{t} × {d}"

    def features_of(name, title, values, axis, identity="", arrow=""):
        spoken = {"query": queries, "key": keys}[axis]
        return Matrix(
            name, title, values, labels, named, "signed", (-3, 3), (axis, "feature"), (spoken, features), identity,
            None, size, arrow, "u8" if look else "f32",
        )  # fmt: skip

    def square(name, title, values, fill, limits, arrow="", mask=None, note=""):
        note = note or f"{t} × {t}"
        return Matrix(
            name,
            title,
            values,
            labels,
            labels,
            fill,
            limits,
            ("query", "key"),
            (queries, keys),
            "",
            mask,
            note,
            arrow,
        )

    upper = [
        features_of("x", x_title, x, "query", "residual"),
        features_of("q", "Q", q, "query", "q"),
        features_of("k", "K", k, "key", "k"),
        features_of("v", "V", v, "key", "v"),
    ]
    main = [
        square("scores", s_title, scores, "signed", (-9, 9)),
        square("scaled", scaled_title, scaled, "signed", (-4, 4), f"÷ √{d}"),
        square("masked", masked_title, masked, "signed", (-4, 4), "+ M", hidden),
        square("weights", a_title, weights, "weight", (0, 1), "softmax"),
        features_of("output", o_title, output, "query", arrow="× V"),
    ]
    return [upper, main]
