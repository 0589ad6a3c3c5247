#include "alpa/base/error.h"

namespace alpa::internal {

void check_failed(const char* condition, const char* file, int line) {
  raise<InternalError>("internal", "check failed: {} at {}:{}; this is a fault of ours, please report it", condition,
                       file, line);
}

}  // namespace alpa::internal
