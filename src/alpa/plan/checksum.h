#pragma once

#include <string_view>

namespace alpa::plan {

/// True if a plan.json was changed after it was written: its "checksum" is not that of its other fields. What it
/// predicts is then of another plan. One without a checksum is taken as it is.
bool is_changed(std::string_view text, std::string_view source);

}  // namespace alpa::plan
