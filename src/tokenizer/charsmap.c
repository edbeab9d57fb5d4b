/* A unit holds a label (bits 0-7), a leaf flag (bit 8), and an offset (bits 10-30, shifted by 8 when bit 9 is set); a
 * child by byte c lies at node ^ offset ^ c, the value of a leaf at node ^ offset. */
#include "tokenizer/charsmap.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "tokenizer/unicode.h"
#include "tokenizer/utf8.h"

#include <stdlib.h>

enum { MAX_CLUSTER = 6 }; /* HF tokenizers looks up clusters of fewer bytes only */

bool charsmap_load(struct charsmap *map, struct sv blob, struct error *err)
{
    uint32_t size = 0;
    *map = (struct charsmap){0};
    if (blob.len == 0)
        return true;
    if (blob.len >= 4)
        memcpy(&size, blob.ptr, 4);
    if (blob.len < 4 || size % 4 != 0 || size > blob.len - 4)
        return error_set(err, E_PARSE, "the precompiled character map is damaged");
    map->unit_count = size / 4;
    map->units = mem_array(map->unit_count + 1, sizeof(*map->units));
    memcpy(map->units, blob.ptr + 4, size);
    map->text_len = blob.len - 4 - size;
    map->texts = mem_strndup(blob.ptr + 4 + size, map->text_len);
    if (!utf8_valid(sv_make(map->texts, map->text_len))) {
        charsmap_done(map);
        return error_set(err, E_PARSE, "the precompiled character map is not UTF-8");
    }
    return true;
}

void charsmap_done(struct charsmap *map)
{
    free(map->units);
    free(map->texts);
    *map = (struct charsmap){0};
}

static uint32_t offset_of(uint32_t unit)
{
    return (unit >> 10) << ((unit & (1u << 9)) >> 6);
}

bool charsmap_match(const struct charsmap *map, struct sv text, bool longest, size_t *used,
                    struct sv *replacement)
{
    bool found = false;
    if (map->unit_count == 0)
        return false;
    size_t node = offset_of(map->units[0]);
    for (size_t i = 0; i < text.len && text.ptr[i] != '\0'; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        node ^= c;
        if (node >= map->unit_count || (map->units[node] & 0x800000FFu) != c)
            break;
        uint32_t unit = map->units[node];
        node ^= offset_of(unit);
        if ((unit >> 8 & 1) == 0)
            continue;
        size_t at = node < map->unit_count ? map->units[node] & 0x7FFFFFFF : SIZE_MAX;
        if (at >= map->text_len)
            break;
        *replacement = sv_from(map->texts + at);
        *used = i + 1;
        found = true;
        if (!longest)
            break;
    }
    return found;
}

static size_t cluster_end(struct sv text, size_t at)
{
    /* Most texts: an ASCII character before another one stands alone, but for CR LF. */
    if (at + 1 < text.len && (unsigned char)text.ptr[at] < 0x80 &&
        (unsigned char)text.ptr[at + 1] < 0x80 && text.ptr[at] != '\r')
        return at + 1;
    return unicode_cluster_end(text, at);
}

void charsmap_apply(const struct charsmap *map, struct sv text, struct buf *out)
{
    struct sv replacement;
    size_t used;
    uint32_t cp;
    for (size_t at = 0; at < text.len;) {
        size_t end = cluster_end(text, at);
        struct sv cluster = sv_make(text.ptr + at, end - at);
        if (cluster.len < MAX_CLUSTER && charsmap_match(map, cluster, false, &used, &replacement)) {
            buf_add(out, replacement);
            at = end;
            continue;
        }
        while (at < end) {
            size_t n = utf8_next(text.ptr + at, &cp);
            struct sv one = sv_make(text.ptr + at, n);
            bool hit = charsmap_match(map, one, false, &used, &replacement);
            buf_add(out, hit ? replacement : one);
            at += n;
        }
    }
}
