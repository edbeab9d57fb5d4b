/* sha256.h - SHA-256 (FIPS 180-4) of bytes that come in pieces, by OpenSSL.
 * Use: sha256_begin; sha256_add any number of times; sha256_end gives 64 hexadecimal digits and a NUL and begins anew;
 * sha256_done at last, also of a zeroed struct.
 * Threads: one owner.  Errors: none; no memory ends the program. */
#ifndef VB_NET_SHA256_H
#define VB_NET_SHA256_H

#include "base/sv.h"

enum { SHA256_HEX = 64 };

struct sha256 {
    void *context;
};

void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, struct sv bytes);
void sha256_end(struct sha256 *s, char hex[SHA256_HEX + 1]);
void sha256_done(struct sha256 *s);

#endif
