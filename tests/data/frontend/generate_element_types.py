"""Reference numbers of small floats, complex numbers and integers in the families whose other tests are in f32.

Needs jax 0.12.0.1 and safetensors.
"""

import jax.numpy as jnp
from jax import lax

from cases import Cases, numbers

cases = Cases("element_types")
s32 = lambda values: jnp.asarray(values, jnp.int32)


def convolution(x, k):
    return lax.conv_general_dilated(x, k, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def window(reduction, init):
    return lambda x: lax.reduce_window(x, jnp.asarray(init, x.dtype), reduction, (1, 3, 2, 1), (1, 2, 1, 1), "SAME")


def loop(x):
    return lax.scan(lambda carry, row: (carry * x.dtype.type(0.5) + row, carry), jnp.zeros_like(x[0]), x)


for dtype in (jnp.float16, jnp.bfloat16, jnp.complex64, jnp.int32, jnp.int8, jnp.uint8):
    name = dtype.__name__
    draw = lambda *dims, seed=0: (
        numbers(*dims, seed=seed, dtype=dtype)
        if jnp.issubdtype(dtype, jnp.inexact)
        else (numbers(*dims, seed=seed) * 3 + 7).astype(dtype)
    )
    real = not jnp.issubdtype(dtype, jnp.complexfloating)
    x = draw(2, 5, 3)
    if jnp.issubdtype(dtype, jnp.inexact):
        cases.add(f"convolution/{name}", convolution, draw(2, 5, 4, 2), draw(3, 2, 2, 3, seed=1))
        cases.add(f"scan/{name}", loop, draw(4, 3))
    cases.add(f"cumsum/{name}", lambda a: jnp.cumsum(a, 1), x)
    cases.add(f"cumprod/{name}", lambda a: lax.cumprod(a, 1), x)
    cases.add(f"sum_window/{name}", window(lax.add, 0), draw(2, 5, 4, 2))
    cases.add(f"take/{name}", lambda a, i: jnp.take(a, i, axis=1), x, s32([[4, 0], [9, 1]]))
    cases.add(f"scatter_add/{name}", lambda a, i, u: a.at[:, i].add(u), x, s32([1, 1, 4]), draw(2, 3, 3, seed=1))
    cases.add(f"scatter_set/{name}", lambda a, i, u: a.at[:, i].set(u), x, s32([1, 0, 4]), draw(2, 3, 3, seed=1))
    cases.add(f"dynamic_slice/{name}", lambda a, i: lax.dynamic_slice_in_dim(a, i, 2, 1), x, s32(3))
    cases.add(f"subscript/{name}", lambda a, i: a[:, i, ::-1], x, s32([0, -1]))
    if real:
        cases.add(f"cummax/{name}", lambda a: lax.cummax(a, 1), x)
        least = jnp.finfo(dtype).min if jnp.issubdtype(dtype, jnp.inexact) else jnp.iinfo(dtype).min
        cases.add(f"max_window/{name}", window(lax.max, least), draw(2, 5, 4, 2), grad=False)
        cases.add(f"sort/{name}", lambda a: jnp.sort(a, 1, descending=True), x)
        cases.add(f"argsort/{name}", lambda a: jnp.argsort(a, 1), x)
        cases.add(f"top_k/{name}", lambda a: lax.top_k(a, 2), x)
        cases.add(f"searchsorted/{name}", lambda a, v: jnp.searchsorted(jnp.sort(a), v), draw(6), draw(4, seed=1))

every = "bool uint8 uint16 uint32 int8 int16 int32 bfloat16 float16 float32 complex64".split()
values = dict(bool=[0, 1, 1], u=[0, 3, 200], int=[-100, 0, 7], bfloat16=[-1.75, 0, 2.5], float=[-1.75, 0.3, 2.5])
for a in every:
    kind = next((kind for kind in values if a.startswith(kind)), None)
    x = jnp.asarray([2.5 + 1j, 2j, 0], jnp.complex64) if kind is None else jnp.asarray(values[kind]).astype(a)
    for b in every:
        if b.startswith("u") and a.startswith(("float", "bfloat", "complex")):
            x = abs(x)  # what a negative float becomes is undefined
        to_real = a == "complex64" and b != "bool"
        cases.add(f"astype/{a}_{b}", lambda x: (x.real if to_real and b != a else x).astype(b), x)
cases.write()
