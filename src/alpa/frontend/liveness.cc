#include "alpa/frontend/liveness.h"

#include <algorithm>

namespace alpa::frontend {

Liveness::Liveness(const std::vector<Array>& results) {
  const auto mark = [&](const Array& array) {
    std::vector<bool>& outputs = used_[array.node().get()];
    outputs.resize(array.node()->shapes.size());
    outputs[static_cast<size_t>(array.output())] = true;
  };
  for (const Array& result : results) mark(result);
  std::vector<std::shared_ptr<Node>> all = reachable(results);
  for (size_t next = all.size(); next-- > 0;) {
    const Node& node = *all[next];
    const auto outputs = used_.find(&node);
    if (outputs == used_.end()) continue;
    nodes_.push_back(all[next]);
    if (node.primitive == nullptr || node.is_known()) continue;
    const bool all_inputs = node.primitive->needs == nullptr;
    const std::vector<bool> needed =
        all_inputs ? std::vector<bool>(node.inputs.size(), true) : node.primitive->needs(node, outputs->second);
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      if (needed[k]) mark(node.inputs[k]);
    }
  }
  std::reverse(nodes_.begin(), nodes_.end());
}

std::vector<bool> Liveness::used(const Node& node) const {
  const auto entry = used_.find(&node);
  return entry == used_.end() ? std::vector<bool>(node.shapes.size(), false) : entry->second;
}

std::vector<bool> needed_parameters(const Function& function, const std::vector<bool>& used) {
  const Liveness live(chosen(function.results, used));
  std::vector<bool> needed;
  for (const Array& parameter : function.parameters) needed.push_back(live.needs(parameter));
  return needed;
}

}  // namespace alpa::frontend
