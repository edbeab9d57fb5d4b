/* From a name to a tokenizer, without network.  A folder is searched for the formats in a fixed order; every file that is
 * found decides by its name and its first bytes how it is read. */
#include "base/alloc.h"
#include "base/file.h"
#include "tokenizer/load.h"
#include "tokenizer/tokenizer_priv.h"

#include <stdlib.h>

typedef struct tokenizer *parse_fn(const struct tokenizer_files *files, struct error *err);

/* Kinds of main files, for the files beside them. */
enum {
    JSON = 1u << 0,
    RANKS = 1u << 1,
    TEKKEN = 1u << 2,
    PIECES = 1u << 3,
    VOCABULARY = 1u << 4,
    ANY = JSON | RANKS | TEKKEN | PIECES | VOCABULARY,
};

struct format {
    const char *name; /* of the file in a folder */
    parse_fn *parse;
    unsigned kind;
};

/* In the order of HUB_AND_TOKENIZERS 1, then what only Python's library reads. */
static const struct format formats[] = {
    {"tokenizer.json", tokenizer_parse, JSON},
    {"tiktoken.model", tiktoken_parse, RANKS},
    {"qwen.tiktoken", tiktoken_parse, RANKS},
    {"vocab.tiktoken", tiktoken_parse, RANKS},
    {"tekken.json", tekken_parse, TEKKEN},
    {"tokenizer.model", sentencepiece_parse, PIECES},
    {"spiece.model", sentencepiece_parse, PIECES},
    {"sentencepiece.bpe.model", sentencepiece_parse, PIECES},
    {"vocab.json", vocab_merges_parse, VOCABULARY},
};

/* What is read beside a main file. */
static const struct side {
    const char *name;
    size_t view; /* offset in struct tokenizer_files */
    unsigned kinds;
} side_files[] = {
    {"tokenizer_config.json", offsetof(struct tokenizer_files, config_json), ANY},
    {"config.json", offsetof(struct tokenizer_files, model_config_json), JSON},
    {"special_tokens_map.json", offsetof(struct tokenizer_files, special_tokens_json), ANY},
    {"chat_template.jinja", offsetof(struct tokenizer_files, chat_template), ANY},
    {"added_tokens.json", offsetof(struct tokenizer_files, added_json), VOCABULARY},
    {"merges.txt", offsetof(struct tokenizer_files, merges), VOCABULARY},
    {"tokenization_kimi.py", offsetof(struct tokenizer_files, python[0]), RANKS},
    {"tokenizer.py", offsetof(struct tokenizer_files, python[1]), RANKS},
};

enum {
    FORMATS = sizeof(formats) / sizeof(formats[0]),
    SIDE_FILES = sizeof(side_files) / sizeof(side_files[0]),
};

struct sides {
    struct buf texts[SIDE_FILES];
};

static bool read_side(struct sv folder, const char *name, struct buf *out, struct sv *view,
                      struct error *err)
{
    struct buf path = {0};
    buf_add(&path, folder);
    buf_add_str(&path, name);
    bool ok = true;
    if (file_exists(buf_cstr(&path))) {
        ok = file_read(buf_cstr(&path), out, err);
        *view = sv_make(buf_cstr(out), out->len);
    }
    buf_done(&path);
    return ok;
}

static bool read_sides(struct sv folder, struct sides *sides, struct tokenizer_files *files,
                       struct error *err)
{
    for (size_t i = 0; i < SIDE_FILES; i++) {
        struct sv *view = (struct sv *)(void *)((char *)files + side_files[i].view);
        if (!read_side(folder, side_files[i].name, &sides->texts[i], view, err))
            return false;
    }
    return true;
}

/* How a single file is to be read. */
static parse_fn *format_of(struct sv path, struct sv content)
{
    if (sv_ends(path, SV_LIT("vocab.json")))
        return vocab_merges_parse;
    if (sv_ends(path, SV_LIT(".tiktoken")))
        return tiktoken_parse;
    if (sv_trim(content).len > 0 && sv_trim(content).ptr[0] == '{') {
        struct sv head = sv_make(content.ptr, content.len < 4096 ? content.len : 4096);
        bool tekken = memmem(head.ptr, head.len, "\"default_vocab_size\"", 20) != NULL;
        return tekken ? tekken_parse : tokenizer_parse;
    }
    /* A SentencePiece model begins with a field of protobuf: 0x0A. A rank file is base64. */
    return content.len > 0 && content.ptr[0] == '\n' ? sentencepiece_parse : tiktoken_parse;
}

static struct tokenizer *load_file(const char *path, parse_fn *parse, const char *name,
                                   bool file_only, struct error *err)
{
    struct file_map map = {0};
    struct sides sides = {0};
    struct tokenizer_files files = {.name = name, .file_only = file_only, .late = !file_only};
    struct tokenizer *t = NULL;
    struct sv folder = sv_from(path);
    while (folder.len > 0 && folder.ptr[folder.len - 1] != '/')
        folder.len--;
    if (file_map_open(path, &map, err) && read_sides(folder, &sides, &files, err)) {
        files.tokenizer_json = map.view;
        t = (parse != NULL ? parse : format_of(sv_from(path), map.view))(&files, err);
    }
    file_map_close(&map);
    for (size_t i = 0; i < SIDE_FILES; i++)
        buf_done(&sides.texts[i]);
    return t;
}

/* Files of a folder that did not load, as one text: "tokenizer.json: why; tiktoken.model: why". */
struct passed_over {
    struct buf text;
    enum error_code code; /* of the first */
};

static void pass_over(struct passed_over *p, const char *file, const char *name,
                      const struct error *err)
{
    struct buf prefix = {0};
    struct sv why = sv_from(err->message);
    buf_add_fmt(&prefix, "tokenizer '%s': ", name);
    if (sv_starts(why, buf_sv(&prefix)))
        why = sv_skip(why, prefix.len);
    if (p->text.len > 0)
        buf_add_str(&p->text, "; ");
    else
        p->code = err->code;
    buf_reset(&prefix);
    buf_add_fmt(&prefix, "%s: ", file);
    if (!sv_starts(why, buf_sv(&prefix)))
        buf_add(&p->text, buf_sv(&prefix));
    buf_add(&p->text, why);
    buf_done(&prefix);
}

/* The first format that loads; what was passed over is told with it, or is the error.  Behind a file that is bad only
 * rank files are tried, as the native peer does: the others may be read otherwise than their tokenizer.json says. */
static struct tokenizer *load_folder(const char *folder, const char *name, bool file_only,
                                     bool *missing, struct error *err)
{
    struct buf path = {0};
    struct passed_over passed = {0};
    struct tokenizer *t = NULL;
    for (size_t i = 0; t == NULL && i < FORMATS; i++) {
        struct error why;
        buf_reset(&path);
        buf_add_fmt(&path, "%s/%s", folder, formats[i].name);
        if (!file_exists(buf_cstr(&path)) ||
            (passed.text.len > 0 && formats[i].parse != tiktoken_parse))
            continue;
        t = load_file(buf_cstr(&path), formats[i].parse, name, file_only, &why);
        if (t == NULL)
            pass_over(&passed, formats[i].name, name, &why);
    }
    *missing = t == NULL && passed.text.len == 0;
    if (t != NULL && passed.text.len > 0)
        t->description = arena_fmt(&t->arena, "%s; passed over: %s", tokenizer_describe(t),
                                   buf_cstr(&passed.text));
    else if (*missing)
        error_set(err, E_IO,
                  "no tokenizer.json and none of tiktoken.model, qwen.tiktoken, vocab.tiktoken, "
                  "tekken.json, tokenizer.model, spiece.model, sentencepiece.bpe.model, vocab.json "
                  "in '%s'",
                  folder);
    else if (t == NULL)
        error_set(err, passed.code, "tokenizer '%s': %s", name, buf_cstr(&passed.text));
    buf_done(&passed.text);
    buf_done(&path);
    return t;
}

static struct tokenizer *load_path(const char *path, bool file_only, bool *missing,
                                   struct error *err)
{
    *missing = !file_exists(path);
    if (*missing) {
        error_set(err, E_IO, "there is no tokenizer file '%s'", path);
        return NULL;
    }
    if (file_is_dir(path))
        return load_folder(path, path, file_only, missing, err);
    return load_file(path, NULL, path, file_only, err);
}

struct tokenizer *tokenizer_load(const char *path, struct error *err)
{
    bool missing;
    return load_path(path, false, &missing, err);
}

struct tokenizer *tokenizer_load_plain(const char *path, struct error *err)
{
    bool missing;
    return load_path(path, true, &missing, err);
}

/* ---- names -------------------------------------------------------------------------------------------------------- */

const char *tokenizer_main_file(size_t i)
{
    return i < FORMATS ? formats[i].name : NULL;
}

const char *tokenizer_side_file(const char *main_file, size_t i)
{
    unsigned kind = 0;
    for (size_t k = 0; k < FORMATS; k++)
        kind = strcmp(formats[k].name, main_file) == 0 ? formats[k].kind : kind;
    for (size_t k = 0; k < SIDE_FILES; k++)
        if ((side_files[k].kinds & kind) != 0 && i-- == 0)
            return side_files[k].name;
    return NULL;
}

struct tokenizer *tokenizer_load_folder(const char *folder, const char *name,
                                        enum tokenizer_use use, struct error *err)
{
    bool missing;
    return load_folder(folder, name, use == TOKENIZER_PLAIN, &missing, err);
}

struct tokenizer *tokenizer_resolve(const char *id, enum tokenizer_use use, bool *missing,
                                    struct error *err)
{
    bool unused;
    missing = missing != NULL ? missing : &unused;
    *missing = false;
    struct tokenizer *t = builtin_load(id);
    if (t != NULL)
        return t;
    if (file_exists(id))
        return load_path(id, use == TOKENIZER_PLAIN, missing, err);
    *missing = true;
    error_set(err, E_IO, "'%s' is no built-in encoding and no local path", id);
    return NULL;
}
