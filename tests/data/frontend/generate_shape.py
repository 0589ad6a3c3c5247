"""Reference numbers of src/alpa/frontend/ops/shape.h, creation.h and subscripts. Needs jax 0.12.0.1 and safetensors."""

import jax
import jax.numpy as jnp
from jax import lax

from cases import Cases, numbers

cases = Cases("shape")
x = numbers(2, 3, 4)
y = numbers(2, 3, 4, seed=1)
cases.add("reshape", lambda a: a.reshape(4, 6), x)
cases.add("reshape_rest", lambda a: a.reshape(2, -1, 2), x)
cases.add("reshape_scalar", lambda a: a.reshape(()), numbers(1, 1))
cases.add("reshape_empty", lambda a: a.reshape(3, 0), jnp.zeros((0, 2)))
cases.add("flatten", jnp.ravel, x)
cases.add("transpose", jnp.transpose, x)
cases.add("transpose_order", lambda a: jnp.transpose(a, (1, -1, 0)), x)
cases.add("swap_dims", lambda a: jnp.swapaxes(a, 0, -1), x)
cases.add("move_dim", lambda a: jnp.moveaxis(a, 0, -1), x)
cases.add("move_dim_front", lambda a: jnp.moveaxis(a, -1, 0), x)
cases.add("broadcast_to", lambda a: jnp.broadcast_to(a, (2, 5, 3, 4)), numbers(1, 3, 1))
cases.add("broadcast_to_scalar", lambda a: jnp.broadcast_to(a, (2, 3)), jnp.float32(1.5))
cases.add("broadcast_in_dim", lambda a: lax.broadcast_in_dim(a, (2, 5, 3), (0, 2)), numbers(2, 3))
cases.add("expand_dims", lambda a: jnp.expand_dims(a, (0, -1, 2)), numbers(2, 3))
cases.add("squeeze", jnp.squeeze, numbers(1, 2, 1, 3))
cases.add("squeeze_dim", lambda a: jnp.squeeze(a, (-2,)), numbers(1, 2, 1, 3))
cases.add("concatenate", lambda a, b, c: jnp.concatenate([a, b, c], 1), x, y[:, :1], numbers(2, 0, 4))
cases.add("concatenate_last", lambda a, b: jnp.concatenate([a, b], -1), x, y)
cases.add("concatenate_mixed", lambda a, b: jnp.concatenate([a, b]), jnp.arange(3), numbers(2, dtype=jnp.float16))
cases.add("stack", lambda a, b: jnp.stack([a, b]), x, y)
cases.add("stack_last", lambda a, b: jnp.stack([a, b], -1), x, y)
cases.add("split", lambda a: jnp.split(a, 2, -1), x)
cases.add("split_at", lambda a: jnp.split(a, (1, 1, 3), 2), x)
pads = dict(
    plain=[(1, 2, 0), (0, 1, 0), (0, 0, 0)], cut=[(-1, 0, 0), (0, -2, 0), (1, -1, 0)],
    interior=[(0, 0, 2), (1, 0, 1), (0, 2, 0)], all=[(-1, 3, 2), (2, -1, 1), (-2, -1, 1)],
)  # fmt: skip
for name, config in pads.items():
    cases.add(f"pad_{name}", lambda a, v: lax.pad(a, v, config), x, jnp.float32(0.5))
cases.add("pad_dims", lambda a: jnp.pad(a, ((1, 0), (0, 2)), constant_values=3), numbers(2, 3))
cases.add("slice", lambda a: lax.slice(a, (0, 1, 0), (2, 3, 4), (1, 1, 3)), x)
cases.add("slice_dim", lambda a: lax.slice_in_dim(a, 1, 4, 2, -1), x)
cases.add("slice_empty", lambda a: a[:, 2:2], x)
cases.add("reverse", lambda a: jnp.flip(a, (0, -1)), x)
cases.add("roll", lambda a: jnp.roll(a, 1, 1), x)
cases.add("roll_back", lambda a: jnp.roll(a, -6, -1), x)
cases.add("repeat", lambda a: jnp.repeat(a, 3, 1), x)
cases.add("tile", lambda a: jnp.tile(a, (2, 1, 3)), x)
cases.add("tile_fewer", lambda a: jnp.tile(a, (2,)), x)
cases.add("tile_more", lambda a: jnp.tile(a, (2, 1, 1, 2)), x)
for dtype in (jnp.float16, jnp.bfloat16, jnp.complex64, jnp.int8, jnp.uint16, jnp.bool_):
    a = jnp.arange(6).reshape(2, 3).astype(dtype)
    cases.add(
        f"moves_{dtype.__name__}", lambda a: jnp.pad(jnp.flip(jnp.concatenate([a, a.T.reshape(2, 3)], 1), 1), 1)[1:, ::2], a
    )

cases.add("iota", lambda: lax.broadcasted_iota(jnp.int32, (2, 3), 1))
cases.add("iota_half", lambda: lax.broadcasted_iota(jnp.float16, (3, 2), 0))
cases.add("arange", lambda: jnp.arange(5))
cases.add("arange_step", lambda: jnp.arange(1, 2.5, 0.25, dtype=jnp.float32))
cases.add("arange_down", lambda: jnp.arange(5, 0, -2, dtype=jnp.int32))
cases.add("arange_none", lambda: jnp.arange(3, 1, 1, dtype=jnp.float32))
cases.add("linspace", lambda: jnp.linspace(-1, 2, 7))
cases.add("linspace_one", lambda: jnp.linspace(3, 4, 1))
cases.add("linspace_none", lambda: jnp.linspace(3, 4, 0))
cases.add("linspace_integers", lambda: jnp.linspace(-5, 5, 4, dtype=jnp.int32))
cases.add("linspace_half", lambda: jnp.linspace(0, 1, 3000, dtype=jnp.float16))
cases.add("eye", lambda: jnp.eye(3))
cases.add("eye_wide", lambda: jnp.eye(2, 4, 1, dtype=jnp.int32))
cases.add("tri", lambda: jnp.tri(3, 4, -1))
for offset in (0, 1, -2, 9):
    cases.add(f"tril_{offset}", lambda a: jnp.tril(a, offset), x)
    cases.add(f"triu_{offset}", lambda a: jnp.triu(a, offset), x)
cases.add("tril_infinite", jnp.tril, jnp.asarray([[1, jnp.inf], [jnp.nan, 2]]))
cases.add("one_hot", lambda i: jax.nn.one_hot(i, 3), jnp.asarray([[0, 2], [3, -1]], jnp.int32))
cases.add("one_hot_bytes", lambda i: jax.nn.one_hot(i, 300, dtype=jnp.bfloat16), jnp.asarray([0, 255], jnp.uint8))
cases.add("meshgrid", lambda a, b, c: jnp.meshgrid(a, b, c), numbers(2), numbers(3, seed=1), numbers(4, seed=2))
cases.add("meshgrid_matrix", lambda a, b: jnp.meshgrid(a, b, indexing="ij"), numbers(2), numbers(3, seed=1))
cases.add("full_like", lambda a: jnp.full_like(a, 2.7), jnp.arange(3))
cases.add("zeros", lambda: (jnp.zeros((2, 0)), jnp.ones((2,), jnp.bool_), jnp.full((2, 2), 7, jnp.int8)))
cases.write()
