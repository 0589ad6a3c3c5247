"""Reference numbers of src/alpa/frontend/ops/contraction.h and diagonal.h. Needs jax 0.12.0.1 and safetensors."""

import jax.numpy as jnp
from jax import lax

from cases import Cases, numbers

cases = Cases("contraction")
n = lambda *dims, seed=0, dtype=jnp.float32: numbers(*dims, seed=seed, dtype=dtype)
shapes = {
    "matrices": [(3, 4), (4, 2)],
    "vectors": [(4,), (4,)],
    "row": [(4,), (4, 2)],
    "column": [(3, 4), (4,)],
    "batch": [(2, 3, 4), (2, 4, 5)],
    "batch_left": [(2, 3, 4), (4, 5)],
    "batch_right": [(3, 4), (2, 4, 5)],
    "batch_broadcast": [(2, 1, 3, 4), (5, 4, 2)],
    "batch_row": [(4,), (2, 4, 3)],
    "batch_column": [(2, 3, 4), (4,)],
    "empty": [(3, 0), (0, 2)],
    "batch_of_none": [(0, 2, 3), (1, 3, 4)],
}
for name, (a, b) in shapes.items():
    cases.add(f"matmul/{name}", jnp.matmul, n(*a), n(*b, seed=1))
for dtype in (jnp.float16, jnp.bfloat16, jnp.complex64):
    cases.add(f"matmul/{dtype.__name__}", jnp.matmul, n(3, 4, dtype=dtype), n(4, 2, seed=1, dtype=dtype))
cases.add("matmul/mixed", jnp.matmul, n(3, 4, dtype=jnp.bfloat16), n(4, 2, seed=1))
s32 = lambda *dims: (jnp.arange(dims[0] * dims[1], dtype=jnp.int32) * 7 % 5 - 2).reshape(dims)
cases.add("matmul/integers", jnp.matmul, s32(3, 4), s32(4, 2))
cases.add("matmul/bytes", jnp.matmul, s32(3, 4).astype(jnp.int8), s32(4, 2).astype(jnp.int8))

cases.add("dot/matrices", jnp.dot, n(2, 3, 4), n(5, 4, 2, seed=1))
cases.add("dot/vector", jnp.dot, n(2, 3, 4), n(4, seed=1))
cases.add("dot/scalar", jnp.dot, n(2, 3), jnp.float32(1.5))
cases.add("inner", jnp.inner, n(2, 3, 4), n(5, 4, seed=1))
cases.add("outer", jnp.outer, n(2, 2), n(3, seed=1))
cases.add("outer/mixed_float16", jnp.outer, s32(2, 2), n(3, seed=1, dtype=jnp.float16))
cases.add("vdot", jnp.vdot, n(2, 3), n(3, 2, seed=1))
cases.add("vdot/complex", jnp.vdot, n(2, 3, dtype=jnp.complex64), n(6, seed=1, dtype=jnp.complex64))
cases.add("tensordot/two", jnp.tensordot, n(2, 3, 4), n(3, 4, 5, seed=1))
cases.add("tensordot/one", lambda a, b: jnp.tensordot(a, b, 1), n(2, 3), n(3, 2, 2, seed=1))
cases.add("tensordot/none", lambda a, b: jnp.tensordot(a, b, 0), n(2), n(3, seed=1))
cases.add("tensordot/named", lambda a, b: jnp.tensordot(a, b, ((0, -1), (2, 0))), n(2, 3, 4), n(4, 5, 2, seed=1))

general = lambda dims: lambda a, b: lax.dot_general(a, b, dims)
cases.add("general/batch", general((((2,), (1,)), ((0,), (2,)))), n(2, 3, 4), n(5, 4, 2, seed=1))
cases.add("general/two", general((((3, 1), (0, 2)), ((0,), (1,)))), n(2, 3, 2, 4), n(4, 2, 3, 5, seed=1))
cases.add("general/outer", general((((), ()), ((), ()))), n(2, 3), n(2, seed=1))
cases.add("general/only_batch", general((((), ()), ((1, 0), (0, 1)))), n(2, 3), n(3, 2, seed=1))

subscripts = {
    "product": ("ij,jk->ik", (2, 3), (3, 4)),
    "implied": ("ij,jk", (2, 3), (3, 4)),
    "implied_sorted": ("ba,cb", (2, 3), (4, 2)),
    "implied_transpose": ("ba", (2, 3)),
    "attention": ("bqhd,bkhd->bhqk", (2, 3, 2, 4), (2, 5, 2, 4)),
    "attention_back": ("bhqk,bkhd->bqhd", (2, 2, 3, 5), (2, 5, 2, 4)),
    "transpose": ("ijk->kij", (2, 3, 4)),
    "sum": ("ijk->j", (2, 3, 4)),
    "total": ("ij->", (2, 3)),
    "trace": ("ii->", (3, 3)),
    "trace_implied": ("ii", (3, 3)),
    "diagonal": ("ii->i", (3, 3)),
    "diagonals": ("iji->ji", (3, 2, 3)),
    "diagonal_product": ("ii,ij->j", (3, 3), (3, 2)),
    "dots": ("...ij,...jk->...ik", (2, 1, 2, 3), (5, 3, 4)),
    "dots_one": ("...i,i->...", (2, 3, 4), (4,)),
    "dots_implied": ("...ij,jk", (2, 2, 3), (3, 4)),
    "dots_middle": ("i...k,k...->i...", (2, 3, 4), (4, 3)),
    "three": ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
    "three_shared": ("bi,bj,bij->b", (2, 3), (2, 4), (2, 3, 4)),
    "outer": ("i,j->ij", (2,), (3,)),
    "elementwise": ("ij,ij->ij", (2, 3), (2, 3)),
    "inner_all": ("ij,ij->", (2, 3), (2, 3)),
    "broadcast_sum": ("ij,k->i", (2, 3), (4,)),
    "spaces": (" i j , j -> i ", (2, 3), (3,)),
}
for name, (text, *dims) in subscripts.items():
    cases.add(f"einsum/{name}", lambda *xs: jnp.einsum(text, *xs), *[n(*d, seed=k) for k, d in enumerate(dims)])
for dtype in (jnp.float16, jnp.bfloat16, jnp.complex64):
    cases.add(
        f"einsum/{dtype.__name__}",
        lambda a, b: jnp.einsum("bij,bjk->bik", a, b),
        n(2, 3, 4, dtype=dtype),
        n(2, 4, 2, seed=1, dtype=dtype),
    )
cases.add("einsum/integers", lambda a, b: jnp.einsum("ij,jk->ik", a, b), s32(3, 4), s32(4, 2))
cases.add("einsum/sum_bytes", lambda a: jnp.einsum("ij->i", a), s32(3, 4).astype(jnp.int8) * 60)

for name, offset in dict(main=0, above=1, below=-2, outside=4).items():
    cases.add(f"diagonal/{name}", lambda a: jnp.diagonal(a, offset, -2, -1), n(2, 3, 4))
    cases.add(f"trace/{name}", lambda a: jnp.trace(a, offset, -2, -1), n(2, 4, 3))
    cases.add(f"diag/{name}", lambda a: jnp.diag(a, offset), n(3))
    cases.add(f"diag/matrix_{name}", lambda a: jnp.diag(a, offset), n(3, 3))
cases.add("diagonal/infinite", jnp.diagonal, jnp.asarray([[1, jnp.inf], [jnp.nan, 2]]))
cases.add("diagonal/bytes", jnp.diagonal, s32(3, 4).astype(jnp.int8))
cases.add("trace/bytes", jnp.trace, s32(3, 4).astype(jnp.int8) * 60)
cases.add("trace/float16", jnp.trace, n(3, 3, dtype=jnp.float16))
cases.write()
