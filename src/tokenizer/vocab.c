/* One hash map with linear probing over one array of tokens.  It keeps 32 bits of the hash beside the id, so that a miss
 * rarely has to look at a token. */
#include "tokenizer/vocab.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "tokenizer/utf8.h"

#include <stdlib.h>

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

static uint64_t load_part(const char *at, size_t n)
{
    uint64_t value = 0;
    memcpy(&value, at, n);
    return value;
}

static uint32_t hash_of(struct sv key)
{
    uint64_t h = key.len * 0x9E3779B97F4A7C15u;
    size_t at = 0;
    for (; at + 8 <= key.len; at += 8) {
        h = (h ^ load_part(key.ptr + at, 8)) * 0xD6E8FEB86659FD93u;
        h ^= h >> 32;
    }
    if (at < key.len) {
        h = (h ^ load_part(key.ptr + at, key.len - at)) * 0xD6E8FEB86659FD93u;
        h ^= h >> 32;
    }
    h *= 0xD6E8FEB86659FD93u;
    return (uint32_t)(h >> 32);
}

static void place(struct vocab *v, uint64_t slot)
{
    size_t at = (size_t)(slot >> 32) & v->mask;
    while (v->slots[at] != 0)
        at = (at + 1) & v->mask;
    v->slots[at] = slot;
}

static void resize(struct vocab *v, size_t size)
{
    uint64_t *old = v->slots;
    size_t old_size = old != NULL ? v->mask + 1 : 0;
    v->slots = mem_array(size, sizeof(*v->slots));
    v->mask = size - 1;
    for (size_t i = 0; i < old_size; i++)
        if (old[i] != 0)
            place(v, old[i]);
    free(old);
}

void vocab_init(struct vocab *v, struct arena *arena)
{
    *v = (struct vocab){.arena = arena};
}

void vocab_done(struct vocab *v)
{
    free(v->tokens);
    free(v->slots);
    *v = (struct vocab){0};
}

static void make_room(struct vocab *v, uint32_t id)
{
    if (id < v->limit)
        return;
    if (id >= v->cap) {
        uint32_t cap = v->cap < 1024 ? 1024 : v->cap;
        while (cap <= id)
            cap *= 2;
        v->tokens = mem_resize(v->tokens, cap, sizeof(*v->tokens));
        memset(v->tokens + v->cap, 0, (cap - v->cap) * sizeof(*v->tokens));
        v->cap = cap;
    }
    v->limit = id + 1;
}

void vocab_reserve(struct vocab *v, size_t count)
{
    size_t size = 1024;
    while (size < count * 2 && size < (size_t)1 << 22)
        size *= 2;
    if (v->slots == NULL || size > v->mask + 1)
        resize(v, size);
}

/* The bytes that the token's text spells; false when a character stands for no byte. */
static bool spell(struct vocab *v, struct token *token, struct sv text)
{
    size_t plain = 0;
    while (plain < text.len && text.ptr[plain] >= 33 && text.ptr[plain] <= 126)
        plain++;
    if (plain == text.len)
        return true;
    char *out = arena_alloc(v->arena, text.len);
    size_t n = 0;
    for (size_t i = 0; i < text.len;) {
        uint32_t cp;
        i += utf8_next(text.ptr + i, &cp);
        int byte = vocab_byte_of(cp);
        if (byte < 0)
            return false;
        out[n++] = (char)byte;
    }
    token->bytes = sv_make(out, n);
    return true;
}

bool vocab_add(struct vocab *v, uint32_t id, struct sv text, struct error *err)
{
    if (id > VOCAB_MAX_ID)
        return error_set(err, E_PARSE, "token '" SV_FMT "' has id %u; the highest allowed is %u",
                         SV_ARG(text), id, VOCAB_MAX_ID);
    if (text.len > VOCAB_MAX_BYTES)
        return error_set(err, E_LIMIT, "the token of id %u has %zu bytes; at most %u are allowed",
                         id, text.len, VOCAB_MAX_BYTES);
    if (!v->raw_bytes && !utf8_valid(text))
        return error_set(err, E_PARSE, "the token of id %u is not valid UTF-8", id);
    make_room(v, id);
    struct token *token = &v->tokens[id];
    if (token->text.ptr != NULL)
        return error_set(err, E_PARSE, "tokens '" SV_FMT "' and '" SV_FMT "' have the same id %u",
                         SV_ARG(token->text), SV_ARG(text), id);
    token->text = arena_copy(v->arena, text);
    token->bytes = token->text;
    token->spelled = v->byte_level && spell(v, token, token->text);
    vocab_reserve(v, v->used + 1);
    if (vocab_find(v, text) == VOCAB_NONE) {
        place(v, (uint64_t)hash_of(text) << 32 | (id + 1));
        v->used++;
    }
    v->count++;
    return true;
}

void vocab_show_as(struct vocab *v, uint32_t id, struct sv text)
{
    struct token *token = &v->tokens[id];
    if (sv_eq(token->text, text))
        return;
    token->changed = true;
    token->bytes = text;
    if (v->byte_level)
        spell(v, token, text);
}

uint32_t vocab_find(const struct vocab *v, struct sv text)
{
    if (v->slots == NULL)
        return VOCAB_NONE;
    uint32_t hash = hash_of(text);
    for (size_t at = hash & v->mask; v->slots[at] != 0; at = (at + 1) & v->mask)
        if ((uint32_t)(v->slots[at] >> 32) == hash) {
            uint32_t id = (uint32_t)v->slots[at] - 1;
            if (sv_eq(v->tokens[id].text, text))
                return id;
        }
    return VOCAB_NONE;
}

const struct token *vocab_get(const struct vocab *v, uint32_t id)
{
    return id < v->limit && v->tokens[id].text.ptr != NULL ? &v->tokens[id] : NULL;
}
