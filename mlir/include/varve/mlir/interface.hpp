// SPDX-License-Identifier: Apache-2.0
// interface.hpp — the same as an interface of operations (attach, get, has), for all registered
// operations, and as a trait for operations of a dialect of your own.
//
//     if (auto profiled = llvm::dyn_cast<varve::ProfiledOpInterface>(op))
//       if (profiled.HasProfilerData()) use(profiled.GetProfilerData().duration);
//
// The pass annotate-operations-profile gives the interface to every registered operation. A pass
// that runs without it calls varve::registerProfiledOps(context) in its `initialize`. Operations of
// dialects that are not registered cannot have an interface: use varve::getProfile(op).
#ifndef VARVE_MLIR_INTERFACE_HPP
#define VARVE_MLIR_INTERFACE_HPP

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OpDefinition.h"
#include "varve/mlir/profile.hpp"

namespace varve {

// Begin and time of an operation, in ns: what the pair {ts, dur} says.
struct ProfilerData {
  ProfilerData(int64_t timestamp = 0, int64_t duration = 0)
      : timestamp(timestamp), duration(duration) {}
  int64_t timestamp; // begin of the first execution, from the begin of the trace
  int64_t duration;  // of all executions
};

inline void attachProfilerData(mlir::Operation *op, const ProfilerData &data) {
  Profile profile;
  profile.firstNs = data.timestamp;
  profile.totalNs = data.duration;
  attachProfile(op, profile, Carrier::Attribute, kProfilerData);
}

// Zeros if there is none: ask hasProfilerData first.
inline ProfilerData getProfilerData(mlir::Operation *op) {
  std::optional<Profile> profile = getProfile(op);
  return profile ? ProfilerData(profile->firstNs.value_or(0), profile->totalNs.value_or(0))
                 : ProfilerData();
}

inline bool hasProfilerData(mlir::Operation *op) {
  std::optional<Profile> profile = getProfile(op);
  return profile && profile->totalNs;
}

class ProfiledOpInterface;

namespace detail {
struct ProfiledOpTraits {
  struct Concept {
    void (*attach)(mlir::Operation *, const Profile &, Carrier);
    std::optional<Profile> (*get)(mlir::Operation *);
    bool (*has)(mlir::Operation *);
  };
  template <typename Op> struct FallbackModel : Concept {
    using Interface = ProfiledOpInterface;
    FallbackModel()
        : Concept{[](mlir::Operation *op, const Profile &profile, Carrier carrier) {
                    attachProfile(op, profile, carrier);
                  },
                  getProfile, hasProfile} {}
  };
  template <typename Op> struct Model : FallbackModel<Op> {};
  template <typename ConcreteModel, typename Op> struct ExternalModel : FallbackModel<Op> {};
};
} // namespace detail

class ProfiledOpInterface
    : public mlir::OpInterface<ProfiledOpInterface, detail::ProfiledOpTraits> {
public:
  using mlir::OpInterface<ProfiledOpInterface, detail::ProfiledOpTraits>::OpInterface;
  template <typename Op> struct Trait : mlir::OpInterface<ProfiledOpInterface,
                                                          detail::ProfiledOpTraits>::Trait<Op> {};

  void attachProfileData(const Profile &profile, Carrier carrier = Carrier::Location) {
    getImpl()->attach(getOperation(), profile, carrier);
  }
  std::optional<Profile> getProfileData() { return getImpl()->get(getOperation()); }
  bool hasProfileData() { return getImpl()->has(getOperation()); }

  void AttachProfilerData(const ProfilerData &data) { attachProfilerData(getOperation(), data); }
  ProfilerData GetProfilerData() { return getProfilerData(getOperation()); }
  bool HasProfilerData() { return hasProfilerData(getOperation()); }
};

namespace detail {
struct AnyProfiledOp : ProfiledOpTraits::FallbackModel<AnyProfiledOp> {};
} // namespace detail

// Gives the interface to every operation that the context knows. Call it where no other thread
// uses the context: in a pass's `initialize`.
inline void registerProfiledOps(mlir::MLIRContext *context) {
  for (mlir::RegisteredOperationName name : context->getRegisteredOperations())
    if (!name.hasInterface<ProfiledOpInterface>())
      name.attachInterface<detail::AnyProfiledOp>();
}

// A trait for your own operations: class MyOp : public Op<MyOp, varve::ProfileAnnotation, ...>
template <typename ConcreteType>
class ProfileAnnotation : public mlir::OpTrait::TraitBase<ConcreteType, ProfileAnnotation> {
public:
  void AttachProfilerData(const ProfilerData &data) {
    attachProfilerData(this->getOperation(), data);
  }
  ProfilerData GetProfilerData() { return getProfilerData(this->getOperation()); }
  bool HasProfilerData() { return hasProfilerData(this->getOperation()); }
};

} // namespace varve

#endif
