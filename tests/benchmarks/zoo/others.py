"""Models of other packages: diffusion, graphs, speech, and torch's own layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from .model import Call, Model, ids, own

_UNET: dict[str, Any] = {
    "block_out_channels": (8, 16),
    "layers_per_block": 1,
    "norm_num_groups": 4,
}


def _diffusers(
    name: str, model: str, call: Callable[..., Call], shapes: str, size: int = 32, **options: Any
) -> Model:
    def build() -> nn.Module:
        import diffusers

        made: nn.Module = getattr(diffusers, model)(**options)
        return made.eval()

    sizes = {"batch": 2, "height": size, "width": size}
    return Model(name, "diffusers", build, call, sizes, shapes)


def _noisy(batch: int, height: int, width: int) -> Call:
    return (torch.randn(batch, 3, height, width), torch.randint(0, 9, (batch,))), {
        "return_dict": False
    }


def _guided(batch: int, height: int, width: int) -> Call:
    sample = torch.randn(batch, 4, height, width)
    states = torch.randn(batch, 7, 16)
    return (sample, torch.randint(0, 9, (batch,)), states), {"return_dict": False}


def _picture(batch: int, height: int, width: int) -> Call:
    return (torch.randn(batch, 3, height, width),), {"return_dict": False}


def _graph(name: str, layer: str, **options: Any) -> Model:
    """A layer of torch_geometric: any number of nodes and edges."""

    def build() -> nn.Module:
        import torch_geometric.nn

        made: nn.Module = getattr(torch_geometric.nn, layer)(**options)
        return made.eval()

    def call(nodes: int, edges: int) -> Call:
        return (torch.randn(nodes, 8), torch.randint(0, nodes, (2, edges))), {}

    sizes = {"nodes": 10, "edges": 30}
    return Model(name, "torch_geometric", build, call, sizes, "x: nodes, _; edge_index: _, edges")


def _conformer() -> nn.Module:
    from conformer import Conformer

    made: nn.Module = Conformer(
        dim=16, depth=1, dim_head=8, heads=2, ff_mult=2, conv_expansion_factor=2, conv_kernel_size=3
    )
    return made.eval()


class _Denoiser(nn.Module):
    """A U-Net of one skip, as segmentation and audio models have."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 8, 4, stride=2, padding=1)
        self.deep = nn.Conv2d(8, 8, 4, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(8, 8, 4, stride=2, padding=1)
        self.out = nn.ConvTranspose2d(16, 3, 4, stride=2, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first = torch.relu(self.down(x))
        deep = torch.relu(self.up(torch.relu(self.deep(first))))
        return x + self.out(torch.cat([deep, first], 1))


class _Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(100, 16)
        self.rnn = nn.LSTM(16, 16, batch_first=True, bidirectional=True)
        self.out = nn.Linear(32, 5)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.out(self.rnn(self.embed(tokens))[0])


class _Spectra(nn.Module):
    """Frames of a waveform, and what a small net makes of their spectra."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(64))
        self.net = nn.Conv1d(33, 8, 3, padding=1)

    def forward(self, wave: torch.Tensor) -> torch.Tensor:
        frames = wave.unfold(-1, 64, 32) * self.window
        return self.net(torch.fft.rfft(frames).abs().transpose(1, 2))


class _Windows(nn.Module):
    """Attention in windows of 4 by 4, as vision transformers partition."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, h, w, c = x.shape
        windows = x.view(b, h // 4, 4, w // 4, 4, c).permute(0, 1, 3, 2, 4, 5)
        flat = windows.reshape(-1, 16, c)
        out = self.attention(flat, flat, flat, need_weights=False)[0]
        back = out.view(b, h // 4, w // 4, 4, 4, c).permute(0, 1, 3, 2, 4, 5)
        return back.reshape(b, h, w, c)


def _encoder_layer() -> nn.Module:
    return nn.TransformerEncoder(
        nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 1, enable_nested_tensor=False
    )


OTHERS: tuple[Model, ...] = (
    _diffusers("unet2d", "UNet2DModel", _noisy, "sample: batch, _, height, width; timestep: batch",
               **_UNET, down_block_types=("DownBlock2D", "AttnDownBlock2D"),
               up_block_types=("AttnUpBlock2D", "UpBlock2D"), attention_head_dim=4),
    _diffusers("unet2d conditioned", "UNet2DConditionModel", _guided,
               "sample: batch, _, height, width; timestep: batch; "
               "encoder_hidden_states: batch, _, _", **_UNET, cross_attention_dim=16,
               attention_head_dim=4, down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
               up_block_types=("UpBlock2D", "CrossAttnUpBlock2D")),
    _diffusers("autoencoder kl", "AutoencoderKL", _picture, "sample: batch, _, height, width",
               block_out_channels=(8, 16), norm_num_groups=4,
               down_block_types=("DownEncoderBlock2D",) * 2,
               up_block_types=("UpDecoderBlock2D",) * 2),
    _diffusers("vq model", "VQModel", _picture, "sample: batch, _, height, width",
               block_out_channels=(8,), norm_num_groups=4),
    _diffusers("autoencoder tiny", "AutoencoderTiny", _picture, "sample: batch, _, height, width",
               encoder_block_out_channels=(8, 8), decoder_block_out_channels=(8, 8),
               num_encoder_blocks=(1, 1), num_decoder_blocks=(1, 1)),
    _graph("gcn", "GCNConv", in_channels=8, out_channels=4),
    _graph("sage", "SAGEConv", in_channels=8, out_channels=4),
    _graph("gat", "GATConv", in_channels=8, out_channels=4, heads=2),
    _graph("gatv2", "GATv2Conv", in_channels=8, out_channels=4),
    _graph("graphconv", "GraphConv", in_channels=8, out_channels=4),
    _graph("tag", "TAGConv", in_channels=8, out_channels=4),
    _graph("transformer conv", "TransformerConv", in_channels=8, out_channels=4),
    Model("conformer", "conformer", _conformer,
          lambda batch, frames: ((torch.randn(batch, frames, 16),), {}),
          {"batch": 2, "frames": 40}, "x: batch, frames, _"),
    own("denoiser", _Denoiser, lambda batch, h, w: ((torch.randn(batch, 3, h, w),), {}),
         "x: batch, _, h, w", batch=2, h=32, w=32),
    own("tagger", _Tagger, lambda batch, seq: ((ids(batch, seq),), {}), "tokens: batch, seq",
         batch=2, seq=9),
    own("spectra", _Spectra, lambda batch, time: ((torch.randn(batch, time),), {}),
         "wave: batch, time", batch=2, time=640),
    own("windows", _Windows, lambda batch, h, w: ((torch.randn(batch, h, w, 8),), {}),
         "x: batch, h, w, _", batch=2, h=16, w=16),
    own("transformer encoder", _encoder_layer,
         lambda batch, seq: ((torch.randn(batch, seq, 16),), {}), "src: batch, seq, _",
         batch=2, seq=9),
    own("pooling net", lambda: nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(),
                                              nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                                              nn.Linear(8, 4)),
         lambda batch, h, w: ((torch.randn(batch, 3, h, w),), {}), "input: batch, _, h, w",
         batch=2, h=32, w=32),
)  # fmt: skip
