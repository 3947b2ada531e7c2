// SPDX-License-Identifier: Apache-2.0
// pass.hpp — what the plugin registers.
#ifndef VARVE_MLIR_PASS_HPP
#define VARVE_MLIR_PASS_HPP

namespace varve {

void registerPasses();

} // namespace varve

#endif
