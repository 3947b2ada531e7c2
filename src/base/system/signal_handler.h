/* SPDX-License-Identifier: Apache-2.0 */
/* signal_handler.h — may the calling code be running in a signal handler? Thread-safe and
 * async-signal-safe; takes some microseconds.
 *
 * The kernel does not tell. While a handler runs, its signal is blocked, unless the handler was
 * installed with SA_NODEFER. So the answer is yes where a signal with a handler is blocked, and
 * where any handler was installed with SA_NODEFER. A thread that blocks such a signal by itself
 * is taken for one in a handler. A handler that unblocks its own signal is not recognised, nor is
 * one of SIGFPE with SA_NODEFER: PoCL installs such a handler in each program that uses it, which
 * ignores a division by zero. */
#ifndef VV_BASE_SYSTEM_SIGNAL_HANDLER_H
#define VV_BASE_SYSTEM_SIGNAL_HANDLER_H

#include <stdbool.h>

bool vv_may_be_in_signal_handler(void);

#endif
