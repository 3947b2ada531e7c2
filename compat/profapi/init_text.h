/* SPDX-License-Identifier: Apache-2.0 */
/* init_text.h — the text of an acl.json as an options text of Varve's. Thread-safe. */
#ifndef VARVE_COMPAT_INIT_TEXT_H
#define VARVE_COMPAT_INIT_TEXT_H

#include <stddef.h>

enum vv_init_text {
    VV_INIT_TEXT_ON,
    VV_INIT_TEXT_NONE, /* it says nothing of profiling                                          */
    VV_INIT_TEXT_OFF,  /* its switch is off                                                     */
    VV_INIT_TEXT_BAD   /* it is no JSON, or there is no memory                                  */
};

/* The members of "profiler", or those of the text itself if it has no such object, without "switch"
 * and "ascendcl". *out_options is the caller's to free; set for VV_INIT_TEXT_ON alone. */
enum vv_init_text vv_init_text_options(const char *text, size_t length, char **out_options);

#endif
