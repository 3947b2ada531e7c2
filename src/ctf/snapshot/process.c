/* SPDX-License-Identifier: Apache-2.0 */
/* process.c — finds the parts of each stream, holds them, and then copies them.
 *
 * A flight recorder may remove parts faster than they can be copied. So each part first gets a
 * second name, a hard link in the new folder, which takes microseconds. If links are not possible
 * (another file system), the oldest parts may be removed before they are copied. If a stream loses
 * its parts before they are held, the folder is listed again. */
#include "ctf/snapshot/process.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/binary_search.h"
#include "base/system/descriptor.h"
#include "base/system/folder.h"
#include "base/system/os.h"
#include "ctf/stream_file.h"

#define NAME_BYTES 64u
#define ROUNDS_MAX 16 /* listings, for streams whose parts are removed during one               */

/* What is known about a thread's stream. There is one for each stream in the folder: a large number
 * in a name alone must not cost memory. */
struct run {
    uint32_t instance;
    uint32_t listed; /* the newest part in the listing, + 1; 0 = none                             */
    uint32_t newest; /* the newest part that is held or copied                                    */
    bool held, done;
};

struct snapshot {
    int source, out;
    const volatile sig_atomic_t *stop;
    bool cannot_link;
    struct run *runs; /* in order of their instances                                             */
    size_t run_count, run_capacity;
};

/* Only one thread at a time uses these (snapshot.c). */
static _Alignas(8) char list_buffer[16 << 10];
static _Alignas(8) uint8_t packet[VV_PACKET_BYTES];

/* ---- names ---- */

static char *put_number(char *to, uint64_t number)
{
    char digits[20];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    while (count > 0)
        *to++ = digits[--count];
    return to;
}

/* Writes "process.P" or "thread.N.P"; a held part is ".thread.N.P". */
static void name_part(char out_name[NAME_BYTES], uint64_t instance, uint32_t part, bool held)
{
    char *to = out_name;
    if (held)
        *to++ = '.';
    to = instance == 0 ? stpcpy(to, "process.") : put_number(stpcpy(to, "thread."), instance);
    if (instance != 0)
        *to++ = '.';
    *put_number(to, part) = '\0';
}

/* Reads decimal digits without a leading zero, below 2^32 - 1. */
static bool read_number(const char **text, uint32_t *out_number)
{
    const char *digit = *text;
    uint64_t number = 0;
    for (; *digit >= '0' && *digit <= '9' && digit - *text < 10; digit++)
        number = number * 10 + (uint64_t)(*digit - '0');
    bool is_number = digit > *text && (**text != '0' || digit == *text + 1) && number < UINT32_MAX;
    *text = digit;
    *out_number = (uint32_t)number;
    return is_number;
}

static bool read_thread_name(const char *name, uint32_t *out_instance, uint32_t *out_part)
{
    if (strncmp(name, "thread.", 7) != 0)
        return false;
    name += 7;
    return read_number(&name, out_instance) && *out_instance != 0 && *name++ == '.' &&
           read_number(&name, out_part) && *name == '\0';
}

/* ---- one part ---- */

static bool is_stopped(const struct snapshot *snapshot)
{
    return snapshot->stop != NULL && *snapshot->stop != 0;
}

/* Finds the last packet: the one that the writer has not left. ENODATA: there is none. */
static int find_last(int file, uint64_t *out_offset, struct vv_packet_header *out_header)
{
    struct stat status;
    uint64_t offset = 0;
    if (fstat(file, &status) != 0)
        return errno;
    uint64_t size = (uint64_t)status.st_size;
    if (size < sizeof *out_header)
        return ENODATA; /* somebody has emptied the file */
    if (!S_ISREG(status.st_mode) || !vv_stream_file_packet(file, 0, out_header))
        return EBADMSG;
    while (out_header->packet_bits == VV_PACKET_BYTES * 8 &&
           offset + VV_PACKET_BYTES + sizeof *out_header <= size) {
        struct vv_packet_header next;
        if (!vv_stream_file_packet(file, offset + VV_PACKET_BYTES, &next) ||
            next.sequence != out_header->sequence + 1)
            break;
        *out_header = next;
        offset += VV_PACKET_BYTES;
    }
    *out_offset = offset;
    return 0;
}

/* Reads the header first, then what it covers, because the writer stores in the opposite order. */
static int copy_packet(int in, int out, uint64_t offset, uint64_t sequence, bool is_last)
{
    struct vv_packet_header header;
    if (!vv_stream_file_packet(in, offset, &header) || header.sequence != sequence ||
        header.content_bits > VV_PACKET_BYTES * 8)
        return EBADMSG;
    size_t bytes = (size_t)(__atomic_load_n(&header.content_bits, __ATOMIC_ACQUIRE) / 8), done = 0;
    while (done < bytes) {
        ssize_t got = pread(in, packet + done, bytes - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    bytes = done & ~(size_t)7; /* the file was cut: copy what is there, in whole words */
    if (bytes < sizeof header)
        return EBADMSG;
    struct vv_packet_header *copy = (void *)packet;
    copy->content_bits = htole64(bytes * 8);
    copy->packet_bits = htole64(is_last ? bytes * 8 : VV_PACKET_BYTES * 8);
    copy->discarded = htole64(header.discarded);
    return vv_folder_write(out, packet, bytes, offset);
}

static int copy_packets(const struct snapshot *snapshot, int in, int out)
{
    struct vv_packet_header last;
    uint64_t end = 0;
    int failure = find_last(in, &end, &last);
    for (uint64_t offset = end; failure == 0; offset -= VV_PACKET_BYTES) {
        uint64_t before = (end - offset) / VV_PACKET_BYTES;
        failure = is_stopped(snapshot)
                      ? EINTR
                      : copy_packet(in, out, offset, last.sequence - before, before == 0);
        if (offset == 0)
            break;
    }
    return failure;
}

static int open_part(const struct snapshot *snapshot, uint64_t instance, uint32_t part, bool held,
                     int *out_file)
{
    char name[NAME_BYTES];
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
    int file = -1;
    if (held) {
        name_part(name, instance, part, true);
        file = vv_descriptor_open(snapshot->out, name, flags, 0);
        unlinkat(snapshot->out, name, 0);
    }
    if (file < 0) {
        name_part(name, instance, part, false);
        file = vv_descriptor_open(snapshot->source, name, flags, 0);
    }
    *out_file = file;
    return file < 0 ? errno : 0;
}

/* ENOENT: the part does not exist. */
static int copy_part(const struct snapshot *snapshot, uint64_t instance, uint32_t part, bool held)
{
    char name[NAME_BYTES];
    int in, out = -1, failure = open_part(snapshot, instance, part, held, &in);
    if (failure != 0)
        return failure;
    name_part(name, instance, part, false);
    failure = vv_folder_create(snapshot->out, name, VV_FILE_PRIVATE, &out);
    if (failure == 0) {
        failure = copy_packets(snapshot, in, out);
        if (close(out) != 0 && failure == 0)
            failure = errno;
    }
    close(in);
    if (failure != ENODATA)
        return failure;
    unlinkat(snapshot->out, name, 0); /* the reader will report the gap */
    return 0;
}

/* Copies from the part `newest` back to the oldest one that exists. */
static int copy_stream(const struct snapshot *snapshot, uint64_t instance, uint32_t newest,
                       bool held)
{
    int failure = 0;
    for (uint32_t parts = newest + 1; failure == 0 && parts > 0; parts--)
        failure = copy_part(snapshot, instance, parts - 1, held);
    return failure == ENOENT ? 0 : failure;
}

/* ---- which parts there are ---- */

static struct run *find_run(const struct snapshot *snapshot, uint32_t instance)
{
    const struct run *runs = snapshot->runs;
    size_t at = VV_FIRST_NOT(i, 0, snapshot->run_count, runs[i].instance < instance);
    return at < snapshot->run_count && runs[at].instance == instance ? &snapshot->runs[at] : NULL;
}

/* Lists the newest part of each stream. Threads that began after the first listing are left out. */
static int list_parts(struct snapshot *snapshot)
{
    struct vv_folder_list list;
    uint32_t instance, part;
    for (size_t i = 0; i < snapshot->run_count; i++)
        snapshot->runs[i].listed = 0;
    vv_folder_list_init(&list, snapshot->source, list_buffer, sizeof list_buffer);
    for (const char *name; (name = vv_folder_list_next(&list)) != NULL;) {
        struct run *run =
            read_thread_name(name, &instance, &part) ? find_run(snapshot, instance) : NULL;
        if (run != NULL && part >= run->listed)
            run->listed = part + 1;
    }
    return list.failure;
}

/* Moves runs[top] down until both runs below it are smaller. */
static void sink(struct run *runs, size_t top, size_t count)
{
    for (size_t below; (below = 2 * top + 1) < count; top = below) {
        if (below + 1 < count && runs[below].instance < runs[below + 1].instance)
            below++;
        if (runs[top].instance >= runs[below].instance)
            return;
        struct run run = runs[top];
        runs[top] = runs[below];
        runs[below] = run;
    }
}

/* Sorts by instance and removes duplicates. In place: qsort may allocate, and this code may run in
 * a signal handler. */
static void order_runs(struct snapshot *snapshot)
{
    struct run *runs = snapshot->runs;
    size_t count = snapshot->run_count, kept = 0;
    for (size_t i = count / 2; i > 0; i--)
        sink(runs, i - 1, count);
    for (size_t end = count; end > 1; end--) {
        struct run largest = runs[0];
        runs[0] = runs[end - 1];
        runs[end - 1] = largest;
        sink(runs, 0, end - 1);
    }
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || runs[kept - 1].instance != runs[i].instance)
            runs[kept++] = runs[i];
    snapshot->run_count = kept;
}

/* Counts the names of parts of threads, and stores an unsorted run for each one that fits. */
static int list_names(struct snapshot *snapshot, size_t *out_count)
{
    struct vv_folder_list list;
    uint32_t instance, part;
    *out_count = snapshot->run_count = 0;
    vv_folder_list_init(&list, snapshot->source, list_buffer, sizeof list_buffer);
    for (const char *name; (name = vv_folder_list_next(&list)) != NULL;) {
        if (!read_thread_name(name, &instance, &part))
            continue;
        if (*out_count < snapshot->run_capacity)
            snapshot->runs[snapshot->run_count++] = (struct run){ .instance = instance };
        ++*out_count;
    }
    return list.failure;
}

static void release_runs(struct snapshot *snapshot)
{
    if (snapshot->runs != NULL)
        vv_os_unmap(snapshot->runs, snapshot->run_capacity * sizeof *snapshot->runs);
    snapshot->runs = NULL;
    snapshot->run_count = snapshot->run_capacity = 0;
}

/* Counts the names, and then lists them into memory of that size, with spare room for threads that
 * begin meanwhile. */
static int list_runs(struct snapshot *snapshot)
{
    size_t count;
    int failure = list_names(snapshot, &count);
    for (int round = 0; failure == 0 && count >= snapshot->run_capacity; round++) {
        release_runs(snapshot);
        if (round == ROUNDS_MAX)
            return EBUSY;
        snapshot->run_capacity = count + count / 4 + 64;
        snapshot->runs = vv_os_reserve(snapshot->run_capacity * sizeof *snapshot->runs);
        if (snapshot->runs == NULL)
            return ENOMEM;
        failure = list_names(snapshot, &count);
    }
    if (failure == 0)
        order_runs(snapshot);
    return failure;
}

/* Does the part exist? If so, a link holds it, if links are possible. */
static bool hold(struct snapshot *snapshot, uint64_t instance, uint32_t part)
{
    char name[NAME_BYTES], held[NAME_BYTES];
    name_part(name, instance, part, false);
    name_part(held, instance, part, true);
    if (!snapshot->cannot_link) {
        if (linkat(snapshot->source, name, snapshot->out, held, 0) == 0 || errno == EEXIST)
            return true;
        if (errno == ENOENT)
            return false;
        snapshot->cannot_link = true;
    }
    return vv_folder_has(snapshot->source, name);
}

/* Holds the parts of a stream. False: the listed part no longer exists; there are newer parts, or
 * the whole stream was removed. */
static bool hold_stream(struct snapshot *snapshot, struct run *run)
{
    uint32_t instance = run->instance, part = run->listed - 1;
    if (!hold(snapshot, instance, part))
        return false;
    run->held = !snapshot->cannot_link;
    for (uint32_t older = part; run->held && older > 0 && hold(snapshot, instance, older - 1);)
        older--;
    while (part < UINT32_MAX - 1 && hold(snapshot, instance, part + 1))
        part++;
    run->newest = part;
    return true;
}

static int take_streams(struct snapshot *snapshot, bool *out_again)
{
    int failure = list_parts(snapshot);
    *out_again = false;
    for (size_t i = 0; failure == 0 && i < snapshot->run_count; i++) {
        struct run *run = &snapshot->runs[i];
        if (run->listed == 0 || run->done)
            continue;
        run->done = hold_stream(snapshot, run);
        *out_again = *out_again || !run->done;
        if (run->done && !run->held)
            failure = copy_stream(snapshot, run->instance, run->newest, false);
    }
    return failure;
}

static int copy_threads(struct snapshot *snapshot)
{
    bool again = true;
    int failure = 0;
    for (int round = 0; round < ROUNDS_MAX && again && failure == 0; round++)
        failure = take_streams(snapshot, &again);
    for (size_t i = 0; failure == 0 && i < snapshot->run_count; i++)
        if (snapshot->runs[i].held)
            failure =
                copy_stream(snapshot, snapshot->runs[i].instance, snapshot->runs[i].newest, true);
    return failure;
}

/* ---- the process ---- */

/* Copies the process's own stream, whose parts are never removed. */
static int copy_own(const struct snapshot *snapshot)
{
    char name[NAME_BYTES];
    uint32_t parts = 0;
    for (name_part(name, 0, 0, false); vv_folder_has(snapshot->source, name);
         name_part(name, 0, parts, false))
        parts++;
    return parts > 0 ? copy_stream(snapshot, 0, parts - 1, false) : 0;
}

int vv_snapshot_process(int source, int out, const volatile sig_atomic_t *stop)
{
    struct snapshot snapshot = { .source = source, .out = out, .stop = stop };
    if (!vv_folder_has(source, "metadata"))
        return ENODATA;
    int failure = list_runs(&snapshot);
    if (failure == 0)
        failure = copy_threads(&snapshot);
    release_runs(&snapshot);
    if (failure == 0)
        failure = copy_own(&snapshot);
    if (failure == 0)
        failure =
            vv_folder_copy(source, out, "metadata", VV_METADATA_BYTES_MAX, packet, sizeof packet);
    return failure;
}
