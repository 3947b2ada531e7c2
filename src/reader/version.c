/* SPDX-License-Identifier: Apache-2.0 */
/* version.c — which library is loaded. */
#include "varve/reader.h"
#include "varve/varve.h"

#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number

const char *varve_reader_version(void)
{
    return TEXT(VARVE_VERSION_MAJOR) "." TEXT(VARVE_VERSION_MINOR) "." TEXT(VARVE_VERSION_PATCH);
}
