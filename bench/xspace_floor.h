/* SPDX-License-Identifier: Apache-2.0 */
/* xspace_floor.h — the least that one core needs for an XSpace: every number of the file is read
 * and none is kept, or each event becomes a row that is not kept; and as many bytes as the model's
 * columns hold are written, and nothing is read. Whoever makes such columns of such a file does
 * both. */
#ifndef VARVE_BENCH_XSPACE_FLOOR_H
#define VARVE_BENCH_XSPACE_FLOOR_H

/* What a process returns at its end: 0 = done. */
int bench_floor_walk(const char *path);
/* Reads them, too. Each event is taken apart, finds its name, and is nested in those around it;
 * each statistic finds its key. */
int bench_floor_nest(const char *path);
/* Writes the columns that bench_floor_columns found. */
int bench_floor_write(const char *path);

/* Reads the file in a process of its own, and prints the columns that hold something: their bytes,
 * and how many bytes they would take if each cell were just wide enough for the column's largest
 * and least value. Returns 0 = done. */
int bench_floor_columns(const char *path, double file_bytes);

#endif
