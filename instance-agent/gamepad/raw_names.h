/* Internal: the first include of a file that stands before functions of the C library. Each of open() and
 * open64() is there by its own name, whatever the build asks for, and checks of _FORTIFY_SOURCE stay away. */
#ifndef SVCGAMEPAD_RAW_NAMES_H
#define SVCGAMEPAD_RAW_NAMES_H

#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#define SVCGAMEPAD_CALL __attribute__((visibility("default")))

#endif
