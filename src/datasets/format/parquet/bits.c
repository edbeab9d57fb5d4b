/* See bits.h.  The encodings: Encodings.md of apache/parquet-format. */
#include "datasets/format/parquet/bits.h"

unsigned pq_bit_width(unsigned max)
{
    return max == 0 ? 0 : 32 - (unsigned)__builtin_clz(max);
}

bool pq_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        uint8_t b = *(*at)++;
        if (shift == 63 && b > 1)
            return false;
        *value |= (uint64_t)(b & 0x7F) << shift;
        if ((b & 0x80) == 0)
            return true;
    }
    return false;
}

/* Takes `width` <= 64 bits, the lowest first, from bit *bit of *at on. */
static bool take_bits(const uint8_t **at, const uint8_t *end, unsigned *bit, unsigned width,
                      uint64_t *value)
{
    *value = 0;
    if (width == 0)
        return true;
    size_t bytes = (*bit + width + 7) / 8;
    if ((size_t)(end - *at) < bytes)
        return false;
    uint64_t low = 0;
    for (size_t i = 0; i < bytes && i < 8; i++)
        low |= (uint64_t)(*at)[i] << (8 * i);
    low >>= *bit;
    if (bytes == 9)
        low |= (uint64_t)(*at)[8] << (64 - *bit);
    *value = width == 64 ? low : low & ((UINT64_C(1) << width) - 1);
    *at += (*bit + width) / 8;
    *bit = (*bit + width) % 8;
    return true;
}

/* ---- runs --------------------------------------------------------------------------------------------------------- */

void pq_runs_start(struct pq_runs *r, unsigned width, struct sv bytes)
{
    const uint8_t *at = (const uint8_t *)bytes.ptr;
    *r = (struct pq_runs){.at = at, .end = at + bytes.len, .width = width};
}

void pq_packed_start(struct pq_runs *r, unsigned width, struct sv bytes)
{
    pq_runs_start(r, width, bytes);
    r->packed = true;
    r->high_first = true;
    r->left = UINT64_MAX;
}

static bool next_run(struct pq_runs *r)
{
    uint64_t head;
    if (!pq_varint(&r->at, r->end, &head) || head >> 1 > UINT32_MAX)
        return false;
    r->packed = (head & 1) != 0;
    r->left = r->packed ? (head >> 1) * 8 : head >> 1;
    if (r->packed)
        return true;
    size_t bytes = (r->width + 7) / 8;
    if ((size_t)(r->end - r->at) < bytes)
        return false;
    r->value = 0;
    for (size_t i = 0; i < bytes; i++)
        r->value |= (uint64_t)r->at[i] << (8 * i);
    r->at += bytes;
    return r->value >> r->width == 0;
}

static bool take_high_first(struct pq_runs *r, uint32_t *value)
{
    uint32_t got = 0;
    for (unsigned i = 0; i < r->width; i++) {
        if (r->at == r->end)
            return false;
        got = got << 1 | (*r->at >> (7 - r->bit) & 1);
        r->bit = (r->bit + 1) % 8;
        r->at += r->bit == 0;
    }
    *value = got;
    return true;
}

bool pq_runs_next(struct pq_runs *r, uint32_t *value)
{
    while (r->left == 0) {
        if (!next_run(r))
            return false;
    }
    r->left--;
    if (r->high_first)
        return take_high_first(r, value);
    if (!r->packed) {
        *value = (uint32_t)r->value;
        return true;
    }
    uint64_t got;
    if (!take_bits(&r->at, r->end, &r->bit, r->width, &got))
        return false;
    *value = (uint32_t)got;
    return true;
}

/* ---- deltas ------------------------------------------------------------------------------------------------------- */

static bool delta_zigzag(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    uint64_t raw;
    if (!pq_varint(at, end, &raw))
        return false;
    *value = raw >> 1 ^ (0 - (raw & 1));
    return true;
}

bool pq_delta_start(struct pq_delta *d, struct sv bytes)
{
    uint64_t block = 0;
    uint64_t minis = 0;
    uint64_t count = 0;
    uint64_t first = 0;
    const uint8_t *at = (const uint8_t *)bytes.ptr;
    const uint8_t *end = at + bytes.len;
    *d = (struct pq_delta){.end = end};
    if (!pq_varint(&at, end, &block) || !pq_varint(&at, end, &minis) ||
        !pq_varint(&at, end, &count) || !delta_zigzag(&at, end, &first))
        return false;
    /* Blocks are multiples of 128 and miniblocks of 32; of 8 is what makes them whole bytes. */
    if (block == 0 || block > UINT32_MAX || minis == 0 || minis > block || block % minis != 0 ||
        block / minis % 8 != 0)
        return false;
    d->at = d->mini_end = at;
    d->left = count;
    d->value = first;
    d->block_values = block;
    d->mini_values = block / minis;
    return true;
}

/* The next miniblock, of the next block where one has ended; `wanted` deltas are still needed. */
static bool next_mini(struct pq_delta *d, uint64_t wanted)
{
    d->at = d->mini_end;
    d->bit = 0;
    if (d->block_left == 0) {
        size_t minis = d->block_values / d->mini_values;
        if (!delta_zigzag(&d->at, d->end, &d->step) || (size_t)(d->end - d->at) < minis)
            return false;
        d->widths = d->at;
        d->at += minis;
        d->block_left = d->block_values;
    }
    d->width = *d->widths++;
    d->block_left -= d->mini_values;
    d->mini_left = d->mini_values;
    uint64_t bytes = d->mini_values / 8 * d->width; /* at most 2^29 * 64 */
    if (d->width > 64)
        return false;
    /* Some writers leave out the padding of the last one. */
    if (bytes > (size_t)(d->end - d->at)) {
        if (wanted > d->mini_values)
            return false;
        bytes = (size_t)(d->end - d->at);
    }
    d->mini_end = d->at + bytes;
    return true;
}

bool pq_delta_next(struct pq_delta *d, uint64_t *value)
{
    if (d->left == 0)
        return false;
    *value = d->value;
    if (--d->left == 0)
        return true;
    if (d->mini_left == 0 && !next_mini(d, d->left))
        return false;
    uint64_t more;
    if (!take_bits(&d->at, d->mini_end, &d->bit, d->width, &more))
        return false;
    d->mini_left--;
    d->value += d->step + more;
    return true;
}

bool pq_delta_find_end(const struct pq_delta *d, const uint8_t **end)
{
    struct pq_delta walk = *d;
    while (walk.left > 1) {
        uint64_t deltas = walk.left - 1;
        if (!next_mini(&walk, deltas))
            return false;
        walk.left -= deltas < walk.mini_values ? deltas : walk.mini_values;
    }
    *end = walk.mini_end;
    return true;
}
