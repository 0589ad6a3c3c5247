#include "alpa/hlo/verify_check.h"

namespace alpa::hlo::verifying {
namespace {

void check_broadcast(const Site& site) {
  site.check_arrays();
  const tensor::Shape& operand = site.operand(0);
  const std::vector<int64_t> dims = dimensions(site.instruction());
  site.check(dims.size() == operand.dims.size(), "it maps {} dims of an operand {}", dims.size(),
             tensor::to_string(operand));
  site.check_dims(dims, site.shape().rank(), "result dim");
  for (size_t k = 0; k < dims.size(); ++k) {
    const int64_t size = site.shape().dims[static_cast<size_t>(dims[k])];
    site.check(size == operand.dims[k], "dim {} of {} becomes dim {} of {}", k, tensor::to_string(operand), dims[k],
               tensor::to_string(site.shape()));
  }
  site.check(same_type(operand.dtype, site.shape().dtype), "it makes {} of {}", tensor::to_string(site.shape()),
             tensor::to_string(operand));
}

void check_transpose(const Site& site) {
  site.check_arrays();
  const tensor::Shape& operand = site.operand(0);
  const std::vector<int64_t> dims = dimensions(site.instruction());
  site.check(dims.size() == operand.dims.size(), "its permutation has {} entries for {}", dims.size(),
             tensor::to_string(operand));
  site.check_dims(dims, operand.rank(), "dim");
  tensor::Shape expected(operand.dtype, {});
  for (const int64_t dim : dims) expected.dims.push_back(operand.dims[static_cast<size_t>(dim)]);
  site.check_result(expected);
}

void check_reshape(const Site& site) {
  site.check_arrays();
  const tensor::Shape& operand = site.operand(0);
  site.check(tensor::num_elements(operand) == tensor::num_elements(site.shape()) &&
                 same_type(operand.dtype, site.shape().dtype),
             "it makes {} of {}: the numbers of elements or the types differ", tensor::to_string(site.shape()),
             tensor::to_string(operand));
}

void check_reverse(const Site& site) {
  site.check_arrays();
  site.check_dims(dimensions(site.instruction()), site.operand(0).rank(), "dim");
  site.check_result(site.operand(0));
}

void check_iota(const Site& site) {
  site.check_arrays();
  const std::vector<int64_t> dims = dimensions(site.instruction());
  site.check(dims.size() == 1, "it names {} dims instead of one", dims.size());
  site.check_dim(dims[0], site.shape().rank(), "dim");
}

void check_concatenate(const Site& site) {
  site.check_arrays();
  const std::vector<int64_t> dims = dimensions(site.instruction());
  site.check(dims.size() == 1, "it names {} dims instead of one", dims.size());
  tensor::Shape expected = site.operand(0);
  site.check_dim(dims[0], expected.rank(), "dim");
  const auto along = static_cast<size_t>(dims[0]);
  for (size_t k = 1; k < site.operand_count(); ++k) {
    tensor::Shape other = site.operand(k);
    site.check(other.rank() == expected.rank(), "operands 0 and {} are {} and {}", k,
               tensor::to_string(site.operand(0)), tensor::to_string(other));
    expected.dims[along] += other.dims[along];
    other.dims[along] = expected.dims[along];
    site.check(compatible(other, expected), "operands 0 and {} are {} and {}: they differ in more than dim {}", k,
               tensor::to_string(site.operand(0)), tensor::to_string(site.operand(k)), dims[0]);
  }
  site.check_result(expected);
}

}  // namespace

void check_movement(const Site& site) {
  switch (site.opcode()) {
    case Opcode::kBroadcast: return check_broadcast(site);
    case Opcode::kTranspose: return check_transpose(site);
    case Opcode::kReshape: return check_reshape(site);
    case Opcode::kReverse: return check_reverse(site);
    case Opcode::kIota: return check_iota(site);
    case Opcode::kConcatenate: return check_concatenate(site);
    default: return;
  }
}

}  // namespace alpa::hlo::verifying
