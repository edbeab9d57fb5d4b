/* sha256.h - FIPS 180-4 SHA-256, with which the hub names large files.
 * Use: sha256_init; sha256_add any number of times; sha256_end once, which gives 64 hexadecimal digits and a NUL.
 * Threads: one owner.  Errors: none. */
#ifndef VB_HUB_SHA256_H
#define VB_HUB_SHA256_H

#include "base/sv.h"

#include <stdint.h>

enum { SHA256_HEX = 64 };

struct sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
    size_t filled;
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, struct sv bytes);
void sha256_end(struct sha256 *s, char hex[SHA256_HEX + 1]);

#endif
