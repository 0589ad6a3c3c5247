#include "alpa/solver/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace alpa::solver {

void for_each_in_parallel(size_t count, const std::function<void(size_t)>& work, int most_threads) {
  const size_t cores =
      most_threads > 0 ? static_cast<size_t>(most_threads) : std::max(1u, std::thread::hardware_concurrency());
  std::atomic<size_t> next = 0;
  std::vector<std::exception_ptr> errors(count);
  const auto run = [&] {
    for (size_t k = next++; k < count; k = next++) {
      try {
        work(k);
      } catch (...) {
        errors[k] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (size_t k = 1; k < std::min(cores, count); ++k) helpers.emplace_back(run);
    run();
  }
  for (const std::exception_ptr& error : errors) {
    if (error != nullptr) std::rethrow_exception(error);
  }
}

}  // namespace alpa::solver
