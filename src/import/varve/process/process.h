/* SPDX-License-Identifier: Apache-2.0 */
/* process.h — reads one process folder of a trace into the model.
 *
 * Order of work (process.c): first, the packets of the threads' streams are found, then those of
 * the process's own stream, then metadata is read. Then the process's own stream is decoded, which
 * gives strings and pauses; then each thread's stream. At the end comes what needs all threads:
 * open ranges, asynchronous ranges, flows. Thread-compatible. */
#ifndef VV_IMPORT_VARVE_PROCESS_PROCESS_H
#define VV_IMPORT_VARVE_PROCESS_PROCESS_H

#include "import/varve/records/reader.h"

#define VV_WINDOW_BYTES (UINT32_C(1) << 20)

/* process.c: reads one process folder, with up to `threads` threads. */
enum varve_code vv_process_read(struct vv_model *model, const char *folder_path, unsigned threads,
                                struct varve_error *error);

/* classes.c: fills `classes` from metadata. */
enum varve_code vv_classes_make(struct vv_process_reader *process, struct varve_error *error);

/* stream.c: decodes one stream. */
enum varve_code vv_stream_read(struct vv_process_reader *process, const struct vv_packets *packets,
                               struct varve_error *error);

/* device_fact.c: adds a row of the model's devices for the fact "device.KEY", unless that device is
 * there. A text that says nothing is no error. */
enum varve_code vv_device_fact(struct vv_process_reader *process, const char *key,
                               const char *text, struct varve_error *error);

/* pairs.c: joins the ends of flows and asynchronous ranges, when all streams are decoded. */
enum varve_code vv_pairs_join(struct vv_process_reader *process, struct varve_error *error);

/* memory.c: sorts the model's memory table by time, and gives releases their size. */
enum varve_code vv_memory_join(struct vv_model *model, struct varve_error *error);

/* manifest.c: reads what was run, if there is a manifest. */
enum varve_code vv_manifest_read(struct vv_model *model, const char *path,
                                 struct varve_error *error);

#endif
