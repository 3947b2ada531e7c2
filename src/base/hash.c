/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <errno.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

struct vv_hash_key vv_hash_key = { 0, 1 };

/* If the system gives no random numbers, the key is made from things that others hardly know about
 * this process: the time and an address. */
__attribute__((constructor)) static void draw_key(void)
{
    int kept = errno;
    if (getrandom(&vv_hash_key, sizeof vv_hash_key, GRND_NONBLOCK) != (ssize_t)sizeof vv_hash_key) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        vv_hash_key.start =
            (uint64_t)now.tv_nsec << 32 ^ (uint64_t)getpid() ^ (uint64_t)(uintptr_t)&now;
        vv_hash_key.factor =
            (uint64_t)now.tv_sec * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)(uintptr_t)&now << 20;
    }
    vv_hash_key.factor |= UINT64_C(1) << 63 | 1;
    errno = kept;
}
