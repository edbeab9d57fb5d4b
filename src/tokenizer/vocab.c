/* Two hash maps with linear probing over one array of tokens.  Both keep ids only; the key is read from the token. */
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

static size_t hash_of(struct sv key)
{
    uint64_t h = 0xCBF29CE484222325u;
    for (size_t i = 0; i < key.len; i++)
        h = (h ^ (unsigned char)key.ptr[i]) * 0x100000001B3u;
    return (size_t)(h ^ (h >> 29));
}

static struct sv key_of(const struct vocab *v, const struct vocab_map *map, uint32_t id)
{
    return map == &v->by_text ? v->tokens[id].text : v->tokens[id].bytes;
}

static uint32_t map_find(const struct vocab *v, const struct vocab_map *map, struct sv key)
{
    if (map->slots == NULL)
        return VOCAB_NONE;
    for (size_t at = hash_of(key) & map->mask; map->slots[at] != 0; at = (at + 1) & map->mask) {
        uint32_t id = map->slots[at] - 1;
        if (sv_eq(key_of(v, map, id), key))
            return id;
    }
    return VOCAB_NONE;
}

static void map_place(struct vocab *v, struct vocab_map *map, uint32_t id)
{
    struct sv key = key_of(v, map, id);
    size_t at = hash_of(key) & map->mask;
    while (map->slots[at] != 0 && !sv_eq(key_of(v, map, map->slots[at] - 1), key))
        at = (at + 1) & map->mask;
    map->used += map->slots[at] == 0;
    map->slots[at] = id + 1;
}

static void map_put(struct vocab *v, struct vocab_map *map, uint32_t id)
{
    if (map->slots == NULL || map->used * 2 > map->mask) {
        uint32_t *old = map->slots;
        size_t old_size = old != NULL ? map->mask + 1 : 0;
        size_t size = old_size != 0 ? old_size * 2 : 1024;
        map->slots = mem_array(size, sizeof(*map->slots));
        map->mask = size - 1;
        map->used = 0;
        for (size_t i = 0; i < old_size; i++)
            if (old[i] != 0)
                map_place(v, map, old[i] - 1);
        free(old);
    }
    map_place(v, map, id);
}

void vocab_init(struct vocab *v, struct arena *arena)
{
    *v = (struct vocab){.arena = arena};
}

void vocab_done(struct vocab *v)
{
    free(v->tokens);
    free(v->by_text.slots);
    free(v->by_bytes.slots);
    *v = (struct vocab){0};
}

/* The bytes a text spells; false when a character stands for no byte. */
static bool spell(struct vocab *v, struct sv text, struct sv *bytes)
{
    char *out = arena_alloc(v->arena, text.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.len;) {
        uint32_t cp;
        i += utf8_next(text.ptr + i, &cp);
        int byte = vocab_byte_of(cp);
        if (byte < 0)
            return false;
        out[n++] = (char)byte;
    }
    *bytes = sv_make(out, n);
    return true;
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

bool vocab_add(struct vocab *v, uint32_t id, struct sv text, struct error *err)
{
    if (id > VOCAB_MAX_ID)
        return error_set(err, E_PARSE, "token '" SV_FMT "' has id %u; the highest allowed is %u",
                         SV_ARG(text), id, VOCAB_MAX_ID);
    if (!utf8_valid(text))
        return error_set(err, E_PARSE, "the token of id %u is not valid UTF-8", id);
    make_room(v, id);
    struct token *token = &v->tokens[id];
    if (token->text.ptr != NULL)
        return error_set(err, E_PARSE, "tokens '" SV_FMT "' and '" SV_FMT "' have the same id %u",
                         SV_ARG(token->text), SV_ARG(text), id);
    token->text = arena_copy(v->arena, text);
    token->bytes = token->text;
    token->byte_spelled = spell(v, token->text, &token->bytes);
    map_put(v, &v->by_text, id);
    if (token->byte_spelled && !v->closed)
        map_put(v, &v->by_bytes, id);
    v->count++;
    return true;
}

uint32_t vocab_find(const struct vocab *v, struct sv text)
{
    return map_find(v, &v->by_text, text);
}

uint32_t vocab_find_bytes(const struct vocab *v, struct sv bytes)
{
    return map_find(v, &v->by_bytes, bytes);
}

const struct token *vocab_get(const struct vocab *v, uint32_t id)
{
    return id < v->limit && v->tokens[id].text.ptr != NULL ? &v->tokens[id] : NULL;
}
