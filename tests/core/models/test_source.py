"""Pages show the code that ran, with everything from core that it calls: each name must stand on its own as a file."""

import pytest

from ui.source import closure

NAMES = (
    "core.models.configs.PRESETS",
    "core.models.decoder.Decoder",
    "core.models.decoder.logit_lens",
    "core.models.encoder_decoder.Encoder",
    "core.models.encoder_decoder.EncoderDecoder",
    "core.models.generation.generate",
    "core.models.masked_language.mask_tokens",
    "core.models.masked_language.next_token_targets",
    "core.models.sampling.next_token_distribution",
    "core.models.sampling.sample",
    "core.cost.generation.generation_cost",
    "core.cost.sizes.active_parameters",
    "core.cost.sizes.count_parameters",
    "core.cost.sizes.forward_flops_per_token",
    "core.cost.sizes.kv_cache_bytes_per_token",
)


@pytest.mark.parametrize("name", [*NAMES, NAMES], ids=lambda n: n if isinstance(n, str) else "all together")
def test_it_runs_as_a_file_of_its_own(name):
    names = (name,) if isinstance(name, str) else name
    text = closure(names)
    assert "from core" not in text
    space = {"__name__": "taken_away"}
    exec(compile(text, "taken_away.py", "exec"), space)
    assert all(each.rpartition(".")[2] in space for each in names)
