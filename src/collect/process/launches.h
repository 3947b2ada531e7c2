/* SPDX-License-Identifier: Apache-2.0 */
/* launches.h — what one collector knows of work that another one records. Who sees launches notes
 * those of communication kernels; who sees collectives says which of them such a launch started;
 * and who hears later of the kernel asks for it. Thread-safe. Nobody waits: where two threads meet
 * at one launch, or at two that are a multiple of 1,024 launches apart, the kernel has no
 * collective. */
#ifndef VV_COLLECT_PROCESS_LAUNCHES_H
#define VV_COLLECT_PROCESS_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

/* What a kernel communicates. "", 0, or -1 where that is not known. */
struct vv_launch_collective {
    char operation[24], group[80], algorithm[16], protocol[16];
    int64_t rank, peer, number;
    uint64_t group_size, in_elements, out_elements, bytes;
    uint32_t dtype, channels;
};

/* Somebody will tell of collectives. Before that, launches are not noted. */
void vv_launches_want(void);
bool vv_launches_are_wanted(void);

/* This thread launches a kernel with this correlation. Kernels of other libraries than NCCL and
 * RCCL do not count. `kernel` may be NULL. */
void vv_launch_note(const char *kernel, uint32_t correlation);
/* The same, of a kernel whose name is known only when its work is told of: whoever asks for it then
 * (vv_launch_told) looks at the name. */
void vv_launch_note_unnamed(uint32_t correlation);
/* Is this a kernel of NCCL's or RCCL's? Names are mangled or not. */
bool vv_launch_communicates(const char *kernel);
/* The last launch that this thread noted and has not taken; 0: there is none. */
uint32_t vv_launch_take(void);

/* The kernel of this launch runs the collective. The last call counts. */
void vv_launch_tell(uint32_t correlation, const struct vv_launch_collective *collective);
/* False: nobody told of a collective. A kernel is asked for once. */
VV_MUST_USE bool vv_launch_told(uint32_t correlation, struct vv_launch_collective *out_collective);

#endif
