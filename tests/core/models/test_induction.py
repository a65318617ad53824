import math

import torch

from core.models.induction import followed, induction_score, previous_token_score, strongest


def test_scores_of_maps_made_by_hand():
    tokens = torch.tensor([5, 7, 5, 7, 9])  # place 1 follows the first 5; places 2 the first 7
    looks_back = torch.zeros(5, 5)
    looks_back[0, 0] = 1
    looks_back[range(1, 5), range(4)] = torch.tensor([1.0, 0.5, 1.0, 0.5])
    assert float(previous_token_score(looks_back)) == 0.75
    induction = torch.zeros(2, 5, 5)
    induction[0, 2, 1], induction[0, 3, 2] = 0.8, 0.6
    induction[1, 2, 0] = 1  # the earlier occurrence itself, not what followed it
    torch.testing.assert_close(induction_score(induction, tokens), torch.tensor([0.7, 0.0]))


def test_a_token_that_is_repeated_at_once_is_followed_by_itself():
    assert followed(torch.tensor([3, 3, 3])).tolist() == [
        [False, False, False],
        [False, True, False],
        [False, True, True],
    ]


def test_every_earlier_occurrence_counts_and_none_later():
    a, b = 0, 1
    assert followed(torch.tensor([a, b, a, b, a]))[4].tolist() == [False, True, False, True, False]
    assert math.isnan(float(induction_score(torch.eye(2), torch.tensor([a, b]))))


def test_the_strongest_is_named_by_layer_and_head():
    layer, head, score = strongest(torch.tensor([[0.1, 0.2, 0.3], [0.4, 0.9, 0.6]]))
    assert (layer, head) == (1, 1)
    assert score == torch.tensor(0.9).item()
