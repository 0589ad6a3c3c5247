"""Reference numbers of src/alpa/frontend/ops/indexing.h and subscript.h. Needs jax 0.12.0.1 and safetensors."""

import jax
import jax.numpy as jnp
import numpy as np

from cases import Cases, numbers

cases = Cases("indexing")
s32 = lambda values: jnp.asarray(values, jnp.int32)

wild = s32([[0, 3, -1], [7, -9, 2]])
tame = s32([[0, 3, 1], [3, 3, 2]])
x = numbers(3, 4, 2)
cases.add("take_fill", lambda x, i: jnp.take(x, i, axis=1), x, wild)
cases.add("take_clip", lambda x, i: jnp.take(x, i, axis=1, mode="clip"), x, wild)
cases.add("take_rows", lambda x, i: jnp.take(x, i, axis=0), numbers(5, 3), s32([4, 0, 4]))
cases.add("take_last_scalar", lambda x, i: jnp.take(x, i, axis=-1), x, s32(-1))
cases.add("take_integers", lambda x, i: jnp.take(x, i, axis=0), jnp.arange(5), s32([1, 9]))
cases.add("take_bytes", lambda x, i: jnp.take(x, i, axis=0), numbers(300, 2), jnp.asarray([5, 255], jnp.uint8))
cases.add("along", lambda x, i: jnp.take_along_axis(x, i, 1), numbers(2, 4), s32([[3, 0], [1, -1]]))
cases.add("along_fill", lambda x, i: jnp.take_along_axis(x, i, 0), numbers(3, 2), s32([[3, 0]]))
cases.add("along_broadcast", lambda x, i: jnp.take_along_axis(x, i, -1), numbers(2, 3, 4), s32([[[1, 2, 1]]]))
cases.add("along_broadcast_table", lambda x, i: jnp.take_along_axis(x, i, -1), numbers(1, 4), s32([[3, 0], [1, -1]]))

cases.add("add", lambda x, i, u: x.at[:, i].add(u), x, tame, numbers(3, 2, 3, 2, seed=1))
cases.add("add_wild", lambda x, i, u: x.at[:, i].add(u), x, wild, numbers(3, 2, 3, 2, seed=1))
cases.add("add_broadcast", lambda x, i, u: x.at[i].add(u), numbers(5, 3), s32([1, 1, 4]), numbers(3, seed=1))
cases.add("set", lambda x, i, u: x.at[i].set(u), numbers(5, 3), s32([1, 0, -1, 8]), numbers(4, 3, seed=1))
for name in ("max", "min"):
    extremum = lambda x, i, u: getattr(x.at[:, i], name)(u)
    cases.add(name, extremum, x, tame, numbers(3, 2, 3, 2, seed=1))
    cases.add(f"{name}_wild", extremum, x, wild, numbers(3, 2, 3, 2, seed=1))
    ties = jnp.asarray([[1.0, 2], [0, 2]]), s32([1, 1, 1]), jnp.asarray([[2.0, 2, 1], [0, 3, 3]])
    cases.add(f"{name}_ties", extremum, *ties)
    cases.add(f"{name}_integers", extremum, s32([[1, 2], [0, 2]]), s32([1]), s32([[7], [-7]]))

gather = jax.lax.GatherDimensionNumbers(offset_dims=(1, 2), collapsed_slice_dims=(), start_index_map=(0, 1))
windows = lambda mode: lambda x, i: jax.lax.gather(x, i, gather, (2, 3), mode=mode)
places = s32([[0, 0], [2, 1], [5, 2], [1, -1]])
cases.add("windows_fill", windows("fill"), numbers(4, 5), places)
cases.add("windows_clip", windows("clip"), numbers(4, 5), places)
scatter = jax.lax.ScatterDimensionNumbers(
    update_window_dims=(1, 2), inserted_window_dims=(), scatter_dims_to_operand_dims=(0, 1)
)
for mode in ("fill", "clip"):
    cases.add(
        f"scatter_windows_{mode}",
        lambda x, i, u: jax.lax.scatter_add(x, i, u, scatter, mode=mode),
        numbers(4, 5),
        places,
        numbers(4, 2, 3, seed=1),
    )
batched = jax.lax.GatherDimensionNumbers(
    offset_dims=(1,),
    collapsed_slice_dims=(1,),
    start_index_map=(1,),
    operand_batching_dims=(0,),
    start_indices_batching_dims=(0,),
)
cases.add(
    "batched", lambda x, i: jax.lax.gather(x, i, batched, (1, 1, 2), mode="clip"), numbers(3, 4, 2), s32([[1], [0], [3]])
)

cases.add("dynamic_slice", lambda x, i, j: jax.lax.dynamic_slice(x, (i, j), (2, 3)), numbers(4, 5), s32(-1), s32(1))
cases.add(
    "dynamic_update_slice",
    lambda x, u, i: jax.lax.dynamic_update_slice(x, u, (i, 1)),
    numbers(4, 5),
    numbers(2, 3, seed=1),
    s32(3),
)
cases.add("dynamic_index", lambda x, i: jax.lax.dynamic_index_in_dim(x, i, 1, False), numbers(4, 5), s32(-2))

y = numbers(4, 5, 3)
i, j = s32([0, 3, -1]), s32([[1], [2]])
cases.add("range", lambda x: x[1:, -2:, ::2], y)
cases.add("backwards", lambda x: x[::-1, 3:0:-2, -9:9], y)
cases.add("new_dims", lambda x: x[None, 2, ..., None, -1], y)
cases.add("empty", lambda x: x[3:1], y)
cases.add("array", lambda x, i: x[:, i], y, i)
# JAX reads the nearest element and yet gives it no cotangent; ours is the derivative of what is read.
cases.add("array_wild", lambda x, i: x[i], y, s32([7, -9]), grad=False)
cases.add("neighbours", lambda x, i, j: x[:, i, j % 3], y, i, j)
cases.add("apart", lambda x, i, j: x[i, 1:4, j % 3], y, i, j)
cases.add("number_apart", lambda x, i: x[-2, :, i % 3], y, i)
cases.add("with_new_dim", lambda x, i, j: x[None, i, j], y, i, j)
cases.add("scalar", lambda x, i: x[i, ..., ::2], y, s32(-1))
cases.write()
