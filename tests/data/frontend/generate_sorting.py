"""Reference numbers of src/alpa/frontend/ops/sorting.h. Needs jax 0.12.0.1 and safetensors."""

import jax.numpy as jnp
from jax import lax

from cases import Cases, numbers

cases = Cases("sorting")
x = numbers(3, 6, 2)
ties = jnp.asarray([[2.0, 1, jnp.nan, 2, -0.0, 0], [1, 1, 1, -jnp.inf, jnp.nan, jnp.inf]])
whole = jnp.asarray([3, -1, 2, 3, -1, 0], jnp.int32)
cases.add("sort", lambda a: jnp.sort(a, axis=1), x)
cases.add("sort_descending", lambda a: jnp.sort(a, axis=0, descending=True), x)
cases.add("sort_ties", lambda a: jnp.sort(a), ties, grad=False)
cases.add("argsort", lambda a: jnp.argsort(a), ties)
cases.add("argsort_descending", lambda a: jnp.argsort(a, descending=True), ties)
cases.add("argsort_integers", lambda a: jnp.argsort(a), whole)
cases.add("together", lambda k, a, b: lax.sort((k, a, b), dimension=0), numbers(5, 2), numbers(5, 2, seed=1), numbers(5, 2, seed=2))
cases.add(
    "two_keys", lambda k, l, a: lax.sort((k, l, a), num_keys=2), whole, numbers(6, seed=1), numbers(6, seed=2), grad=False
)
cases.add("top_k", lambda a: lax.top_k(a, 3), numbers(2, 3, 5))
cases.add("top_k_values", lambda a: lax.top_k(a, 2)[0], numbers(3, 5))
cases.add("top_k_ties", lambda a: lax.top_k(a, 4), ties)
cases.add("search", lambda s, v: jnp.searchsorted(s, v), jnp.asarray([0.0, 1, 1, 3]), jnp.asarray([[1.0, -1], [3, 4]]))
cases.add(
    "search_right",
    lambda s, v: jnp.searchsorted(s, v, side="right"),
    jnp.asarray([0.0, 1, 1, 3]),
    jnp.asarray([[1.0, -1], [3, 4]]),
)
cases.write()
