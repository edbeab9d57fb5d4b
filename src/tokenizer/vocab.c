/* Records of eight bytes, one block of bytes, one hash table of ids with linear probing.  A slot keeps eleven bits of the
 * hash beside the id, so that a miss rarely has to look at a token.  Everything is small because most of loading a
 * tokenizer is waiting for memory. */
#include "tokenizer/vocab.h"

#include "base/alloc.h"
#include "tokenizer/utf8.h"

#include <stdlib.h>

enum { ID_BITS = 21, AHEAD = 16 };

#define ID_MASK (((uint32_t)1 << ID_BITS) - 1)

int vocab_byte_of(uint32_t cp)
{
    if ((cp >= 33 && cp <= 126) || (cp >= 161 && cp <= 172) || (cp >= 174 && cp <= 255))
        return (int)cp;
    /* U+0100 + n is the n-th byte that does not stand for itself: 0-32, 127-160, 173. */
    if (cp < 0x100 || cp >= 0x100 + 68)
        return -1;
    unsigned n = cp - 0x100;
    if (n <= 32)
        return (int)n;
    return n < 67 ? (int)(n - 33 + 127) : 173;
}

uint32_t vocab_char_of(unsigned char byte)
{
    if (byte <= 32)
        return 0x100u + byte;
    if (byte >= 127 && byte <= 160)
        return 0x100u + 33 + byte - 127;
    return byte == 173 ? 0x100 + 67 : byte;
}

size_t vocab_spell(struct sv text, char *out)
{
    const char *at = text.ptr;
    const char *end = at + text.len;
    char *to = out;
    while (at < end) {
        unsigned char c = (unsigned char)*at;
        if (c >= 33 && c <= 126) {
            *to++ = *at++;
            continue;
        }
        /* The other characters of the map, U+00A1 to U+0143, have two bytes. */
        if (c < 0xC2 || c > 0xC5 || end - at < 2 || ((unsigned char)at[1] & 0xC0) != 0x80)
            return SIZE_MAX;
        int byte = vocab_byte_of((c & 0x1Fu) << 6 | ((unsigned char)at[1] & 0x3Fu));
        if (byte < 0)
            return SIZE_MAX;
        *to++ = (char)byte;
        at += 2;
    }
    return (size_t)(to - out);
}

static inline uint64_t load8(const char *at)
{
    uint64_t value;
    memcpy(&value, at, 8);
    return value;
}

static inline uint64_t load4(const char *at)
{
    uint32_t value;
    memcpy(&value, at, 4);
    return value;
}

static inline uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0xD6E8FEB86659FD93u;
    return h ^ h >> 32;
}

uint32_t vocab_hash(const char *ptr, size_t len)
{
    uint64_t h = len * 0x9E3779B97F4A7C15u;
    if (len >= 8) {
        for (size_t at = 0; at + 8 < len; at += 8)
            h = mix(h, load8(ptr + at));
        h = mix(h, load8(ptr + len - 8)); /* overlaps the word before */
    } else if (len >= 4) {
        h = mix(h, load4(ptr) << 32 | load4(ptr + len - 4));
    } else if (len > 0) {
        h = mix(h, (uint64_t)(unsigned char)ptr[0] << 16 |
                       (uint64_t)(unsigned char)ptr[len / 2] << 8 | (unsigned char)ptr[len - 1]);
    }
    return (uint32_t)(h * 0xD6E8FEB86659FD93u >> 32);
}

static bool is_token(const struct vocab *v, uint32_t id, const char *ptr, size_t len, bool spelled)
{
    struct token token = vocab_kept(v, id);
    return token.len == len && ((token.flags & TOKEN_SPELLED) != 0) == spelled &&
           (len == 0 || memcmp(v->block.ptr + token.at, ptr, len) == 0);
}

/* The slot of a token, or the free one where it would be. */
static size_t slot_of(const struct vocab *v, struct vocab_key key, bool spelled)
{
    uint32_t tag = key.hash & ~ID_MASK;
    size_t at = key.hash & v->mask;
    for (; v->slots[at] != 0; at = (at + 1) & v->mask)
        if ((v->slots[at] & ~ID_MASK) == tag &&
            is_token(v, (v->slots[at] & ID_MASK) - 1, key.ptr, key.len, spelled))
            break;
    return at;
}

static uint32_t find_key(const struct vocab *v, struct vocab_key key, bool spelled)
{
    uint32_t slot = v->slots[slot_of(v, key, spelled)];
    return slot == 0 ? VOCAB_NONE : (slot & ID_MASK) - 1;
}

static void resize(struct vocab *v, size_t size)
{
    uint32_t *old = v->slots;
    size_t old_size = old != NULL ? v->mask + 1 : 0;
    v->slots = mem_array(size, sizeof(*v->slots));
    v->mask = size - 1;
    for (size_t i = 0; i < old_size; i++) {
        if (old[i] == 0)
            continue;
        struct token token = vocab_kept(v, (old[i] & ID_MASK) - 1);
        uint32_t hash = vocab_hash(v->block.ptr + token.at, token.len);
        size_t at = hash & v->mask;
        while (v->slots[at] != 0)
            at = (at + 1) & v->mask;
        v->slots[at] = old[i];
    }
    free(old);
}

void vocab_init(struct vocab *v)
{
    *v = (struct vocab){0};
}

void vocab_done(struct vocab *v)
{
    buf_done(&v->block);
    free(v->tokens);
    free(v->slots);
    *v = (struct vocab){0};
}

static void tokens_room(struct vocab *v, uint32_t cap)
{
    v->tokens = mem_resize(v->tokens, cap, sizeof(*v->tokens));
    memset(v->tokens + v->cap, 0, (cap - v->cap) * sizeof(*v->tokens));
    v->cap = cap;
}

static void make_room(struct vocab *v, uint32_t id)
{
    if (id < v->limit)
        return;
    if (id >= v->cap) {
        uint32_t cap = v->cap < 1024 ? 1024 : v->cap + v->cap / 2;
        tokens_room(v, cap > id ? cap : id + 1);
    }
    v->limit = id + 1;
}

/* Two thirds of the slots are filled at most. */
static void slots_room(struct vocab *v, size_t count)
{
    size_t size = v->slots != NULL ? v->mask + 1 : 1024;
    while (size * 2 < count * 3)
        size *= 2;
    if (v->slots == NULL || size > v->mask + 1)
        resize(v, size);
}

void vocab_reserve(struct vocab *v, size_t count, size_t bytes)
{
    if (count > VOCAB_MAX_ID)
        count = VOCAB_MAX_ID;
    if (count > v->cap)
        tokens_room(v, (uint32_t)count);
    slots_room(v, count);
    if (bytes < UINT32_MAX / 2)
        buf_reserve(&v->block, bytes + VOCAB_SLACK);
}

/* Puts a text behind the block as it is to be kept: where, how long, of which nature. */
static struct token append(struct vocab *v, struct sv text)
{
    char *to = buf_reserve(&v->block, text.len + VOCAB_SLACK);
    size_t n = v->byte_level ? vocab_spell(text, to) : SIZE_MAX;
    bool spelled = n != SIZE_MAX;
    if (!spelled) {
        n = text.len;
        memcpy(to, text.len > 0 ? text.ptr : "", n);
    }
    struct token token = {(uint32_t)v->block.len, (uint16_t)n, TOKEN_HERE};
    if (spelled)
        token.flags |= TOKEN_SPELLED;
    if (!utf8_valid(sv_make(to, n)))
        token.flags |= TOKEN_BROKEN;
    v->block.len += n;
    return token;
}

static bool check(const struct vocab *v, uint32_t id, struct sv text, struct error *err)
{
    if (id > VOCAB_MAX_ID)
        return error_set(err, E_PARSE, "token '" SV_FMT "' has id %u; the highest allowed is %u",
                         SV_ARG(text), id, VOCAB_MAX_ID);
    if (text.len > VOCAB_MAX_BYTES)
        return error_set(err, E_LIMIT, "the token of id %u has %zu bytes; at most %u are allowed",
                         id, text.len, VOCAB_MAX_BYTES);
    if (v->block.len > UINT32_MAX - 4 * VOCAB_MAX_BYTES)
        return error_set(err, E_LIMIT, "the tokens have more than 4 GB of text");
    return true;
}

void vocab_commit(struct vocab *v)
{
    slots_room(v, v->used + v->staged_count);
    for (unsigned i = 0; i < v->staged_count; i++) {
        uint32_t id = v->staged[i].id;
        struct token token = v->tokens[id];
        struct vocab_key key = {v->block.ptr + token.at, token.len, v->staged[i].hash};
        size_t at = slot_of(v, key, (token.flags & TOKEN_SPELLED) != 0);
        if (v->slots[at] != 0) {
            v->repeats = true;
            continue;
        }
        v->slots[at] = (key.hash & ~ID_MASK) | (id + 1);
        v->used++;
    }
    v->staged_count = 0;
}

bool vocab_add(struct vocab *v, uint32_t id, struct sv text, struct error *err)
{
    if (!vocab_stage(v, id, text, err))
        return false;
    vocab_commit(v);
    return true;
}

bool vocab_stage(struct vocab *v, uint32_t id, struct sv text, struct error *err)
{
    if (!check(v, id, text, err))
        return false;
    struct token token = append(v, text);
    if (!v->raw_bytes && (token.flags & (TOKEN_SPELLED | TOKEN_BROKEN)) == TOKEN_BROKEN)
        return error_set(err, E_PARSE, "the token of id %u is not valid UTF-8", id);
    if (vocab_has(v, id)) {
        struct buf spare = {0};
        struct sv first = vocab_text(v, id, &spare);
        error_set(err, E_PARSE, "tokens '" SV_FMT "' and '" SV_FMT "' have the same id %u",
                  SV_ARG(first), SV_ARG(text), id);
        buf_done(&spare);
        return false;
    }
    make_room(v, id);
    v->tokens[id] = token;
    v->count++;
    uint32_t hash = vocab_hash(v->block.ptr + token.at, token.len);
    if (v->slots != NULL)
        __builtin_prefetch(&v->slots[hash & v->mask], 1);
    v->staged[v->staged_count].id = id;
    v->staged[v->staged_count++].hash = hash;
    if (v->staged_count == VOCAB_STAGED)
        vocab_commit(v);
    return true;
}

struct sv vocab_text(const struct vocab *v, uint32_t id, struct buf *spare)
{
    if (!vocab_has(v, id))
        return sv_make(NULL, 0);
    struct token token = vocab_kept(v, id);
    struct sv kept = sv_make(v->block.ptr + token.at, token.len);
    if ((token.flags & TOKEN_SPELLED) == 0)
        return kept;
    buf_reset(spare);
    buf_reserve(spare, 1); /* an empty text is not NULL */
    for (size_t i = 0; i < kept.len; i++)
        utf8_add(spare, vocab_char_of((unsigned char)kept.ptr[i]));
    return buf_sv(spare);
}

bool vocab_show_as(struct vocab *v, uint32_t id, struct sv text, struct error *err)
{
    struct buf spare = {0};
    bool same = sv_eq(vocab_text(v, id, &spare), text);
    buf_done(&spare);
    if (same)
        return true;
    if (!check(v, id, text, err))
        return false;
    struct token first = vocab_kept(v, id);
    buf_add(&v->block, sv_make((const char *)&first, sizeof(first)));
    struct token shown = append(v, text);
    unsigned kind = TOKEN_SPELLED | TOKEN_BROKEN;
    shown.flags = (uint8_t)((shown.flags & kind) | (v->tokens[id].flags & ~kind) | TOKEN_CHANGED);
    v->tokens[id] = shown;
    return true;
}

uint32_t vocab_find(const struct vocab *v, struct sv text)
{
    char small[256];
    if (v->slots == NULL || text.len > VOCAB_MAX_BYTES)
        return VOCAB_NONE;
    if (!v->byte_level)
        return find_key(
            v, (struct vocab_key){text.ptr, (uint32_t)text.len, vocab_hash(text.ptr, text.len)},
            false);
    char *out = text.len <= sizeof(small) ? small : mem_alloc(text.len);
    size_t n = vocab_spell(text, out);
    bool spelled = n != SIZE_MAX;
    const char *ptr = spelled ? out : text.ptr;
    n = spelled ? n : text.len;
    uint32_t id = find_key(v, (struct vocab_key){ptr, (uint32_t)n, vocab_hash(ptr, n)}, spelled);
    if (out != small)
        free(out);
    return id;
}

/* Slots first, then tokens, then bytes: while one key waits for memory the next ones ask for theirs. */
void vocab_find_many(const struct vocab *v, const struct vocab_key *keys, size_t count,
                     uint32_t *ids)
{
    for (size_t from = 0; from < count; from += AHEAD) {
        size_t n = count - from < AHEAD ? count - from : AHEAD;
        const struct vocab_key *k = keys + from;
        for (size_t i = 0; i < n; i++)
            __builtin_prefetch(&v->slots[k[i].hash & v->mask]);
        for (size_t i = 0; i < n; i++) {
            uint32_t slot = v->slots[k[i].hash & v->mask];
            if (slot != 0)
                __builtin_prefetch(&v->tokens[(slot & ID_MASK) - 1]);
        }
        for (size_t i = 0; i < n; i++) {
            uint32_t slot = v->slots[k[i].hash & v->mask];
            if (slot != 0)
                __builtin_prefetch(v->block.ptr + v->tokens[(slot & ID_MASK) - 1].at);
        }
        for (size_t i = 0; i < n; i++)
            ids[from + i] = find_key(v, k[i], v->byte_level);
    }
}
