"""Reference numbers of src/alpa/frontend/ops/image.h. Needs jax 0.12.0.1."""

import jax

from cases import Cases, numbers

cases = Cases("image")
x = numbers(2, 4, 6, 3)
for name, dims in {
    "up": (2, 8, 12, 3),
    "down": (2, 2, 2, 3),
    "both": (2, 12, 2, 3),
    "odd": (2, 5, 7, 3),
    "odd_down": (1, 3, 4, 3),
    "same": (2, 4, 6, 3),
}.items():
    cases.add(name, lambda a: jax.image.resize(a, dims, "nearest"), x)
cases.write()
