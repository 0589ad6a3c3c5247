"""Reference numbers of src/alpa/frontend/ops/convolution.h. Needs jax 0.12.0.1 and safetensors."""

from jax import lax

from cases import Cases, numbers

cases = Cases("convolution")
NHWC = ("NHWC", "HWIO", "NHWC")


def conv(name, lhs, rhs, strides, padding, layouts=NHWC, **options):
    cases.add(
        name,
        lambda x, k: lax.conv_general_dilated(x, k, strides, padding, dimension_numbers=layouts, **options),
        numbers(*lhs),
        numbers(*rhs, seed=1),
    )


conv("same", (2, 6, 5, 3), (3, 3, 3, 4), (1, 1), "SAME")
conv("same_strided", (2, 7, 6, 3), (3, 2, 3, 4), (2, 3), "SAME")
conv("same_lower", (1, 6, 6, 2), (2, 3, 2, 2), (1, 2), "SAME_LOWER")
conv("valid", (2, 7, 6, 3), (3, 2, 3, 4), (2, 1), "VALID")
conv("patches", (2, 8, 8, 3), (4, 4, 3, 5), (4, 4), "VALID")
conv("explicit", (2, 7, 6, 2), (3, 2, 2, 3), (2, 1), ((1, 2), (-1, 1)))
conv("dilated", (2, 5, 6, 2), (2, 3, 2, 3), (2, 1), ((2, 1), (1, 3)), lhs_dilation=(2, 3), rhs_dilation=(3, 2))
conv("grouped", (2, 5, 5, 6), (3, 3, 2, 9), (2, 1), "SAME", feature_group_count=3)
conv("depthwise", (2, 5, 5, 4), (3, 3, 1, 8), (1, 1), "SAME", feature_group_count=4)
conv("batch_grouped", (6, 5, 5, 2), (3, 3, 2, 6), (2, 1), "SAME", batch_group_count=3)
conv("nchw", (2, 3, 6, 5), (4, 3, 3, 2), (2, 1), "SAME", ("NCHW", "OIHW", "NCHW"))
conv("mixed", (3, 6, 2, 5), (3, 2, 4, 3), (2, 1), "VALID", ("CHNW", "WHOI", "NWHC"))
conv("one_dim", (2, 9, 3), (3, 3, 4), (2,), "SAME", ("NHC", "HIO", "NHC"))
conv("three_dims", (1, 3, 4, 5, 2), (2, 2, 3, 2, 3), (1, 2, 1), "SAME", ("NDHWC", "DHWIO", "NDHWC"))


def transpose(name, lhs, rhs, strides, padding, **options):
    cases.add(
        name,
        lambda x, k: lax.conv_transpose(x, k, strides, padding, dimension_numbers=NHWC, **options),
        numbers(*lhs),
        numbers(*rhs, seed=1),
    )


transpose("transpose_same", (2, 4, 3, 3), (3, 3, 3, 2), (2, 2), "SAME")
transpose("transpose_valid", (2, 4, 3, 3), (3, 2, 3, 2), (2, 1), "VALID")
transpose("transpose_sparse", (1, 3, 3, 2), (2, 2, 2, 2), (3, 4), "SAME")
transpose("transpose_dilated", (1, 4, 3, 2), (3, 2, 2, 3), (2, 2), "SAME", rhs_dilation=(2, 3))
transpose("transpose_explicit", (1, 4, 3, 2), (3, 2, 2, 3), (2, 2), ((1, 2), (0, 1)))
transpose("transpose_kernel", (2, 4, 3, 3), (3, 2, 2, 3), (2, 2), "VALID", transpose_kernel=True)
cases.write()
