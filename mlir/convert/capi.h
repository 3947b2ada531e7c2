/* SPDX-License-Identifier: Apache-2.0 */
/* capi.h — the functions of MLIR's C API that a converter calls, as a table. Nothing of MLIR is
 * needed to build this: handles are one pointer and strings are a pointer and a length, in all
 * versions from LLVM 16 on.
 *
 * varve-mlir-library takes them from a library that it opens (open_library.c), varve-mlir-llvm from
 * the archives that it is linked to (linked.c). */
#ifndef VARVE_MLIR_CAPI_H
#define VARVE_MLIR_CAPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define HANDLE(name) typedef struct { void *pointer; } name
HANDLE(MlirContext);
HANDLE(MlirDialect);
HANDLE(MlirDialectHandle);
HANDLE(MlirDialectRegistry);
HANDLE(MlirModule);
HANDLE(MlirOperation);
HANDLE(MlirLocation);
HANDLE(MlirOpPrintingFlags);
HANDLE(MlirDiagnostic);
HANDLE(MlirIdentifier);
#undef HANDLE
typedef struct { const char *data; size_t length; } MlirStringRef;
typedef struct { int8_t value; } MlirLogicalResult; /* 0 = failure                              */
typedef void MlirStringCallback(MlirStringRef, void *);
typedef MlirLogicalResult MlirDiagnosticHandler(MlirDiagnostic, void *);
typedef int MlirOperationWalkCallback(MlirOperation, void *);
enum { MLIR_ERROR };                   /* of severities, the first                             */
enum { MLIR_ADVANCE, MLIR_INTERRUPT }; /* of what a walk's callback returns                    */

/* X(RESULT, name, (PARAMETERS)): every library has these. */
#define CAPI_ALL(X)                                                                          \
    X(MlirContext, mlirContextCreateWithThreading, (bool))                                   \
    X(void, mlirContextDestroy, (MlirContext))                                               \
    X(void, mlirContextSetAllowUnregisteredDialects, (MlirContext, bool))                    \
    X(MlirDialect, mlirContextGetOrLoadDialect, (MlirContext, MlirStringRef))                \
    X(uint64_t, mlirContextAttachDiagnosticHandler,                                          \
      (MlirContext, MlirDiagnosticHandler *, void *, void (*)(void *)))                      \
    X(int, mlirDiagnosticGetSeverity, (MlirDiagnostic))                                      \
    X(MlirLocation, mlirDiagnosticGetLocation, (MlirDiagnostic))                             \
    X(void, mlirDiagnosticPrint, (MlirDiagnostic, MlirStringCallback *, void *))             \
    X(void, mlirLocationPrint, (MlirLocation, MlirStringCallback *, void *))                 \
    X(MlirOperation, mlirOperationCreateParse, (MlirContext, MlirStringRef, MlirStringRef))  \
    X(MlirModule, mlirModuleCreateParse, (MlirContext, MlirStringRef))                       \
    X(MlirOperation, mlirModuleGetOperation, (MlirModule))                                   \
    X(void, mlirOperationWalk, (MlirOperation, MlirOperationWalkCallback *, void *, int))    \
    X(MlirIdentifier, mlirOperationGetName, (MlirOperation))                                 \
    X(MlirStringRef, mlirIdentifierStr, (MlirIdentifier))                                    \
    X(bool, mlirContextIsRegisteredOperation, (MlirContext, MlirStringRef))                  \
    X(MlirOpPrintingFlags, mlirOpPrintingFlagsCreate, (void))                                \
    X(void, mlirOpPrintingFlagsDestroy, (MlirOpPrintingFlags))                               \
    X(void, mlirOpPrintingFlagsEnableDebugInfo, (MlirOpPrintingFlags, bool, bool))           \
    X(void, mlirOpPrintingFlagsPrintGenericOpForm, (MlirOpPrintingFlags))                    \
    X(void, mlirOperationPrintWithFlags,                                                     \
      (MlirOperation, MlirOpPrintingFlags, MlirStringCallback *, void *))                    \
    X(void, mlirOperationWriteBytecode, (MlirOperation, MlirStringCallback *, void *))

/* Some have these: NULL where a library does not. */
#define CAPI_SOME(X)                                                                         \
    X(void, mlirOpPrintingFlagsAssumeVerified, (MlirOpPrintingFlags))                        \
    X(MlirDialectRegistry, mlirDialectRegistryCreate, (void))                                \
    X(void, mlirContextAppendDialectRegistry, (MlirContext, MlirDialectRegistry))            \
    X(void, mlirRegisterAllDialects, (MlirDialectRegistry))                                  \
    X(void, mlirDialectHandleRegisterDialect, (MlirDialectHandle, MlirContext))              \
    X(MlirDialectHandle, mlirGetDialectHandle__stablehlo__, (void))                          \
    X(MlirDialectHandle, mlirGetDialectHandle__chlo__, (void))                               \
    X(MlirDialectHandle, mlirGetDialectHandle__sdy__, (void))                                \
    X(void, torchMlirRegisterAllDialects, (MlirContext))                                     \
    X(void, ireeCompilerGlobalInitialize, (void))                                            \
    X(void, ireeCompilerRegisterDialects, (MlirDialectRegistry))                             \
    X(MlirModule, stablehloDeserializePortableArtifactNoError, (MlirStringRef, MlirContext))

#define CAPI_MEMBER(result, name, parameters) result(*name) parameters;
struct capi {
    CAPI_ALL(CAPI_MEMBER)
    CAPI_SOME(CAPI_MEMBER)
};
#undef CAPI_MEMBER

/* Where the program says what is wrong: standard error as it was at the begin. */
extern FILE *said;

/* Of the program's words the first is the library's path, if the program takes one. On failure says
 * what is wrong and returns false. */
extern const bool takes_library;
bool fill_capi(const char *path, struct capi *out_capi);

#endif
