// SPDX-License-Identifier: Apache-2.0
// plugin.cpp — what mlir-opt-19 asks for: --load-pass-plugin, --load-dialect-plugin.
#include "dialect.hpp"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "pass.hpp"
#include "varve/varve.h"

#define STRING(number) #number
#define VERSION(major, minor, patch) STRING(major) "." STRING(minor) "." STRING(patch)
static const char version[] =
    VERSION(VARVE_VERSION_MAJOR, VARVE_VERSION_MINOR, VARVE_VERSION_PATCH);

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT ::mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "varve", version, varve::registerPasses};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT ::mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "varve", version,
          [](mlir::DialectRegistry *registry) { registry->insert<varve::VarveDialect>(); }};
}
