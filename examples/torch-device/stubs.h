// SPDX-License-Identifier: Apache-2.0
// stubs.h — a backend of Varve as PyTorch's ProfilerStubs of the device PrivateUse1.
#ifndef STUBS_H
#define STUBS_H

#include <cstdint>
#include <utility>

// Opens this backend of Varve and registers the stubs. Returns the backend's number. Throws
// std::runtime_error, with Varve's sentence.
uint32_t varve_stubs_register(const char *name);

// What PyTorch asked for so far: how many times between two events, and their sum in ns.
std::pair<int64_t, int64_t> varve_stubs_elapsed();

#endif
