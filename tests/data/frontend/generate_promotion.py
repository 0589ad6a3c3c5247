"""Element types of JAX's sums, as src/alpa/frontend/promotion.h has them. Needs jax 0.12.0.1 and safetensors.

"pairs" and "weak" hold the places of the results in TYPES, plus 100 where the result is weak. 64-bit types are on, but
weak results count as those without: s32, f32, c64.
"""

import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from safetensors.numpy import save_file

jax.config.update("jax_enable_x64", True)
TYPES = (
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 bfloat16 float16 float32 float64 complex64 complex128".split()
)
NARROW = dict(int64="int32", float64="float32", complex128="complex64")


def place(result):
    if result.weak_type:
        return TYPES.index(NARROW[result.dtype.name]) + 100
    return TYPES.index(result.dtype.name)


arrays = [jnp.zeros((), dtype) for dtype in TYPES]
numbers = [1, 1.5, 1.5j]
save_file(
    {
        "pairs": np.asarray([[place(jnp.multiply(a, b)) for b in arrays] for a in arrays], np.int32),
        "weak": np.asarray([[place(jnp.multiply(a, b)) for b in numbers] for a in arrays], np.int32),
        "numbers": np.asarray([[place(jnp.multiply(a, b)) for b in numbers] for a in numbers], np.int32),
    },
    str(pathlib.Path(__file__).parent / "promotion.safetensors"),
)
