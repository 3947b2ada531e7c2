// SPDX-License-Identifier: Apache-2.0
// profile.hpp — for passes in C++: what was measured of an operation. Header-only: a pass that
// includes it needs no library of Varve's, and reads what `varve annotate` or the pass
// annotate-operations-profile wrote, in any dialect, registered or not.
//
//     if (std::optional<varve::Profile> profile = varve::getProfile(op))
//       if (profile->selfNs && *profile->selfNs > 1000000) ...
//
// LLVM 19. Thread-safe as far as MLIR's own accessors are.
#ifndef VARVE_MLIR_PROFILE_HPP
#define VARVE_MLIR_PROFILE_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace varve {

// Where a profile stands: in the operation's location, which compilers keep and which changes no
// code; or in its attribute, which is lost at the first conversion of dialects.
enum class Carrier { Location, Attribute };

constexpr llvm::StringLiteral kProfile = "varve.profile";
constexpr llvm::StringLiteral kHot = "varve.hot";
constexpr llvm::StringLiteral kProfilerData = "profiler_data"; // {ts, dur}

// What is not known is empty. Of operations that share one measurement, a group, only one has
// times, so that a sum over all operations counts each once.
struct Profile {
  std::optional<int64_t> count;   // executions
  std::optional<int64_t> totalNs; // of all executions
  std::optional<int64_t> selfNs;  // without what ran inside
  std::optional<int64_t> meanNs, minNs, maxNs, p50Ns, p95Ns;
  std::optional<int64_t> firstNs; // from the begin of the trace to the first execution's begin
  std::optional<int64_t> group;   // its number, from 1
  std::optional<int64_t> members; // operations of the group
  std::string match;              // how the operation was found: "name", "order" ...
  bool fused = false;             // the group ran as one
};

namespace detail {

struct Field {
  llvm::StringLiteral word;
  std::optional<int64_t> Profile::*member;
};

inline llvm::ArrayRef<Field> fields() {
  static const Field all[] = {
      {"count", &Profile::count},     {"first", &Profile::firstNs}, {"group", &Profile::group},
      {"max", &Profile::maxNs},       {"mean", &Profile::meanNs},   {"members", &Profile::members},
      {"min", &Profile::minNs},       {"p50", &Profile::p50Ns},     {"p95", &Profile::p95Ns},
      {"self", &Profile::selfNs},     {"total", &Profile::totalNs},
      {"ts", &Profile::firstNs},      {"dur", &Profile::totalNs}, // the last two: profiler_data
  };
  return all;
}

// "count=3, match=name, total=81000", as locations have it.
inline std::optional<Profile> readString(llvm::StringRef text) {
  Profile profile;
  bool any = false;
  while (!text.empty()) {
    llvm::StringRef entry;
    std::tie(entry, text) = text.split(',');
    auto [word, value] = entry.trim(' ').split('=');
    int64_t number;
    if (word == "match")
      profile.match = value.str();
    else if (word == "fused")
      profile.fused = true;
    else if (!value.getAsInteger(10, number))
      for (const Field &field : fields())
        if (word == field.word) {
          profile.*field.member = number;
          any = true;
        }
  }
  return any ? std::optional<Profile>(std::move(profile)) : std::nullopt;
}

// The entries of a dictionary or a string that are ours; empty if none is.
inline std::optional<Profile> read(mlir::Attribute attribute) {
  if (auto string = llvm::dyn_cast_or_null<mlir::StringAttr>(attribute))
    return readString(string.getValue());
  auto dictionary = llvm::dyn_cast_or_null<mlir::DictionaryAttr>(attribute);
  if (!dictionary)
    return std::nullopt;
  Profile profile;
  bool any = false;
  for (const Field &field : fields())
    if (auto number = dictionary.getAs<mlir::IntegerAttr>(field.word))
      if (number.getType().isIntOrIndex() && number.getValue().getSignificantBits() <= 64) {
        profile.*field.member = number.getValue().getSExtValue();
        any = true;
      }
  if (auto match = dictionary.getAs<mlir::StringAttr>("match"))
    profile.match = match.getValue().str();
  profile.fused = dictionary.get("fused") != nullptr;
  return any ? std::optional<Profile>(std::move(profile)) : std::nullopt;
}

inline mlir::DictionaryAttr write(mlir::MLIRContext *context, const Profile &profile,
                                  llvm::StringRef key = kProfile) {
  mlir::NamedAttrList entries;
  auto type = mlir::IntegerType::get(context, 64);
  auto put = [&](llvm::StringRef word, std::optional<int64_t> value) {
    if (value)
      entries.set(word, mlir::IntegerAttr::get(type, *value));
  };
  if (key == kProfilerData) {
    put("ts", profile.firstNs);
    put("dur", profile.totalNs);
    return entries.getDictionary(context);
  }
  for (const Field &field : fields().drop_back(2))
    put(field.word, profile.*field.member);
  if (!profile.match.empty())
    entries.set("match", mlir::StringAttr::get(context, profile.match));
  if (profile.fused)
    entries.set("fused", mlir::UnitAttr::get(context));
  return entries.getDictionary(context);
}

// A string, which compilers read, keep and print four times as fast as a dictionary of numbers.
inline mlir::StringAttr writeString(mlir::MLIRContext *context, const Profile &profile,
                                    llvm::StringRef key = kProfile) {
  llvm::SmallVector<std::string> entries; // in the order of their words
  bool isPair = key == kProfilerData;
  for (const Field &field : isPair ? fields().take_back(2) : fields().drop_back(2))
    if (std::optional<int64_t> value = profile.*field.member)
      entries.push_back((field.word + "=" + llvm::Twine(*value)).str());
  if (!isPair && !profile.match.empty())
    entries.push_back("match=" + profile.match);
  if (!isPair && profile.fused)
    entries.push_back("fused");
  llvm::sort(entries);
  return mlir::StringAttr::get(context, llvm::join(entries, ", "));
}

// Outermost first, through names, fused locations and the callee's side of call sites.
inline mlir::Attribute find(mlir::Location location, llvm::StringRef key) {
  if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(location)) {
    if (auto metadata = llvm::dyn_cast_or_null<mlir::DictionaryAttr>(fused.getMetadata()))
      if (mlir::Attribute entry = metadata.get(key))
        return entry;
    for (mlir::Location part : fused.getLocations())
      if (mlir::Attribute entry = find(part, key))
        return entry;
  }
  if (auto name = llvm::dyn_cast<mlir::NameLoc>(location))
    return find(name.getChildLoc(), key);
  if (auto call = llvm::dyn_cast<mlir::CallSiteLoc>(location))
    return find(call.getCallee(), key);
  return nullptr;
}

// The location without an entry of ours at its top.
inline mlir::Location without(mlir::Location location, llvm::StringRef key) {
  auto fused = llvm::dyn_cast<mlir::FusedLoc>(location);
  auto metadata = fused ? llvm::dyn_cast_or_null<mlir::DictionaryAttr>(fused.getMetadata())
                        : mlir::DictionaryAttr();
  if (!metadata || !metadata.get(key))
    return location;
  mlir::NamedAttrList rest(metadata);
  rest.erase(key);
  llvm::ArrayRef<mlir::Location> parts = fused.getLocations();
  if (rest.empty() && parts.size() == 1)
    return parts.front();
  mlir::Attribute left;
  if (!rest.empty())
    left = rest.getDictionary(location.getContext());
  return mlir::FusedLoc::get(parts, left, location.getContext());
}

// fused<{key = entry}>[location]; a fused location without metadata keeps its parts.
inline mlir::Location with(mlir::Location location, llvm::StringRef key, mlir::Attribute entry) {
  mlir::MLIRContext *context = location.getContext();
  mlir::Location old = without(location, key);
  mlir::NamedAttrList entries;
  llvm::SmallVector<mlir::Location> parts = {old};
  if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(old)) {
    auto metadata = llvm::dyn_cast_or_null<mlir::DictionaryAttr>(fused.getMetadata());
    if (metadata)
      entries = mlir::NamedAttrList(metadata);
    if (metadata || !fused.getMetadata())
      parts.assign(fused.getLocations().begin(), fused.getLocations().end());
  }
  entries.set(key, entry);
  return mlir::FusedLoc::get(parts, entries.getDictionary(context), context);
}

} // namespace detail

// From the attribute varve.profile, else profiler_data, else the location.
inline std::optional<Profile> getProfile(mlir::Operation *op) {
  for (llvm::StringRef key : {llvm::StringRef(kProfile), llvm::StringRef(kProfilerData)})
    if (auto profile = detail::read(op->getDiscardableAttr(key)))
      return profile;
  return detail::read(detail::find(op->getLoc(), kProfile));
}

inline bool hasProfile(mlir::Operation *op) { return getProfile(op).has_value(); }

// Takes the place of what was there.
inline void attachProfile(mlir::Operation *op, const Profile &profile,
                          Carrier carrier = Carrier::Location, llvm::StringRef key = kProfile) {
  mlir::MLIRContext *context = op->getContext();
  if (carrier == Carrier::Attribute)
    op->setDiscardableAttr(mlir::StringAttr::get(context, key),
                           detail::write(context, profile, key));
  else
    op->setLoc(detail::with(op->getLoc(), key, detail::writeString(context, profile, key)));
}

inline void removeProfile(mlir::Operation *op) {
  for (llvm::StringRef key : {llvm::StringRef(kProfile), llvm::StringRef(kProfilerData)}) {
    op->removeDiscardableAttr(key);
    op->setLoc(detail::without(op->getLoc(), key));
  }
}

inline bool isHot(mlir::Operation *op) { return op->hasAttr(kHot); }

} // namespace varve

#endif
