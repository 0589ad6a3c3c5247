"""Reference numbers of src/alpa/frontend/ops/pooling.h. Needs jax 0.12.0.1 and safetensors."""

import jax.numpy as jnp
from jax import lax

from cases import Cases, numbers

cases = Cases("pooling")
x = numbers(2, 6, 7, 3)
KINDS = {"sum": (lax.add, 0.0), "max": (lax.max, -jnp.inf), "min": (lax.min, jnp.inf)}


def window(name, kind, sizes, strides, padding, inputs=x, **dilations):
    combine, init = KINDS[kind]
    cases.add(name, lambda a: lax.reduce_window(a, init, combine, sizes, strides, padding, **dilations), inputs)


# flax.linen.pooling, written out.
def pool(kind, padding, sizes, strides):
    window(f"{kind}_{padding}".lower(), kind, (1, *sizes, 1), (1, *strides, 1), padding)


for kind in ("max", "min", "sum"):
    pool(kind, "SAME", (3, 3), (2, 2))
    pool(kind, "VALID", (2, 3), (1, 2))
EXPLICIT = ((0, 0), (1, 2), (0, 1), (0, 0))
window("max_explicit", "max", (1, 3, 2, 1), (1, 2, 1, 1), EXPLICIT)
window("sum_explicit", "sum", (2, 3, 2, 2), (1, 2, 1, 1), ((0, 1), (1, 2), (-1, 1), (1, 0)))
window(
    "sum_dilated",
    "sum",
    (1, 3, 2, 1),
    (1, 2, 1, 1),
    EXPLICIT,
    base_dilation=(1, 2, 3, 1),
    window_dilation=(1, 2, 1, 1),
)
window("max_one_dim", "max", (3,), (2,), "SAME", numbers(9))
# Of equal elements the first one gets the cotangent.
window("max_ties", "max", (3,), (2,), "VALID", jnp.asarray([1.0, 1, 0, 2, 2, 2, 1]))


def average(name, sizes, strides, padding, include):
    sizes, strides = (1, *sizes, 1), (1, *strides, 1)
    total = lambda a: lax.reduce_window(a, 0.0, lax.add, sizes, strides, padding)
    count = (lambda a: sizes[1] * sizes[2]) if include else (lambda a: total(jnp.ones_like(a)))
    cases.add(name, lambda a: total(a) / count(a), x)


average("average", (2, 2), (2, 2), "VALID", True)
average("average_same", (3, 2), (2, 2), "SAME", True)
average("average_inside", (3, 2), (2, 2), "SAME", False)
cases.write()
