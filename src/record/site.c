/* SPDX-License-Identifier: Apache-2.0 */
/* site.c — gives call sites their ids at their first record, and their lines in the metadata.
 *
 * A site's strings are copied: its module may be unloaded. Sites with the same name, file, line and
 * layer are one site, so a module that is loaded again needs no new ids. The table lasts as long as
 * the process. All memory is reserved address space. The `state` of a site has the id of its first
 * class in the low 20 bits, and above them one bit for each kind that the metadata declares. */
#include "record/site.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/system/os.h"
#include "ctf/metadata_write.h"
#include "record/process_folder.h"
#include "record/rank.h"
#include "record/stream/copier.h"
#include "record/stream/recorder.h"
#include "record/stream/room.h"
#include "record/text_hash.h"

#define SLOTS (VV_SITE_COUNT_MAX * 2 + 2 * VV_SITE_ID_FIRST / VV_SITE_KINDS)
#define TEXT_BYTES (UINT64_C(256) << 20)
#define PIECE_BYTES (UINT64_C(2) << 20) /* address space that is taken at a time */
#define PAGE_BYTES 4096u
#define METADATA "metadata"
#define HIDDEN ".metadata"
_Static_assert((SLOTS & (SLOTS - 1)) == 0, "open addressing by mask");

struct record {
    const char *name, *file;
    uint32_t line, layer, hash;
    uint32_t kinds; /* bit k: kind k is declared */
};

static struct record *records;
static uint32_t *slots; /* record number + 1; 0 = free */
static char *texts;          /* the piece that is being filled                                  */
static uint64_t texts_used;  /* bytes used in that piece                                        */
static uint64_t texts_bytes; /* bytes of all pieces                                             */
static uint32_t record_count;
static uint64_t metadata_bytes; /* length of the metadata file */
static struct vv_file_id metadata_id;

static bool add_piece(void)
{
    char *piece = texts_bytes < TEXT_BYTES ? vv_os_reserve(PIECE_BYTES) : NULL;
    if (piece == NULL)
        return false;
    texts = piece;
    texts_used = 0;
    texts_bytes += PIECE_BYTES;
    return true;
}

static bool make_tables(void)
{
    if (texts != NULL)
        return true;
    records = vv_os_reserve(VV_SITE_COUNT_MAX * sizeof *records);
    slots = vv_os_reserve(SLOTS * sizeof *slots);
    if (records != NULL && slots != NULL)
        add_piece();
    return texts != NULL;
}

static const char *copy_text(const char *text, uint32_t length)
{
    if (texts_used + length + 1 > PIECE_BYTES && !add_piece())
        return NULL;
    char *copy = texts + texts_used;
    memcpy(copy, text, length);
    texts_used += length + 1;
    return copy;
}

static bool same_text(const char *kept, const char *text, uint32_t length)
{
    return strncmp(kept, text, length) == 0 && kept[length] == '\0';
}

/* Returns the record of this site, and makes it if it is new. NULL: there is no room. */
static struct record *find_or_add(const struct varve_site *site)
{
    uint32_t layer = vv_layer_single(site->layer);
    const char *name = site->name != NULL ? site->name : "",
               *file = site->file != NULL ? site->file : "";
    uint32_t name_length = vv_text_cut(name, VV_NAME_BYTES_MAX);
    uint32_t file_length = vv_text_cut(file, PATH_MAX);
    uint32_t hash = vv_text_hash(name, name_length, site->line);
    uint32_t slot = hash & (SLOTS - 1);
    for (; slots[slot] != 0; slot = (slot + 1) & (SLOTS - 1)) {
        struct record *known = &records[slots[slot] - 1];
        if (known->hash == hash && known->line == site->line && known->layer == layer &&
            same_text(known->name, name, name_length) && same_text(known->file, file, file_length))
            return known;
    }
    if (record_count >= VV_SITE_COUNT_MAX)
        return NULL;
    const char *kept_name = copy_text(name, name_length), *kept_file = copy_text(file, file_length);
    if (kept_name == NULL || kept_file == NULL)
        return NULL;
    struct record *record = &records[record_count];
    *record = (struct record){ kept_name, kept_file, site->line, layer, hash, 0 };
    slots[slot] = ++record_count;
    return record;
}

static void write_class(struct vv_tsdl *text, const struct record *record, unsigned kind)
{
    uint32_t base = VV_SITE_ID_FIRST + VV_SITE_KINDS * (uint32_t)(record - records);
    const struct vv_tsdl_class event = { base + kind,  kind,         record->name,
                                         record->file, record->line, record->layer };
    vv_tsdl_class(text, &event);
}

/* Copies the block to `to`, as it is to stand at `at` of the file, and returns the bytes there. If
 * the block would cross the end of a page, it starts on the next one, behind blanks: a write within
 * one page is done whole or not at all, also under SIGKILL. */
static size_t put_in_page(char *to, uint64_t at, const char *block, size_t bytes)
{
    size_t room = PAGE_BYTES - at % PAGE_BYTES, blanks = room < bytes ? room : 0;
    memset(to, '\n', blanks);
    memcpy(to + blanks, block, bytes);
    return blanks + bytes;
}

/* Writes at *at, and moves *at behind it. */
static int write_on(const char *name, const char *text, size_t bytes, uint64_t *at)
{
    int failure = vv_own_write(&vv_session.folder, name, &metadata_id, text, bytes, *at);
    if (failure == 0)
        *at += bytes;
    return failure;
}

/* Many classes in one write: the file gets its name when it is whole. */
static int write_classes(const char *name, uint64_t *at)
{
    /* Guarded by the lock, like all memory here; stacks may be small. */
    static char block[PAGE_BYTES], pages[16 * PAGE_BYTES];
    size_t used = 0;
    int failure = 0;
    for (uint32_t i = 0; i < record_count; i++)
        for (unsigned kind = 0; kind < VV_SITE_KINDS && failure == 0; kind++) {
            if ((records[i].kinds >> kind & 1) == 0)
                continue;
            struct vv_tsdl text = { block, 0, sizeof block, false };
            write_class(&text, &records[i], kind);
            used += put_in_page(pages + used, *at + used, block, text.length);
            if (used <= sizeof pages - 2 * PAGE_BYTES)
                continue;
            failure = write_on(name, pages, used, at);
            used = 0;
        }
    return failure == 0 ? write_on(name, pages, used, at) : failure;
}

static int write_prologue(const char *name, uint64_t *at)
{
    static char prologue[VV_TSDL_PROLOGUE_BYTES_MAX]; /* guarded by the lock */
    static char program[PATH_MAX];
    char host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof host - 1);
    if (vv_os_program(program, sizeof program) != 0)
        program[0] = '\0';
    const struct vv_session *session = &vv_session;
    const struct vv_tsdl_clock clock = { vv_clock_source(), session->frequency_hz,
                                         session->precision_ticks, session->begin.ticks,
                                         session->begin.realtime_ns };
    const struct vv_tsdl_process process = { host,         program,
                                             (int)vv_birth_pid(), getppid(),
                                             clock.ticks,  clock.realtime_ns,
                                             session->record_cost_ps,
                                             session->keep_bytes, session->keep_ns,
                                             vv_room_kept_bytes(),
                                             vv_copier_says(), vv_job() };
    struct vv_tsdl text = { prologue, 0, sizeof prologue, false };
    vv_tsdl_prologue(&text, &clock, &process);
    int failure = vv_own_write(&vv_session.folder, name, &metadata_id, prologue, text.length, 0);
    *at = text.length;
    return failure;
}

int vv_metadata_write(void)
{
    const struct vv_file_id former_id = metadata_id;
    uint64_t bytes;
    make_tables();
    vv_own_remove(&vv_session.folder, HIDDEN);
    int failure = vv_own_create(&vv_session.folder, HIDDEN, 0, NULL, &metadata_id);
    if (failure == 0)
        failure = write_prologue(HIDDEN, &bytes);
    if (failure == 0 && records != NULL)
        failure = write_classes(HIDDEN, &bytes);
    if (failure == 0)
        failure = vv_own_rename(&vv_session.folder, HIDDEN, METADATA);
    if (failure == 0) {
        metadata_bytes = bytes;
        return 0;
    }
    metadata_id = former_id;
    vv_own_remove(&vv_session.folder, HIDDEN);
    return failure;
}

void vv_metadata_remove(void)
{
    vv_own_remove(&vv_session.folder, METADATA);
}

/* Appends the class to the metadata file. If a full disk cuts the class off, the next class
 * overwrites what was written. */
static bool declare(struct record *record, unsigned kind)
{
    static char block[PAGE_BYTES], padded[2 * PAGE_BYTES];
    struct vv_tsdl text = { block, 0, sizeof block, false };
    write_class(&text, record, kind);
    if (text.full)
        return false;
    size_t bytes = put_in_page(padded, metadata_bytes, block, text.length);
    if (write_on(METADATA, padded, bytes, &metadata_bytes) != 0)
        return false;
    record->kinds |= 1u << kind;
    return true;
}

uint32_t vv_site_declare(struct varve_site *site, enum vv_site_kind kind)
{
    uint32_t id = 0;
    if (!vv_recorder_lock())
        return 0;
    struct record *record = vv_process_folder_ensure() && make_tables() ? find_or_add(site) : NULL;
    if (record != NULL && ((record->kinds >> kind & 1) != 0 || declare(record, kind))) {
        uint32_t base = VV_SITE_ID_FIRST + VV_SITE_KINDS * (uint32_t)(record - records);
        __atomic_store_n(&site->state, base | record->kinds << VV_ID_BITS, __ATOMIC_RELEASE);
        id = base + kind;
    }
    vv_recorder_unlock();
    return id;
}
