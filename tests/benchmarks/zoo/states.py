"""State spaces and recurrent models: of transformers, and as people write them by hand."""

from __future__ import annotations

import torch
from torch import nn

from .model import Model, own
from .transformers_calls import GROUPED, decoder


class _SelectiveScan(nn.Module):
    """Mamba's recurrence, token by token."""

    def __init__(self) -> None:
        super().__init__()
        self.gates = nn.Linear(8, 8 + 4 + 4)
        self.decay = nn.Parameter(torch.rand(8, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        delta, b, c = self.gates(x).split([8, 4, 4], dim=-1)
        delta = nn.functional.softplus(delta)
        state = x.new_zeros(batch, width, 4)
        found = []
        for t in range(length):
            kept = torch.exp(-delta[:, t, :, None] * self.decay)
            state = kept * state + (delta[:, t] * x[:, t])[..., None] * b[:, t, None, :]
            found.append((state * c[:, t, None, :]).sum(-1))
        return torch.stack(found, dim=1)


class _TimeMixing(nn.Module):
    """The recurrence of RWKV: a numerator and a denominator that decay."""

    def __init__(self) -> None:
        super().__init__()
        self.key, self.value = nn.Linear(8, 8), nn.Linear(8, 8)
        self.decay, self.first = nn.Parameter(torch.rand(8)), nn.Parameter(torch.rand(8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        key, value = self.key(x), self.value(x)
        above = torch.zeros_like(x[:, 0])
        below = torch.zeros_like(x[:, 0])
        output = torch.empty_like(value)
        for t in range(x.size(1)):
            now = torch.exp(self.first + key[:, t])
            output[:, t] = (above + now * value[:, t]) / (below + now)
            above = torch.exp(-self.decay) * above + torch.exp(key[:, t]) * value[:, t]
            below = torch.exp(-self.decay) * below + torch.exp(key[:, t])
        return output


class _Cells(nn.Module):
    """An LSTM cell in a loop, whose last state is what counts."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(8, 8)
        self.out = nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.zeros(x.shape[0], 8)
        c = torch.zeros(x.shape[0], 8)
        for step in x.unbind(1):
            h, c = self.cell(step, (h, c))
        return self.out(h)


class _ConvRecurrence(nn.Module):
    """A convolutional GRU over frames of any height and width."""

    def __init__(self) -> None:
        super().__init__()
        self.gates, self.new = nn.Conv2d(7, 8, 3, padding=1), nn.Conv2d(7, 4, 3, padding=1)

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        batch, count, _, height, width = frames.shape
        state = frames.new_zeros(batch, 4, height, width)
        found = []
        for t in range(count):
            both = torch.cat([frames[:, t], state], 1)
            update, reset = torch.sigmoid(self.gates(both)).chunk(2, 1)
            new = torch.tanh(self.new(torch.cat([frames[:, t], reset * state], 1)))
            state = update * state + (1 - update) * new
            found.append(state)
        return torch.stack(found, 1)


class _Retention(nn.Module):
    """RetNet's parallel form: a decay between any two positions."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        at = torch.arange(x.shape[1])
        apart = at[:, None] - at[None, :]
        decay = torch.where(apart >= 0, 0.9 ** apart.clamp(min=0), 0.0)
        return (self.q(x) @ self.k(x).transpose(1, 2) * decay) @ self.v(x)


class _LongConvolution(nn.Module):
    """A diagonal state space as S4D runs it: a kernel as long as the input, by FFT."""

    def __init__(self) -> None:
        super().__init__()
        self.decay, self.amount = nn.Parameter(torch.rand(8, 4)), nn.Parameter(torch.randn(8, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        length = x.shape[1]
        powers = torch.exp(-self.decay[..., None] * torch.arange(length))
        kernel = (self.amount[..., None] * powers).sum(1)
        spectrum = torch.fft.rfft(kernel, n=2 * length) * torch.fft.rfft(
            x.transpose(1, 2), n=2 * length
        )
        return torch.fft.irfft(spectrum, n=2 * length)[..., :length].transpose(1, 2)


def _steps(batch: int, seq: int) -> tuple[tuple[torch.Tensor, ...], dict[str, object]]:
    return (torch.randn(batch, seq, 8),), {}


STATES: tuple[Model, ...] = (
    decoder("mamba", "MambaConfig", "MambaForCausalLM", vocab_size=100, hidden_size=32,
             num_hidden_layers=1, state_size=8),
    decoder("rwkv", "RwkvConfig", "RwkvForCausalLM", vocab_size=100, hidden_size=32,
             num_hidden_layers=2, attention_hidden_size=32),
    decoder("mamba2", "Mamba2Config", "Mamba2ForCausalLM", vocab_size=100, hidden_size=32,
            num_hidden_layers=1, state_size=8, num_heads=8, head_dim=8, n_groups=1, chunk_size=8),
    decoder("falcon-mamba", "FalconMambaConfig", "FalconMambaForCausalLM", vocab_size=100,
            hidden_size=32, num_hidden_layers=1, state_size=8),
    decoder("jamba", "JambaConfig", "JambaForCausalLM", **GROUPED | {"num_hidden_layers": 2},
            attn_layer_period=2, attn_layer_offset=1, expert_layer_period=2,
            expert_layer_offset=1, num_experts=4, num_experts_per_tok=2, mamba_d_state=8,
            mamba_dt_rank=4, use_mamba_kernels=False, pad_token_id=0),
    decoder("bamba", "BambaConfig", "BambaForCausalLM", **GROUPED | {"num_hidden_layers": 2},
            attn_layer_indices=[1], mamba_n_heads=8, mamba_d_head=8, mamba_n_groups=1,
            mamba_d_state=8, mamba_chunk_size=8, pad_token_id=0),
    decoder("recurrent-gemma", "RecurrentGemmaConfig", "RecurrentGemmaForCausalLM",
            **GROUPED | {"num_hidden_layers": 3}, lru_width=32, attention_window_size=8,
            pad_token_id=0),
    decoder("xlstm", "xLSTMConfig", "xLSTMForCausalLM", vocab_size=100, hidden_size=32,
            num_heads=4, num_hidden_layers=1, qk_dim_factor=0.5, v_dim_factor=1.0,
            chunkwise_kernel="chunkwise--native_autograd",
            sequence_kernel="native_sequence__native", step_kernel="native", chunk_size=8,
            pad_token_id=0),
    decoder("lfm2", "Lfm2Config", "Lfm2ForCausalLM", **GROUPED | {"num_hidden_layers": 2},
            layer_types=["conv", "full_attention"], pad_token_id=0),
    decoder("granite-moe-hybrid", "GraniteMoeHybridConfig", "GraniteMoeHybridForCausalLM",
            **GROUPED | {"num_hidden_layers": 2}, layer_types=["mamba", "attention"],
            num_local_experts=4, num_experts_per_tok=2, mamba_n_heads=8, mamba_d_head=8,
            mamba_n_groups=1, mamba_d_state=8, mamba_chunk_size=8, shared_intermediate_size=16),
    decoder("qwen3-next", "Qwen3NextConfig", "Qwen3NextForCausalLM",
            **GROUPED | {"num_hidden_layers": 2}, head_dim=8, num_experts=4,
            num_experts_per_tok=2, moe_intermediate_size=16, shared_expert_intermediate_size=16,
            linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8,
            linear_value_head_dim=8, layer_types=["linear_attention", "full_attention"],
            pad_token_id=0),
    decoder("falcon-h1", "FalconH1Config", "FalconH1ForCausalLM", **GROUPED, mamba_d_ssm=64,
            mamba_n_heads=8, mamba_d_head=8, mamba_n_groups=1, mamba_d_state=8,
            mamba_chunk_size=8, pad_token_id=0),
    own("selective scan", _SelectiveScan, _steps, "x: batch, seq, _", batch=2, seq=9),
    own("time mixing", _TimeMixing, _steps, "x: batch, seq, _", batch=2, seq=9),
    own("lstm cells", _Cells, _steps, "x: batch, seq, _", batch=2, seq=9),
    own("convolutional gru", _ConvRecurrence,
        lambda batch, frames, h, w: ((torch.randn(batch, frames, 3, h, w),), {}),
        "frames: batch, frames, _, h, w", batch=2, frames=5, h=8, w=8),
    own("retention", _Retention, _steps, "x: batch, seq, _", batch=2, seq=9),
    own("long convolution", _LongConvolution, _steps, "x: batch, seq, _", batch=2, seq=9),
    own("gru", lambda: nn.GRU(8, 8, batch_first=True), _steps, "input: batch, seq, _",
        batch=2, seq=9),
)  # fmt: skip
