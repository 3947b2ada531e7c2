// SPDX-License-Identifier: Apache-2.0
// pass.cpp — annotate-operations-profile, and the pipelines that begin with it.
//
// The module is printed in generic form and given to the C core, which reads it, matches it with
// the trace and answers by the number of each operation in the text. Printing and walking meet
// operations in the same order, a parent before its children, so that number is its place in the
// walk; each name is compared. Therefore the pass finds what `varve annotate` finds, at any depth.
#include "pass.hpp"

#include "core.h"
#include "dialect.hpp"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "varve/mlir/interface.hpp"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace varve {
namespace {

std::string print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream out(text);
  OpPrintingFlags flags;
  flags.printGenericOpForm().enableDebugInfo(/*enable=*/true, /*prettyForm=*/false).assumeVerified();
  if (op->getParentOp())
    flags.useLocalScope();
  flags.elideLargeElementsAttrs(16).elideLargeResourceString(16); // weights say nothing of names
  op->print(out, flags);
  return text;
}

Profile profileOf(const varve_core_mark &mark) {
  Profile profile;
  for (size_t i = 0; i < mark.field_count; i++)
    for (const detail::Field &field : detail::fields())
      if (field.word == mark.words[i])
        profile.*field.member = mark.values[i];
  profile.match = mark.match;
  profile.fused = mark.is_fused != 0;
  return profile;
}

std::string percent(int64_t part, int64_t whole) {
  return llvm::formatv("{0:F1} %", whole > 0 ? 100.0 * double(part) / double(whole) : 0.0).str();
}

class AnnotateOperationsProfile
    : public PassWrapper<AnnotateOperationsProfile, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AnnotateOperationsProfile)

  AnnotateOperationsProfile() = default;
  AnnotateOperationsProfile(const AnnotateOperationsProfile &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "annotate-operations-profile"; }
  StringRef getDescription() const final {
    return "Write what a trace measured onto the operations that it measured";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<VarveDialect>();
  }
  LogicalResult initialize(MLIRContext *context) override {
    registerProfiledOps(context);
    return success();
  }

  Option<std::string> profile{*this, "profile",
                              llvm::cl::desc("trace: any file that `varve` reads")};
  Option<std::string> carrier{
      *this, "carrier", llvm::cl::init("location"),
      llvm::cl::desc("location, which lowering keeps, attribute, or both")};
  Option<std::string> attribute{
      *this, "attr", llvm::cl::init("varve.profile"),
      llvm::cl::desc("name of the attribute: varve.profile, or profiler_data for {ts, dur}")};
  Option<bool> report{*this, "report", llvm::cl::init(true),
                      llvm::cl::desc("say what share of the time was found, as a remark")};
  Option<double> coverage{*this, "require-coverage", llvm::cl::init(0.0),
                          llvm::cl::desc("fail below this share of the time, in percent")};

  void runOnOperation() override {
    Operation *root = getOperation();
    bool inLocation = carrier == "location" || carrier == "both";
    bool inAttribute = carrier == "attribute" || carrier == "both";
    if (profile.empty() || !(inLocation || inAttribute)) {
      mlir::emitError(root->getLoc())
          << "annotate-operations-profile: "
          << (profile.empty() ? "it needs a trace, {profile=FILE}"
                              : "carrier is location, attribute or both");
      return signalPassFailure();
    }
    std::string text = print(root);
    char message[512];
    core = varve_core_open(profile.c_str(), text.data(), text.size(), message, sizeof message);
    if (!core) {
      mlir::emitError(root->getLoc()) << message;
      return signalPassFailure();
    }
    SmallVector<Operation *> ops;
    root->walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
    if (agrees(ops)) {
      attach(ops, inLocation, inAttribute);
      judge(root);
    } else {
      mlir::emitError(root->getLoc())
          << "annotate-operations-profile: the module reads otherwise than it was printed";
      signalPassFailure();
    }
    varve_core_close(core);
  }

private:
  bool agrees(ArrayRef<Operation *> ops) const {
    for (uint32_t i = 0; i < ops.size(); i++) {
      const char *name = varve_core_op_name(core, i);
      if (!name || ops[i]->getName().getStringRef() != name)
        return false;
    }
    return varve_core_op_name(core, ops.size()) == nullptr;
  }

  void attach(ArrayRef<Operation *> ops, bool inLocation, bool inAttribute) {
    for (Operation *op : ops) // what another trace said before
      removeProfile(op);
    for (size_t row = 0; row < varve_core_mark_count(core); row++) {
      varve_core_mark mark;
      varve_core_get_mark(core, row, &mark);
      Profile found = profileOf(mark);
      if (inLocation)
        attachProfile(ops[mark.op], found, Carrier::Location);
      if (inAttribute && (attribute != kProfilerData.str() || found.totalNs))
        attachProfile(ops[mark.op], found, Carrier::Attribute, attribute);
    }
  }

  void judge(Operation *root) {
    auto all = varve_core_get_coverage(core);
    std::string found = percent(all.matched_ns, all.profile_ns) + " of " +
                        llvm::formatv("{0:F3} ms", double(all.profile_ns) / 1e6).str() + " on " +
                        std::to_string(all.marked) + " of " + std::to_string(all.ops) +
                        " operations";
    if (report)
      mlir::emitRemark(root->getLoc()) << "profile: " << found;
    double share = all.profile_ns > 0 ? 100.0 * double(all.matched_ns) / double(all.profile_ns) : 0;
    if (share < coverage) {
      mlir::emitError(root->getLoc())
          << "profile: " << found << ", less than require-coverage="
          << llvm::formatv("{0:F1}", coverage.getValue()).str();
      signalPassFailure();
    }
  }

  struct varve_core *core = nullptr;
};

struct ProfileGuidedOptions : PassPipelineOptions<ProfileGuidedOptions> {
  Option<bool> enableProfile{*this, "enable-profile", llvm::cl::init(false),
                             llvm::cl::desc("annotate the operations")};
  Option<std::string> pathToProfile{*this, "path-to-profile",
                                    llvm::cl::desc("trace: any file that `varve` reads")};
  Option<std::string> carrier{*this, "carrier", llvm::cl::init("location"),
                              llvm::cl::desc("location, attribute or both")};
  Option<std::string> attribute{*this, "attr", llvm::cl::init("varve.profile"),
                                llvm::cl::desc("name of the attribute")};
  Option<std::string> passes{
      *this, "passes", llvm::cl::desc("your passes, which then run: 'my-pass,canonicalize'")};
};

// perform here profile guided transformations: the user's passes, which read the annotations
void build(OpPassManager &manager, const ProfileGuidedOptions &options) {
  if (!options.enableProfile)
    return;
  auto pass = std::make_unique<AnnotateOperationsProfile>();
  pass->profile = options.pathToProfile;
  pass->carrier = options.carrier;
  pass->attribute = options.attribute;
  manager.addPass(std::move(pass));
  if (!options.passes.empty() && failed(parsePassPipeline(options.passes, manager)))
    llvm::report_fatal_error(llvm::Twine("varve-profile-guided: no such passes: ") +
                             options.passes.getValue());
}

} // namespace

void registerPasses() {
  PassRegistration<AnnotateOperationsProfile>();
  static const char description[] = "Annotate operations with a profile, then run passes that use it";
  static PassPipelineRegistration<ProfileGuidedOptions> ours("varve-profile-guided", description,
                                                             build);
  static PassPipelineRegistration<ProfileGuidedOptions> theirs("tf-profile-guided-pipeline",
                                                               description, build);
}

} // namespace varve
