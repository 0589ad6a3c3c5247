#include "alpa/hlo/opcode.h"

#include <algorithm>
#include <array>

namespace alpa::hlo {
namespace {

struct Row {
  std::string_view text;
  Opcode opcode;
};

constexpr std::array kByEnumerator = {
#define ALPA_HLO_ROW(enumerator, text) Row{text, Opcode::enumerator},
    ALPA_HLO_OPCODES(ALPA_HLO_ROW)
#undef ALPA_HLO_ROW
};

constexpr auto sorted_by_text() {
  auto rows = kByEnumerator;
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.text < b.text; });
  return rows;
}

constexpr auto kByText = sorted_by_text();

}  // namespace

std::string_view name(Opcode opcode) { return kByEnumerator[static_cast<size_t>(opcode)].text; }

std::optional<Opcode> find_opcode(std::string_view text) {
  const auto row = std::lower_bound(kByText.begin(), kByText.end(), text,
                                    [](const Row& candidate, std::string_view key) { return candidate.text < key; });
  if (row == kByText.end() || row->text != text) return std::nullopt;
  return row->opcode;
}

bool is_elementwise(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kAcos:
    case Opcode::kAcosh:
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kAsin:
    case Opcode::kAsinh:
    case Opcode::kAtan2:
    case Opcode::kAtanh:
    case Opcode::kCbrt:
    case Opcode::kCeil:
    case Opcode::kClamp:
    case Opcode::kClz:
    case Opcode::kCompare:
    case Opcode::kComplex:
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kCosh:
    case Opcode::kCosine:
    case Opcode::kDivide:
    case Opcode::kErf:
    case Opcode::kExp:
    case Opcode::kExpm1:
    case Opcode::kFloor:
    case Opcode::kImag:
    case Opcode::kIsFinite:
    case Opcode::kLog:
    case Opcode::kLog1p:
    case Opcode::kLogistic:
    case Opcode::kMap:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kNegate:
    case Opcode::kNot:
    case Opcode::kOr:
    case Opcode::kPopulationCount:
    case Opcode::kPower:
    case Opcode::kReal:
    case Opcode::kReducePrecision:
    case Opcode::kRemainder:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
    case Opcode::kRsqrt:
    case Opcode::kSelect:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
    case Opcode::kSign:
    case Opcode::kSine:
    case Opcode::kSinh:
    case Opcode::kSqrt:
    case Opcode::kStochasticConvert:
    case Opcode::kSubtract:
    case Opcode::kTan:
    case Opcode::kTanh:
    case Opcode::kXor: return true;
    default: return false;
  }
}

bool is_collective(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kAllToAll:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
    case Opcode::kRaggedAllToAll:
    case Opcode::kReduceScatter: return true;
    default: return false;
  }
}

}  // namespace alpa::hlo
