/* SPDX-License-Identifier: Apache-2.0 */
/* keep_laws.h — a backend keeps all laws of conformance.h, or the test fails and says which. */
#ifndef KEEP_LAWS_H
#define KEEP_LAWS_H

#include "test_device.h"

#include "conformance.h"

static inline void keep_all_laws(const struct subject *subject)
{
    for (size_t i = 0; i < law_count; i++) {
        const char *wrong = laws[i].check(subject);
        if (wrong == law_skipped)
            printf("%s: %s: cannot be shown here\n", subject->backend->name, laws[i].name);
        else if (wrong != NULL)
            fail_msg("%s: %s: %s", subject->backend->name, laws[i].name, wrong);
    }
}

#endif
