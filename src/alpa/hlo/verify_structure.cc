#include "alpa/hlo/proto/hlo.pb.h"
#include "alpa/hlo/verify_check.h"

namespace alpa::hlo::verifying {
namespace {

// Elements that a literal holds of a type; -1 for types whose elements are packed or unknown to us.
int64_t literal_elements(const pb::LiteralProto& literal, tensor::DType dtype) {
  const auto halves = [](const std::string& bytes) {
    return bytes.size() % 2 == 0 ? static_cast<int64_t>(bytes.size()) / 2 : -2;
  };
  switch (dtype) {
    case tensor::DType::kPred: return literal.preds_size();
    case tensor::DType::kS8: return static_cast<int64_t>(literal.s8s().size());
    case tensor::DType::kU8: return static_cast<int64_t>(literal.u8s().size());
    case tensor::DType::kS16: return halves(literal.s16s());
    case tensor::DType::kU16: return halves(literal.u16s());
    case tensor::DType::kF16: return halves(literal.f16s());
    case tensor::DType::kBF16: return halves(literal.bf16s());
    case tensor::DType::kS32: return literal.s32s_size();
    case tensor::DType::kU32: return literal.u32s_size();
    case tensor::DType::kS64: return literal.s64s_size();
    case tensor::DType::kU64: return literal.u64s_size();
    case tensor::DType::kF32: return literal.f32s_size();
    case tensor::DType::kF64: return literal.f64s_size();
    case tensor::DType::kC64: return literal.c64s_size() % 2 == 0 ? literal.c64s_size() / 2 : -2;
    case tensor::DType::kC128: return literal.c128s_size() % 2 == 0 ? literal.c128s_size() / 2 : -2;
    default: return -1;
  }
}

// A constant may come without its value (large ones are left out in some dumps).
void check_constant(const Site& site) {
  const pb::HloInstructionProto& proto = *site.instruction().proto;
  if (!proto.has_literal() || !site.shape().is_array()) return;
  const int64_t held = literal_elements(proto.literal(), site.shape().dtype);
  site.check(held == -1 || held == tensor::num_elements(site.shape()), "its value does not have the {} elements of {}",
             tensor::num_elements(site.shape()), tensor::to_string(site.shape()));
}

void check_tuple(const Site& site) {
  site.check(site.shape().is_tuple() && site.shape().elements.size() == site.operand_count(),
             "its shape {} is no tuple of {} elements", tensor::to_string(site.shape()), site.operand_count());
  for (size_t k = 0; k < site.operand_count(); ++k) {
    site.check(site.shape().elements[k] == site.operand(k), "element {} is {}, its operand {}", k,
               tensor::to_string(site.shape().elements[k]), tensor::to_string(site.operand(k)));
  }
}

void check_get_tuple_element(const Site& site) {
  const tensor::Shape& tuple = site.operand(0);
  const int64_t index = tuple_index(site.instruction());
  site.check(tuple.is_tuple(), "its operand is {}, no tuple", tensor::to_string(tuple));
  site.check(index >= 0 && index < static_cast<int64_t>(tuple.elements.size()),
             "tuple index {} is out of range: there are {} elements", index, tuple.elements.size());
  site.check(tuple.elements[static_cast<size_t>(index)] == site.shape(), "its shape is {}, but element {} is {}",
             tensor::to_string(site.shape()), index, tensor::to_string(tuple.elements[static_cast<size_t>(index)]));
}

}  // namespace

void check_structure(const Site& site) {
  switch (site.opcode()) {
    case Opcode::kConstant: return check_constant(site);
    case Opcode::kTuple: return check_tuple(site);
    case Opcode::kGetTupleElement: return check_get_tuple_element(site);
    case Opcode::kOptimizationBarrier:
    case Opcode::kDomain:
    case Opcode::kAddDependency:
      return site.check(site.shape() == site.operand(0), "its shape is {}, its operand's {}",
                        tensor::to_string(site.shape()), tensor::to_string(site.operand(0)));
    default: return;
  }
}

}  // namespace alpa::hlo::verifying
