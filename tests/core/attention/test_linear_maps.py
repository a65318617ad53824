import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.attention import linear_maps as lm

DOUBLE = torch.float64
numbers = st.floats(-5, 5)
degrees = st.floats(-360, 360)
axes = st.lists(st.sampled_from([1, 2, 3]), min_size=2, max_size=4).map(tuple)
modest = settings(max_examples=60, deadline=None)


def vector(*values):
    return torch.tensor(values, dtype=DOUBLE)


def close(a, b, atol=1e-12):
    torch.testing.assert_close(a, b, rtol=0, atol=atol)


def matrices():
    return st.tuples(numbers, numbers, numbers, numbers).map(lambda m: vector(*m).reshape(2, 2))


# Which products exist


@settings(max_examples=200, deadline=None)
@given(axes, axes)
def test_a_product_exists_when_pytorch_can_form_it(a, b):
    found = lm.product_shape(a, b)
    try:
        expected = tuple((torch.zeros(a) @ torch.zeros(b)).shape)
    except RuntimeError:
        expected = None
    assert found.shape == expected
    assert (found.differ is None) == (expected is not None)
    if found.differ:
        i, j = found.differ_at
        assert (a[i], b[j]) == found.differ
        assert a[i] != b[j]
    else:
        assert found.inner == a[-1] == b[-2]


def test_products_by_hand():
    found = lm.product_shape((4, 3), (3, 2))
    assert (found.shape, found.inner, found.multiply_adds) == ((4, 2), 3, 24)
    assert lm.product_shape((4, 16, 512), (512, 64)).shape == (4, 16, 64)
    assert lm.product_shape((4, 16, 512), (512, 64)).multiply_adds == 4 * 16 * 512 * 64
    wrong = lm.product_shape((4, 3), (2, 3))
    assert (wrong.shape, wrong.differ, wrong.differ_at) == (None, (3, 2), (-1, -2))
    batches = lm.product_shape((2, 5, 4, 3), (6, 3, 2))
    assert (batches.shape, batches.differ, batches.differ_at) == (None, (5, 6), (-3, -3))


@pytest.mark.parametrize(
    "shapes", [((3,), (3, 2)), ((2, 3), (3,)), ((), (1, 1)), ((2, 0), (1, 2)), ((2, 2), (2, -1))]
)
def test_what_is_no_shape_of_a_matrix_is_refused(shapes):
    with pytest.raises(ValueError, match="two axes"):
        lm.product_shape(*shapes)


# Presets


@modest
@given(degrees, numbers, numbers)
def test_rotation_is_multiplication_by_a_complex_number(angle, x, y):
    turned = complex(x, y) * complex(math.cos(math.radians(angle)), math.sin(math.radians(angle)))
    close(lm.apply(lm.rotation(angle), vector(x, y)), vector(turned.real, turned.imag))


@modest
@given(degrees, numbers, numbers)
def test_reflection_and_projection_by_their_line(angle, x, y):
    radians = math.radians(angle)
    on_line, across = (
        vector(math.cos(radians), math.sin(radians)),
        vector(-math.sin(radians), math.cos(radians)),
    )
    point = vector(x, y)
    along, aside = point @ on_line * on_line, point @ across * across
    close(lm.apply(lm.reflection(angle), point), along - aside)
    close(lm.apply(lm.projection(angle), point), along)


def test_presets_by_hand():
    close(lm.rotation(90), vector(0, -1, 1, 0).reshape(2, 2))
    close(lm.reflection(45), vector(0, 1, 1, 0).reshape(2, 2))
    close(lm.projection(0), vector(1, 0, 0, 0).reshape(2, 2))
    close(lm.apply(lm.shear(2), vector(1, 3)), vector(7, 3))
    close(lm.apply(lm.scaling(2, -1), vector(1, 3)), vector(2, -3))


# The plane


def area(outline):
    x, y = outline[:-1].unbind(-1)
    after_x, after_y = outline[1:].unbind(-1)
    return float((x * after_y - after_x * y).sum() / 2)  # the shoelace formula


def test_the_letter_is_closed_and_has_its_area():
    f = lm.letter(5)
    assert torch.equal(f[0], f[-1])
    assert area(f) == 5 + 2 + 1  # the upright, the upper arm, the middle arm
    assert float(lm.letter(2)[:, 1].max()) == 2
    mirrored = {(3 - x, y) for x, y in f.tolist()}
    turned = {(3 - x, 5 - y) for x, y in f.tolist()}
    assert set(map(tuple, f.tolist())) not in (mirrored, turned)


@modest
@given(matrices())
def test_areas_change_by_the_determinant(matrix):
    facts = lm.describe(matrix)
    moved = area(lm.apply(matrix, lm.letter(5)))
    assert moved == pytest.approx(8 * facts.determinant, abs=1e-9)
    assert facts.area_factor == abs(facts.determinant)


@modest
@given(matrices())
def test_singular_values_are_the_longest_and_shortest_radius_of_the_circles_image(matrix):
    angle = torch.linspace(0, 2 * math.pi, 4001, dtype=DOUBLE)
    radius = lm.apply(matrix, torch.stack([angle.cos(), angle.sin()], -1)).norm(dim=-1)
    longest, shortest = lm.describe(matrix).singular_values
    assert float(radius.max()) == pytest.approx(longest, abs=1e-4)
    assert float(radius.min()) == pytest.approx(shortest, abs=0.01)
    assert longest * shortest == pytest.approx(abs(lm.describe(matrix).determinant), abs=1e-9)


def test_facts_of_the_presets():
    turn = lm.describe(lm.rotation(30))
    assert turn.determinant == pytest.approx(1)
    assert turn.singular_values == pytest.approx((1, 1))
    assert sorted(z.imag for z in turn.eigenvalues) == pytest.approx([-0.5, 0.5])
    assert lm.describe(lm.reflection(20)).determinant == pytest.approx(-1)
    flat = lm.describe(lm.projection(20))
    assert flat.rank == 1
    assert flat.singular_values == pytest.approx((1, 0), abs=1e-12)
    assert lm.describe(lm.shear(1)).singular_values[0] == pytest.approx(
        (1 + math.sqrt(5)) / 2
    )  # golden ratio
    assert lm.describe(torch.zeros(2, 2)).rank == 0


def test_grid():
    lines = lm.grid(2, 3)
    assert lines.shape == (10, 3, 2)
    assert lines[0].tolist() == [[-2, -2], [-2, 0], [-2, 2]]
    assert lines[5].tolist() == [[-2, -2], [0, -2], [2, -2]]
    upright, level = lines[:5], lines[5:]
    assert all(len(line[:, 0].unique()) == 1 for line in upright)
    assert all(len(line[:, 1].unique()) == 1 for line in level)
    moved = lm.apply(lm.shear(0.5), lines)
    close(moved[:, 1], (moved[:, 0] + moved[:, 2]) / 2)  # straight and evenly spaced, still
    for wrong in ((0, 2), (1, 1)):
        with pytest.raises(ValueError, match="at least"):
            lm.grid(*wrong)


# Linearity


@modest
@given(matrices(), st.tuples(*[numbers] * 6), numbers)
def test_a_matrix_is_linear_and_an_offset_breaks_it(matrix, values, k):
    x, y, offset = vector(*values).reshape(3, 2)
    zero = vector(0, 0)
    close(lm.additivity_gap(matrix, x, y), zero, atol=1e-11)
    close(lm.homogeneity_gap(matrix, x, k), zero, atol=1e-11)
    close(lm.additivity_gap(matrix, x, y, offset), -offset, atol=1e-11)
    close(lm.homogeneity_gap(matrix, x, k, offset), (1 - k) * offset, atol=1e-11)


def test_a_map_with_an_offset_is_pytorchs_linear_layer():
    layer = torch.nn.Linear(2, 3, dtype=DOUBLE)
    close(lm.apply(layer.weight, lm.grid(), layer.bias), layer(lm.grid()))


# Two vectors


@modest
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8))
def test_cosine_is_pytorchs(pairs):
    a, b = vector(*[p[0] for p in pairs]), vector(*[p[1] for p in pairs])
    found = lm.compare(a, b)
    assert found.dot == pytest.approx(sum(x * y for x, y in pairs))
    if min(a.norm(), b.norm()) < 1e-3:  # PyTorch adds an ε there
        return
    assert found.cosine == pytest.approx(float(torch.cosine_similarity(a, b, dim=0)), abs=1e-9)
    close((a - found.shadow) @ b, torch.tensor(0, dtype=DOUBLE), atol=1e-9)  # what is left is at right angles


def test_vectors_by_hand():
    found = lm.compare(vector(3, 4), vector(2, 0))
    assert (found.dot, found.length_a, found.length_b) == (6, 5, 2)
    assert found.cosine == pytest.approx(0.6)
    assert found.degrees == pytest.approx(53.1301, abs=1e-4)
    close(found.shadow, vector(3, 0))
    assert lm.compare(vector(1, 1), vector(-2, -2)).degrees == pytest.approx(180)
    assert lm.compare(vector(1, 2), vector(2, -1)).degrees == pytest.approx(90)


def test_zero_has_no_direction():
    for a, b in ((vector(0, 0), vector(1, 2)), (vector(1, 2), vector(0, 0))):
        found = lm.compare(a, b)
        assert (found.dot, found.cosine, found.degrees) == (0, None, None)
    assert lm.compare(vector(1, 2), vector(0, 0)).shadow is None


# What a page works out


@given(matrices(), st.tuples(numbers, numbers), st.tuples(numbers, numbers))
@modest
def test_a_worked_map_is_pytorchs_linear_layer_with_vectors_as_columns(m, u, b):
    worked = lm.worked_map(tuple(m.flatten().tolist()), u, b)
    close(worked.m, m)
    close(worked.x, torch.cat([vector(*u)[:, None], torch.eye(2, dtype=DOUBLE)], 1))
    close(worked.y, torch.nn.functional.linear(worked.x.T, m, vector(*b)).T)


def test_a_small_product_by_hand():
    found = lm.small_product(2, 3, 2)
    assert found.a.tolist() == [[-1, 2, 5], [1, 4, 0]]
    assert found.b.tolist() == [[-3, 2], [-2, 3], [-1, 4]]
    assert found.c.tolist() == [[3 - 4 - 5, -2 + 6 + 20], [-3 - 8, 2 + 12]]


@given(st.integers(1, 8), st.integers(1, 8), st.integers(1, 8))
@modest
def test_a_small_product_stays_small(rows, inner, columns):
    found = lm.small_product(rows, inner, columns)
    assert found.c.shape == (rows, columns)
    assert found.a.abs().max() <= 5
    assert found.b.abs().max() <= 5
    assert torch.equal(found.c.double(), torch.einsum("ij,jk->ik", found.a.double(), found.b.double()))
