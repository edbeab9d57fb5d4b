/* Reads files (or standard input) whole or, with --jsonl, line by line; lines are encoded in batches over all cores and
 * printed in their order.  U+0085, U+2028 and U+2029 are escaped in JSON lines, since some readers take them for line
 * ends. */
#include "modes/tokenize.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "json/tree.h"
#include "json/writer.h"
#include "modes/hub_tokenizer.h"
#include "modes/hub_watch.h"
#include "tokenizer/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BATCH_LINES = 4096 };

/* Ids to be decoded that no token has. */
struct unknown_ids {
    size_t count;
    uint32_t first;
};

struct tokenize {
    const char *tokenizer_id;
    bool count;
    bool pieces;
    bool jsonl;
    bool decode;
    bool add_special;
    bool skip_special;
    size_t file_count;
    struct tokenizer *tokenizer;
    struct unknown_ids *unknown;
};

/* clang-format off */
#define AT(field)                 .offset = offsetof(struct tokenize, field)
#define SWITCH(word, field, text) .name = word, .kind = OPTION_SWITCH, AT(field), .help = text
static const struct option_row rows[] = {
    {.group = "tokenizer", .name = "tokenizer", .kind = OPTION_STRING, .value = "NAME",
     .flags = OPTION_SHORT, AT(tokenizer_id), .example = "cl100k_base",
     .help = "A folder, a file, a name of the hub, or one of cl100k_base, o200k_base, o200k_harmony, "
      "p50k_base, p50k_edit, r50k_base, gpt2."},
    {.group = "output", SWITCH("count", count, "Print the number of tokens."),
     .flags = OPTION_SHORT},
    {.group = "output", SWITCH("pieces", pieces,
     "Print one token a line: id, tab, text as JSON."), .flags = OPTION_SHORT},
    {.group = "output", SWITCH("jsonl", jsonl,
     "Read {\"text\": ...} a line, print {\"ids\": [...]} a line."), .flags = OPTION_SHORT},
    {.group = "output", SWITCH("decode", decode,
     "Read ids (numbers; with --jsonl {\"ids\": [...]} a line), print text."),
     .flags = OPTION_SHORT},
    {.group = "output", SWITCH("add-special-tokens", add_special,
     "With the tokens that the tokenizer puts around a text."), .flags = OPTION_SHORT},
    {.group = "output", SWITCH("skip-special-tokens", skip_special,
     "Leave special tokens out when decoding."), .flags = OPTION_SHORT},
};
#undef SWITCH
#undef AT
/* clang-format on */

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

const struct option_row *tokenize_option_rows(size_t *count)
{
    *count = ROW_COUNT;
    return rows;
}

static bool print_help(const struct option_parser *p, struct error *err)
{
    struct buf text = {0};
    buf_add_str(&text, "usage: vllm-bench tokenize --tokenizer X [FLAG ...] [FILE ...]\n\n"
                       "Prints the ids of the files' text; without FILE of standard input.\n");
    bool found = p->help != OPTION_HELP_TOPIC ||
                 option_help_topic(&text, rows, ROW_COUNT, option_help_width(), p->help_topic);
    if (!found) {
        error_set(err, E_USAGE, "--help: no flag of tokenize has '%s' in its name or text",
                  p->help_topic);
    } else if (p->help != OPTION_HELP_TOPIC) {
        option_help_full(&text, rows, ROW_COUNT, option_help_width());
    }
    fwrite(text.ptr, 1, found ? text.len : 0, stdout);
    buf_done(&text);
    return found;
}

static void warn(void *target, const char *sentence)
{
    (void)target;
    fprintf(stderr, "warning: %s\n", sentence);
}

static bool check(const struct tokenize *t, struct error *err)
{
    if (t->tokenizer_id == NULL)
        return error_set(err, E_USAGE, "tokenize needs --tokenizer");
    if (t->count && t->pieces)
        return error_set(err, E_USAGE, "--count and --pieces exclude each other");
    if (t->decode && (t->count || t->pieces || t->add_special))
        return error_set(err, E_USAGE, "--decode goes with --skip-special-tokens and --jsonl only");
    return true;
}

static const char *wanted(const struct tokenize *t)
{
    return t->decode ? "{\"ids\": [...]}" : "{\"text\": \"...\"}";
}

/* As the reference, decoding leaves out what is no token; here it is told. */
static bool decode_ids(const struct tokenize *t, const struct token_ids *ids, struct buf *out,
                       struct error *err)
{
    for (size_t i = 0; i < ids->count; i++) {
        if (tokenizer_token_text(t->tokenizer, ids->items[i]).ptr == NULL &&
            t->unknown->count++ == 0)
            t->unknown->first = ids->items[i];
    }
    return tokenizer_decode(t->tokenizer, ids->items, ids->count, t->skip_special, out, err);
}

/* ---- JSON lines ------------------------------------------------------------------------------------------------- */

static void print_escaped(struct sv json)
{
    static const struct {
        const char *bytes;
        const char *escape;
    } ends[] = {{"\xC2\x85", "\\u0085"}, {"\xE2\x80\xA8", "\\u2028"}, {"\xE2\x80\xA9", "\\u2029"}};
    size_t done = 0;
    for (size_t at = 0; at < json.len; at++) {
        if ((unsigned char)json.ptr[at] < 0xC2)
            continue;
        for (size_t i = 0; i < 3; i++) {
            if (!sv_starts(sv_skip(json, at), sv_from(ends[i].bytes)))
                continue;
            fwrite(json.ptr + done, 1, at - done, stdout);
            fputs(ends[i].escape, stdout);
            done = at + strlen(ends[i].bytes);
            at = done - 1;
            break;
        }
    }
    fwrite(json.ptr + done, 1, json.len - done, stdout);
    putchar('\n');
}

static void write_pieces(const struct tokenize *t, struct js_writer *w, const struct token_ids *ids)
{
    js_key(w, "pieces");
    js_begin_array(w);
    for (size_t i = 0; i < ids->count; i++)
        js_string(w, tokenizer_token_text(t->tokenizer, ids->items[i]));
    js_end_array(w);
}

static void print_ids_line(const struct tokenize *t, const struct token_ids *ids)
{
    struct buf line = {0};
    struct js_writer w;
    js_writer_init(&w, &line);
    js_begin_object(&w);
    if (t->count) {
        js_key(&w, "count");
        js_uint(&w, ids->count);
    } else {
        js_key(&w, "ids");
        js_begin_array(&w);
        for (size_t i = 0; i < ids->count; i++)
            js_uint(&w, ids->items[i]);
        js_end_array(&w);
    }
    if (t->pieces)
        write_pieces(t, &w, ids);
    js_end_object(&w);
    print_escaped(buf_sv(&line));
    buf_done(&line);
}

static bool ids_of(const struct js_value *list, struct token_ids *ids)
{
    ids->count = 0;
    if (list == NULL || list->type != JS_ARRAY)
        return false;
    for (const struct js_value *item = list->first; item != NULL; item = item->next) {
        int64_t id;
        if (!js_as_i64(item, &id) || id < 0 || id > (int64_t)UINT32_MAX)
            return false;
        MEM_GROW(ids->items, ids->count, ids->cap);
        ids->items[ids->count++] = (uint32_t)id;
    }
    return true;
}

static bool decode_line(const struct tokenize *t, const struct js_value *root, size_t number,
                        struct error *err)
{
    struct token_ids ids = {0};
    struct buf text = {0};
    struct buf line = {0};
    struct js_writer w;
    bool ok =
        ids_of(js_get(root, "ids"), &ids) ||
        error_set(err, E_PARSE, "line %zu has no list of ids; wanted is %s", number, wanted(t));
    ok = ok && decode_ids(t, &ids, &text, err);
    if (ok) {
        js_writer_init(&w, &line);
        js_begin_object(&w);
        js_key(&w, "text");
        js_string(&w, sv_make(buf_cstr(&text), text.len));
        js_end_object(&w);
        print_escaped(buf_sv(&line));
    }
    token_ids_done(&ids);
    buf_done(&text);
    buf_done(&line);
    return ok;
}

static bool encode_batch(const struct tokenize *t, const struct sv *texts, size_t count,
                         struct error *err)
{
    struct token_ids *ids = mem_array(count + 1, sizeof(*ids));
    bool ok = tokenizer_encode_many(t->tokenizer, texts, count, t->add_special, 0, ids, err);
    for (size_t i = 0; i < count; i++) {
        if (ok)
            print_ids_line(t, &ids[i]);
        token_ids_done(&ids[i]);
    }
    free(ids);
    return ok;
}

static bool run_lines(const struct tokenize *t, struct sv rest, struct error *err)
{
    struct arena arena = {0};
    struct sv *texts = mem_array(BATCH_LINES, sizeof(*texts));
    struct sv line;
    size_t count = 0;
    size_t number = 0;
    bool ok = true;
    while (ok && sv_split(&rest, '\n', &line)) {
        number++;
        if (sv_trim(line).len == 0)
            continue;
        const struct js_value *root = js_parse(&arena, line, "the line", err);
        ok = root != NULL;
        if (!ok)
            error_set(err, E_PARSE, "line %zu is no JSON; wanted is %s", number, wanted(t));
        else if (t->decode)
            ok = decode_line(t, root, number, err);
        else if (!js_as_sv(js_get(root, "text"), &texts[count]))
            ok = error_set(err, E_PARSE, "line %zu has no text; wanted is %s", number, wanted(t));
        else
            count++;
        if (ok && (count == BATCH_LINES || t->decode)) {
            ok = encode_batch(t, texts, count, err);
            count = 0;
            arena_done(&arena);
            arena = (struct arena){0};
        }
    }
    ok = ok && encode_batch(t, texts, count, err);
    arena_done(&arena);
    free(texts);
    return ok;
}

/* ---- plain texts ------------------------------------------------------------------------------------------------- */

static bool decode_plain(const struct tokenize *t, struct sv text, struct error *err)
{
    struct token_ids ids = {0};
    struct buf out = {0};
    bool ok = true;
    for (size_t at = 0; ok && at < text.len;) {
        uint64_t id = 0;
        size_t start = at;
        for (; at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9' && id <= UINT32_MAX;
             at++)
            id = id * 10 + (uint64_t)(text.ptr[at] - '0');
        if (at == start) {
            ok = strchr(" \t\r\n,[]", text.ptr[at]) != NULL ||
                 error_set(err, E_PARSE, "byte %zu is no part of a list of ids", at);
            at++;
            continue;
        }
        if (id > UINT32_MAX) {
            ok = error_set(err, E_PARSE, "the number at byte %zu is too large for an id", start);
            break;
        }
        MEM_GROW(ids.items, ids.count, ids.cap);
        ids.items[ids.count++] = (uint32_t)id;
    }
    ok = ok && decode_ids(t, &ids, &out, err);
    if (ok)
        fwrite(out.ptr != NULL ? out.ptr : "", 1, out.len, stdout);
    token_ids_done(&ids);
    buf_done(&out);
    return ok;
}

static bool run_plain(const struct tokenize *t, struct sv text, const char *name, struct error *err)
{
    struct token_ids ids = {0};
    struct buf piece = {0};
    if (t->decode)
        return decode_plain(t, text, err);
    bool ok = tokenizer_encode(t->tokenizer, text, t->add_special, &ids, err);
    if (ok && t->count)
        printf(t->file_count > 1 ? "%zu %s\n" : "%zu\n", ids.count, name);
    for (size_t i = 0; ok && !t->count && i < ids.count; i++) {
        if (!t->pieces) {
            printf(i == 0 ? "%u" : " %u", ids.items[i]);
            continue;
        }
        buf_reset(&piece);
        js_escape(&piece, tokenizer_token_text(t->tokenizer, ids.items[i]));
        printf("%u\t\"%s\"\n", ids.items[i], buf_cstr(&piece));
    }
    if (ok && !t->count && !t->pieces)
        putchar('\n');
    token_ids_done(&ids);
    buf_done(&piece);
    return ok;
}

static bool run_file(const struct tokenize *t, const char *name, struct error *err)
{
    struct buf text = {0};
    bool is_stdin = strcmp(name, "-") == 0;
    bool ok = file_read(is_stdin ? "/dev/stdin" : name, &text, err);
    struct sv view = sv_make(buf_cstr(&text), text.len);
    if (ok && !(t->jsonl ? run_lines(t, view, err) : run_plain(t, view, name, err)))
        ok = error_context(err, "'%s'", is_stdin ? "standard input" : name);
    buf_done(&text);
    return ok;
}

static bool run(struct tokenize *t, const char *const *files, size_t file_count, struct error *err)
{
    struct hub_watch watch;
    /* Programs get the file's own ids, people those that a server has: they differ for tekken.json and add_bos_token. */
    enum tokenizer_use use = t->jsonl ? TOKENIZER_PLAIN : TOKENIZER_SERVE;
    struct hub_tokenizer_request request = {t->tokenizer_id, use, true};
    struct unknown_ids unknown = {0};
    bool missing;
    t->file_count = file_count;
    t->unknown = &unknown;
    hub_watch_init(&watch, NULL);
    t->tokenizer = hub_tokenizer_find(&watch.hub, &request, &missing, err);
    hub_watch_done(&watch);
    bool ok = t->tokenizer != NULL;
    for (size_t i = 0; ok && i < file_count; i++)
        ok = run_file(t, files[i], err);
    if (ok && file_count == 0)
        ok = run_file(t, "-", err);
    if (ok && unknown.count > 0)
        fprintf(stderr,
                "warning: %zu of the ids are no tokens and were left out, the first is %u\n",
                unknown.count, unknown.first);
    tokenizer_free(t->tokenizer);
    return ok;
}

bool tokenize_run(int argc, char **argv, struct error *err)
{
    struct tokenize t = {0};
    struct arena arena = {0};
    struct option_parser p = {
        .command = "vllm-bench tokenize",
        .rows = rows,
        .row_count = ROW_COUNT,
        .target = &t,
        .arena = &arena,
        .warn = warn,
        .operands = arena_array(&arena, (size_t)argc + 1, sizeof(char *)),
    };
    bool ok = option_parse(&p, argc, argv, err);
    if (ok && p.help != OPTION_HELP_NONE)
        ok = print_help(&p, err);
    else if (ok && p.version)
        puts("vllm-bench " VB_VERSION);
    else if (ok)
        ok = check(&t, err) && run(&t, p.operands, p.operand_count, err);
    arena_done(&arena);
    return ok;
}
