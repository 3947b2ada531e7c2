// SPDX-License-Identifier: Apache-2.0
// pass.hpp — what the plugin registers.
#ifndef VARVE_MLIR_PASS_HPP
#define VARVE_MLIR_PASS_HPP

#include <functional>

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SmallVector.h"

namespace varve {

void registerPasses();

// What the pipelines run behind the annotations, besides their option `passes`.
llvm::SmallVectorImpl<std::function<void(mlir::OpPassManager &)>> &profileGuidedPasses();

} // namespace varve

#endif
