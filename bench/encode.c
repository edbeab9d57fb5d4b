/* One pass of the tokenizer over texts, for bench/tokenizer.py: encoding with cold caches, the same a second time, cutting
 * alone, decoding, and a batch over threads.
 *
 *   encode TOKENIZER TEXTS IDS THREADS    THREADS 2 and more: the batch alone, with one thread and with so many
 *   encode TOKENIZER TEXTS draw TOKENS    writes 64 TEXTS of so many random tokens each
 *
 * TEXTS: a count and so many times a length and bytes; IDS gets a count and so many times a length and ids; all numbers
 * are 32 bits in the machine's order.  One line a figure: its name, seconds of CPU, seconds on the clock. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/num.h"
#include "base/rng.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/tokenizer_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DRAWN_TEXTS = 64, CUT = 64 };

struct texts {
    struct sv *items;
    struct token_ids *ids;
    uint32_t count;
};

struct watch {
    double cpu_s;
    double wall_s;
};

static double read_clock(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct watch watch_start(void)
{
    return (struct watch){read_clock(CLOCK_PROCESS_CPUTIME_ID), read_clock(CLOCK_MONOTONIC)};
}

static void watch_print(const struct watch *start, const char *name)
{
    printf("%s %.9f %.9f\n", name, read_clock(CLOCK_PROCESS_CPUTIME_ID) - start->cpu_s,
           read_clock(CLOCK_MONOTONIC) - start->wall_s);
}

static bool read_texts(const char *path, struct buf *raw, struct texts *t, struct error *err)
{
    if (!file_read(path, raw, err))
        return false;
    size_t at = sizeof(uint32_t);
    if (raw->len < at)
        return error_set(err, E_PARSE, "'%s' is too short", path);
    memcpy(&t->count, raw->ptr, sizeof(t->count));
    t->items = mem_array((size_t)t->count + 1, sizeof(*t->items));
    t->ids = mem_array((size_t)t->count + 1, sizeof(*t->ids));
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t len;
        if (raw->len - at < sizeof(len))
            return error_set(err, E_PARSE, "'%s' ends in text %u", path, i);
        memcpy(&len, raw->ptr + at, sizeof(len));
        at += sizeof(len);
        if (raw->len - at < len)
            return error_set(err, E_PARSE, "'%s' ends in text %u", path, i);
        t->items[i] = sv_make(raw->ptr + at, len);
        at += len;
    }
    return true;
}

static bool encode_all(const struct tokenizer *tok, const struct texts *t, const char *name,
                       struct error *err)
{
    struct watch w = watch_start();
    for (uint32_t i = 0; i < t->count; i++) {
        t->ids[i].count = 0;
        if (!tokenizer_encode(tok, t->items[i], false, &t->ids[i], err))
            return false;
    }
    watch_print(&w, name);
    return true;
}

/* The walk from piece to piece that every encoder has to do. */
static void cut_all(const struct tokenizer *tok, const struct texts *t)
{
    size_t pieces = 0;
    struct watch w = watch_start();
    for (uint32_t i = 0; tok->splitter != NULL && i < t->count; i++)
        for (size_t at = 0; at < t->items[i].len;) {
            const char *ends[CUT];
            size_t n = tok->splitter->cut(tok->splitter, t->items[i], at, ends, CUT);
            at = (size_t)(ends[n - 1] - t->items[i].ptr);
            pieces += n;
        }
    if (pieces > 0)
        watch_print(&w, "split");
}

static bool decode_all(const struct tokenizer *tok, const struct texts *t, struct error *err)
{
    struct buf out = {0};
    size_t bytes = 0;
    struct watch w = watch_start();
    for (uint32_t i = 0; i < t->count; i++) {
        buf_reset(&out);
        if (!tokenizer_decode(tok, t->ids[i].items, t->ids[i].count, false, &out, err))
            return false;
        bytes += out.len;
    }
    watch_print(&w, "decode");
    buf_done(&out);
    return bytes > 0 || error_set(err, E_PARSE, "nothing was decoded");
}

static bool batch_all(const struct tokenizer *tok, const struct texts *t, unsigned threads,
                      struct error *err)
{
    struct token_ids *ids = mem_array((size_t)t->count + 1, sizeof(*ids));
    struct watch w = watch_start();
    if (!tokenizer_encode_many(tok, t->items, t->count, false, threads, ids, err))
        return false;
    watch_print(&w, "batch");
    for (uint32_t i = 0; i < t->count; i++)
        token_ids_done(&ids[i]);
    free(ids);
    return true;
}

static bool write_ids(const char *path, const struct texts *t, struct error *err)
{
    FILE *f = fopen(path, "wb");
    bool ok = f != NULL && fwrite(&t->count, sizeof(t->count), 1, f) == 1;
    for (uint32_t i = 0; ok && i < t->count; i++) {
        uint32_t n = (uint32_t)t->ids[i].count;
        ok = fwrite(&n, sizeof(n), 1, f) == 1 &&
             fwrite(t->ids[i].items, sizeof(*t->ids[i].items), n, f) == n;
    }
    if (f != NULL && fclose(f) != 0)
        ok = false;
    return ok || error_set(err, E_IO, "cannot write '%s'", path);
}

/* Texts of uniformly drawn ids of the model itself. */
static bool draw_texts(const struct tokenizer *tok, const char *path, size_t tokens,
                       struct error *err)
{
    const uint32_t count = DRAWN_TEXTS;
    struct mt19937 g;
    struct buf text = {0};
    uint32_t *ids = mem_array(tokens + 1, sizeof(*ids));
    FILE *f = fopen(path, "wb");
    bool ok = f != NULL && fwrite(&count, sizeof(count), 1, f) == 1;
    py_seed(&g, 99);
    for (uint32_t i = 0; ok && i < count; i++) {
        for (size_t k = 0; k < tokens;) {
            ids[k] = (uint32_t)py_below(&g, tok->vocab.limit);
            k += (vocab_flags(&tok->vocab, ids[k]) & (TOKEN_HERE | TOKEN_ADDED)) == TOKEN_HERE;
        }
        buf_reset(&text);
        uint32_t len;
        ok = tokenizer_decode(tok, ids, tokens, false, &text, err);
        len = (uint32_t)text.len;
        ok = ok && fwrite(&len, sizeof(len), 1, f) == 1 && fwrite(text.ptr, 1, len, f) == len;
    }
    free(ids);
    buf_done(&text);
    if (f != NULL && fclose(f) != 0)
        ok = false;
    return ok || error_set(err, E_IO, "cannot write '%s'", path);
}

static bool measure(const struct tokenizer *tok, char **argv, unsigned threads, struct error *err)
{
    struct buf raw = {0};
    struct texts texts;
    if (!read_texts(argv[2], &raw, &texts, err))
        return false;
    if (threads > 1)
        return batch_all(tok, &texts, 1, err) && batch_all(tok, &texts, threads, err);
    if (!encode_all(tok, &texts, "encode", err) || !encode_all(tok, &texts, "again", err))
        return false;
    cut_all(tok, &texts);
    return decode_all(tok, &texts, err) && write_ids(argv[3], &texts, err);
}

int main(int argc, char **argv)
{
    struct error err = {0};
    uint64_t number = 0;
    if (argc != 5 || !num_parse_u64(sv_from(argv[4]), &number) || number == 0 ||
        number > UINT32_MAX) {
        fputs("usage: encode TOKENIZER TEXTS IDS|draw THREADS|TOKENS\n", stderr);
        return 2;
    }
    struct watch w = watch_start();
    struct tokenizer *tok = tokenizer_resolve(argv[1], TOKENIZER_PLAIN, NULL, &err);
    struct token_ids first = {0}; /* merges are read at the first text */
    bool ok = tok != NULL && tokenizer_encode(tok, SV_LIT("x"), false, &first, &err);
    watch_print(&w, "load");
    if (ok && strcmp(argv[3], "draw") == 0)
        ok = draw_texts(tok, argv[2], (size_t)number, &err);
    else if (ok)
        ok = measure(tok, argv, (unsigned)number, &err);
    if (!ok)
        fprintf(stderr, "encode: %s\n", err.message);
    token_ids_done(&first);
    tokenizer_free(tok);
    return ok ? 0 : 1;
}
