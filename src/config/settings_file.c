/* Files of settings through libyaml.  Scalars are resolved by YAML 1.1 as PyYAML resolves them ("yes" is true, "010" is
 * eight, "1e5" is text since its mantissa has no point), because that is what files written for Python's tool expect. */
#include "config/settings_file.h"

#include "base/file.h"
#include "base/num.h"
#include "json/writer.h"

#include <yaml.h>

/* Aliases can make a short file endless; no file of settings is larger than this. */
enum { SETTINGS_MAX_BYTES = 1 << 20, SETTINGS_MAX_DEPTH = 64, SETTINGS_NUMBER_MAX = 64 };

/* What a plain scalar means; text: what Python's str() prints. */
enum scalar_type { SCALAR_STR, SCALAR_NULL, SCALAR_TRUE, SCALAR_FALSE, SCALAR_INT, SCALAR_FLOAT };

struct scalar {
    enum scalar_type type;
    struct sv text;
};

struct reader {
    yaml_document_t document;
    const char *path;
    struct arena *arena;
    size_t written; /* bytes of JSON so far */
};

static bool is_in(const char *words, struct sv text)
{
    struct sv rest = sv_from(words);
    struct sv word;
    while (sv_split(&rest, ' ', &word)) {
        if (sv_eq(word, text)) {
            return true;
        }
    }
    return false;
}

/* The digits of one base up to the end, underscores left out; false when there are none, others, or too many. */
static bool read_digits(struct sv text, unsigned base, uint64_t *out)
{
    uint64_t value = 0;
    bool any = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 99;
        if (c == '_') {
            continue;
        }
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            return false;
        }
        any = true;
    }
    *out = value;
    return any;
}

/* "1:30" is 90. */
static bool read_sexagesimal(struct sv text, uint64_t *out)
{
    struct sv part;
    uint64_t value = 0;
    if (text.len == 0 || text.ptr[0] < '1' || text.ptr[0] > '9') {
        return false;
    }
    for (bool first = true; sv_split(&text, ':', &part); first = false) {
        uint64_t digits;
        if (!read_digits(part, 10, &digits) || (!first && (digits > 59 || part.len > 2)) ||
            __builtin_mul_overflow(value, 60, &value) ||
            __builtin_add_overflow(value, digits, &value)) {
            return false;
        }
    }
    *out = value;
    return true;
}

static bool read_int(struct arena *arena, struct sv text, struct sv *out)
{
    bool negative = sv_starts(text, SV_LIT("-"));
    struct sv digits = negative || sv_starts(text, SV_LIT("+")) ? sv_skip(text, 1) : text;
    uint64_t value;
    bool ok;
    if (digits.len == 0 || digits.ptr[0] == '_') {
        return false;
    }
    if (sv_starts(digits, SV_LIT("0b"))) {
        ok = read_digits(sv_skip(digits, 2), 2, &value);
    } else if (sv_starts(digits, SV_LIT("0x"))) {
        ok = read_digits(sv_skip(digits, 2), 16, &value);
    } else if (digits.ptr[0] == '0' && digits.len > 1) {
        ok = read_digits(sv_skip(digits, 1), 8, &value);
    } else if (sv_find(digits, ':') < digits.len) {
        ok = read_sexagesimal(digits, &value);
    } else {
        ok = read_digits(digits, 10, &value);
    }
    if (ok) {
        *out =
            arena_fmt(arena, "%s%llu", negative && value > 0 ? "-" : "", (unsigned long long)value);
    }
    return ok;
}

/* PyYAML asks for a point in the mantissa and a sign in the exponent. */
static bool read_float(struct arena *arena, struct sv text, struct sv *out)
{
    char plain[SETTINGS_NUMBER_MAX];
    size_t len = 0;
    size_t point = sv_find(text, '.');
    struct sv bare =
        sv_starts(text, SV_LIT("-")) || sv_starts(text, SV_LIT("+")) ? sv_skip(text, 1) : text;
    if (is_in(".inf .Inf .INF", bare)) {
        *out = text.ptr[0] == '-' ? SV_LIT("-inf") : SV_LIT("inf");
        return true;
    }
    if (is_in(".nan .NaN .NAN", text)) {
        *out = SV_LIT("nan");
        return true;
    }
    bool signed_point = bare.len != text.len && bare.ptr[0] == '.'; /* "-.5" is text to PyYAML */
    if (point == text.len || text.len >= sizeof(plain) || bare.ptr[0] == '_' || signed_point) {
        return false;
    }
    size_t exponent = 0;
    while (exponent < text.len && text.ptr[exponent] != 'e' && text.ptr[exponent] != 'E') {
        exponent++;
    }
    if (exponent < text.len && (point > exponent || exponent + 1 == text.len ||
                                (text.ptr[exponent + 1] != '-' && text.ptr[exponent + 1] != '+'))) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != '_') {
            plain[len++] = text.ptr[i];
        }
    }
    double value;
    char shown[NUM_TEXT_MAX];
    if (!num_parse_double(sv_make(plain, len), &value)) {
        return false;
    }
    *out = arena_copy(arena, sv_make(shown, num_format_double(shown, value)));
    return true;
}

static struct scalar resolve(struct arena *arena, struct sv text, bool plain)
{
    struct scalar s = {SCALAR_STR, text};
    if (!plain) {
        return s;
    }
    if (text.len == 0 || is_in("~ null Null NULL", text)) {
        s.type = SCALAR_NULL;
    } else if (is_in("yes Yes YES true True TRUE on On ON", text)) {
        s.type = SCALAR_TRUE;
    } else if (is_in("no No NO false False FALSE off Off OFF", text)) {
        s.type = SCALAR_FALSE;
    } else if (read_int(arena, text, &s.text)) {
        s.type = SCALAR_INT;
    } else if (read_float(arena, text, &s.text)) {
        s.type = SCALAR_FLOAT;
    }
    return s;
}

static bool fail_at(const struct reader *r, const yaml_node_t *node, struct error *err,
                    const char *what)
{
    return error_set(err, E_USAGE, "%s: line %zu: %s", r->path, node->start_mark.line + 1, what);
}

static struct scalar node_scalar(const struct reader *r, const yaml_node_t *node)
{
    struct sv text = arena_copy(
        r->arena, sv_make((const char *)node->data.scalar.value, node->data.scalar.length));
    return resolve(r->arena, text, node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE);
}

static void write_scalar(const struct scalar *s, struct js_writer *w)
{
    switch (s->type) {
    case SCALAR_NULL:
        js_null(w);
        break;
    case SCALAR_TRUE:
    case SCALAR_FALSE:
        js_bool(w, s->type == SCALAR_TRUE);
        break;
    case SCALAR_INT:
    case SCALAR_FLOAT:
        if (is_in("inf -inf nan", s->text)) {
            js_string(w, s->text);
        } else {
            js_raw(w, s->text);
        }
        break;
    case SCALAR_STR:
        js_string(w, s->text);
        break;
    }
}

static bool write_json(struct reader *r, yaml_node_t *node, struct js_writer *w, int depth,
                       struct error *err);

static bool write_mapping(struct reader *r, const yaml_node_t *node, struct js_writer *w, int depth,
                          struct error *err)
{
    js_begin_object(w);
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        yaml_node_t *key = yaml_document_get_node(&r->document, pair->key);
        if (key->type != YAML_SCALAR_NODE) {
            return fail_at(r, key, err, "a key must be a word");
        }
        js_key_sv(w, sv_make((const char *)key->data.scalar.value, key->data.scalar.length));
        if (!write_json(r, yaml_document_get_node(&r->document, pair->value), w, depth, err)) {
            return false;
        }
    }
    js_end_object(w);
    return true;
}

static bool write_json(struct reader *r, yaml_node_t *node, struct js_writer *w, int depth,
                       struct error *err)
{
    if (depth > SETTINGS_MAX_DEPTH || w->out->len > SETTINGS_MAX_BYTES) {
        return fail_at(r, node, err, "the value is nested too deeply or too large");
    }
    if (node->type == YAML_MAPPING_NODE) {
        return write_mapping(r, node, w, depth + 1, err);
    }
    if (node->type == YAML_SEQUENCE_NODE) {
        js_begin_array(w);
        for (const yaml_node_item_t *item = node->data.sequence.items.start;
             item < node->data.sequence.items.top; item++) {
            if (!write_json(r, yaml_document_get_node(&r->document, *item), w, depth + 1, err)) {
                return false;
            }
        }
        js_end_array(w);
        return true;
    }
    struct scalar s = node_scalar(r, node);
    write_scalar(&s, w);
    return true;
}

/* One word of the command line: a scalar's text, or JSON. */
static bool word_of(struct reader *r, yaml_node_t *node, const char **word, struct error *err)
{
    if (node->type == YAML_SCALAR_NODE) {
        struct scalar s = node_scalar(r, node);
        *word = s.type == SCALAR_TRUE ? "True" : s.type == SCALAR_FALSE ? "False" : s.text.ptr;
        if (strlen(*word) != s.text.len && s.type == SCALAR_STR) {
            return fail_at(r, node, err, "the value holds a NUL character");
        }
        return true;
    }
    struct buf out = {0};
    struct js_writer w;
    js_writer_init(&w, &out);
    bool ok = write_json(r, node, &w, 0, err);
    r->written += out.len;
    if (ok && r->written > SETTINGS_MAX_BYTES) {
        ok = fail_at(r, node, err, "the file's values are too large");
    }
    *word = ok ? arena_copy(r->arena, buf_sv(&out)).ptr : NULL;
    buf_done(&out);
    return ok;
}

static bool read_list(struct reader *r, const yaml_node_t *node, struct settings_item *item,
                      struct error *err)
{
    const yaml_node_item_t *from = node->data.sequence.items.start;
    size_t count = (size_t)(node->data.sequence.items.top - from);
    item->kind = SETTING_LIST;
    item->words = arena_array(r->arena, count > 0 ? count : 1, sizeof(*item->words));
    for (size_t i = 0; i < count; i++) {
        yaml_node_t *child = yaml_document_get_node(&r->document, from[i]);
        if (!word_of(r, child, &item->words[i], err)) {
            return false;
        }
    }
    item->count = count;
    return true;
}

static bool read_item(struct reader *r, const yaml_node_pair_t *pair, struct settings_item *item,
                      struct error *err)
{
    yaml_node_t *key = yaml_document_get_node(&r->document, pair->key);
    yaml_node_t *value = yaml_document_get_node(&r->document, pair->value);
    if (key->type != YAML_SCALAR_NODE) {
        return fail_at(r, key, err, "a key must be the name of a flag");
    }
    *item = (struct settings_item){
        .name = arena_strdup(r->arena, (const char *)key->data.scalar.value),
        .line = key->start_mark.line + 1,
        .kind = SETTING_VALUE,
    };
    if (value->type == YAML_SEQUENCE_NODE) {
        return read_list(r, value, item, err);
    }
    if (value->type == YAML_SCALAR_NODE) {
        struct scalar s = node_scalar(r, value);
        item->kind = s.type == SCALAR_NULL    ? SETTING_NULL
                     : s.type == SCALAR_TRUE  ? SETTING_TRUE
                     : s.type == SCALAR_FALSE ? SETTING_FALSE
                                              : SETTING_VALUE;
    }
    item->words = arena_array(r->arena, 1, sizeof(*item->words));
    item->count = 1;
    return word_of(r, value, &item->words[0], err);
}

static bool read_root(struct reader *r, struct settings_file *file, struct error *err)
{
    yaml_node_t *root = yaml_document_get_root_node(&r->document);
    if (root == NULL || (root->type == YAML_SCALAR_NODE && root->data.scalar.length == 0)) {
        return true;
    }
    if (root->type != YAML_MAPPING_NODE) {
        return fail_at(r, root, err, "not a list of 'flag: value' lines");
    }
    const yaml_node_pair_t *from = root->data.mapping.pairs.start;
    file->count = (size_t)(root->data.mapping.pairs.top - from);
    file->items = arena_array(r->arena, file->count > 0 ? file->count : 1, sizeof(*file->items));
    for (size_t i = 0; i < file->count; i++) {
        if (!read_item(r, &from[i], &file->items[i], err)) {
            return false;
        }
    }
    return true;
}

/* The second document of a file, as Python's reader has it, is a mistake. */
static bool is_last(yaml_parser_t *parser)
{
    yaml_document_t next;
    if (!yaml_parser_load(parser, &next)) {
        return false;
    }
    bool last = yaml_document_get_root_node(&next) == NULL;
    yaml_document_delete(&next);
    return last;
}

bool settings_parse(struct sv text, const char *path, struct arena *arena,
                    struct settings_file *file, struct error *err)
{
    struct reader r = {.path = path, .arena = arena};
    yaml_parser_t parser;
    *file = (struct settings_file){0};
    if (!yaml_parser_initialize(&parser)) {
        return error_set(err, E_IO, "%s: out of memory", path);
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text.ptr, text.len);
    if (!yaml_parser_load(&parser, &r.document)) {
        error_set(err, E_USAGE, "%s: line %zu: not YAML: %s", path, parser.problem_mark.line + 1,
                  parser.problem != NULL ? parser.problem : "unreadable");
        yaml_parser_delete(&parser);
        return false;
    }
    bool ok = read_root(&r, file, err);
    bool empty = yaml_document_get_root_node(&r.document) == NULL;
    if (ok && !empty && !is_last(&parser)) {
        ok = error_set(err, E_USAGE, "%s: more than one YAML document", path);
    }
    yaml_document_delete(&r.document);
    yaml_parser_delete(&parser);
    return ok;
}

bool settings_read(const char *path, struct arena *arena, struct settings_file *file,
                   struct error *err)
{
    struct buf text = {0};
    struct sv name = sv_from(path);
    if (!sv_ends(name, SV_LIT(".yaml")) && !sv_ends(name, SV_LIT(".yml"))) {
        return error_set(err, E_USAGE, "'%s' must end in .yaml or .yml", path);
    }
    bool ok = file_read(path, &text, err);
    if (ok && text.len > SETTINGS_MAX_BYTES) {
        ok = error_set(err, E_USAGE, "'%s' has more than %d bytes", path, SETTINGS_MAX_BYTES);
    }
    ok = ok && settings_parse(buf_sv(&text), path, arena, file, err);
    buf_done(&text);
    if (!ok && err->code != E_USAGE) {
        err->code =
            E_USAGE; /* a file named on the command line that cannot be had is a wrong command line */
    }
    return ok;
}

/* Letters, digits and a few signs that mean nothing in YAML; a plain word must resolve to itself. */
static bool is_plain(struct sv text)
{
    struct arena arena = {0};
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!alnum &&
            (strchr("/._+-", c) == NULL || c == '\0' || (i == 0 && c != '/' && c != '.'))) {
            return false;
        }
    }
    struct scalar s = resolve(&arena, text, true);
    bool same = (s.type == SCALAR_STR || s.type == SCALAR_INT || s.type == SCALAR_FLOAT) &&
                sv_eq(s.text, text);
    arena_done(&arena);
    return same && text.len > 0;
}

void settings_write_text(struct buf *out, struct sv text)
{
    if (is_plain(text)) {
        buf_add(out, text);
        return;
    }
    /* Quotes and backslashes of JSON stay readable between single quotes. */
    bool single = true;
    for (size_t i = 0; i < text.len; i++) {
        single = single && text.ptr[i] >= ' ' && text.ptr[i] < 0x7f && text.ptr[i] != '\'';
    }
    if (single) {
        buf_add_fmt(out, "'" SV_FMT "'", SV_ARG(text));
        return;
    }
    struct js_writer w;
    js_writer_init(&w, out);
    js_string(&w, text);
}
