/* SPDX-License-Identifier: Apache-2.0 */
#define PLUGIN "twin"
#include "plugin.c"
