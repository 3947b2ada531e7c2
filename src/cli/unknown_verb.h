/* SPDX-License-Identifier: Apache-2.0 */
/* unknown_verb.h — a word that is no verb: said on standard error with the nearest one. */
#ifndef VV_CLI_UNKNOWN_VERB_H
#define VV_CLI_UNKNOWN_VERB_H

/* Returns VV_EXIT_USAGE. */
int vv_unknown_verb(const char *word);

#endif
