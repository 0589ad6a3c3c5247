#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "alpa/hlo/forward_pass.h"
#include "alpa/hlo/module.h"
#include "alpa/mesh/cluster.h"

namespace alpa::planner {

/// Values of the forward pass that the backward pass makes anew.
struct Recomputation {
  std::vector<std::string> names;  ///< Instructions of the entry, in its order.
  double seconds = 0;              ///< Of making them again, on one device that has all of the program.
};

/// Which values may be made anew and how the forward pass is cut into segments for it.
struct RecomputeRequest {
  const hlo::Module& module;
  const std::vector<bool>& allowed;  ///< By instruction of the entry: may be made anew.
  const mesh::DeviceSpec& device;
};

/// How much is made anew.
struct RecomputeLevel {
  /// Parts of the forward pass of equal shares of what waits for the backward pass, cut where little is handed on.
  /// What a part hands on is kept: no more than a part is made anew at once.
  int segments = 1;
  int recomputed = 0;           ///< The first so many of them are made anew, the others kept as they are: the last has
                                ///< its turn as soon as it is done.
  double seconds_per_byte = 0;  ///< Paid for memory: what costs more to make is kept.
};

/// Chooses what the backward pass makes anew: of all sets that leave it all it reads, one of least seconds plus
/// `seconds_per_byte` times the bytes kept over the end of the forward pass. That is a least cut: a value is kept, made
/// anew from what it is made of, which is then kept or made anew in its turn, or not wanted. Bytes and seconds are
/// those of whole values on one device: where work and memory are divided evenly their ratios stay.
class RecomputeChooser {
 public:
  explicit RecomputeChooser(const RecomputeRequest& request);

  /// False if the program has no backward pass that reads what can be made anew.
  bool possible() const { return !ratios_.empty(); }
  /// Prices of a byte worth trying, ascending: those at which an operation's result begins to be worth making.
  const std::vector<double>& prices() const { return ratios_; }

  Recomputation choose(const RecomputeLevel& level) const;

 private:
  struct Value {
    int64_t bytes = 0;
    double seconds = 0;
    bool late = false;        ///< The backward pass reads it.
    bool given = false;       ///< Always there: a parameter, or follows from constants.
    bool view = false;        ///< Has no memory of its own: is not kept but for its operand.
    bool allowed = false;     ///< May be made anew.
    int32_t last_early = -1;  ///< The last use in the forward pass, `end_` if it comes later.
  };

  void find_values(const RecomputeRequest& request, const hlo::ForwardPass& forward);
  void find_ratios();
  std::vector<int32_t> borders(int segments) const;
  void leave_out_views_of_kept(std::vector<bool>& anew) const;

  const hlo::Computation& entry_;
  int32_t end_ = -1;                ///< Of the forward pass.
  std::vector<Value> values_;       ///< Of the forward pass.
  std::vector<int64_t> handed_on_;  ///< By instruction: bytes that the forward pass itself reads later.
  std::vector<double> ratios_;
};

}  // namespace alpa::planner
