import torch
from transformers import AutoModelForCausalLM, DeepseekV3Config, MixtralConfig

from core.block.expert_sizes import DEEPSEEK_V3, MIXTRAL_8X7B, count_mixture


def hugging_faces_count(config):
    with torch.device("meta"):  # shapes without numbers
        model = AutoModelForCausalLM.from_config(config)
    return sum(p.numel() for p in model.parameters())


def test_mixtral_published_and_counted():
    count = count_mixture(MIXTRAL_8X7B)
    assert count.total == 46_702_792_704
    assert count.active == 12_879_925_248
    assert count.total == hugging_faces_count(MixtralConfig(num_key_value_heads=8))


def test_deepseek_published_and_counted():
    count = count_mixture(DEEPSEEK_V3)
    assert round(count.total / 1e9) == 671
    assert round(count.multiplied / 1e9) == 37
    assert count.total == hugging_faces_count(DeepseekV3Config())


def test_parts_add_up():
    for sizes in (MIXTRAL_8X7B, DEEPSEEK_V3):
        count = count_mixture(sizes)
        assert count.total - count.active == count.experts - count.chosen
        assert count.chosen * sizes.n_experts == count.experts * sizes.n_chosen
        assert count.active - count.multiplied == sizes.vocab * sizes.d_model
