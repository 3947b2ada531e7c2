/* SPDX-License-Identifier: Apache-2.0 */
#include "convert.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capi.h"
#include "mlir/engine/exits.h"
#include "mlir/file/bytecode.h"

#define MESSAGE_BYTES 384

static MlirStringRef string(const char *text) { return (MlirStringRef){ text, strlen(text) }; }

/* ---- what the library says ---- */

struct message {
    const struct capi *capi;
    char text[MESSAGE_BYTES];
    size_t bytes;
};

static void append(MlirStringRef piece, void *context)
{
    struct message *message = context;
    for (size_t i = 0; i < piece.length && message->bytes + 1 < sizeof message->text; i++)
        message->text[message->bytes++] = piece.data[i] == '\n' ? ' ' : piece.data[i];
    message->text[message->bytes] = '\0';
}

/* loc("net.mlir":3:21) becomes net.mlir:3:21 */
static void append_place(struct message *message, MlirLocation place)
{
    struct message whole = { 0 };
    message->capi->mlirLocationPrint(place, append, &whole);
    const char *at = whole.text, *quote = NULL;
    if (strncmp(at, "loc(\"", 5) == 0)
        quote = strrchr(at += 5, '"');
    if (quote == NULL || quote[1] != ':')
        return;
    append((MlirStringRef){ at, (size_t)(quote - at) }, message);
    append((MlirStringRef){ quote + 1, strcspn(quote + 1, ")") }, message);
    append(string(": "), message);
}

/* Keeps the first error. */
static MlirLogicalResult hear(MlirDiagnostic diagnostic, void *context)
{
    struct message *message = context;
    if (message->bytes == 0 &&
        message->capi->mlirDiagnosticGetSeverity(diagnostic) == MLIR_ERROR) {
        append_place(message, message->capi->mlirDiagnosticGetLocation(diagnostic));
        message->capi->mlirDiagnosticPrint(diagnostic, append, message);
    }
    return (MlirLogicalResult){ 1 };
}

/* ---- the context ---- */

static MlirContext make_context(const struct capi *capi, struct message *message)
{
    if (capi->ireeCompilerGlobalInitialize != NULL)
        capi->ireeCompilerGlobalInitialize();
    MlirContext context = capi->mlirContextCreateWithThreading(false);
    if (capi->mlirDialectRegistryCreate != NULL &&
        capi->mlirContextAppendDialectRegistry != NULL) {
        MlirDialectRegistry registry = capi->mlirDialectRegistryCreate();
        if (capi->mlirRegisterAllDialects != NULL)
            capi->mlirRegisterAllDialects(registry);
        if (capi->ireeCompilerRegisterDialects != NULL)
            capi->ireeCompilerRegisterDialects(registry);
        capi->mlirContextAppendDialectRegistry(context, registry);
    }
    if (capi->torchMlirRegisterAllDialects != NULL)
        capi->torchMlirRegisterAllDialects(context);
    MlirDialectHandle (*const handles[])(void) = { capi->mlirGetDialectHandle__stablehlo__,
                                                   capi->mlirGetDialectHandle__chlo__,
                                                   capi->mlirGetDialectHandle__sdy__ };
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        if (handles[i] != NULL && capi->mlirDialectHandleRegisterDialect != NULL)
            capi->mlirDialectHandleRegisterDialect(handles[i](), context);
    capi->mlirContextSetAllowUnregisteredDialects(context, true);
    capi->mlirContextAttachDiagnosticHandler(context, hear, message, NULL);
    return context;
}

/* MLIR reads bytecode without the dialect that wrote it, and loses names and types in silence. So a
 * dialect that is encoded in its own way must be here. */
static bool has_dialects(const struct job *job, MlirContext context,
                         const struct vv_mlir_bytecode *bytecode)
{
    int missing = 0;
    for (uint32_t i = 0; i < bytecode->dialect_count; i++) {
        const struct vv_mlir_dialect *dialect = &bytecode->dialects[i];
        MlirStringRef name = { dialect->name.text, dialect->name.bytes };
        if (!dialect->is_native ||
            job->capi->mlirContextGetOrLoadDialect(context, name).pointer != NULL)
            continue;
        if (missing++ == 0)
            fprintf(said, "its names and types would be lost, for here is no dialect ");
        else
            fprintf(said, ", ");
        fprintf(said, "%.*s (%u operations)", (int)name.length, name.data, dialect->op_count);
    }
    if (missing > 0)
        fprintf(said, "\n");
    return missing == 0;
}

static int read_module(const struct job *job, MlirContext context, bool is_vhlo,
                       struct message *message, MlirOperation *out_module)
{
    const struct capi *capi = job->capi;
    MlirStringRef text = { job->text, job->bytes };
    MlirModule module = { 0 };
    *out_module = (MlirOperation){ 0 };
    if (is_vhlo && capi->stablehloDeserializePortableArtifactNoError == NULL) {
        fprintf(said, "it is a portable artifact of StableHLO, which only a library with "
                        "StableHLO reads: torch-mlir's\n");
        return VV_MLIR_EXIT_LIBRARY;
    }
    if (is_vhlo)
        module = capi->stablehloDeserializePortableArtifactNoError(text, context);
    else
        *out_module = capi->mlirOperationCreateParse(context, text, string(job->name));
    /* several operations without a module around them */
    if (!is_vhlo && out_module->pointer == NULL &&
        strstr(message->text, "single top-level operation") != NULL) {
        message->bytes = 0;
        module = capi->mlirModuleCreateParse(context, text);
    }
    if (module.pointer != NULL)
        *out_module = capi->mlirModuleGetOperation(module);
    if (out_module->pointer == NULL) {
        fprintf(said, "%s\n", message->bytes > 0 ? message->text
                                                   : "it is refused, and no reason is given");
        return VV_MLIR_EXIT_INPUT;
    }
    return 0;
}

/* ---- what bytecode would lose ---- */

struct search {
    const struct capi *capi;
    MlirContext context;
    char name[128]; /* of the first operation that the context lacks                             */
};

static int find_unknown(MlirOperation operation, void *data)
{
    struct search *search = data;
    MlirStringRef name =
        search->capi->mlirIdentifierStr(search->capi->mlirOperationGetName(operation));
    if (search->capi->mlirContextIsRegisteredOperation(search->context, name))
        return MLIR_ADVANCE;
    snprintf(search->name, sizeof search->name, "%.*s", (int)name.length, name.data);
    return MLIR_INTERRUPT;
}

/* "name"(…) <{properties}> */
static bool has_properties(const struct job *job)
{
    return memmem(job->text, job->bytes, ") <{", 4) != NULL ||
           memmem(job->text, job->bytes, "] <{", 4) != NULL;
}

/* Properties of an operation that the writer does not know are written in a way that no reader
 * that knows it reads. */
static bool can_be_bytecode(const struct job *job, MlirContext context, MlirOperation module)
{
    struct search search = { .capi = job->capi, .context = context };
    if (!has_properties(job))
        return true;
    job->capi->mlirOperationWalk(module, find_unknown, &search, 0);
    if (search.name[0] == '\0')
        return true;
    fprintf(said, "as bytecode it would be unreadable for tools that know %s, which is not known "
                    "here; keep the text, or give --mlir-lib of the library that knows it\n",
            search.name);
    return false;
}

/* ---- output ---- */

struct sink {
    int file;
    int failure;
    size_t count;
    char bytes[1 << 20];
};

static void flush(struct sink *sink)
{
    for (size_t done = 0; done < sink->count && sink->failure == 0;) {
        ssize_t bytes = write(sink->file, sink->bytes + done, sink->count - done);
        if (bytes >= 0)
            done += (size_t)bytes;
        else if (errno != EINTR)
            sink->failure = errno;
    }
    sink->count = 0;
}

static void put(MlirStringRef piece, void *context)
{
    struct sink *sink = context;
    for (size_t done = 0; done < piece.length;) {
        size_t room = sizeof sink->bytes - sink->count;
        size_t bytes = piece.length - done < room ? piece.length - done : room;
        memcpy(sink->bytes + sink->count, piece.data + done, bytes);
        sink->count += bytes;
        done += bytes;
        if (sink->count == sizeof sink->bytes)
            flush(sink);
    }
}

static int write_module(const struct job *job, MlirOperation module)
{
    static struct sink sink;
    const struct capi *capi = job->capi;
    sink.file = job->out;
    if (job->form == BYTECODE) {
        capi->mlirOperationWriteBytecode(module, put, &sink);
    } else {
        MlirOpPrintingFlags flags = capi->mlirOpPrintingFlagsCreate();
        capi->mlirOpPrintingFlagsEnableDebugInfo(flags, true, false);
        if (job->form == GENERIC)
            capi->mlirOpPrintingFlagsPrintGenericOpForm(flags);
        if (capi->mlirOpPrintingFlagsAssumeVerified != NULL) /* it has just been parsed */
            capi->mlirOpPrintingFlagsAssumeVerified(flags);
        capi->mlirOperationPrintWithFlags(module, flags, put, &sink);
        capi->mlirOpPrintingFlagsDestroy(flags);
        put(string("\n"), &sink);
    }
    flush(&sink);
    if (sink.failure != 0) {
        fprintf(said, "cannot write the module: %s\n", strerror(sink.failure));
        return VV_MLIR_EXIT_FAILED;
    }
    return 0;
}

int convert(const struct job *job)
{
    static struct message message;
    struct vv_mlir_bytecode bytecode = { 0 };
    struct varve_error error;
    MlirOperation module;
    message.capi = job->capi;
    if (job->bytes == 0) {
        fprintf(said, "it is empty\n");
        return VV_MLIR_EXIT_INPUT;
    }
    bool is_bytecode = job->bytes >= 4 && memcmp(job->text, "ML\xefR", 4) == 0;
    if (is_bytecode &&
        vv_mlir_bytecode_read(job->text, job->bytes, &bytecode, &error) != VARVE_OK) {
        fprintf(said, "%s\n", error.message);
        return VV_MLIR_EXIT_INPUT;
    }
    MlirContext context = make_context(job->capi, &message);
    bool is_vhlo = vv_mlir_bytecode_is_vhlo(&bytecode);
    if (is_bytecode && !is_vhlo && !has_dialects(job, context, &bytecode))
        return VV_MLIR_EXIT_LOSS;
    int code = read_module(job, context, is_vhlo, &message, &module);
    if (code == 0 && job->form == BYTECODE && !can_be_bytecode(job, context, module))
        return VV_MLIR_EXIT_LOSS;
    return code != 0 ? code : write_module(job, module);
}
