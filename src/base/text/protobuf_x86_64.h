/* SPDX-License-Identifier: Apache-2.0 */
/* protobuf_x86_64.h — PEXT, which packs chosen bits of a word together. Only protobuf.h and
 * protobuf.c include this file. */
#ifndef VV_BASE_TEXT_PROTOBUF_X86_64_H
#define VV_BASE_TEXT_PROTOBUF_X86_64_H

#include <stdbool.h>
#include <stdint.h>

/* True if the processor has PEXT (BMI2) and is quick at it: AMD processors before Zen 3 process the
 * bits one by one. */
extern bool vv_protobuf_pext_is_quick;

static inline bool vv_protobuf_ask_pext(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("bmi2") && !__builtin_cpu_is("amdfam15h") &&
           !__builtin_cpu_is("amdfam17h");
}

/* The bits of `word` that are set in `wanted`, packed together. */
static inline uint64_t vv_protobuf_pext(uint64_t word, uint64_t wanted)
{
    uint64_t bits;
    __asm__("pext %2, %1, %0" : "=r"(bits) : "r"(word), "r"(wanted));
    return bits;
}

#endif
