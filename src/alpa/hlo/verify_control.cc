#include "alpa/hlo/verify_check.h"

namespace alpa::hlo::verifying {
namespace {

void check_parameter(const Site& site, size_t called, size_t number, const tensor::Shape& argument) {
  const Computation& callee = site.called(called);
  const tensor::Shape& shape = callee[site.parameters_of_called(called)[number]].shape;
  site.check(shape == argument, "parameter {} of {} is {}, but it gets {}", number, callee.name,
             tensor::to_string(shape), tensor::to_string(argument));
}

void check_parameter_count(const Site& site, size_t called, size_t count) {
  const size_t found = site.parameters_of_called(called).size();
  site.check(found == count, "{} has {} parameters instead of {}", site.called(called).name, found, count);
}

void check_root(const Site& site, size_t called, const tensor::Shape& result) {
  const Computation& callee = site.called(called);
  const tensor::Shape& root = callee[callee.root].shape;
  site.check(root == result, "{} makes {} instead of {}", callee.name, tensor::to_string(root),
             tensor::to_string(result));
}

void check_while(const Site& site) {
  site.check(site.shape() == site.operand(0), "its shape is {}, its operand's {}", tensor::to_string(site.shape()),
             tensor::to_string(site.operand(0)));
  for (const size_t called : {0, 1}) {
    check_parameter_count(site, called, 1);
    check_parameter(site, called, 0, site.shape());
  }
  check_root(site, 0, site.shape());
  check_root(site, 1, tensor::Shape(tensor::DType::kPred, {}));
}

void check_conditional(const Site& site) {
  const tensor::Shape& chooser = site.operand(0);
  const bool two_way = chooser.dtype == tensor::DType::kPred;
  site.check(chooser.rank() == 0 && (two_way || tensor::is_integral(chooser.dtype)), "it chooses by {}",
             tensor::to_string(chooser));
  site.check(site.operand_count() == site.called_count() + 1 && (!two_way || site.called_count() == 2),
             "it has {} operands and {} branches for {}", site.operand_count(), site.called_count(),
             tensor::to_string(chooser));
  for (size_t branch = 0; branch < site.called_count(); ++branch) {
    check_parameter_count(site, branch, 1);
    check_parameter(site, branch, 0, site.operand(branch + 1));
    check_root(site, branch, site.shape());
  }
}

void check_call(const Site& site) {
  check_parameter_count(site, 0, site.operand_count());
  for (size_t k = 0; k < site.operand_count(); ++k) check_parameter(site, 0, k, site.operand(k));
  check_root(site, 0, site.shape());
}

}  // namespace

void check_control(const Site& site) {
  switch (site.opcode()) {
    case Opcode::kWhile: return check_while(site);
    case Opcode::kConditional: return check_conditional(site);
    case Opcode::kCall: return check_call(site);
    case Opcode::kFusion: return check_parameter_count(site, 0, site.operand_count());
    default: return;
  }
}

}  // namespace alpa::hlo::verifying
