/* SPDX-License-Identifier: Apache-2.0 */
/* sigbus.h — keeps the program alive when somebody cuts a file that the recorder has mapped (an
 * eager cleaner, a shell that truncates). The next store into the file raises SIGBUS, which would
 * kill the program. If the program leaves SIGBUS alone, a handler puts memory in the place of the
 * lost pages, and the store goes on. The stream then begins a new file. */
#ifndef VV_RECORD_SIGBUS_H
#define VV_RECORD_SIGBUS_H

/* Installs the handler, if the program has none. Lock held. */
void vv_sigbus_watch(void);
/* Removes the handler, if it is still the installed one. Lock held. */
void vv_sigbus_unwatch(void);

#endif
