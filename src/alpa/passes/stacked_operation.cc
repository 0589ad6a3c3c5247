#include "alpa/passes/stacked_operation.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/edit.h"
#include "alpa/hlo/replica_groups.h"
#include "alpa/passes/stack_shape.h"

namespace alpa::passes {
namespace {

using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using tensor::Shape;

std::vector<int64_t> behind_rows(std::vector<int64_t> dims) {
  for (int64_t& dim : dims) ++dim;
  return dims;
}

std::vector<int64_t> rows_and(std::vector<int64_t> dims) {
  dims = behind_rows(std::move(dims));
  dims.insert(dims.begin(), 0);
  return dims;
}

// A fixed factor, one for each row.
InstructionId repeated(hlo::Rewrite& to, hlo::FreshNames& names, InstructionId value, int64_t rows) {
  std::vector<int64_t> dims(to[value].shape.dims.size());
  std::iota(dims.begin(), dims.end(), int64_t{1});
  return to.add(hlo::make_broadcast(names.name("broadcast.rows"), stack_shape(to[value].shape, rows), value, dims));
}

}  // namespace

InstructionId add_stacked(hlo::Rewrite& to, hlo::FreshNames& names, const Instruction& one,
                          std::vector<InstructionId> operands, const std::vector<size_t>& linear, int64_t rows) {
  const Shape shape = stack_shape(one.shape, rows);
  switch (one.opcode) {
    case Opcode::kMultiply:
    case Opcode::kDivide: {
      InstructionId& factor = operands[linear[0] == 0 ? 1 : 0];
      factor = repeated(to, names, factor, rows);
      break;
    }
    case Opcode::kDynamicSlice: {
      std::vector<InstructionId> starts(operands.begin() + 1, operands.end());
      const tensor::Literal zero((Shape(to[starts[0]].shape.dtype, {})));
      starts.insert(starts.begin(), to.add(hlo::make_constant(names.name("first_row"), zero)));
      return to.add(hlo::make_dynamic_slice(names.name(one.name), shape, operands[0], starts));
    }
    default: break;
  }
  Instruction stacked = hlo::clone(one, names.name(one.name), std::move(operands));
  stacked.shape = shape;
  switch (one.opcode) {
    case Opcode::kSlice: {
      std::vector<hlo::SliceDim> dims = hlo::slice_dims(one);
      dims.insert(dims.begin(), {0, rows, 1});
      hlo::set_slice_dims(stacked, dims);
      break;
    }
    case Opcode::kTranspose:
    case Opcode::kBroadcast: hlo::set_dimensions(stacked, rows_and(hlo::dimensions(one))); break;
    case Opcode::kReduce:
    case Opcode::kReverse:
    case Opcode::kConcatenate:
    case Opcode::kAllGather:
    case Opcode::kReduceScatter:
    case Opcode::kAllToAll: hlo::set_dimensions(stacked, behind_rows(hlo::dimensions(one))); break;
    default: break;
  }
  if (hlo::is_collective(one.opcode) && hlo::channel_id(one) != 0) hlo::set_channel_id(stacked, names.channel());
  return to.add(std::move(stacked));
}

}  // namespace alpa::passes
