/* SentencePiece models: a protobuf message with the pieces, their scores and types, and the normalizer.  BPE pieces merge by
 * score, the highest first; Unigram takes the scores as they are.  The whole text is normalized at once (unlike
 * tokenizer.json, where every stretch between special tokens gets its own prefix), and control pieces are never found in
 * a text. */
#include "tokenizer/sentencepiece.h"

#include "base/alloc.h"
#include "tokenizer/load.h"
#include "tokenizer/tokenizer_priv.h"
#include "tokenizer/utf8.h"

#include <math.h>
#include <stdlib.h>

enum piece_kind {
    PIECE_NORMAL = 1,
    PIECE_UNKNOWN,
    PIECE_CONTROL,
    PIECE_USER,
    PIECE_UNUSED,
    PIECE_BYTE
};

enum { MODEL_TYPE_UNIGRAM = 1, MODEL_TYPE_BPE = 2 };

struct spm {
    struct sv pieces; /* the message itself; pieces are read in a second walk */
    uint32_t count;
    uint64_t model_type;
    bool byte_fallback;
    bool suffix; /* treat_whitespace_as_suffix */
    int64_t unk_id;
    int64_t bos_id;
    int64_t eos_id;
    struct sv unk_surface;
    struct sv charsmap;
    bool add_prefix;
    bool remove_extra;
    bool escape;
    double *scores;
    uint8_t *kinds;
};

/* ---- protobuf ----------------------------------------------------------------------------------------------------- */

struct field {
    uint32_t number;
    unsigned wire; /* 0 number, 1 eight bytes, 2 text, 5 four bytes */
    uint64_t value;
    struct sv text;
};

static bool read_varint(struct sv *rest, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && rest->len > 0; shift += 7) {
        unsigned char c = (unsigned char)rest->ptr[0];
        *rest = sv_skip(*rest, 1);
        *value |= (uint64_t)(c & 0x7F) << shift;
        if (c < 0x80)
            return true;
    }
    return false;
}

/* The next field; false at the end and, with *bad, on damage. */
static bool read_field(struct sv *rest, struct field *f, bool *bad)
{
    uint64_t tag;
    if (rest->len == 0)
        return false;
    *bad = true;
    if (!read_varint(rest, &tag))
        return false;
    *f = (struct field){.number = (uint32_t)(tag >> 3), .wire = (unsigned)(tag & 7)};
    size_t n = 0;
    switch (f->wire) {
    case 0:
        *bad = !read_varint(rest, &f->value);
        return !*bad;
    case 1:
        n = 8;
        break;
    case 2:
        if (!read_varint(rest, &f->value) || f->value > rest->len)
            return false;
        n = (size_t)f->value;
        break;
    case 5:
        n = 4;
        break;
    default:
        return false;
    }
    if (n > rest->len)
        return false;
    f->text = sv_make(rest->ptr, n);
    *rest = sv_skip(*rest, n);
    *bad = false;
    return true;
}

static double read_float(struct sv text)
{
    float value = 0;
    if (text.len == 4)
        memcpy(&value, text.ptr, 4);
    return (double)value;
}

static bool read_trainer(struct spm *m, struct sv text)
{
    struct field f;
    bool bad = false;
    while (read_field(&text, &f, &bad)) {
        switch (f.number) {
        case 3:
            m->model_type = f.value;
            break;
        case 24:
            m->suffix = f.value != 0;
            break;
        case 35:
            m->byte_fallback = f.value != 0;
            break;
        case 40:
            m->unk_id = (int64_t)f.value;
            break;
        case 41:
            m->bos_id = (int64_t)f.value;
            break;
        case 42:
            m->eos_id = (int64_t)f.value;
            break;
        case 44:
            m->unk_surface = f.text;
            break;
        default:
            break;
        }
    }
    return !bad;
}

static bool read_normalizer(struct spm *m, struct sv text)
{
    struct field f;
    bool bad = false;
    while (read_field(&text, &f, &bad)) {
        if (f.number == 2)
            m->charsmap = f.text;
        else if (f.number == 3)
            m->add_prefix = f.value != 0;
        else if (f.number == 4)
            m->remove_extra = f.value != 0;
        else if (f.number == 5)
            m->escape = f.value != 0;
    }
    return !bad;
}

static bool read_model(struct spm *m, struct sv text, struct error *err)
{
    struct field f;
    bool bad = false;
    m->pieces = text;
    while (!bad && read_field(&text, &f, &bad)) {
        m->count += f.number == 1 && f.wire == 2;
        if (f.number == 2 && f.wire == 2)
            bad = !read_trainer(m, f.text);
        else if (f.number == 3 && f.wire == 2)
            bad = !read_normalizer(m, f.text);
    }
    if (bad || m->count == 0 || m->count > VOCAB_MAX_ID)
        return error_set(err, E_PARSE, "the file is no SentencePiece model");
    if (m->model_type != MODEL_TYPE_UNIGRAM && m->model_type != MODEL_TYPE_BPE)
        return error_set(err, E_UNSUPPORTED, "a SentencePiece model of type %u is not supported",
                         (unsigned)m->model_type);
    if (m->suffix || !m->escape)
        return error_set(err, E_UNSUPPORTED, "a SentencePiece model with %s is not supported",
                         m->suffix ? "treat_whitespace_as_suffix" : "escape_whitespaces off");
    return true;
}

static bool read_piece(struct tokenizer *t, struct spm *m, uint32_t id, struct sv message,
                       struct error *err)
{
    struct field f;
    struct sv piece = {0};
    bool bad = false;
    m->kinds[id] = PIECE_NORMAL;
    while (read_field(&message, &f, &bad)) {
        if (f.number == 1 && f.wire == 2)
            piece = f.text;
        else if (f.number == 2)
            m->scores[id] = read_float(f.text);
        else if (f.number == 3)
            m->kinds[id] = f.value <= PIECE_BYTE ? (uint8_t)f.value : PIECE_NORMAL;
    }
    if (bad || piece.ptr == NULL)
        return error_set(err, E_PARSE, "piece %u is damaged", id);
    return vocab_add(&t->vocab, id, piece, err);
}

static bool read_pieces(struct tokenizer *t, struct spm *m, struct error *err)
{
    struct field f;
    struct sv rest = m->pieces;
    bool bad = false;
    uint32_t id = 0;
    vocab_reserve(&t->vocab, m->count, m->pieces.len);
    while (read_field(&rest, &f, &bad)) {
        if (f.number != 1 || f.wire != 2)
            continue;
        if (!read_piece(t, m, id, f.text, err))
            return false;
        if (m->kinds[id] == PIECE_CONTROL || m->kinds[id] == PIECE_UNKNOWN)
            vocab_mark(&t->vocab, id, TOKEN_SPECIAL);
        if (m->kinds[id] == PIECE_USER)
            added_add(&t->added_normalized,
                      (struct added_token){
                          .content = arena_copy(&t->arena, vocab_bytes(&t->vocab, id)), .id = id});
        id++;
    }
    added_sort(&t->added_normalized);
    t->model_size = t->vocab.count;
    return true;
}

/* ---- models --------------------------------------------------------------------------------------------------------- */

struct scored {
    double score;
    uint32_t id;
};

static int by_score(const void *a, const void *b)
{
    const struct scored *x = a;
    const struct scored *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static uint32_t find_normal(const struct tokenizer *t, const struct spm *m, struct sv text)
{
    uint32_t id = vocab_find(&t->vocab, text);
    return id != VOCAB_NONE && m->kinds[id] == PIECE_NORMAL ? id : VOCAB_NONE;
}

/* All ways to make a piece of two others; those of the best score rank first. */
static bool add_merges(struct tokenizer *t, const struct spm *m, uint32_t id, uint32_t rank,
                       struct error *err)
{
    struct sv piece = vocab_bytes(&t->vocab, id);
    uint32_t cp;
    for (size_t cut = 0; cut < piece.len;) {
        size_t n = utf8_next(piece.ptr + cut, &cp);
        if (find_normal(t, m, sv_make(piece.ptr + cut, n)) == VOCAB_NONE)
            return error_set(err, E_UNSUPPORTED,
                             "piece '" SV_FMT "' has a character that is no piece", SV_ARG(piece));
        cut += n;
        if (cut == piece.len)
            break;
        uint32_t left = find_normal(t, m, sv_make(piece.ptr, cut));
        uint32_t right = find_normal(t, m, sv_skip(piece, cut));
        if (left != VOCAB_NONE && right != VOCAB_NONE)
            bpe_add_merge(&t->model.bpe, left, right, id, rank);
    }
    return true;
}

static bool build_bpe(struct tokenizer *t, const struct spm *m, struct error *err)
{
    struct bpe_options o = {.byte_fallback = m->byte_fallback, .fuse_unk = true};
    o.unk_id = m->unk_id >= 0 ? (uint32_t)m->unk_id : VOCAB_NONE;
    struct scored *order = mem_array(m->count, sizeof(*order));
    size_t count = 0;
    bool ok = true;
    for (uint32_t id = 0; ok && id < m->count; id++) {
        if (m->kinds[id] == PIECE_UNUSED)
            ok = error_set(err, E_UNSUPPORTED, "a BPE model with unused pieces is not supported");
        if (m->kinds[id] == PIECE_NORMAL)
            order[count++] = (struct scored){m->scores[id], id};
        else if (m->kinds[id] != PIECE_BYTE)
            vocab_mark(&t->vocab, id, TOKEN_ADDED); /* never a symbol of a text */
    }
    qsort(order, count, sizeof(*order), by_score);
    bpe_init(&t->model.bpe, &t->vocab, &o);
    uint32_t rank = 0;
    for (size_t i = 0; ok && i < count; i++) {
        rank += i > 0 && order[i].score != order[i - 1].score;
        ok = add_merges(t, m, order[i].id, rank, err);
    }
    free(order);
    if (ok)
        bpe_finish(&t->model.bpe);
    return ok;
}

static void build_unigram(struct tokenizer *t, struct spm *m)
{
    bool *skip = mem_array(m->count, sizeof(bool));
    double lowest = HUGE_VAL;
    for (uint32_t id = 0; id < m->count; id++) {
        skip[id] = m->kinds[id] != PIECE_NORMAL;
        if (m->kinds[id] == PIECE_NORMAL && m->scores[id] < lowest)
            lowest = m->scores[id];
    }
    for (uint32_t id = 0; id < m->count;
         id++) /* those that never match have no say in the lowest score */
        if (skip[id])
            m->scores[id] = lowest;
    unigram_init(&t->model.unigram, &t->vocab, m->scores,
                 m->unk_id >= 0 ? (uint32_t)m->unk_id : VOCAB_NONE, m->byte_fallback, skip);
    t->model.unigram.single_precision = true;
    m->scores = NULL; /* the model's now */
    free(skip);
}

static bool build(struct tokenizer *t, struct spm *m, struct error *err)
{
    struct normalizer_step *n = normalizer_add_sentencepiece(&t->normalizer);
    n->left = m->add_prefix;
    n->clean = m->remove_extra;
    if (!charsmap_load(&n->charsmap, m->charsmap, err))
        return false;
    if (m->unk_id >= (int64_t)m->count || m->bos_id >= (int64_t)m->count)
        return error_set(err, E_PARSE, "an id of the special pieces is out of range");
    t->model.kind = m->model_type == MODEL_TYPE_BPE ? MODEL_BPE : MODEL_UNIGRAM;
    if (t->model.kind == MODEL_BPE && !build_bpe(t, m, err))
        return false;
    if (t->model.kind == MODEL_UNIGRAM)
        build_unigram(t, m);
    if (m->bos_id >= 0)
        token_ids_add(&t->post.before, (uint32_t)m->bos_id);
    struct sentencepiece *sp = arena_alloc(&t->arena, sizeof(*sp));
    *sp = (struct sentencepiece){.unk_surface = arena_copy(&t->arena, m->unk_surface),
                                 .strips_front = m->add_prefix || m->remove_extra,
                                 .strips_all = m->remove_extra};
    uint8_t *kinds = arena_alloc(&t->arena, m->count);
    memcpy(kinds, m->kinds, m->count);
    sp->kinds = kinds;
    t->sentencepiece = sp;
    return true;
}

struct tokenizer *sentencepiece_parse(const struct tokenizer_files *files, struct error *err)
{
    struct tokenizer *t = tokenizer_blank();
    struct spm m = {.model_type = MODEL_TYPE_UNIGRAM,
                    .bos_id = 1,
                    .eos_id = 2,
                    .unk_surface = SV_LIT(" \xE2\x81\x87 "),
                    .add_prefix = true,
                    .remove_extra = true,
                    .escape = true};
    bool ok = read_model(&m, files->tokenizer_json, err);
    if (ok) {
        m.scores = mem_array(m.count, sizeof(*m.scores));
        m.kinds = mem_array(m.count, sizeof(*m.kinds));
        ok = read_pieces(t, &m, err) && build(t, &m, err) && load_config(t, files, err);
    }
    free(m.scores);
    free(m.kinds);
    return tokenizer_ready(t, ok, files->name, "SentencePiece model", err);
}

/* ---- decoding ---------------------------------------------------------------------------------------------- */

/* Bytes of byte pieces: what is not UTF-8 becomes one U+FFFD a byte. */
static void add_bytes(struct buf *out, struct sv bytes)
{
    uint32_t cp;
    for (size_t at = 0; at < bytes.len;) {
        int n = utf8_decode(bytes.ptr + at, bytes.ptr + bytes.len, &cp);
        if (n > 0)
            buf_add(out, sv_make(bytes.ptr + at, (size_t)n));
        else
            buf_add_str(out, "\xEF\xBF\xBD");
        at += n > 0 ? (size_t)n : 1;
    }
}

static unsigned hex_digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') & 15 : (unsigned)((c | 32) - 'a' + 10) & 15;
}

/* Adds a piece's text; true when a mark at the very front was dropped and the front still counts as empty. */
static bool add_piece(const struct sentencepiece *sp, struct sv piece, bool front, struct buf *out)
{
    struct sv mark = SV_LIT("\xE2\x96\x81");
    bool dropped = front && sp->strips_front && sv_starts(piece, mark);
    if (dropped)
        piece = sv_skip(piece, mark.len);
    while (piece.len > 0) {
        const char *hit = memmem(piece.ptr, piece.len, mark.ptr, mark.len);
        size_t n = hit != NULL ? (size_t)(hit - piece.ptr) : piece.len;
        buf_add(out, sv_make(piece.ptr, n));
        if (hit != NULL)
            buf_add_char(out, ' ');
        piece = sv_skip(piece, n + mark.len);
    }
    return dropped && !sp->strips_all;
}

void sentencepiece_decode(const struct sentencepiece *sp, const struct vocab *vocab,
                          const uint32_t *ids, size_t count, bool skip_special, struct buf *out)
{
    struct buf bytes = {0};
    size_t start = out->len;
    bool front_seen = false;
    for (size_t i = 0; i <= count; i++) {
        bool here = i < count && vocab_has(vocab, ids[i]);
        int kind = here ? sp->kinds[ids[i]] : 0;
        struct sv piece = here ? vocab_bytes(vocab, ids[i]) : SV_LIT("");
        if (kind == PIECE_BYTE && piece.len == 6) {
            buf_add_char(&bytes, (char)(hex_digit(piece.ptr[3]) * 16 + hex_digit(piece.ptr[4])));
            continue;
        }
        if (!here && i < count)
            continue;
        add_bytes(out, buf_sv(&bytes));
        buf_reset(&bytes);
        if (!here || kind == PIECE_CONTROL ||
            (skip_special && (vocab_flags(vocab, ids[i]) & TOKEN_SPECIAL) != 0))
            continue;
        bool front = !front_seen && out->len == start;
        if (kind == PIECE_UNKNOWN)
            buf_add(out, sp->unk_surface);
        else
            front_seen = add_piece(sp, piece, front, out) || front_seen;
    }
    buf_done(&bytes);
}
