/* SPDX-License-Identifier: Apache-2.0 */
/* exits.h — what a converter (mlir/convert) ends with, and the engine reads. */
#ifndef VV_MLIR_ENGINE_EXITS_H
#define VV_MLIR_ENGINE_EXITS_H

enum {
    VV_MLIR_EXIT_USAGE = 2,   /* other words than it takes                                      */
    VV_MLIR_EXIT_INPUT = 3,   /* the input is no module that it can read                        */
    VV_MLIR_EXIT_LIBRARY = 4, /* no library, or one of another kind                             */
    VV_MLIR_EXIT_LOSS = 5,    /* what it read would lose a part                                 */
    VV_MLIR_EXIT_FAILED = 6   /* the system failed it                                           */
};

#endif
