#pragma once

#include <memory>

#include "alpa/solver/run.h"

namespace alpa::solver {

/// Bound, local search, fixing and MIP for a problem with a usage limit.
class CappedSearch {
 public:
  explicit CappedSearch(Run& run);
  ~CappedSearch();

  /// Reduces the problem and looks for a first choice that fits, which takes moments.
  void start();
  /// The search itself. Returns whether it proved that no choice is allowed and fits.
  bool run();

 private:
  class Search;
  std::unique_ptr<Search> search_;
};

}  // namespace alpa::solver
