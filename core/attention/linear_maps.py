"""Linear maps: which matrices can be multiplied, what a 2 × 2 matrix does to the plane, what makes it linear.

Points are rows, so a map y = M x of all points at once reads points @ Mᵀ, as in torch.nn.Linear.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

# The outline of a letter F, counter-clockwise from its lower left corner: it looks different when it is
# mirrored or turned, which a square does not. Area 8 of the 15 cells of its box.
LETTER_F = ((0, 0), (1, 0), (1, 2), (2, 2), (2, 3), (1, 3), (1, 4), (3, 4), (3, 5), (0, 5))


@dataclass(frozen=True)
class ProductShape:
    """Whether a @ b exists, and the two numbers that decide it."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    shape: tuple[int, ...] | None  # of a @ b; None when it does not exist
    inner: int | None  # the number that both share and that is summed over
    multiply_adds: int | None  # inner for each number of the product
    differ: tuple[int, int] | None  # the two numbers that should be equal and are not
    differ_at: tuple[int, int] | None  # their axes in a and in b, counted from the end: −1 is the last


def product_shape(a_shape: tuple[int, ...], b_shape: tuple[int, ...]) -> ProductShape:
    """[A, B] × [B, C] → [A, C]; axes before the last two are a batch and must agree, or be 1, or be missing.

    A mismatch is a result, not an exception. Raises ValueError for a shape of fewer than two axes or with
    a number below 1.
    """
    a, b = tuple(a_shape), tuple(b_shape)
    if min(len(a), len(b)) < 2 or min(*a, *b) < 1:
        raise ValueError(f"a shape must have two axes or more, each at least 1, got {list(a)} and {list(b)}")
    if a[-1] != b[-2]:
        return ProductShape(a, b, None, None, None, (a[-1], b[-2]), (-1, -2))
    for axis in range(-3, -min(len(a), len(b)) - 1, -1):
        if a[axis] != b[axis] and 1 not in (a[axis], b[axis]):
            return ProductShape(a, b, None, None, None, (a[axis], b[axis]), (axis, axis))
    shape = (*torch.broadcast_shapes(a[:-2], b[:-2]), a[-2], b[-1])
    return ProductShape(a, b, shape, a[-1], math.prod(shape) * a[-1], None, None)


@dataclass(frozen=True)
class SmallProduct:
    """Two matrices of whole numbers and their product, small enough to be checked by hand."""

    a: Tensor  # [A, B]
    b: Tensor  # [B, C]
    c: Tensor  # [A, C]


def small_product(rows: int, inner: int, columns: int) -> SmallProduct:
    """[rows, inner] × [inner, columns] with whole numbers from −3 to 5, always the same ones."""
    a, b = small_factors((rows, inner), (inner, columns))  # [A, B], [B, C]
    c = a @ b  # [A, C]
    return SmallProduct(a, b, c)


def small_factors(a_shape: tuple[int, int], b_shape: tuple[int, int]) -> tuple[Tensor, Tensor]:
    """Two matrices of whole numbers with these shapes, whether or not they can be multiplied."""
    a = torch.arange(math.prod(a_shape)).view(a_shape) * 3 % 7 - 1  # [A, B]  −1 to 5
    b = torch.arange(math.prod(b_shape)).view(b_shape) * 5 % 9 - 3  # [B', C]  −3 to 5
    return a, b


# 2 × 2 matrices, float64


def rotation(degrees: float) -> Tensor:
    """Turn counter-clockwise about the origin. Returns [2, 2]; determinant 1, lengths and angles stay."""
    c, s = _cos_sin(degrees)
    return _matrix((c, -s), (s, c))


def reflection(degrees: float) -> Tensor:
    """Mirror in the line through the origin at this angle to the first axis. Returns [2, 2]; determinant −1."""
    c, s = _cos_sin(2 * degrees)
    return _matrix((c, s), (s, -c))


def projection(degrees: float) -> Tensor:
    """Drop every point onto the line at this angle. Returns [2, 2]; determinant 0: the plane becomes a line."""
    c, s = _cos_sin(degrees)
    return _matrix((c * c, c * s), (c * s, s * s))


def shear(amount: float) -> Tensor:
    """Push each point to the right by `amount` times its height. Returns [2, 2]; determinant 1."""
    return _matrix((1, amount), (0, 1))


def scaling(along_x: float, along_y: float) -> Tensor:
    """Stretch along the two axes. Returns [2, 2]; determinant along_x · along_y."""
    return _matrix((along_x, 0), (0, along_y))


def _matrix(first_row: tuple[float, float], second_row: tuple[float, float]) -> Tensor:
    return torch.tensor([first_row, second_row], dtype=torch.float64)


def _cos_sin(degrees: float) -> tuple[float, float]:
    angle = math.radians(degrees)
    return math.cos(angle), math.sin(angle)


# The plane under a map


def apply(matrix: Tensor, points: Tensor, offset: Tensor | None = None) -> Tensor:
    """matrix · x + offset for every point. matrix [D, 2], points [..., 2], offset [D]; returns [..., D]."""
    moved = points @ matrix.T  # [..., D]
    return moved if offset is None else moved + offset


@dataclass(frozen=True)
class WorkedMap:
    """A map at work on a vector u and on the two unit vectors, which are the columns of x and of y."""

    m: Tensor  # [2, 2]
    x: Tensor  # [2, 3]  u, e₁, e₂
    b: Tensor  # [2, 1]  the same offset for every column
    y: Tensor  # [2, 3]  their images


def worked_map(
    entries: tuple[float, ...], u: tuple[float, float], offset: tuple[float, float] = (0, 0)
) -> WorkedMap:
    """M x + b with vectors as columns, as on a blackboard; `apply` is the same with points as rows.

    `entries` are m₁₁, m₁₂, m₂₁, m₂₂. Everything is float64.
    """
    m = torch.tensor(entries, dtype=torch.float64).view(2, 2)  # [2, 2]
    x = torch.cat([torch.tensor([u], dtype=m.dtype).T, torch.eye(2, dtype=m.dtype)], dim=1)  # [2, 3]
    b = torch.tensor([offset], dtype=m.dtype).T  # [2, 1]
    y = m @ x + b  # [2, 3]
    return WorkedMap(m, x, b, y)


def letter(size: float = 1.0) -> Tensor:
    """The closed outline of a letter F, as high as `size`, its lower left corner at the origin: [11, 2]."""
    outline = torch.tensor([*LETTER_F, LETTER_F[0]], dtype=torch.float64)
    return outline * (size / 5)


def grid(extent: int = 4, points_per_line: int = 2) -> Tensor:
    """The lines x = −extent … extent, then y = −extent … extent, as points to be moved.

    Returns [2 (2 extent + 1), points_per_line, 2]. A linear map keeps lines straight, so two points a
    line suffice; a nonlinear one needs more. Raises ValueError for an extent below 1 or fewer than two points.
    """
    if extent < 1 or points_per_line < 2:
        raise ValueError(f"extent must be at least 1 and points 2, got {extent} and {points_per_line}")
    fixed = torch.arange(-extent, extent + 1, dtype=torch.float64)  # [N]
    along = torch.linspace(-extent, extent, points_per_line, dtype=torch.float64)  # [P]
    upright = torch.stack(torch.meshgrid(fixed, along, indexing="ij"), -1)  # [N, P, 2]  (x, y)
    return torch.cat([upright, upright.flip(-1)])  # [2 N, P, 2]


@dataclass(frozen=True)
class MapFacts:
    """What a 2 × 2 matrix does to areas and lengths, in numbers."""

    determinant: float  # negative when the plane is turned over
    area_factor: float  # |determinant|: every area is multiplied by it
    singular_values: tuple[
        float, float
    ]  # half-axes of the ellipse that the unit circle becomes, longest first
    rank: int  # dimensions that are left: 2, 1 or 0
    eigenvalues: tuple[complex, complex]  # complex when no direction is kept, as in a rotation


def describe(matrix: Tensor) -> MapFacts:
    """Numbers about a matrix [2, 2]."""
    determinant = float(torch.linalg.det(matrix))
    longest, shortest = torch.linalg.svdvals(matrix).tolist()
    first, second = torch.linalg.eigvals(matrix).tolist()
    rank = int(torch.linalg.matrix_rank(matrix))
    return MapFacts(determinant, abs(determinant), (longest, shortest), rank, (first, second))


# What "linear" means


def additivity_gap(matrix: Tensor, x: Tensor, y: Tensor, offset: Tensor | None = None) -> Tensor:
    """T(x + y) − T(x) − T(y) for T(x) = matrix · x + offset: 0 for a linear map, −offset with one. Returns [D]."""
    whole = apply(matrix, x + y, offset)  # [D]
    return whole - apply(matrix, x, offset) - apply(matrix, y, offset)


def homogeneity_gap(matrix: Tensor, x: Tensor, k: float, offset: Tensor | None = None) -> Tensor:
    """T(k x) − k T(x) for T(x) = matrix · x + offset: 0 for a linear map, (1 − k) offset with one. Returns [D]."""
    return apply(matrix, k * x, offset) - k * apply(matrix, x, offset)


@dataclass(frozen=True)
class Likeness:
    """Two vectors compared. Cosine and angle are None when one of them is 0, which has no direction."""

    dot: float
    length_a: float
    length_b: float
    cosine: float | None  # −1..1, whatever the lengths
    degrees: float | None  # 0..180
    shadow: Tensor | None  # [D]  a projected onto the line of b; None when b is 0


def compare(a: Tensor, b: Tensor) -> Likeness:
    """a·b = |a| |b| cos of the angle between them. a and b [D]."""
    dot, length_a, length_b = (float(x) for x in (a @ b, a.norm(), b.norm()))
    unit_a, unit_b = (x / n if n > 0 else None for x, n in ((a, length_a), (b, length_b)))  # [D]
    shadow = None if unit_b is None else (a @ unit_b) * unit_b  # [D]
    if unit_a is None or unit_b is None:
        return Likeness(dot, length_a, length_b, None, None, shadow)
    cosine = max(-1.0, min(1.0, float(unit_a @ unit_b)))  # rounding may step outside
    return Likeness(dot, length_a, length_b, cosine, math.degrees(math.acos(cosine)), shadow)
