/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h — hears what this program does while it does it, recorded or not: an observer of the
 * runtime's calls (varve/observer.h), and a subscriber to the executor's events (varve/exec.h).
 *
 * A program that wants to react, and not to read a trace afterwards, does it so. One watch at a
 * time. */
#ifndef GRAPHRUN_WATCH_H
#define GRAPHRUN_WATCH_H

#include <stdbool.h>
#include <stdio.h>

/* False: Varve refuses; a line on standard error says why. */
bool watch_start(void);
void watch_stop(void);

/* Prints how often each call of the runtime was made, how long it took in all, and how many events
 * of each kind there were. */
void watch_print(FILE *file);

#endif
