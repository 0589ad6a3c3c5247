#include "alpa/frontend/promotion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "alpa/base/error.h"
#include "alpa/frontend/autodiff.h"
#include "alpa/frontend/node.h"
#include "alpa/frontend/ops/shape.h"

namespace alpa {
namespace {

struct Member {
  DType dtype;
  bool weak;
  std::vector<int> above;  // its direct successors, by index
};

// In an order where successors come later.
const std::vector<Member>& lattice() {
  static const std::vector<Member> members = {
      {DType::kPred, false, {1}},         // 0
      {DType::kS32, true, {2, 6}},        // 1 weak int
      {DType::kU8, false, {3, 7}},        // 2
      {DType::kU16, false, {4, 8}},       // 3
      {DType::kU32, false, {5, 9}},       // 4
      {DType::kU64, false, {10}},         // 5
      {DType::kS8, false, {7}},           // 6
      {DType::kS16, false, {8}},          // 7
      {DType::kS32, false, {9}},          // 8
      {DType::kS64, false, {10}},         // 9
      {DType::kF32, true, {11, 12, 15}},  // 10 weak float
      {DType::kBF16, false, {13}},        // 11
      {DType::kF16, false, {13}},         // 12
      {DType::kF32, false, {14, 16}},     // 13
      {DType::kF64, false, {17}},         // 14
      {DType::kC64, true, {16}},          // 15 weak complex
      {DType::kC64, false, {17}},         // 16
      {DType::kC128, false, {}},          // 17
  };
  return members;
}

// A bit for itself and for all that is above.
const std::array<uint32_t, 18>& upsets() {
  static const std::array<uint32_t, 18> sets = [] {
    std::array<uint32_t, 18> result{};
    for (size_t k = result.size(); k-- > 0;) {
      result[k] = 1u << k;
      for (const int above : lattice()[k].above) result[k] |= result[static_cast<size_t>(above)];
    }
    return result;
  }();
  return sets;
}

size_t index_of(Promoted type) {
  const bool weak = type.weak && type.dtype != DType::kPred;
  for (size_t k = 0; k < lattice().size(); ++k) {
    if (lattice()[k].dtype == type.dtype && lattice()[k].weak == weak) return k;
  }
  raise<UnsupportedError>("promote", "arrays of {} have no place among the element types of operations",
                          tensor::name(type.dtype));
}

}  // namespace

Promoted promote(Promoted a, Promoted b) {
  if (a.dtype == b.dtype) return {a.dtype, a.weak && b.weak};
  const uint32_t common = upsets()[index_of(a)] & upsets()[index_of(b)];
  for (size_t k = 0; k < lattice().size(); ++k) {
    if (upsets()[k] == common) return {lattice()[k].dtype, lattice()[k].weak};
  }
  raise<InternalError>("promote", "{} and {} have no join", tensor::name(a.dtype), tensor::name(b.dtype));
}

Promoted promote(const std::vector<Array>& arrays) {
  Promoted result{arrays.at(0).dtype(), arrays[0].is_weak()};
  for (size_t k = 1; k < arrays.size(); ++k) result = promote(result, {arrays[k].dtype(), arrays[k].is_weak()});
  return result;
}

namespace frontend {

std::vector<Array> promoted(const std::vector<Array>& arrays, Where where) {
  const DType dtype = promote(arrays).dtype;
  std::vector<Array> result;
  for (const Array& array : arrays) result.push_back(array.astype(dtype, where));
  return result;
}

Dims broadcast_dims(const char* op, const std::vector<Array>& arrays, Where where) {
  Dims dims;
  for (const Array& array : arrays) {
    const Dims& own = array.dims();
    if (own.size() > dims.size()) dims.insert(dims.begin(), own.size() - dims.size(), 1);
    for (size_t k = 0; k < own.size(); ++k) {
      int64_t& size = dims[dims.size() - own.size() + k];
      if (own[k] == size || own[k] == 1) continue;
      if (size != 1) {
        std::string shapes;
        for (const Array& one : arrays) shapes += (shapes.empty() ? "" : " and ") + tensor::to_string(one.shape());
        raise<InvalidArgumentError>(op, "{} do not broadcast at {}: trailing dims must agree or be 1", shapes,
                                    to_string(where));
      }
      size = own[k];
    }
  }
  return dims;
}

std::vector<Array> promoted_and_broadcast(const char* op, const std::vector<Array>& arrays, Where where) {
  for (const Array& array : arrays)
    require<InvalidArgumentError>(array.defined(), op, "an operand at {} is an Array that was never assigned",
                                  to_string(where));
  const Dims dims = broadcast_dims(op, arrays, where);
  std::vector<Array> result;
  for (const Array& array : promoted(arrays, where)) result.push_back(broadcast_to(array, dims, where));
  return result;
}

}  // namespace frontend
}  // namespace alpa
