/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/advice/rules/rules.h"

#include <string.h>

static const struct { const struct vv_rule *rules; const size_t *count; } subjects[] = {
#define VV_SUBJECT(subject) { vv_rules_##subject, &vv_rules_##subject##_count },
    VV_RULE_SUBJECTS(VV_SUBJECT)
#undef VV_SUBJECT
};
#define SUBJECTS (sizeof subjects / sizeof *subjects)

size_t vv_rules_count(void)
{
    size_t count = 0;
    for (size_t i = 0; i < SUBJECTS; i++)
        count += *subjects[i].count;
    return count;
}

const struct vv_rule *vv_rule_at(size_t number)
{
    for (size_t i = 0; i < SUBJECTS; i++) {
        if (number < *subjects[i].count)
            return &subjects[i].rules[number];
        number -= *subjects[i].count;
    }
    return NULL;
}

const struct vv_rule *vv_rule_named(const char *name)
{
    for (size_t i = 0; i < vv_rules_count(); i++)
        if (strcmp(vv_rule_at(i)->name, name) == 0)
            return vv_rule_at(i);
    return NULL;
}

const char *vv_rule_remedy(const struct vv_rule *rule, enum vv_platform platform)
{
    const char *const remedies[VV_PLATFORMS] = { [VV_PLATFORM_XLA] = rule->remedy_xla,
                                                 [VV_PLATFORM_ASCEND] = rule->remedy_ascend,
                                                 [VV_PLATFORM_OPENCL] = rule->remedy_opencl,
                                                 [VV_PLATFORM_CUDA] = rule->remedy_cuda,
                                                 [VV_PLATFORM_HOST] = rule->remedy_host };
    if (platform == VV_PLATFORM_IREE) /* nothing of PyTorch's is there */
        return rule->remedy_iree;
    return remedies[platform] != NULL ? remedies[platform] : rule->remedy;
}
