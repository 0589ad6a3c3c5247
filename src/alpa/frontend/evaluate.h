#pragma once

#include <memory>
#include <vector>

#include "alpa/frontend/array.h"
#include "alpa/hlo/module.h"

namespace alpa::frontend {

/// Runs programs on one device, for arrays that are read outside of any trace.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// The outputs of a program whose root is a tuple, from its inputs. May keep compiled programs.
  virtual std::vector<std::shared_ptr<tensor::PlacedValue>> run(
      const hlo::Module& module, const std::vector<std::shared_ptr<tensor::PlacedValue>>& inputs) = 0;
};

/// Of the initialized cluster; null at its end. It is what reads of unevaluated arrays use.
void set_evaluator(std::shared_ptr<Evaluator> evaluator);

/// Makes the values of these arrays known, with all in one program.
/// Errors: InvalidArgumentError if one is traced, deleted, or there is no evaluator (call alpa::init first).
void evaluate(const std::vector<Array>& arrays);

/// The value of an array, evaluated if need be.
std::shared_ptr<tensor::PlacedValue> value_of(const Array& array);

}  // namespace alpa::frontend
