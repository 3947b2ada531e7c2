/* SPDX-License-Identifier: Apache-2.0 */
/* vendor.h — the vendor's library of the same name, where there is one: each call is passed on to
 * it after ours, and its result is what the caller gets. Thread-safe.
 *
 * It is the file that an environment variable names; without the variable, whatever comes after
 * this library in the loader's order and has the symbol. */
#ifndef VARVE_COMPAT_VENDOR_H
#define VARVE_COMPAT_VENDOR_H

/* The vendor's function, or NULL. *cache is the caller's, for this symbol alone. `own` is our
 * function of that name. */
void *vv_vendor_find(const char *symbol, void **cache, const void *own);

/* Name of the environment variable: each library defines its own. */
extern const char vv_vendor_variable[];

/* The vendor's function of a symbol, with the type of ours; NULL = none. */
#define VV_VENDOR(function, symbol)                                                                \
    __extension__({                                                                                \
        static void *cache;                                                                        \
        __typeof__(&function) theirs;                                                              \
        *(void **)&theirs = vv_vendor_find(symbol, &cache, (const void *)&function);               \
        theirs;                                                                                    \
    })

/* What the vendor's `function` returns, or `ours` where there is none. */
#define VV_PASS_ON(ours, function, ...)                                                            \
    __extension__({                                                                                \
        __typeof__(&function) vendor = VV_VENDOR(function, #function);                             \
        __typeof__(function(__VA_ARGS__)) result = (ours);                                         \
        if (vendor != NULL)                                                                        \
            result = vendor(__VA_ARGS__);                                                          \
        result;                                                                                    \
    })

#endif
