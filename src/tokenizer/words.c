/* Filters are unions: an entry of another start may share a filter's word, which costs a look-up and never an answer.
 * Example: of "abcde", "abcdefg" and "ab" the filter of "abcd" has bits 5 and 7, that of "ab" bit 2; at "abcdefxy" a look-up
 * of 7 bytes fails and one of 5 gives the answer. */
#include "tokenizer/words.h"

#include "base/alloc.h"

#include <stdlib.h>

enum {
    NEAR = 4, /* bytes that choose a place of the filters */
    FAR = 8,
    NEAR_LONGER = 1 << (FAR - NEAR),
    LONG_LEN = 15, /* in a slot: by hash */
    LONG_START = 16,
    LONG_BITS = 12,
    SHORT_ONES = 1 << 16,
    AHEAD = 16, /* entries whose buckets are asked for before they are filled */
    MIN_FILTER_BITS = 10,
    MAX_FILTER_BITS = 20,
};

const unsigned char words_ones[WORDS_ONES] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                              0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

static unsigned filter_bits(size_t count)
{
    unsigned bits = MIN_FILTER_BITS;
    while (bits < MAX_FILTER_BITS && ((size_t)1 << bits) < count)
        bits++;
    return bits;
}

static size_t bucket_count(size_t count)
{
    return count * 4 / 11 + 8; /* 2.75 entries a bucket */
}

size_t words_room(size_t count)
{
    unsigned bits = filter_bits(count);
    return room_size(bucket_count(count), sizeof(struct words_slot) * WORDS_BUCKET) +
           room_size((size_t)1 << bits, sizeof(uint8_t)) +
           room_size((size_t)1 << (bits - 2), sizeof(uint32_t)) + room_size(SHORT_ONES, 1) +
           room_size((size_t)1 << LONG_BITS, sizeof(uint16_t));
}

void words_init(struct words *w, const struct vocab *vocab, size_t count, struct room *room)
{
    unsigned bits = filter_bits(count);
    *w = (struct words){.vocab = vocab, .near_shift = 32 - bits, .far_shift = 64 - bits + 2};
    w->buckets = bucket_count(count);
    w->slots = room_take(room, w->buckets, sizeof(struct words_slot) * WORDS_BUCKET);
    w->near_ones = room_take(room, (size_t)1 << bits, sizeof(*w->near_ones));
    w->far_ones = room_take(room, (size_t)1 << (bits - 2), sizeof(*w->far_ones));
    w->short_ones = room_take(room, SHORT_ONES, 1);
    w->long_most = room_take(room, (size_t)1 << LONG_BITS, sizeof(*w->long_most));
}

void words_done(struct words *w)
{
    free(w->long_lengths);
    *w = (struct words){0};
}

static uint64_t load8(const char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

struct words_key words_long_key(const struct words *w, struct sv text)
{
    uint64_t a = text.len * 0x9E3779B97F4A7C15u;
    size_t at = 0;
    for (; at + 8 < text.len; at += 8) {
        a = (a ^ load8(text.ptr + at)) * 0xD6E8FEB86659FD93u;
        a ^= a >> 32;
    }
    a = (a ^ load8(text.ptr + text.len - 8)) * 0xD6E8FEB86659FD93u;
    a ^= a >> 32;
    uint64_t rest = (uint32_t)(a * 0xFF51AFD7ED558CCDu >> 32) | (uint64_t)LONG_LEN << 32;
    return (struct words_key){a, rest, words_bucket(w, a, rest)};
}

static uint32_t find_long(const struct words *w, const struct words_key *key, struct sv text)
{
    for (size_t at = key->bucket;; at = at + 1 == w->buckets ? 0 : at + 1) {
        const struct words_slot *b = w->slots + at * WORDS_BUCKET;
        for (int i = 0; i < WORDS_BUCKET; i++) {
            uint64_t rest = b[i].high | (uint64_t)b[i].meta << 32;
            if (b[i].low == key->low && ((rest ^ key->rest) & WORDS_KEY_MASK) == 0 &&
                sv_eq(vocab_bytes(w->vocab, words_id(b[i].meta)), text))
                return b[i].meta;
        }
        if ((b->meta & WORDS_OVER) == 0)
            return 0;
    }
}

uint32_t words_find(const struct words *w, const struct words_key *key, struct sv text)
{
    return text.len <= WORDS_INLINE ? words_find_short(w, key) : find_long(w, key, text);
}

static uint8_t *near_of(const struct words *w, struct words_part part)
{
    return &w->near_ones[words_first_four(part.low) * 0x9E3779B1u >> w->near_shift];
}

static uint32_t *far_of(const struct words *w, struct words_part part)
{
    return &w->far_ones[part.low * 0x9E3779B97F4A7C15u >> w->far_shift];
}

static uint16_t *long_most_of(const struct words *w, struct words_part part)
{
    return &w->long_most[words_mix(part.low, part.high) >> (64 - LONG_BITS)];
}

static void add_long_length(struct words *w, uint32_t len)
{
    size_t at = 0;
    while (at < w->long_count && w->long_lengths[at] > len)
        at++;
    if (at < w->long_count && w->long_lengths[at] == len)
        return;
    MEM_GROW(w->long_lengths, w->long_count, w->long_cap);
    memmove(w->long_lengths + at + 1, w->long_lengths + at,
            (w->long_count - at) * sizeof(*w->long_lengths));
    w->long_lengths[at] = len;
    w->long_count++;
}

static void add_to_filters(struct words *w, struct sv text)
{
    struct words_part part = words_load(text.ptr, text.ptr + text.len);
    const unsigned char *b = (const unsigned char *)text.ptr;
    if (text.len == 1) {
        for (unsigned next = 0; next < 256; next++)
            w->short_ones[b[0] << 8 | next] |= 1u << 1;
    } else if (text.len <= 3) {
        w->short_ones[b[0] << 8 | b[1]] |= (uint8_t)(1u << text.len);
    } else if (text.len <= WORDS_FILTERED) { /* no branch at FAR: as many are shorter as longer */
        bool longer = text.len >= FAR;
        *near_of(w, part) |= (uint8_t)(1u << ((longer ? FAR : text.len) - NEAR));
        *far_of(w, part) |= (uint32_t)longer << text.len;
    } else {
        *near_of(w, part) |= NEAR_LONGER;
        *far_of(w, part) |= 1u << 31;
        uint16_t *most = long_most_of(w, part);
        if (text.len > *most)
            *most = (uint16_t)text.len;
        add_long_length(w, (uint32_t)text.len);
    }
}

static void add(struct words *w, const struct words_key *key, struct words_entry entry)
{
    struct sv text = vocab_bytes(w->vocab, entry.id);
    size_t at = key->bucket;
    if (w->vocab->repeats && words_find(w, key, text) != 0)
        return;
    for (;; at = at + 1 == w->buckets ? 0 : at + 1) {
        struct words_slot *b = w->slots + at * WORDS_BUCKET;
        int used = 0; /* they are filled from the first one on */
        for (int i = 0; i < WORDS_BUCKET; i++)
            used += (b[i].meta & 15) != 0;
        if (used < WORDS_BUCKET) {
            b[used] = (struct words_slot){key->low, (uint32_t)key->rest,
                                          (uint32_t)(key->rest >> 32) | entry.flags |
                                              entry.id << WORDS_ID_SHIFT};
            add_to_filters(w, text);
            return;
        }
        b->meta |= WORDS_OVER;
    }
}

void words_add(struct words *w, const struct words_entry *entries, size_t count)
{
    struct words_key keys[AHEAD];
    const char *end = w->vocab->block.ptr + w->vocab->block.len;
    for (size_t i = 0; i < count + AHEAD; i++) {
        if (i >= AHEAD)
            add(w, &keys[i % AHEAD], entries[i - AHEAD]);
        if (i >= count)
            continue;
        struct sv text = vocab_bytes(w->vocab, entries[i].id);
        struct words_part part = words_load(text.ptr, end);
        keys[i % AHEAD] =
            text.len > WORDS_INLINE ? words_long_key(w, text) : words_short_key(w, part, text.len);
        words_prefetch(w, &keys[i % AHEAD]);
        /* Right for those of which the filter takes all these bytes. */
        __builtin_prefetch(near_of(w, part));
        __builtin_prefetch(far_of(w, part));
    }
}

/* Beyond the filter: all lengths that there are, up to that of the longest entry with these first bytes. */
static uint32_t longest_long(const struct words *w, const char *at, size_t most,
                             struct words_part part, size_t *len)
{
    size_t here = *long_most_of(w, part);
    if (most > here)
        most = here;
    for (size_t i = 0; i < w->long_count; i++) {
        struct sv text = sv_make(at, w->long_lengths[i]);
        if (text.len > most)
            continue;
        struct words_key key = words_long_key(w, text);
        uint32_t meta = find_long(w, &key, text);
        if (meta != 0 && (meta & WORDS_WHOLE) == 0) {
            *len = text.len;
            return meta;
        }
    }
    return 0;
}

static inline unsigned last_bit(uint32_t bits)
{
    return 31u - (unsigned)__builtin_clz(bits);
}

/* Bits of the lengths that there may be at `at`; bit 31 for all that the filter does not tell apart. */
static inline uint32_t possible_lengths(const struct words *w, struct words_part part, size_t most)
{
    unsigned char two[2];
    memcpy(two, &part.low, sizeof(two));
    uint32_t lengths = w->short_ones[two[0] << 8 | two[1]];
    if (most >= NEAR) {
        unsigned near = *near_of(w, part);
        lengths |= (near & (NEAR_LONGER - 1)) << NEAR;
        if ((near & NEAR_LONGER) != 0 && most >= FAR)
            lengths |= *far_of(w, part);
    }
    return most > WORDS_FILTERED ? lengths : lengths & ((2u << most) - 1);
}

void words_probe_start(const struct words *w, struct words_probe *p, const char *at, size_t most,
                       const char *end)
{
    p->at = at;
    p->most = most;
    p->part = words_load(at, end);
    p->lengths = possible_lengths(w, p->part, most);
    uint32_t left = p->lengths & ((2u << WORDS_INLINE) - 1);
    if (left == 0)
        return;
    unsigned n = last_bit(left);
    p->first = words_short_key(w, p->part, n);
    words_prefetch(w, &p->first);
    left ^= 1u << n;
    if (left != 0) {
        struct words_key second = words_short_key(w, p->part, last_bit(left));
        words_prefetch(w, &second);
    }
}

/* An entry of n bytes, which are not short. */
static uint32_t find_at(const struct words *w, const char *at, unsigned n)
{
    struct sv text = sv_make(at, n);
    struct words_key key = words_long_key(w, text);
    return find_long(w, &key, text);
}

uint32_t words_probe_end(const struct words *w, const struct words_probe *p, size_t *len)
{
    uint32_t lengths = p->lengths;
    struct words_key key = p->first;
    bool first = true;
    if ((lengths & 1u << 31) != 0) {
        uint32_t meta = longest_long(w, p->at, p->most, p->part, len);
        if (meta != 0)
            return meta;
        lengths &= ~(1u << 31);
    }
    while (lengths != 0) {
        unsigned n = last_bit(lengths);
        uint32_t meta;
        lengths ^= 1u << n;
        if (n > WORDS_INLINE) {
            meta = find_at(w, p->at, n);
        } else {
            if (!first)
                key = words_short_key(w, p->part, n);
            first = false;
            meta = words_find_short(w, &key);
        }
        if (meta != 0 && (meta & WORDS_WHOLE) == 0) {
            *len = n;
            return meta;
        }
    }
    return 0;
}

uint32_t words_longest(const struct words *w, const char *at, size_t most, const char *end,
                       size_t *len)
{
    struct words_probe p;
    words_probe_start(w, &p, at, most, end);
    return words_probe_end(w, &p, len);
}
