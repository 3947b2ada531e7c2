/* SPDX-License-Identifier: Apache-2.0 */
/* last_words.c — a library whose destructor records. It is not linked to libvarve.so, only calls
 * it, so that the loader may run its destructor before or after the library's own. For
 * tests/programs/late.c. */
#include "varve/varve.h"

VARVE_SITE(last, "last words", VARVE_LAYER_OP);

__attribute__((destructor)) static void on_unload(void)
{
    for (int i = 0; i < 10; i++)
        varve_mark(&last);
}
