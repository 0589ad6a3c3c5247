#include "alpa/hlo/proto/hlo.pb.h"
#include "alpa/hlo/verify_check.h"

namespace alpa::hlo::verifying {
namespace {

// Leading dims are batches of matrices.
void check_matrices(const Site& site, size_t index) {
  site.check(site.operand(index).rank() >= 2, "operand {} is {}, no matrix", index,
             tensor::to_string(site.operand(index)));
}

void check_triangular_solve(const Site& site) {
  site.check_arrays();
  check_matrices(site, 0);
  check_matrices(site, 1);
  const std::vector<int64_t>& a = site.operand(0).dims;
  const std::vector<int64_t>& b = site.operand(1).dims;
  const size_t rank = a.size();
  bool fits = b.size() == rank && a[rank - 1] == a[rank - 2];
  for (size_t k = 0; fits && k + 2 < rank; ++k) fits = a[k] == b[k];
  const bool left = site.instruction().proto->triangular_solve_options().left_side();
  site.check(fits && a[rank - 1] == b[left ? rank - 2 : rank - 1], "{} does not solve for {}",
             tensor::to_string(site.operand(0)), tensor::to_string(site.operand(1)));
  site.check_result(site.operand(1));
}

void check_cholesky(const Site& site) {
  site.check_arrays();
  check_matrices(site, 0);
  const std::vector<int64_t>& dims = site.operand(0).dims;
  site.check(dims[dims.size() - 1] == dims[dims.size() - 2], "{} is not square", tensor::to_string(site.operand(0)));
  site.check_result(site.operand(0));
}

void check_fft(const Site& site) {
  site.check_arrays();
  const int length = site.instruction().proto->fft_length_size();
  site.check(
      length >= 1 && length <= 3 && length <= site.operand(0).rank() && site.shape().rank() == site.operand(0).rank(),
      "it transforms {} dims of {} to {}", length, tensor::to_string(site.operand(0)), tensor::to_string(site.shape()));
}

// Collectives that work along a dim name one of their operand's; the tuple form of all-to-all names none.
void check_collective_dims(const Site& site) {
  const std::vector<int64_t> dims = dimensions(site.instruction());
  site.check(dims.size() <= 1, "it names {} dims", dims.size());
  for (const int64_t dim : dims) {
    if (site.operand(0).is_array()) site.check_dim(dim, site.operand(0).rank(), "dim");
  }
}

void check_dimension_size(const Site& site) {
  site.check_array(0);
  const std::vector<int64_t> dims = dimensions(site.instruction());
  site.check(dims.size() == 1, "it names {} dims instead of one", dims.size());
  site.check_dim(dims[0], site.operand(0).rank(), "dim");
}

void check_batch_norm(const Site& site) {
  site.check_array(0);
  site.check_dim(site.instruction().proto->feature_index(), site.operand(0).rank(), "feature dim");
}

void check_rng_bit_generator(const Site& site) {
  site.check_array(0);
  if (!site.shape().is_tuple())
    return site.check(site.shape().is_array(), "its result is {}", tensor::to_string(site.shape()));
  site.check(site.shape().elements.size() == 2 && site.shape().elements[0] == site.operand(0) &&
                 site.shape().elements[1].is_array(),
             "its result is {} for a state {}", tensor::to_string(site.shape()), tensor::to_string(site.operand(0)));
}

}  // namespace

void check_others(const Site& site) {
  switch (site.opcode()) {
    case Opcode::kTriangularSolve: return check_triangular_solve(site);
    case Opcode::kCholesky: return check_cholesky(site);
    case Opcode::kFft: return check_fft(site);
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
    case Opcode::kAllToAll:
    case Opcode::kReduceScatter: return check_collective_dims(site);
    case Opcode::kGetDimensionSize:
    case Opcode::kSetDimensionSize: return check_dimension_size(site);
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormTraining: return check_batch_norm(site);
    case Opcode::kRngBitGenerator: return check_rng_bit_generator(site);
    case Opcode::kTopK:
      site.check_array(0);
      return site.check(site.operand(0).rank() >= 1, "it needs a dim to choose from");
    default: return;
  }
}

}  // namespace alpa::hlo::verifying
