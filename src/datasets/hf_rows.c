/* See hf_rows.h.  What the order depends on, as `datasets` 5.2 does it (iterable_dataset.py):
 *   - files are shuffled by a generator of their own, seeded alike; the buffer's has drawn nothing then;
 *   - reader k of the ten gets a stretch of the shuffled files, the first ones one file more when they do not divide;
 *   - where the columns' types are known before a row is read, readers hand out 100 rows at a time, else one: they are
 *     known but for files that are one JSON array;
 *   - the buffer is shuffled as soon as it holds 1000 rows or more, gives out all but 500, and keeps these in the
 *     shuffled order. */
#include "datasets/hf_rows.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "datasets/hf_table.h"

#include <stdlib.h>

enum { READERS = 10, TURN = 100, BUFFER = 1000, KEEP = BUFFER / 2 };

/* Rows in the order in which they go on. */
struct queue {
    struct hf_row *items;
    size_t count;
    size_t cap;
};

/* A stretch of the files, read one after the other. */
struct reader {
    size_t next; /* in rows->files */
    size_t end;
    struct hf_table *table; /* of the file before `next`; NULL: none open */
    bool exhausted;
};

struct hf_rows {
    struct hf_rows_spec spec;
    size_t *files; /* their order */
    struct reader readers[READERS];
    size_t reader_count;
    size_t turn; /* reader that is next */
    size_t turn_rows;
    struct pcg64 g;
    struct queue buffer;
    struct queue ready; /* shuffled rows, from `given` on still to be given out */
    size_t given;
    bool ended;
    struct arena arena; /* of all rows, where they are shuffled as a whole */
    struct buf path;
};

void hf_row_done(struct hf_row *row)
{
    if (row->arena != NULL)
        arena_done(row->arena);
    free(row->arena);
    *row = (struct hf_row){0};
}

static void queue_add(struct queue *q, struct hf_row row)
{
    MEM_GROW(q->items, q->count, q->cap);
    q->items[q->count++] = row;
}

static bool file_path(struct hf_rows *r, size_t index, struct error *err)
{
    if (!r->spec.fetch(r->spec.user, index, &r->path, err))
        return false;
    buf_cstr(&r->path);
    return true;
}

/* How many rows a reader hands out at a time. */
static bool find_turn(struct hf_rows *r, struct error *err)
{
    bool array = false;
    r->turn_rows = TURN;
    if (r->spec.has_features || r->spec.order != HF_SHUFFLED_STREAM || r->spec.count < 2)
        return true;
    if (!file_path(r, 0, err) || !hf_table_is_array(r->path.ptr, r->spec.names[0], &array, err))
        return false;
    r->turn_rows = array ? 1 : TURN;
    return true;
}

static void deal_files(struct hf_rows *r)
{
    size_t count = r->spec.count;
    bool stream = r->spec.order == HF_SHUFFLED_STREAM;
    r->files = mem_array(count + 1, sizeof(*r->files));
    for (size_t i = 0; i < count; i++)
        r->files[i] = i;
    if (stream) {
        struct pcg64 g;
        pcg64_seed(&g, r->spec.seed);
        pcg64_permutation(&g, r->files, count);
    }
    r->reader_count = !stream ? 1 : count < READERS ? count : READERS;
    size_t at = 0;
    for (size_t k = 0; k < r->reader_count; k++) {
        r->readers[k].next = at;
        at += count / r->reader_count + (k < count % r->reader_count);
        r->readers[k].end = at;
    }
}

struct hf_rows *hf_rows_open(const struct hf_rows_spec *spec, struct error *err)
{
    struct hf_rows *r = mem_new(struct hf_rows);
    r->spec = *spec;
    pcg64_seed(&r->g, spec->seed);
    deal_files(r);
    if (find_turn(r, err))
        return r;
    hf_rows_close(r);
    return NULL;
}

void hf_rows_close(struct hf_rows *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->buffer.count; i++)
        hf_row_done(&r->buffer.items[i]);
    for (size_t i = r->given; i < r->ready.count; i++)
        hf_row_done(&r->ready.items[i]);
    for (size_t k = 0; k < READERS; k++)
        hf_table_close(r->readers[k].table);
    free(r->buffer.items);
    free(r->ready.items);
    free(r->files);
    buf_done(&r->path);
    arena_done(&r->arena);
    free(r);
}

static enum hf_rows_result read_row(struct hf_rows *r, struct reader *reader, struct hf_row *row,
                                    struct error *err)
{
    struct arena *shared = r->spec.order == HF_SHUFFLED_WHOLE ? &r->arena : NULL;
    for (;;) {
        if (reader->table != NULL) {
            enum hf_rows_result result = hf_table_next(reader->table, shared, row, err);
            if (result != HF_ROWS_END)
                return result;
            hf_table_close(reader->table);
            reader->table = NULL;
        }
        if (reader->next == reader->end)
            return HF_ROWS_END;
        size_t file = r->files[reader->next++];
        if (!file_path(r, file, err))
            return HF_ROWS_FAILED;
        reader->table =
            hf_table_open(r->path.ptr, r->spec.names[file], r->spec.columns, r->spec.maybe, err);
        if (reader->table == NULL)
            return HF_ROWS_FAILED;
    }
}

/* One reader's turn: its rows go into the buffer.  HF_ROWS_END: no reader has any. */
static enum hf_rows_result take_turn(struct hf_rows *r, struct error *err)
{
    for (size_t tried = 0; tried < r->reader_count; tried++) {
        struct reader *reader = &r->readers[r->turn];
        size_t before = r->buffer.count;
        r->turn = (r->turn + 1) % r->reader_count;
        while (!reader->exhausted && r->buffer.count - before < r->turn_rows) {
            struct hf_row row;
            enum hf_rows_result result = read_row(r, reader, &row, err);
            if (result == HF_ROWS_FAILED)
                return result;
            reader->exhausted = result == HF_ROWS_END;
            if (result == HF_ROWS_ROW)
                queue_add(&r->buffer, row);
        }
        if (r->buffer.count > before)
            return HF_ROWS_ROW;
    }
    return HF_ROWS_END;
}

/* Shuffles the buffer: the first rows become ready, `keep` of them stay. */
static void shuffle_buffer(struct hf_rows *r, size_t keep)
{
    size_t count = r->buffer.count;
    size_t *order = mem_array(count + 1, sizeof(*order));
    struct hf_row *kept = mem_array(keep + 1, sizeof(*kept));
    pcg64_permutation(&r->g, order, count);
    r->ready.count = r->given = 0;
    for (size_t i = 0; i < count - keep; i++)
        queue_add(&r->ready, r->buffer.items[order[i]]);
    for (size_t i = 0; i < keep; i++)
        kept[i] = r->buffer.items[order[count - keep + i]];
    if (keep > 0)
        memcpy(r->buffer.items, kept, keep * sizeof(*kept));
    r->buffer.count = keep;
    free(kept);
    free(order);
}

/* Fills `ready`; false on errors. */
static bool fill(struct hf_rows *r, struct error *err)
{
    size_t limit = r->spec.order == HF_SHUFFLED_STREAM ? BUFFER : SIZE_MAX;
    while (!r->ended && r->buffer.count < limit) {
        enum hf_rows_result result = take_turn(r, err);
        if (result == HF_ROWS_FAILED)
            return false;
        r->ended = result == HF_ROWS_END;
    }
    shuffle_buffer(r, r->ended ? 0 : KEEP);
    return true;
}

enum hf_rows_result hf_rows_next(struct hf_rows *r, struct hf_row *row, struct error *err)
{
    if (r->spec.order == HF_IN_ORDER)
        return read_row(r, &r->readers[0], row, err);
    if (r->given == r->ready.count && !fill(r, err))
        return HF_ROWS_FAILED;
    if (r->given == r->ready.count)
        return HF_ROWS_END;
    *row = r->ready.items[r->given++];
    return HF_ROWS_ROW;
}
