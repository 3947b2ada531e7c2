/* SPDX-License-Identifier: Apache-2.0 */
/* vendor_variable.c — what names the vendor's library in the place of this one. */
#include "ascend/vendor.h"

const char vv_vendor_variable[] = "VARVE_PROFAPI_VENDOR";
