/* SPDX-License-Identifier: Apache-2.0 */
/* signal_name.h — "SIGUSR2", "usr2", "12", "RTMIN+1": which signal a user means. Thread-safe. */
#ifndef VV_BASE_SYSTEM_SIGNAL_NAME_H
#define VV_BASE_SYSTEM_SIGNAL_NAME_H

/* The signal's number; 0: there is none of that name or number. */
int vv_signal_parse(const char *text);

#endif
