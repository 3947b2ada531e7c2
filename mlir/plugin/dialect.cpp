// SPDX-License-Identifier: Apache-2.0
#include "dialect.hpp"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "varve/mlir/profile.hpp"

MLIR_DEFINE_EXPLICIT_TYPE_ID(varve::VarveDialect)

using namespace mlir;

namespace varve {

VarveDialect::VarveDialect(MLIRContext *context)
    : Dialect(getDialectNamespace(), context, TypeID::get<VarveDialect>()) {}

// {count = 3 : i64, match = "name", total = 81000 : i64}
static LogicalResult verifyProfile(Operation *op, Attribute attribute) {
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  if (!dictionary)
    return op->emitOpError("'varve.profile' must be a dictionary, {total = 81000 : i64}");
  bool any = false;
  for (NamedAttribute entry : dictionary) {
    StringRef word = entry.getName();
    if (word == "match" || word == "fused") {
      if (word == "match" ? !isa<StringAttr>(entry.getValue()) : !isa<UnitAttr>(entry.getValue()))
        return op->emitOpError("'varve.profile': '") << word << "' must be "
               << (word == "match" ? "a string" : "without a value");
      continue;
    }
    auto fields = detail::fields().drop_back(2);
    if (llvm::none_of(fields, [&](const detail::Field &field) { return field.word == word; })) {
      InFlightDiagnostic error = op->emitOpError("'varve.profile' has an unknown field '");
      error << word << "'; there are match, fused";
      for (const detail::Field &field : fields)
        error << ", " << field.word;
      return error;
    }
    auto number = dyn_cast<IntegerAttr>(entry.getValue());
    if (!number || !number.getType().isSignlessInteger(64))
      return op->emitOpError("'varve.profile': '") << word << "' must be an i64";
    if (number.getInt() < 0)
      return op->emitOpError("'varve.profile': '") << word << "' is negative";
    any = true;
  }
  if (!any)
    return op->emitOpError("'varve.profile' has no field: what is not known is not written");
  return success();
}

LogicalResult VarveDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kProfile)
    return verifyProfile(op, attribute.getValue());
  if (name == kHot && !isa<UnitAttr>(attribute.getValue()))
    return op->emitOpError("'varve.hot' must be without a value");
  if (name == "varve.id" && !isa<IntegerAttr, StringAttr>(attribute.getValue()))
    return op->emitOpError("'varve.id' must be a number or a string");
  if (name == "varve.device" && !isa<StringAttr>(attribute.getValue()))
    return op->emitOpError("'varve.device' must be a string");
  return success();
}

} // namespace varve
