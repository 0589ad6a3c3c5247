#include <climits>

#include "alpa/hlo/verify_check.h"

namespace alpa::hlo::verifying {
namespace {

struct Range {
  size_t low;
  size_t high;
  bool contains(size_t count) const { return count >= low && count <= high; }
};

constexpr size_t kMany = UINT_MAX;

constexpr Range exactly(size_t count) { return {count, count}; }
constexpr Range at_least(size_t count) { return {count, kMany}; }

Range operands_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::kConstant:
    case Opcode::kIota:
    case Opcode::kParameter:
    case Opcode::kPartitionId:
    case Opcode::kReplicaId:
    case Opcode::kRngGetAndUpdateState: return exactly(0);
    case Opcode::kAdd:
    case Opcode::kAddDependency:
    case Opcode::kAnd:
    case Opcode::kAtan2:
    case Opcode::kCompare:
    case Opcode::kComplex:
    case Opcode::kConvolution:
    case Opcode::kDivide:
    case Opcode::kDot:
    case Opcode::kGather:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kOr:
    case Opcode::kPad:
    case Opcode::kPower:
    case Opcode::kRemainder:
    case Opcode::kSend:
    case Opcode::kSetDimensionSize:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
    case Opcode::kStochasticConvert:
    case Opcode::kSubtract:
    case Opcode::kTriangularSolve:
    case Opcode::kXor: return exactly(2);
    case Opcode::kBatchNormTraining:
    case Opcode::kClamp:
    case Opcode::kRaggedDot:
    case Opcode::kSelect:
    case Opcode::kSelectAndScatter: return exactly(3);
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormInference: return exactly(5);
    case Opcode::kScaledDot: return {2, 4};
    case Opcode::kInfeed: return {0, 1};
    case Opcode::kOutfeed: return {1, 2};
    case Opcode::kRaggedAllToAll: return exactly(6);
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kAllToAll:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
    case Opcode::kConcatenate:
    case Opcode::kDynamicReshape:
    case Opcode::kDynamicSlice:
    case Opcode::kMap:
    case Opcode::kReduceScatter:
    case Opcode::kSort: return at_least(1);
    case Opcode::kConditional:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kReduce:
    case Opcode::kReduceWindow: return at_least(2);
    case Opcode::kScatter: return at_least(3);
    case Opcode::kAfterAll:
    case Opcode::kAsyncStart:
    case Opcode::kCall:
    case Opcode::kCustomCall:
    case Opcode::kFusion:
    case Opcode::kRng:
    case Opcode::kScan:
    case Opcode::kTuple: return at_least(0);
    default: return exactly(1);
  }
}

Range called_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::kCall:
    case Opcode::kFusion:
    case Opcode::kMap:
    case Opcode::kReduce:
    case Opcode::kReduceScatter:
    case Opcode::kReduceWindow:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kScatter:
    case Opcode::kSort: return exactly(1);
    case Opcode::kSelectAndScatter:
    case Opcode::kWhile: return exactly(2);
    case Opcode::kConditional:
    case Opcode::kScan: return at_least(1);
    case Opcode::kAsyncDone:
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kCustomCall:
    case Opcode::kTopK: return at_least(0);
    default: return exactly(0);
  }
}

std::string text(const Range& range) {
  if (range.low == range.high) return fmt::format("{}", range.low);
  if (range.high == kMany) return fmt::format("at least {}", range.low);
  return fmt::format("{} to {}", range.low, range.high);
}

}  // namespace

void check_arity(const Site& site) {
  const Range operands = operands_of(site.opcode());
  site.check(operands.contains(site.operand_count()), "it has {} operands instead of {}", site.operand_count(),
             text(operands));
  const Range called = called_of(site.opcode());
  site.check(called.contains(site.called_count()), "it calls {} computations instead of {}", site.called_count(),
             text(called));
}

}  // namespace alpa::hlo::verifying
