#include "alpa/frontend/ops/window.h"

#include <algorithm>

#include "alpa/base/error.h"
#include "alpa/frontend/node.h"

namespace alpa::frontend {

int64_t WindowExtent::result() const {
  const int64_t room = dilated_operand() + low + high - dilated_size();
  return room < 0 ? 0 : room / stride + 1;
}

void resolve_padding(const char* op, const WindowPadding& padding, std::vector<WindowExtent>& dims, Where where) {
  for (const WindowExtent& dim : dims) {
    require<InvalidArgumentError>(
        dim.size >= 1 && dim.stride >= 1 && dim.base_dilation >= 1 && dim.window_dilation >= 1, op,
        "at {}: window of size {}, stride {}, dilations {} and {}: all must be positive", to_string(where), dim.size,
        dim.stride, dim.base_dilation, dim.window_dilation);
  }
  if (padding.scheme.empty()) {
    require<InvalidArgumentError>(padding.amounts.size() == dims.size(), op, "{} paddings for {} dims at {}",
                                  padding.amounts.size(), dims.size(), to_string(where));
    for (size_t k = 0; k < dims.size(); ++k) std::tie(dims[k].low, dims[k].high) = padding.amounts[k];
    return;
  }
  const bool same = padding.scheme == "SAME", lower = padding.scheme == "SAME_LOWER";
  require<InvalidArgumentError>(same || lower || padding.scheme == "VALID", op,
                                "padding \"{}\" at {}: there are SAME, SAME_LOWER, VALID and {{low, high}} a dim",
                                padding.scheme, to_string(where));
  for (WindowExtent& dim : dims) {
    dim.low = dim.high = 0;
    if (!same && !lower) continue;
    const int64_t size = dim.dilated_operand();
    const int64_t results = (size + dim.stride - 1) / dim.stride;
    const int64_t total = std::max<int64_t>(0, (results - 1) * dim.stride + dim.dilated_size() - size);
    dim.low = same ? total / 2 : total - total / 2;
    dim.high = total - dim.low;
  }
}

void require_one_each(const char* op, const char* what, const std::vector<int64_t>& each, size_t count, Where where) {
  require<InvalidArgumentError>(each.empty() || each.size() == count, op, "{} {} for {} dims at {}", each.size(), what,
                                count, to_string(where));
}

}  // namespace alpa::frontend
