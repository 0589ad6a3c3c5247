#include "alpa/hlo/summed_dims.h"

#include "alpa/hlo/attributes.h"
#include "alpa/hlo/reducer.h"

namespace alpa::hlo {

std::vector<int64_t> summed_dims(const Module& module, const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kDot: return dot_dims(instruction).lhs_contracting;
    case Opcode::kConvolution: {
      const ConvolutionDims dims = convolution_dims(instruction);
      if (dims.feature_groups > 1 || dims.batch_groups > 1) return {};
      return {dims.input_feature};
    }
    case Opcode::kReduce:
      if (instruction.shape.is_tuple() || reducer_opcode(module.computation(instruction.called.at(0))) != Opcode::kAdd)
        return {};
      return dimensions(instruction);
    default: return {};
  }
}

}  // namespace alpa::hlo
