"""The roofline of a device: how fast it computes and moves data at best."""

from __future__ import annotations

from typing import NamedTuple

from export_engine.plain_errors import WrongArgument


class Device(NamedTuple):
    """The two limits of a device."""

    name: str
    flops: float
    """FLOPs a second that it does at most."""
    bandwidth: float
    """Bytes a second that its memory moves at most."""
    memory: int = 0
    """Bytes of memory; 0 if not known."""

    @property
    def ridge(self) -> float:
        """FLOPs for each byte from which on it is bound by computing, not by its memory."""
        return self.flops / self.bandwidth

    def seconds(self, flops: float, moved: float) -> float:
        """An estimate: the longer of computing and moving, as if neither was ever interrupted."""
        return max(flops / self.flops, moved / self.bandwidth)


_G, _T = 10**9, 10**12
DEVICES = (
    Device("A100 80 GB, bfloat16", 312 * _T, 2.039 * _T, 80 * _G),
    Device("A100 80 GB, TF32", 156 * _T, 2.039 * _T, 80 * _G),
    Device("H100 SXM, bfloat16", 989 * _T, 3.35 * _T, 80 * _G),
    Device("H200, bfloat16", 989 * _T, 4.8 * _T, 141 * _G),
    Device("L4, bfloat16", 121 * _T, 0.3 * _T, 24 * _G),
    Device("RTX 4090, bfloat16", 165 * _T, 1.008 * _T, 24 * _G),
)
"""Some devices by their data sheets, dense; https://www.nvidia.com/en-us/data-center."""


def device_of(device: str | Device | tuple[float, float]) -> Device:
    """A device by its name or by its numbers.

    Args:
        device: a Device, the beginning of a name in DEVICES, or FLOP/s and bytes/s.

    Raises:
        WrongArgument: no device, or several, have this name.
    """
    if isinstance(device, Device):
        return device
    if isinstance(device, str):
        devices = [
            candidate for candidate in DEVICES if candidate.name.lower().startswith(device.lower())
        ]
        if devices and device:
            return devices[0]
        text = ", ".join(device.name for device in DEVICES)
        raise WrongArgument(
            f"There is no device {device!r}. Available: {text}. Or pass FLOP/s and bytes/s."
        )
    flops, bandwidth = device
    if flops <= 0 or bandwidth <= 0:
        raise WrongArgument("FLOP/s and bytes/s of a device must be above 0.")
    return Device("typed", float(flops), float(bandwidth))
