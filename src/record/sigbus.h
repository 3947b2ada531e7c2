/* SPDX-License-Identifier: Apache-2.0 */
/* sigbus.h — somebody cuts a file that the recorder has mapped (an eager cleaner, a truncating shell): the next
 * store into it raises SIGBUS, which would kill the program. Where the program leaves SIGBUS alone a handler puts
 * memory in the place of the lost pages and lets the store go on; the stream then begins a new file. */
#ifndef VV_RECORD_SIGBUS_H
#define VV_RECORD_SIGBUS_H

/* Installs the handler, if the program has none. Lock held. */
void vv_harm_watch(void);
/* Takes it out again, if it still is the one that is installed. Lock held. */
void vv_harm_unwatch(void);

#endif
