"""Sets of programs of real models, tiny: a diffusion pipeline, and two towers with a head.

Each comes with the loop that runs it end to end, by its modules or by its programs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch

Run = Callable[[Mapping[str, Callable[..., Any]], int], torch.Tensor]


class RealSet(NamedTuple):
    """The calls of a set, and what runs it."""

    calls: dict[str, tuple[Any, ...]]
    run: Run
    """The result of the whole with these callables, for so many rows."""

    @property
    def modules(self) -> dict[str, Callable[..., Any]]:
        """What each program was made of."""
        return {name: call[0] for name, call in self.calls.items()}


class TextEncoder(torch.nn.Module):
    """Token ids → hidden states."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"encoder_hidden_states": self.model(input_ids).last_hidden_state}


class Denoiser(torch.nn.Module):
    """Latents, a timestep and hidden states → the latents with less noise."""

    def __init__(self, unet: Any) -> None:
        super().__init__()
        self.unet = unet

    def forward(
        self, latents: torch.Tensor, timestep: torch.Tensor, encoder_hidden_states: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        noise = self.unet(latents, timestep, encoder_hidden_states).sample
        return {"latents": latents - 0.3 * noise}


class Decoder(torch.nn.Module):
    """Latents → pictures."""

    def __init__(self, vae: Any) -> None:
        super().__init__()
        self.vae = vae

    def forward(self, latents: torch.Tensor) -> torch.Tensor:
        return self.vae.decode(latents).sample


_STEPS = (900, 500, 100)


def _denoised(parts: Mapping[str, Callable[..., Any]], rows: int) -> torch.Tensor:
    """Pictures of random prompts, in a few steps."""
    random = torch.Generator().manual_seed(0)
    tokens = torch.randint(0, 50, (rows, 6), generator=random)
    latents = torch.randn(rows, 4, 8, 8, generator=random)
    with torch.no_grad():
        hidden = parts["text_encoder"](tokens)["encoder_hidden_states"]
        for step in _STEPS:
            latents = parts["denoiser"](latents, torch.tensor(step), hidden)["latents"]
        return parts["decoder"](latents)  # type: ignore[no-any-return]


def diffusion() -> RealSet:
    """A pipeline of diffusers' own modules, and CLIP's text model.

    Raises:
        ImportError: diffusers is not installed.
    """
    import diffusers
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
    encoder = TextEncoder(text.eval())
    denoiser = Denoiser(unet.eval())
    tokens, noise, step = torch.randint(0, 50, (2, 6)), torch.randn(2, 4, 8, 8), torch.tensor(7)
    with torch.no_grad():
        hidden = encoder(tokens)["encoder_hidden_states"]
        latents = denoiser(noise, step, hidden)["latents"]
    return RealSet(
        {
            "text_encoder": (encoder, (tokens,), {}, "input_ids: batch, _"),
            "denoiser": (
                denoiser,
                (noise, step, hidden),
                {},
                "latents: batch, _, _, _; encoder_hidden_states: batch, _, _",
            ),
            "decoder": (Decoder(vae.eval()), (latents,), {}, "latents: batch, _, _, _"),
        },
        _denoised,
    )


class Score(torch.nn.Module):
    """How alike what two towers give is."""

    def forward(self, text_embeds: torch.Tensor, image_embeds: torch.Tensor) -> torch.Tensor:
        return text_embeds @ image_embeds.T


def _scored(parts: Mapping[str, Callable[..., Any]], rows: int) -> torch.Tensor:
    """The scores of random texts for one picture more."""
    random = torch.Generator().manual_seed(0)
    tokens = torch.randint(0, 49, (rows, 6), generator=random)
    pixels = torch.randn(rows + 1, 3, 8, 8, generator=random)
    with torch.no_grad():
        embeds = parts["text"](tokens).text_embeds, parts["image"](pixels).image_embeds
        return parts["score"](*embeds)  # type: ignore[no-any-return]


def two_towers() -> RealSet:
    """CLIP's text and vision models with their projections, and the scores of both."""
    from transformers import (
        CLIPTextConfig,
        CLIPTextModelWithProjection,
        CLIPVisionConfig,
        CLIPVisionModelWithProjection,
    )

    torch.manual_seed(0)
    sizes: dict[str, Any] = {
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
    return RealSet(
        {
            "text": (text, (tokens,), {}, "input_ids: texts, _"),
            "image": (image, (pixels,), {}, "pixel_values: images, _, _, _"),
            "score": (Score(), both, {}, "text_embeds: texts, _; image_embeds: images, _"),
        },
        _scored,
    )
