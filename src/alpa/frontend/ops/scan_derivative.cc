#include <algorithm>

#include "alpa/base/error.h"
#include "alpa/frontend/autodiff.h"
#include "alpa/frontend/ops/residuals.h"
#include "alpa/frontend/ops/scan.h"

/// Reverse mode: the body is recorded with its pullback; the forward scan stacks what the pullback uses, and a scan in
/// the opposite direction carries the cotangents of the carry and the sums of those of the constants.
namespace alpa::frontend {
namespace {

// What the forward scan leaves for the backward one.
struct Kept {
  ScanLoop loop;  // of the forward scan before residuals were added
  LinearizedBody body;
  Residuals residuals;
  std::vector<Array> inputs;   // of the forward scan
  std::vector<Array> stacks;   // of the kept residuals
  std::vector<Array> hoisted;  // values that no iteration changes
  std::vector<bool> varied;    // outputs that depend on active inputs
  std::vector<bool> wanted;
  Where where;
};

bool is_constant(const ScanLoop& loop, size_t parameter) { return parameter >= loop.num_carry + loop.num_xs; }

// The forward scan with what is to be kept as further ys; a residual that is one of the ys already is that.
std::vector<Array> run_forward(Kept& kept) {
  ScanLoop loop = kept.loop;
  Function body{kept.body.parameters, kept.body.outputs, kept.body.parameters.size()};
  std::vector<size_t> places;
  for (const Array& residual : kept.residuals.kept()) {
    size_t place = loop.num_carry;
    const auto same = [&](const Array& other) {
      const Array source = Residuals::resolved(other);
      return source.node() == residual.node() && source.output() == residual.output();
    };
    while (place < body.results.size() && !same(body.results[place])) ++place;
    if (place == body.results.size()) body.results.push_back(residual);
    places.push_back(place);
  }
  if (!kept.residuals.hoisted().empty()) {
    const Function outside{kept.body.parameters, kept.residuals.hoisted(), kept.body.parameters.size()};
    kept.hoisted = inline_call(outside, kept.inputs);
  }
  loop.body = std::make_shared<const Function>(std::move(body));
  std::vector<Array> outputs = emit_scan(loop, kept.inputs, kept.where);
  for (const size_t place : places) kept.stacks.push_back(outputs[place]);
  outputs.resize(kept.body.outputs.size());
  return outputs;
}

// The backward scan for given cotangents.
class BackwardScan {
 public:
  BackwardScan(const Kept& kept, const std::vector<Array>& cotangents) : kept_(kept), cotangents_(cotangents) {
    for (size_t k = 0; k < cotangents.size(); ++k) mask_.push_back(cotangents[k].defined() && kept.varied[k]);
    pull_back();
  }

  std::vector<Array> run() {
    std::vector<Array> of_inputs(kept_.inputs.size());
    if (std::find(pulled_.given.begin(), pulled_.given.end(), true) == pulled_.given.end()) return of_inputs;
    set_carry();
    return emitted(traced());
  }

 private:
  // Cotangents of carries that come only of later iterations are found by trying; zeros stay away.
  void pull_back() {
    for (bool changed = true; changed;) {
      changed = false;
      pulled_ = pull_back_body(kept_.body, mask_);
      for (size_t k = 0; k < kept_.loop.num_carry; ++k) {
        if (pulled_.given[k] && !mask_[k]) mask_[k] = changed = true;
      }
    }
    const bool covered = std::all_of(pulled_.residuals.begin(), pulled_.residuals.end(),
                                     [&](const Array& residual) { return kept_.residuals.covers(residual); });
    if (covered) return;
    mask_ = kept_.varied;  // what was kept is for this
    pulled_ = pull_back_body(kept_.body, mask_);
  }

  bool accumulates(size_t parameter) const {
    return is_constant(kept_.loop, parameter) && pulled_.given[parameter] && kept_.wanted[parameter];
  }

  void set_carry() {
    for (size_t k = 0; k < kept_.loop.num_carry; ++k) {
      if (!mask_[k]) continue;
      carry_.push_back(instantiate(cotangents_[k], kept_.body.outputs[k].shape()));
      belongs_.push_back(k);
    }
    num_cotangents_ = carry_.size();
    for (size_t k = 0; k < pulled_.given.size(); ++k) {
      if (!accumulates(k)) continue;
      carry_.push_back(instantiate({}, kept_.body.parameters[k].shape()));
      belongs_.push_back(k);
    }
  }

  Array slice(TraceScope& scope, const Array& whole) {
    xs_.push_back(whole);
    return scope.parameter(slice_of(whole.shape()));
  }

  std::vector<Array> arguments(TraceScope& scope) {
    std::vector<Array> found = part(parameters_, 0, num_cotangents_);
    for (size_t k = kept_.loop.num_carry; k < mask_.size(); ++k) {
      if (!mask_[k]) continue;
      found.push_back(cotangents_[k].defined() ? slice(scope, cotangents_[k])
                                               : instantiate({}, kept_.body.outputs[k].shape()));
    }
    std::vector<Array> sliced(kept_.inputs.size()), of_stack(kept_.stacks.size());
    const auto once = [&](Array& known, const Array& whole) {
      if (!known.defined()) known = slice(scope, whole);
      return known;
    };
    const Residuals::Sources sources{
        [&](size_t k) { return is_constant(kept_.loop, k) ? kept_.inputs[k] : once(sliced[k], kept_.inputs[k]); },
        [&](size_t k) { return once(of_stack[k], kept_.stacks[k]); }, [&](size_t k) { return kept_.hoisted[k]; }};
    for (const Array& residual : pulled_.residuals) found.push_back(kept_.residuals.value(residual, sources));
    return found;
  }

  Closure traced() {
    TraceScope scope("a backward scan", Captures::kAll);
    for (const Array& array : carry_) parameters_.push_back(scope.parameter(array.shape()));
    std::vector<Array> results = record(scope);
    return without_dead_captures(std::move(scope).finish(std::move(results)));
  }

  std::vector<Array> record(TraceScope& scope) {
    const std::vector<Array> found = inline_call(*pulled_.function, arguments(scope));
    std::vector<Array> of_parameters(pulled_.given.size());
    for (size_t k = 0, next = 0; k < of_parameters.size(); ++k) {
      if (pulled_.given[k]) of_parameters[k] = found[next++];
    }
    std::vector<Array> results;
    for (size_t k = 0; k < carry_.size(); ++k) {
      const Array& cotangent = of_parameters[belongs_[k]];
      results.push_back(k < num_cotangents_ ? instantiate(cotangent, carry_[k].shape())
                                            : add_tangents(parameters_[k], cotangent));
    }
    for (size_t k = kept_.loop.num_carry; k < kept_.loop.num_carry + kept_.loop.num_xs; ++k) {
      if (!of_parameters[k].defined() || !kept_.wanted[k]) continue;
      results.push_back(of_parameters[k]);
      belongs_.push_back(k);
    }
    return results;
  }

  std::vector<Array> emitted(const Closure& closure) const {
    const ScanLoop loop{closure.function, carry_.size(), xs_.size(), kept_.loop.length, !kept_.loop.reverse};
    const std::vector<Array> outputs = emit_scan(loop, joined(joined(carry_, xs_), closure.captured), kept_.where);
    std::vector<Array> of_inputs(kept_.inputs.size());
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (kept_.wanted[belongs_[k]]) of_inputs[belongs_[k]] = outputs[k];
    }
    return of_inputs;
  }

  const Kept& kept_;
  const std::vector<Array>& cotangents_;
  std::vector<bool> mask_;  // outputs of the body with a cotangent
  PulledBack pulled_;
  std::vector<Array> carry_, xs_;  // inputs of the backward scan
  size_t num_cotangents_ = 0;      // of the carry; the rest are sums
  std::vector<Array> parameters_;  // of its body, for the carry
  std::vector<size_t> belongs_;    // which input of the forward scan an output is the cotangent of
};

}  // namespace

Linearized linearize_scan(const ScanLoop& loop, const Node& node, const std::vector<Array>& inputs,
                          const std::vector<bool>& wanted) {
  const std::vector<bool> active = with_active_carry(*loop.body, loop.num_carry, wanted);
  LinearizedBody body = linearize_body(*loop.body, active);
  std::vector<bool> at_hand, invariant;
  for (size_t k = 0; k < inputs.size(); ++k) {
    at_hand.push_back(k >= loop.num_carry);
    invariant.push_back(is_constant(loop, k));
  }
  Residuals residuals(body, std::move(at_hand), std::move(invariant));
  const std::vector<bool> varied = dependent_results(*loop.body, active);
  const PulledBack all = pull_back_body(body, varied);
  for (const Array& residual : all.residuals) residuals.need(residual);
  auto kept = std::make_shared<Kept>(
      Kept{loop, std::move(body), std::move(residuals), inputs, {}, {}, varied, wanted, node.where});
  std::vector<Array> outputs = run_forward(*kept);
  return {std::move(outputs),
          [kept](const std::vector<Array>& cotangents) { return BackwardScan(*kept, cotangents).run(); }};
}

}  // namespace alpa::frontend
