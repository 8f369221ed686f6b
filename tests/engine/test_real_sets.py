"""Sets of programs of real models: a diffusion pipeline, and two towers with a head."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import explorer

pytestmark = pytest.mark.slow


class TextEncoder(torch.nn.Module):
    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"encoder_hidden_states": self.model(input_ids).last_hidden_state}


class Denoiser(torch.nn.Module):
    def __init__(self, unet: Any) -> None:
        super().__init__()
        self.unet = unet

    def forward(
        self, sample: torch.Tensor, timestep: torch.Tensor, encoder_hidden_states: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        return {"noise": self.unet(sample, timestep, encoder_hidden_states).sample}


class Decoder(torch.nn.Module):
    def __init__(self, vae: Any) -> None:
        super().__init__()
        self.vae = vae

    def forward(self, latents: torch.Tensor) -> torch.Tensor:
        return self.vae.decode(latents).sample


def test_a_diffusion_pipeline_is_a_set() -> None:
    diffusers = pytest.importorskip(
        "diffusers", reason="it is not installed: pip install '.[bench]'"
    )
    from transformers import CLIPTextConfig, CLIPTextModel

    torch.manual_seed(0)
    text = CLIPTextModel(
        CLIPTextConfig(
            hidden_size=8,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            vocab_size=50,
            max_position_embeddings=16,
        )
    )
    unet = diffusers.UNet2DConditionModel(
        sample_size=8,
        block_out_channels=(8,),
        down_block_types=("CrossAttnDownBlock2D",),
        up_block_types=("CrossAttnUpBlock2D",),
        layers_per_block=1,
        cross_attention_dim=8,
        attention_head_dim=4,
        norm_num_groups=2,
    )
    vae = diffusers.AutoencoderKL(block_out_channels=(8,), norm_num_groups=2, latent_channels=4)
    tokens = torch.randint(0, 50, (2, 6))
    encoder = TextEncoder(text.eval())
    latents, time = torch.randn(2, 4, 8, 8), torch.tensor(7)
    with torch.no_grad():
        hidden = encoder(tokens)["encoder_hidden_states"]
    kit = explorer.explore_many(
        {
            "text_encoder": (encoder, (tokens,), {}, "input_ids: batch, _"),
            "denoiser": (
                Denoiser(unet.eval()),
                (latents, time, hidden),
                {},
                "sample: batch, _, _, _; encoder_hidden_states: batch, _, _",
            ),
            "decoder": (Decoder(vae.eval()), (latents,), {}, "latents: batch, _, _, _"),
        },
        title="diffusion",
    )

    assert kit.ok, repr(kit)
    seams = {(each.source, each.target): each for each in kit.seams}
    assert [each.known_by for each in seams[0, 1].flows] == ["values"]
    assert [each for each in kit.findings if each.severity != "note"] == []
    assert "batch" in [each.name for each in kit.record.symbols]
    images = kit["decoder"].program.module()(torch.randn(3, 4, 8, 8))
    assert images.shape[:2] == (3, 3)


class Score(torch.nn.Module):
    """What of two towers is alike."""

    def forward(self, text_embeds: torch.Tensor, image_embeds: torch.Tensor) -> torch.Tensor:
        return text_embeds @ image_embeds.T


def test_two_towers_and_their_head_are_a_set() -> None:
    from transformers import (
        CLIPTextConfig,
        CLIPTextModelWithProjection,
        CLIPVisionConfig,
        CLIPVisionModelWithProjection,
    )

    torch.manual_seed(0)
    sizes = {
        "hidden_size": 8,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "projection_dim": 4,
    }
    words = CLIPTextConfig(**sizes, vocab_size=50, max_position_embeddings=16)
    text = CLIPTextModelWithProjection(words).eval()
    pictures = CLIPVisionConfig(**sizes, image_size=8, patch_size=4)
    image = CLIPVisionModelWithProjection(pictures).eval()
    tokens, pixels = torch.randint(0, 49, (2, 6)), torch.randn(3, 3, 8, 8)
    with torch.no_grad():
        both = text(tokens).text_embeds, image(pixels).image_embeds
    kit = explorer.explore_many(
        {
            "text": (text, (tokens,), {}, "input_ids: texts, _"),
            "image": (image, (pixels,), {}, "pixel_values: images, _, _, _"),
            "score": (Score(), both, {}, "text_embeds: texts, _; image_embeds: images, _"),
        }
    )

    seams = {(each.source, each.target): each.summary for each in kit.seams}
    assert seams == {(0, 2): "text_embeds", (1, 2): "image_embeds"}
    assert {each.name for each in kit.record.symbols} == {"texts", "images"}
    assert [each for each in kit.findings if each.severity != "note"] == []
