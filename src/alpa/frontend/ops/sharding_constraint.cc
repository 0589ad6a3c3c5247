#include "alpa/frontend/ops/sharding_constraint.h"

#include "alpa/base/error.h"
#include "alpa/frontend/lower.h"
#include "alpa/frontend/node.h"
#include "alpa/hlo/markers.h"
#include "alpa/sharding/spec_pattern.h"

namespace alpa::frontend {
namespace {

void check_spec(const std::string& spec, const Array& array, const Where& where) {
  constexpr const char* kPlace = "with_sharding_constraint";
  require<InvalidArgumentError>(array.defined(), kPlace, "an array at {} was never assigned", to_string(where));
  try {
    const sharding::AxisNames names = sharding::parse_axis_names(spec);
    require<InvalidArgumentError>(static_cast<int>(names.size()) == array.shape().rank(), kPlace,
                                  "\"{}\" at {} has {} dims for an array {}: write one entry a dim", spec,
                                  to_string(where), names.size(), tensor::to_string(array.shape()));
  } catch (const InvalidArgumentError& error) {
    raise<InvalidArgumentError>(kPlace, "at {}: {}", to_string(where), error.what());
  }
}

Array constrained(const std::shared_ptr<const Primitive>& primitive, const Array& array) {
  return emit_one(primitive, {array}, array.shape(), Where::current());
}

// The derivatives are the operation itself: `make` gives it anew, so that the primitive does not hold itself.
std::shared_ptr<const Primitive> make(const std::string& spec) {
  Primitive primitive;
  primitive.name = "sharding_constraint";
  primitive.lower = [spec](Lowering& lowering, const Node& node, const std::vector<int32_t>& operands) {
    return std::vector<int32_t>{
        lowering.builder().custom_call(node.shapes[0], operands, hlo::kShardingConstraint, spec)};
  };
  primitive.vjp = [spec](const VjpArguments& arguments) {
    return std::vector<Array>{constrained(make(spec), arguments.cotangent())};
  };
  primitive.jvp = [spec](const JvpArguments& arguments) {
    return std::vector<Array>{constrained(make(spec), arguments.tangents[0])};
  };
  return std::make_shared<const Primitive>(std::move(primitive));
}

}  // namespace

Array sharding_constraint(const Array& array, const std::string& spec, const Where& where) {
  check_spec(spec, array, where);
  return emit_one(make(spec), {array}, array.shape(), where, array.is_weak());
}

}  // namespace alpa::frontend
