/* SPDX-License-Identifier: Apache-2.0 */
#include "record/session/options.h"

#include <stddef.h>
#include <string.h>

/* The size of the struct before it had limits. */
#define SHORTEST_BYTES offsetof(struct varve_session_options, max_bytes)

static enum varve_code check_size(const struct varve_session_options *options,
                                  struct varve_error *error)
{
    if (options->struct_size < SHORTEST_BYTES)
        VV_FAIL(
            error, VARVE_INVALID,
            "varve_session_options.struct_size is %u: initialise with VARVE_SESSION_OPTIONS_INIT",
            options->struct_size);
    const unsigned char *bytes = (const unsigned char *)options;
    for (size_t i = sizeof *options; i < options->struct_size; i++)
        if (bytes[i] != 0)
            VV_FAIL(error, VARVE_UNSUPPORTED,
                    "varve_session_options has fields that this libvarve (%s) does not know",
                    varve_version());
    return VARVE_OK;
}

static enum varve_code check_fields(const struct varve_session_options *options,
                                    struct varve_error *error)
{
    if ((options->layers & ~VARVE_LAYER_ALL) != 0)
        VV_FAIL(error, VARVE_INVALID, "varve_session_options.layers has unknown bits: 0x%x",
                options->layers & ~VARVE_LAYER_ALL);
    if (options->when_full > VARVE_WHEN_FULL_GROW)
        VV_FAIL(error, VARVE_INVALID,
                "varve_session_options.when_full cannot be %u: it is "
                "VARVE_WHEN_FULL_DROP_NEWEST or VARVE_WHEN_FULL_GROW",
                options->when_full);
    if (options->reserved != 0)
        VV_FAIL(error, VARVE_UNSUPPORTED, "varve_session_options.reserved is %u: leave it 0",
                options->reserved);
    if (options->keep_bytes != 0 && options->keep_ns != 0)
        VV_FAIL(error, VARVE_INVALID,
                "varve_session_options: keep_bytes and keep_ns both say how much is kept: "
                "set one of them");
    if (options->max_bytes != 0 && (options->keep_bytes != 0 || options->keep_ns != 0))
        VV_FAIL(error, VARVE_INVALID,
                "varve_session_options: max_bytes drops what is newest, keep_bytes and "
                "keep_ns what is oldest: set one of them");
    if (options->when_full != VARVE_WHEN_FULL_DROP_NEWEST && options->max_bytes == 0)
        VV_FAIL(error, VARVE_INVALID,
                "varve_session_options: when_full wants max_bytes, the size that it speaks of");
    return VARVE_OK;
}

enum varve_code vv_session_options_take(const struct varve_session_options *options,
                                        struct varve_session_options *out,
                                        struct varve_error *error)
{
    struct varve_session_options taken = VARVE_SESSION_OPTIONS_INIT;
    if (options != NULL) {
        VV_TRY(check_size(options, error));
        memcpy(&taken, options,
               options->struct_size < sizeof taken ? options->struct_size : sizeof taken);
        taken.struct_size = (uint32_t)sizeof taken;
        VV_TRY(check_fields(&taken, error));
    }
    *out = taken;
    return VARVE_OK;
}
