#pragma once

#include "alpa/api/executable.h"
#include "alpa/compiler/meta.h"

namespace alpa::api {

/// Names and roles of a traced step's inputs and outputs.
compiler::Meta meta_of(const Step& step);

}  // namespace alpa::api
