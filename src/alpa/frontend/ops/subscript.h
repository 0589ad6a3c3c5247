#pragma once

#include <optional>

#include "alpa/frontend/array.h"

/// NumPy's subscripts: `x(all, range(1, 4), -1, newaxis, ellipsis)` is x[:, 1:4, -1, None, ...].
namespace alpa {

Array all(const ArrayLike& x);

struct NewAxis {};
struct Ellipsis {};
/// A dim of size 1 more.
inline constexpr NewAxis newaxis{};
/// As many `all` as there are dims left.
inline constexpr Ellipsis ellipsis{};

/// Elements start, start + step, ... before stop. Negative start and stop count from the end and, as Python has it, are
/// moved to the nearest end if out of range; absent ones stand for the ends. A negative step goes backwards.
struct Range {
  std::optional<int64_t> start, stop;
  int64_t step = 1;
};
inline Range range(std::optional<int64_t> start, std::optional<int64_t> stop, int64_t step = 1) {
  return {start, stop, step};
}

/// What stands in one place of a subscript.
struct Index {
  enum class Kind { kWhole, kRange, kNumber, kArray, kNewAxis, kEllipsis };

  /// `all`: the whole dim.
  Index(Array (*)(const ArrayLike&), Where place = Where::current()) : kind(Kind::kWhole), where(place) {}  // NOLINT
  Index(Range part, Where place = Where::current()) : kind(Kind::kRange), range(part), where(place) {}      // NOLINT
  Index(NewAxis, Where place = Where::current()) : kind(Kind::kNewAxis), where(place) {}                    // NOLINT
  Index(Ellipsis, Where place = Where::current()) : kind(Kind::kEllipsis), where(place) {}                  // NOLINT
  /// One element; the dim goes. Negative: from the end.
  template <std::integral T>
  Index(T index, Where place = Where::current())  // NOLINT
      : kind(Kind::kNumber), number(static_cast<int64_t>(index)), where(place) {}
  /// Integers: elements along the dim, in place of which the array's dims stand; a scalar's dim goes. Several arrays
  /// broadcast and choose together, NumPy's rule: their dims stand in the first one's place if they are neighbours,
  /// else in front, and numbers count as arrays then. Negative ones count from the end; others out of range are moved
  /// to it.
  Index(const Array& indices, Where place = Where::current())
      : kind(Kind::kArray), array(indices), where(place) {}  // NOLINT

  Kind kind;
  int64_t number = 0;
  Range range;
  Array array;
  Where where;
};

/// `x` with these subscripts; dims that none names stay whole. Errors: InvalidArgumentError that names the dim and its
/// size for a number out of range, and the shape for too many subscripts.
Array subscript(const Array& x, const std::vector<Index>& indices);

}  // namespace alpa
