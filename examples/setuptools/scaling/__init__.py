"""Multiplies on the GPU."""
from ._scaling import scale

__all__ = ["scale"]
