/* Records and their gaps.  A block is 256 bytes: a link and 61 words of 32 bits.  A gap below 2^32 - 65536 ns (4.29 s)
 * is one word; a longer one is ESCAPE and then its low and high half.  The three words never straddle two blocks: a
 * block with too little room is left short.  A word from TOKENS up to ESCAPE is no gap: it says how many tokens the
 * event behind the next gap brought, and stands only where that is not 1.
 *
 * Example: gaps 5 ns (1 token), 7 ns (4 tokens), 9 ns (1 token) are the words 5, TOKENS + 4, 7, 9. */
#include "metrics/record.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK_WORDS = 61, CHUNK_MIN = 64 * 1024, CHUNK_MAX = 1024 * 1024 };

#define ESCAPE UINT32_MAX
#define TOKENS UINT32_C(0xffff0000)

/* The most that one event can be said to have brought; more are not believed. */
enum { TOKENS_MAX = 0xfffe };

struct record_block {
    struct record_block *next;
    uint32_t used;
    uint32_t word[BLOCK_WORDS];
};

struct record_chunk {
    struct record_chunk *older;
    size_t bytes;
};

const char *failure_name(enum failure_kind kind)
{
    static const char *const names[FAILURE_COUNT] = {
#define FAILURE_ROW(name, text) [name] = text,
        FAILURE_KINDS(FAILURE_ROW)
#undef FAILURE_ROW
    };
    return kind < FAILURE_COUNT ? names[kind] : "unknown";
}

void record_slab_done(struct record_slab *slab)
{
    for (struct record_chunk *chunk = slab->chunks; chunk != NULL;) {
        struct record_chunk *older = chunk->older;
        free(chunk);
        chunk = older;
    }
    *slab = (struct record_slab){0};
}

static char *new_chunk(struct record_slab *slab, size_t bytes)
{
    struct record_chunk *chunk = mem_alloc(sizeof(*chunk) + bytes);
    *chunk = (struct record_chunk){.older = slab->chunks, .bytes = bytes};
    slab->chunks = chunk;
    return (char *)(chunk + 1);
}

/* A piece that does not fit into what is left.  Chunks double from 64 KiB to 1 MiB; a piece too large for that gets a
 * chunk to itself, and the space left in the current one stays in use. */
static char *slab_take_slowly(struct record_slab *slab, size_t bytes)
{
    size_t size = slab->chunks != NULL ? slab->chunks->bytes * 2 : CHUNK_MIN;
    size = size < CHUNK_MIN ? CHUNK_MIN : size > CHUNK_MAX ? CHUNK_MAX : size;
    if (bytes > size / 4)
        return new_chunk(slab, bytes);
    char *piece = new_chunk(slab, size);
    slab->next = piece + bytes;
    slab->left = size - bytes;
    return piece;
}

static inline char *slab_take(struct record_slab *slab, size_t bytes)
{
    bytes = (bytes + 7) & ~(size_t)7; /* every piece begins on eight bytes */
    if (__builtin_expect(bytes > slab->left, 0))
        return slab_take_slowly(slab, bytes);
    char *piece = slab->next;
    slab->next += bytes;
    slab->left -= bytes;
    return piece;
}

struct sv record_slab_copy(struct record_slab *slab, struct sv bytes)
{
    if (bytes.len == 0)
        return sv_make("", 0);
    char *copy = slab_take(slab, bytes.len);
    memcpy(copy, bytes.ptr, bytes.len);
    return sv_make(copy, bytes.len);
}

void record_init(struct record *r)
{
    *r = (struct record){
        .input_sequences = 1,
        .usage_prompt_tokens = -1,
        .usage_completion_tokens = -1,
        .usage_cached_tokens = -1,
        .usage_reasoning_tokens = -1,
        .server_queue_s = NAN,
        .server_ttft_s = NAN,
        .text_tokens = -1,
    };
}

/* The block that has room for `words` more. */
static inline struct record_block *block_with_room(struct record *r, struct record_slab *slab,
                                                   uint32_t words)
{
    struct record_block *block = r->last_block;
    if (__builtin_expect(block != NULL && block->used + words <= BLOCK_WORDS, 1))
        return block;
    void *piece = slab_take(slab, sizeof(*block));
    block = piece;
    block->next = NULL;
    block->used = 0;
    if (r->last_block != NULL)
        r->last_block->next = block;
    else
        r->first_block = block;
    r->last_block = block;
    return block;
}

void record_event(struct record *r, struct record_slab *slab, uint64_t time_ns)
{
    if (r->events++ == 0) {
        r->first_ns = time_ns;
        r->last_ns = time_ns;
        return;
    }
    uint64_t gap = time_ns > r->last_ns ? time_ns - r->last_ns : 0;
    r->last_ns += gap;
    if (__builtin_expect(gap < TOKENS, 1)) {
        struct record_block *block = block_with_room(r, slab, 1);
        block->word[block->used++] = (uint32_t)gap;
        return;
    }
    struct record_block *block = block_with_room(r, slab, 3);
    block->word[block->used++] = ESCAPE;
    block->word[block->used++] = (uint32_t)gap;
    block->word[block->used++] = (uint32_t)(gap >> 32);
}

void record_event_counted(struct record *r, struct record_slab *slab, uint64_t time_ns,
                          int64_t running_tokens)
{
    int64_t tokens = running_tokens - r->running_tokens;
    bool believed = tokens >= 0 && tokens <= TOKENS_MAX;
    if (believed) {
        r->counted_events++;
        r->running_tokens = running_tokens;
        if (r->events == 0)
            r->first_tokens = (uint32_t)tokens;
        else if (tokens != 1) {
            struct record_block *block = block_with_room(r, slab, 1);
            block->word[block->used++] = TOKENS + (uint32_t)tokens;
        }
    }
    record_event(r, slab, time_ns);
}

void record_gaps_begin(const struct record *r, struct record_cursor *c)
{
    *c = (struct record_cursor){.block = r->first_block};
}

/* The words from the cursor on; NULL at the end. */
static const uint32_t *next_word(struct record_cursor *c)
{
    while (c->block != NULL && c->at >= c->block->used) {
        c->block = c->block->next;
        c->at = 0;
    }
    return c->block != NULL ? c->block->word + c->at : NULL;
}

bool record_gaps_next(struct record_cursor *c, uint64_t *gap_ns)
{
    const uint32_t *word = next_word(c);
    c->tokens = 1;
    if (word != NULL && word[0] >= TOKENS && word[0] != ESCAPE) {
        c->tokens = word[0] - TOKENS;
        c->at++;
        word = next_word(c);
    }
    if (word == NULL)
        return false;
    if (word[0] != ESCAPE) {
        *gap_ns = word[0];
        c->at++;
        return true;
    }
    *gap_ns = (uint64_t)word[2] << 32 | word[1];
    c->at += 3;
    return true;
}
