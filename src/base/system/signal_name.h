/* SPDX-License-Identifier: Apache-2.0 */
/* signal_name.h — finds the signal that a user means: "SIGUSR2", "usr2", "12", "RTMIN+1".
 * Thread-safe. */
#ifndef VV_BASE_SYSTEM_SIGNAL_NAME_H
#define VV_BASE_SYSTEM_SIGNAL_NAME_H

/* The signal's number; 0 if no signal has that name or number. */
int vv_signal_parse(const char *text);

#endif
