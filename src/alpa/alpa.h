#pragma once

/// The library: arrays, derivatives, and training steps that run on all devices.
#include "alpa/api/cluster.h"
#include "alpa/api/executable.h"
#include "alpa/api/method.h"
#include "alpa/api/parallelize.h"
#include "alpa/frontend/array.h"
#include "alpa/frontend/ops/contraction.h"
#include "alpa/frontend/ops/control_flow.h"
#include "alpa/frontend/ops/creation.h"
#include "alpa/frontend/ops/custom_derivative.h"
#include "alpa/frontend/ops/elementwise.h"
#include "alpa/frontend/ops/reduction.h"
#include "alpa/frontend/ops/shape.h"
#include "alpa/frontend/promotion.h"
#include "alpa/frontend/pytree.h"
#include "alpa/frontend/transforms.h"
