/* See sha256.h. */
#include "net/sha256.h"

#include "base/alloc.h"

#include <openssl/evp.h>
#include <stdio.h>

/* OpenSSL's calls fail for want of memory alone. */
static void must(bool done)
{
    if (!done)
        mem_exhausted(0);
}

void sha256_begin(struct sha256 *s)
{
    if (s->context == NULL)
        s->context = EVP_MD_CTX_new();
    must(s->context != NULL && EVP_DigestInit_ex(s->context, EVP_sha256(), NULL) == 1);
}

void sha256_add(struct sha256 *s, struct sv bytes)
{
    must(EVP_DigestUpdate(s->context, bytes.ptr, bytes.len) == 1);
}

void sha256_end(struct sha256 *s, char hex[SHA256_HEX + 1])
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    must(EVP_DigestFinal_ex(s->context, sum, NULL) == 1);
    for (size_t i = 0; i < SHA256_HEX / 2; i++)
        snprintf(hex + 2 * i, 3, "%02x", sum[i]);
    sha256_begin(s);
}

void sha256_done(struct sha256 *s)
{
    EVP_MD_CTX_free(s->context);
    s->context = NULL;
}
