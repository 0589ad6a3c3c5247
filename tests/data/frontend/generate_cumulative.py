"""Reference numbers of src/alpa/frontend/ops/cumulative.h. Needs jax 0.12.0.1 and safetensors."""

import jax.numpy as jnp
from jax import lax

from cases import Cases, numbers

cases = Cases("cumulative")
x = numbers(3, 7, 2)
for kind in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"):
    operation = getattr(lax, kind)
    cases.add(kind, lambda a: operation(a, axis=1), x)
    cases.add(f"{kind}_reverse", lambda a: operation(a, axis=0, reverse=True), x)
cases.add("cumprod_long", lax.cumprod, numbers(37) * 0.7)
cases.add("cumsum_bools", lambda a: jnp.cumsum(a, 0), jnp.asarray([True, False, True, True]))
cases.add("cummax_ties", lambda a: lax.cummax(a), jnp.asarray([1.0, 1, 1, 0, 2, 2, 2]))
cases.add("cumprod_zeros", lambda a: lax.cumprod(a), jnp.asarray([2.0, 0, 3, 0, 5]))
cases.add("product_zeros", lambda a: jnp.prod(a, axis=1), jnp.asarray([[2.0, 0, 3], [1, 2, 3], [0, 0, 1]]))
cases.add("product_two_dims", lambda a: jnp.prod(a, axis=(0, 2)), x)
cases.write()
