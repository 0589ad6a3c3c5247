#include "alpa/hlo/liveness.h"

#include <algorithm>
#include <numeric>

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/value_graph.h"

namespace alpa::hlo {
namespace {

using ArrayId = int32_t;

void add_sizes(const tensor::Shape& shape, std::vector<int64_t>& sizes) {
  if (!shape.is_tuple()) {
    sizes.push_back(tensor::byte_size(shape));
    return;
  }
  for (const tensor::Shape& element : shape.elements) add_sizes(element, sizes);
}

class Analysis {
 public:
  // `callee_peaks`: bytes that each computation needs beyond its parameters; those before this one are known.
  Analysis(const Computation& computation, const std::vector<int64_t>& callee_peaks)
      : computation_(computation), callee_peaks_(callee_peaks) {}

  Liveness run() {
    for (InstructionId id = 0; id < computation_.size(); ++id) arrays_.push_back(arrays_of(id));
    const InstructionId end = computation_.size();
    last_ = maker_;
    for (InstructionId id = 0; id < end; ++id) {
      if (computation_[id].opcode == Opcode::kParameter) {
        for (const ArrayId array : arrays_[static_cast<size_t>(id)]) extend(array, end);
      }
      if (is_view(id)) continue;
      for (const InstructionId operand : computation_[id].operands) {
        for (const ArrayId array : arrays_[static_cast<size_t>(operand)]) extend(array, id);
      }
    }
    for (const ArrayId array : arrays_[static_cast<size_t>(computation_.root)]) extend(array, end);
    Liveness result = sweep();
    for (InstructionId id = 0; id < end; ++id) {
      InstructionId last = id;
      for (const ArrayId array : arrays_[static_cast<size_t>(id)])
        last = std::max(last, last_[static_cast<size_t>(array)]);
      result.last_use.push_back(last);
    }
    return result;
  }

 private:
  // Reads nothing: its result is some of its operands' arrays.
  bool is_view(InstructionId id) const {
    const Opcode opcode = computation_[id].opcode;
    return opcode == Opcode::kTuple || opcode == Opcode::kGetTupleElement || opcode == Opcode::kBitcast ||
           opcode == Opcode::kOptimizationBarrier;
  }

  void extend(ArrayId array, InstructionId until) {
    last_[static_cast<size_t>(array)] = std::max(last_[static_cast<size_t>(array)], until);
  }

  std::vector<ArrayId> arrays_of(InstructionId id) {
    const Instruction& instruction = computation_[id];
    if (instruction.opcode == Opcode::kGetTupleElement) return element(instruction);
    std::vector<ArrayId> all;
    if (is_view(id) || instruction.opcode == Opcode::kWhile) {
      for (const InstructionId operand : instruction.operands) {
        const auto& part = arrays_[static_cast<size_t>(operand)];
        all.insert(all.end(), part.begin(), part.end());
      }
      if (static_cast<int>(all.size()) == leaf_count(instruction.shape)) return all;
      all.clear();
    }
    std::vector<int64_t> sizes;
    add_sizes(instruction.shape, sizes);
    for (const int64_t size : sizes) {
      all.push_back(static_cast<ArrayId>(sizes_.size()));
      sizes_.push_back(size);
      maker_.push_back(id);
    }
    return all;
  }

  std::vector<ArrayId> element(const Instruction& instruction) const {
    const tensor::Shape& tuple = computation_[instruction.operands[0]].shape;
    const auto index = static_cast<size_t>(tuple_index(instruction));
    const auto first =
        std::accumulate(tuple.elements.begin(), tuple.elements.begin() + static_cast<std::ptrdiff_t>(index), 0,
                        [](int count, const tensor::Shape& one) { return count + leaf_count(one); });
    const auto begin = arrays_[static_cast<size_t>(instruction.operands[0])].begin() + first;
    return {begin, begin + leaf_count(tuple.elements[index])};
  }

  Liveness sweep() const {
    Liveness result;
    std::vector<int64_t> freed(computation_.instructions.size() + 1);
    std::vector<int64_t> made(computation_.instructions.size());
    int64_t alive = 0;
    for (size_t array = 0; array < sizes_.size(); ++array) {
      freed[static_cast<size_t>(last_[array])] += sizes_[array];
      const bool parameter = computation_[maker_[array]].opcode == Opcode::kParameter;
      (parameter ? alive : made[static_cast<size_t>(maker_[array])]) += sizes_[array];
    }
    result.parameter_bytes = alive;
    for (InstructionId id = 0; id < computation_.size(); ++id) {
      alive += made[static_cast<size_t>(id)];
      int64_t inside = 0;
      for (const ComputationId callee : computation_[id].called)
        inside = std::max(inside, callee_peaks_[static_cast<size_t>(callee)]);
      if (alive + inside > result.peak_bytes) {
        result.peak_bytes = alive + inside;
        result.peak_at = id;
      }
      alive -= freed[static_cast<size_t>(id)];
    }
    return result;
  }

  const Computation& computation_;
  const std::vector<int64_t>& callee_peaks_;
  std::vector<std::vector<ArrayId>> arrays_;  ///< By instruction.
  std::vector<int64_t> sizes_;                ///< By array.
  std::vector<InstructionId> maker_;
  std::vector<InstructionId> last_;
};

}  // namespace

Liveness liveness(const Module& module, const Computation& computation) {
  std::vector<int64_t> peaks;
  ComputationId highest = -1;
  for (const Instruction& instruction : computation.instructions) {
    for (const ComputationId callee : instruction.called) highest = std::max(highest, callee);
  }
  for (ComputationId id = 0; id <= highest; ++id) {
    const Liveness inner = Analysis(module.computation(id), peaks).run();
    peaks.push_back(inner.peak_bytes - inner.parameter_bytes);
  }
  return Analysis(computation, peaks).run();
}

}  // namespace alpa::hlo
