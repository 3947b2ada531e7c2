/* SPDX-License-Identifier: Apache-2.0 */
/* other.h — another recorder in our loop: a shared object build/bench/others/NAME.so, made if its
 * headers are found, loaded when it is there. It defines bench_other. */
#ifndef VARVE_BENCH_OTHER_H
#define VARVE_BENCH_OTHER_H

#ifdef __cplusplus
extern "C" {
#endif

struct bench_other {
    const char *version;
    /* Makes it record. NULL, or why it does not. */
    const char *(*start)(void);
    /* As many pairs of begin and end, of one static name. */
    void (*run)(long count);
    void (*stop)(void);
};
extern __attribute__((visibility("default"))) const struct bench_other bench_other;

#ifdef __cplusplus
}
#endif

#endif
