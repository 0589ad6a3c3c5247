#include "alpa/hlo/verify_check.h"

namespace alpa::hlo::verifying {
namespace {

void check_operand_dims(const Site& site, size_t index, bool scalar_allowed) {
  const tensor::Shape& operand = site.operand(index);
  site.check(operand.dims == site.shape().dims || (scalar_allowed && operand.rank() == 0),
             "operand {} is {}, its shape {}", index, tensor::to_string(operand), tensor::to_string(site.shape()));
}

void check_all_dims(const Site& site) {
  site.check_arrays();
  for (size_t k = 0; k < site.operand_count(); ++k) check_operand_dims(site, k, false);
}

// The type of the result is that of the operands.
void check_types(const Site& site) {
  for (size_t k = 0; k < site.operand_count(); ++k) {
    site.check(same_type(site.operand(k).dtype, site.shape().dtype), "operand {} has type {}, its result {}", k,
               tensor::name(site.operand(k).dtype), tensor::name(site.shape().dtype));
  }
}

void check_select(const Site& site) {
  site.check_arrays();
  check_operand_dims(site, 0, true);
  check_operand_dims(site, 1, false);
  check_operand_dims(site, 2, false);
  site.check(site.operand(0).dtype == tensor::DType::kPred, "its predicate is {}", tensor::to_string(site.operand(0)));
  site.check(
      same_type(site.operand(1).dtype, site.shape().dtype) && same_type(site.operand(2).dtype, site.shape().dtype),
      "it selects from {} and {} but is {}", tensor::to_string(site.operand(1)), tensor::to_string(site.operand(2)),
      tensor::to_string(site.shape()));
}

void check_bitcast_convert(const Site& site) {
  site.check_arrays();
  const tensor::Shape& operand = site.operand(0);
  const int from = tensor::bit_width(operand.dtype);
  const int to = tensor::bit_width(site.shape().dtype);
  std::vector<int64_t> wide = operand.dims;
  std::vector<int64_t> narrow = site.shape().dims;
  if (from < to) std::swap(wide, narrow);
  if (from != to) wide.push_back(std::max(from, to) / std::min(from, to));
  site.check(wide == narrow, "it makes {} of {}: the bits do not fit", tensor::to_string(site.shape()),
             tensor::to_string(operand));
}

void check_predicate(const Site& site) {
  check_all_dims(site);
  site.check(site.shape().dtype == tensor::DType::kPred, "its result is {}, no predicate",
             tensor::to_string(site.shape()));
}

}  // namespace

void check_elementwise(const Site& site) {
  switch (site.opcode()) {
    case Opcode::kBitcastConvert: return check_bitcast_convert(site);
    case Opcode::kSelect: return check_select(site);
    case Opcode::kClamp:
      site.check_arrays();
      for (const size_t index : {0, 1, 2}) check_operand_dims(site, index, index != 1);
      return check_types(site);
    case Opcode::kCopy: return site.check_result(site.operand(0));
    case Opcode::kCompare:
      check_predicate(site);
      return site.check(same_type(site.operand(0).dtype, site.operand(1).dtype), "it compares {} with {}",
                        tensor::to_string(site.operand(0)), tensor::to_string(site.operand(1)));
    case Opcode::kIsFinite: return check_predicate(site);
    case Opcode::kAbs:
    case Opcode::kComplex:
    case Opcode::kConvert:
    case Opcode::kImag:
    case Opcode::kMap:
    case Opcode::kReal:
    case Opcode::kStochasticConvert: return check_all_dims(site);
    default:
      if (!is_elementwise(site.opcode())) return;
      check_all_dims(site);
      check_types(site);
  }
}

}  // namespace alpa::hlo::verifying
