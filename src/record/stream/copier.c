/* SPDX-License-Identifier: Apache-2.0 */
#include "record/stream/copier.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/system/os.h"
#include "record/stream/recorder.h"

#define COPY_EVERY_NS 100000000L
#define MEMORY_BYTES_MAX (UINT64_C(64) << 20) /* whole process; not yet copied */
#define SLAB_COPIES 16u

struct vv_copy {
    struct vv_copy *next;
    struct vv_own_folder folder;
    char name[VV_STREAM_NAME_BYTES]; /* final name of the file                                   */
    struct vv_file_id id;
    uint8_t *map;
    uint64_t bytes;
    bool is_process_stream;
    uint64_t backed_bytes;           /* set before `left` is:                                    */
    bool left;                       /* the recorder stores no more into it; atomic              */
    /* only the copier uses these: */
    uint64_t at;                     /* first packet that may still change                       */
    uint64_t end, end_bits;          /* newest packet when last examined, and its content        */
    bool is_last_look;
};

/* Guarded by the recorder's lock. `next` of a listed copy changes only with `copying` held, too. */
static struct vv_copy *copies, *unused;
static int reason;
static bool has_thread; /* atomic */

static pthread_mutex_t copying = PTHREAD_MUTEX_INITIALIZER; /* taken before the recorder's lock */
static uint64_t memory_bytes;                                /* atomic; not yet released */

bool vv_copier_serves(int failure)
{
    return failure == ENODEV || failure == EINVAL || failure == ENOTSUP || failure == ENOSYS;
}

int vv_copier_reason(void)
{
    return reason;
}

const char *vv_copier_says(void)
{
    static char text[96];
    if (reason == 0)
        return NULL;
    snprintf(text, sizeof text,
             "memory, written by a thread every 100 ms: no shared mappings (error %d)", reason);
    return text;
}

void vv_copier_begin(void)
{
    reason = 0;
}

/* ---- copying ---- */

static struct vv_packet_header *packet_at(const struct vv_copy *copy, uint64_t at)
{
    return (struct vv_packet_header *)(void *)(copy->map + at);
}

static uint64_t load(const uint64_t *from)
{
    return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

/* Finds the newest packet: it reaches to the end of the part. */
static void find_newest_packet(struct vv_copy *copy)
{
    copy->is_last_look = __atomic_load_n(&copy->left, __ATOMIC_ACQUIRE);
    copy->end = copy->at;
    while (load(&packet_at(copy, copy->end)->packet_bits) == VV_PACKET_BYTES * 8 &&
           copy->end + VV_PACKET_BYTES < copy->bytes)
        copy->end += VV_PACKET_BYTES;
    copy->end_bits = load(&packet_at(copy, copy->end)->content_bits);
}

static int write_packet(const struct vv_copy *copy, uint64_t at)
{
    const struct vv_packet_header *packet = packet_at(copy, at);
    struct vv_packet_header header;
    memcpy(&header, packet, offsetof(struct vv_packet_header, content_bits));
    header.content_bits = at == copy->end ? copy->end_bits : load(&packet->content_bits);
    header.packet_bits = (at == copy->end ? copy->bytes - at : VV_PACKET_BYTES) * 8;
    header.begin_ticks = packet->begin_ticks;
    header.sequence = packet->sequence;
    header.discarded = load(&packet->discarded);
    header.tid = packet->tid;
    header.reserved_bits = load(&packet->reserved_bits);
    header.spare = packet->spare;
    size_t content = (size_t)(header.content_bits / 8);
    if (content < sizeof header || content > VV_PACKET_BYTES) /* not built yet */
        return EAGAIN;
    /* If the file is not there, it does not have this name yet, or it was removed. This never makes
     * a new file. */
    int failure =
        vv_own_write(&copy->folder, copy->name, &copy->id, (const uint8_t *)packet + sizeof header,
                     content - sizeof header, at + sizeof header);
    return failure != 0
               ? failure
               : vv_own_write(&copy->folder, copy->name, &copy->id, &header, sizeof header, at);
}

/* Writes the last packet first. Until that packet is in the file, the former one reaches over its
 * place. */
static void write_copy(struct vv_copy *copy)
{
    for (uint64_t at = copy->end + VV_PACKET_BYTES; at > copy->at;) {
        at -= VV_PACKET_BYTES;
        if (write_packet(copy, at) != 0)
            return;
    }
    for (; copy->at < copy->end; copy->at += VV_PACKET_BYTES) {
        struct vv_packet_header *packet = packet_at(copy, copy->at);
        if (load(&packet->content_bits) != load(&packet->reserved_bits))
            return; /* an interrupted record: it will be published later */
        vv_os_forget((uint8_t *)packet, VV_PACKET_BYTES);
        __atomic_fetch_sub(&memory_bytes, VV_PACKET_BYTES, __ATOMIC_RELAXED);
    }
}

static void release(struct vv_copy *copy)
{
    __atomic_fetch_sub(&memory_bytes, copy->backed_bytes - copy->at, __ATOMIC_RELAXED);
    vv_os_unmap(copy->map, copy->bytes);
    copy->next = unused;
    unused = copy;
}

static struct vv_copy *first_copy(void)
{
    if (!vv_recorder_lock())
        return NULL;
    struct vv_copy *first = copies;
    vv_recorder_unlock();
    return first;
}

/* Takes the parts that were copied a last time off the list. Meanwhile new parts may come in
 * front. */
static void release_left(void)
{
    if (!vv_recorder_lock())
        return;
    for (struct vv_copy **link = &copies; *link != NULL;) {
        struct vv_copy *copy = *link;
        if (!copy->is_last_look) {
            link = &copy->next;
            continue;
        }
        *link = copy->next;
        release(copy);
    }
    vv_recorder_unlock();
}

static void copy_all(void)
{
    struct vv_copy *first = first_copy();
    for (struct vv_copy *copy = first; copy != NULL; copy = copy->next)
        if (!copy->is_process_stream)
            find_newest_packet(copy);
    for (struct vv_copy *copy = first; copy != NULL; copy = copy->next)
        if (copy->is_process_stream) {
            find_newest_packet(copy);
            write_copy(copy);
        }
    for (struct vv_copy *copy = first; copy != NULL; copy = copy->next)
        if (!copy->is_process_stream)
            write_copy(copy);
    release_left();
}

void vv_copier_flush(void)
{
    if (!__atomic_load_n(&has_thread, __ATOMIC_ACQUIRE))
        return;
    pthread_mutex_lock(&copying);
    copy_all();
    pthread_mutex_unlock(&copying);
}

static void *copy_again_and_again(void *nothing)
{
    for (;;) {
        nanosleep(&(struct timespec){ 0, COPY_EVERY_NS }, NULL);
        vv_copier_flush();
    }
    return nothing;
}

/* ---- parts ---- */

static bool start_thread(void)
{
    if (has_thread)
        return true;
    sigset_t all, former;
    pthread_attr_t attributes;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    bool is_started = pthread_create(&thread, &attributes, copy_again_and_again, NULL) == 0;
    __atomic_store_n(&has_thread, is_started, __ATOMIC_RELEASE);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    return is_started;
}

static struct vv_copy *take_copy(void)
{
    if (unused == NULL) {
        struct vv_copy *slab = vv_os_reserve(SLAB_COPIES * sizeof *slab);
        for (unsigned i = 0; slab != NULL && i < SLAB_COPIES; i++) {
            slab[i].next = unused;
            unused = &slab[i];
        }
    }
    struct vv_copy *copy = unused;
    if (copy != NULL)
        unused = copy->next;
    return copy;
}

/* ".thread.1.0" is renamed to "thread.1.0" when the file has its first packet. */
static void set_name(struct vv_copy *copy, const char *hidden)
{
    snprintf(copy->name, sizeof copy->name, "%s", hidden[0] == '.' ? hidden + 1 : hidden);
    copy->is_process_stream = strncmp(copy->name, "process.", 8) == 0;
}

int vv_copier_first(const struct vv_copy *copy, const char *hidden)
{
    return vv_own_write(&copy->folder, hidden, &copy->id, copy->map,
                        sizeof(struct vv_packet_header), 0);
}

int vv_copier_make(const struct vv_own_folder *folder, const char *name, uint64_t bytes, int why,
                   uint8_t **out_map, struct vv_copy **out_copy)
{
    struct vv_file_id id = { 0, 0 };
    struct vv_copy *copy = take_copy();
    uint8_t *map = copy != NULL ? vv_os_reserve(bytes) : NULL;
    int failure = map != NULL ? vv_own_create(folder, name, bytes, NULL, &id) : ENOMEM;
    if (failure == 0 && !start_thread())
        failure = EAGAIN;
    if (failure != 0) {
        if (map != NULL)
            vv_os_unmap(map, bytes);
        if (copy != NULL) {
            copy->next = unused;
            unused = copy;
        }
        return failure;
    }
    *copy = (struct vv_copy){ .map = map, .bytes = bytes, .id = id };
    vv_own_folder_copy(&copy->folder, folder);
    set_name(copy, name);
    copy->next = copies;
    copies = copy;
    if (reason == 0)
        reason = why;
    *out_map = map;
    *out_copy = copy;
    return 0;
}

int vv_copier_back(uint8_t *memory, uint64_t bytes)
{
    if (__atomic_load_n(&memory_bytes, __ATOMIC_RELAXED) + bytes > MEMORY_BYTES_MAX)
        return ENOSPC;
    int failure = vv_os_back_memory(memory, bytes);
    if (failure == 0)
        __atomic_fetch_add(&memory_bytes, bytes, __ATOMIC_RELAXED);
    return failure;
}

void vv_copier_leave(struct vv_copy *copy, uint64_t backed_bytes)
{
    copy->backed_bytes = backed_bytes;
    __atomic_store_n(&copy->left, true, __ATOMIC_RELEASE);
}

void vv_copier_abandon(void)
{
    pthread_mutex_init(&copying, NULL);
    copies = unused = NULL; /* the streams unmap the memory; the lists may be half changed */
    has_thread = false;
    reason = 0;
    __atomic_store_n(&memory_bytes, 0, __ATOMIC_RELAXED);
}
