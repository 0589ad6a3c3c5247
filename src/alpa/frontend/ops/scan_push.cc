#include "alpa/frontend/autodiff.h"
#include "alpa/frontend/ops/scan.h"

/// Forward mode: one scan over primals and tangents.
namespace alpa::frontend {
namespace {

class ScanWithTangents {
 public:
  ScanWithTangents(const ScanLoop& loop, const std::vector<Array>& inputs, const std::vector<Array>& tangents)
      : loop_(loop), inputs_(inputs), tangents_(tangents) {
    for (const Array& tangent : tangents) active_.push_back(tangent.defined());
    active_ = with_active_carry(*loop.body, loop.num_carry, active_);
    for (size_t k = 0; k < loop.num_carry; ++k) {
      if (active_[k]) tangents_[k] = instantiate(tangents[k], inputs[k].shape());
    }
  }

  Forward run(const Where& where) {
    ScanLoop both = loop_;
    std::vector<Array> all;
    {
      TraceScope scope("a scan with tangents", Captures::kAll);
      all = add_parameters(scope, both);
      std::vector<Array> results = record();
      Closure closure = without_dead_captures(std::move(scope).finish(std::move(results)));
      both.body = closure.function;
      all = joined(std::move(all), closure.captured);
    }
    const std::vector<Array> outputs = emit_scan(both, all, where);
    Forward forward{std::vector<Array>(loop_.body->results.size()), std::vector<Array>(loop_.body->results.size())};
    for (size_t k = 0; k < outputs.size(); ++k)
      (is_tangent_[k] ? forward.tangents : forward.outputs)[belongs_[k]] = outputs[k];
    return forward;
  }

 private:
  // Carry, its tangents, xs, their tangents: the inputs, and parameters for them. Constants are captured.
  std::vector<Array> add_parameters(TraceScope& scope, ScanLoop& both) {
    const size_t num_loop = loop_.num_carry + loop_.num_xs;
    points_ = inputs_;
    changes_ = tangents_;
    std::vector<Array> all;
    const auto add = [&](size_t begin, size_t end, const std::vector<Array>& outer, std::vector<Array>& inner) {
      for (size_t k = begin; k < end; ++k) {
        if (!outer[k].defined()) continue;
        all.push_back(outer[k]);
        inner[k] = scope.parameter(loop_.body->parameters[k].shape());
      }
    };
    add(0, loop_.num_carry, inputs_, points_);
    add(0, loop_.num_carry, tangents_, changes_);
    both.num_carry = all.size();
    add(loop_.num_carry, num_loop, inputs_, points_);
    add(loop_.num_carry, num_loop, tangents_, changes_);
    both.num_xs = all.size() - both.num_carry;
    return all;
  }

  std::vector<Array> record() {
    std::vector<Array> variables, changes;
    for (size_t k = 0; k < points_.size(); ++k) {
      if (!active_[k]) continue;
      points_[k] = alias(points_[k]);
      variables.push_back(points_[k]);
      changes.push_back(changes_[k]);
    }
    const Forward forward = push_forward(inline_call(*loop_.body, points_), variables, changes);
    std::vector<Array> results;
    const auto add = [&](size_t k, const Array& array, bool is_tangent) {
      results.push_back(array);
      belongs_.push_back(k);
      is_tangent_.push_back(is_tangent);
    };
    for (size_t k = 0; k < loop_.num_carry; ++k) add(k, forward.outputs[k], false);
    for (size_t k = 0; k < loop_.num_carry; ++k) {
      if (active_[k]) add(k, instantiate(forward.tangents[k], forward.outputs[k].shape()), true);
    }
    for (size_t k = loop_.num_carry; k < forward.outputs.size(); ++k) add(k, forward.outputs[k], false);
    for (size_t k = loop_.num_carry; k < forward.outputs.size(); ++k) {
      if (forward.tangents[k].defined()) add(k, forward.tangents[k], true);
    }
    return results;
  }

  const ScanLoop& loop_;
  const std::vector<Array>& inputs_;
  std::vector<Array> tangents_;
  std::vector<bool> active_;
  std::vector<Array> points_, changes_;
  std::vector<size_t> belongs_;  // by output of the scan: output of the loop
  std::vector<bool> is_tangent_;
};

}  // namespace

Forward push_scan(const ScanLoop& loop, const Node& node, const std::vector<Array>& inputs,
                  const std::vector<Array>& tangents) {
  return ScanWithTangents(loop, inputs, tangents).run(node.where);
}

}  // namespace alpa::frontend
