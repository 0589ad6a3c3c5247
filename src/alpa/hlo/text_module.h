#pragma once

#include <google/protobuf/descriptor.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "alpa/hlo/proto/hlo.pb.h"
#include "alpa/tensor/literal.h"

/// What printing and reading of programs agree on; inside this room.
namespace alpa::hlo::text {

/// A field with another name in text than in the proto.
struct Alias {
  std::string_view field;
  std::string_view name;
};
inline constexpr std::array kAliases = {Alias{"tuple_index", "index"}, Alias{"comparison_direction", "direction"},
                                        Alias{"gather_slice_sizes", "slice_sizes"}};

/// Lists of a dot, by their names in text.
struct DotList {
  std::string_view name;
  google::protobuf::RepeatedField<int64_t>* (pb::DotDimensionNumbers::*field)();
};
inline constexpr std::array kDotLists = {
    DotList{"lhs_contracting_dims", &pb::DotDimensionNumbers::mutable_lhs_contracting_dimensions},
    DotList{"rhs_contracting_dims", &pb::DotDimensionNumbers::mutable_rhs_contracting_dimensions},
    DotList{"lhs_batch_dims", &pb::DotDimensionNumbers::mutable_lhs_batch_dimensions},
    DotList{"rhs_batch_dims", &pb::DotDimensionNumbers::mutable_rhs_batch_dimensions},
};

/// Names of an instruction's callees, in order; empty for a single list "called_computations={...}".
inline std::vector<std::string_view> callee_names(std::string_view opcode, int count) {
  if (opcode == "while" && count == 2) return {"body", "condition"};
  if (opcode == "select-and-scatter" && count == 2) return {"select", "scatter"};
  if (opcode == "fusion" && count == 1) return {"calls"};
  if (opcode != "custom-call" && opcode != "conditional" && count == 1) return {"to_apply"};
  return {};
}
inline bool is_callee_name(std::string_view name) {
  return name == "body" || name == "condition" || name == "select" || name == "scatter" || name == "calls" ||
         name == "to_apply" || name == "called_computations";
}

/// A constant with at most so many elements shows them.
inline constexpr int64_t kMaxElements = 16;

/// The id that an instruction has if none is written: counted up from the computation's.
inline int64_t first_id(int64_t computation_id) {
  return static_cast<int64_t>((static_cast<uint64_t>(computation_id) << 32) + 1);
}
inline int64_t next_id(int64_t id) { return static_cast<int64_t>(static_cast<uint64_t>(id) + 1); }

/// A literal of the shape that the instruction has. Errors: as literal_to_proto.
pb::LiteralProto literal_of(const tensor::Literal& literal, const pb::ShapeProto& shape);

}  // namespace alpa::hlo::text
