/* Writes settings back in the form in which --config reads them.  Simple values come out of the fields, so that what
 * config_check made of them is shown; values that a callback took apart come from the words as they were given. */
#include "config/dump.h"

#include "base/file.h"
#include "base/num.h"
#include "config/options_priv.h"
#include "config/settings_file.h"
#include "config/sources.h"

enum { DUMP_COLUMN = 48 };

static const void *field(const struct config *config, const struct option_row *row)
{
    return (const char *)config + row->offset;
}

static bool has_field(const struct option_row *row)
{
    return row->kind != OPTION_CALLBACK && row->kind != OPTION_DURATION_S &&
           row->kind != OPTION_DURATION_MS && (row->flags & OPTION_NO_EFFECT) == 0;
}

static void add_number(struct buf *out, const struct config *config, const struct option_row *row)
{
    char text[NUM_TEXT_MAX];
    switch (row->kind) {
    case OPTION_INT:
        buf_add_fmt(out, "%d", *(const int *)field(config, row));
        break;
    case OPTION_UINT:
        buf_add_fmt(out, "%u", *(const unsigned *)field(config, row));
        break;
    case OPTION_U64:
        buf_add_fmt(out, "%llu", (unsigned long long)*(const uint64_t *)field(config, row));
        break;
    case OPTION_I64:
        buf_add_fmt(out, "%lld", (long long)*(const int64_t *)field(config, row));
        break;
    case OPTION_DOUBLE:
        num_format_short(text, *(const double *)field(config, row));
        buf_add_str(out, text);
        break;
    case OPTION_SWITCH:
    case OPTION_SWITCH_OFF:
    case OPTION_DURATION_S:
    case OPTION_DURATION_MS:
    case OPTION_STRING:
    case OPTION_CHOICE:
    case OPTION_CALLBACK:
    case OPTION_KIND_COUNT:
        break;
    }
}

/* "http://user:password@host" shows neither. */
static void add_string(struct buf *out, const struct option_row *row, const char *text)
{
    struct sv url = sv_from(text);
    size_t at = sv_find(url, '@');
    size_t scheme = 0;
    if (text == NULL) {
        buf_add_str(out, "null");
        return;
    }
    while (scheme + 3 <= url.len && memcmp(url.ptr + scheme, "://", 3) != 0) {
        scheme++;
    }
    if (strcmp(row->name, "base-url") == 0 && at < url.len && scheme + 3 < at) {
        struct buf bare = {0};
        buf_add(&bare, sv_make(url.ptr, scheme + 3));
        buf_add(&bare, sv_skip(url, at + 1));
        settings_write_text(out, buf_sv(&bare));
        buf_done(&bare);
        return;
    }
    settings_write_text(out, url);
}

/* As the field has it, null where nothing was given and there is no default. */
static void add_field(struct buf *out, const struct config_snapshot *s, const struct config *config,
                      const struct option_row *row)
{
    bool given = s->parser->given[row - s->parser->rows] > 0;
    if (option_is_switch(row)) {
        bool on = *(const bool *)field(config, row) == (row->kind == OPTION_SWITCH);
        buf_add_str(out, on ? "true" : "false");
    } else if (row->kind == OPTION_STRING || row->kind == OPTION_CHOICE) {
        add_string(out, row, *(const char *const *)field(config, row));
    } else if (!given && row->default_text == NULL &&
               memcmp(field(config, row), field(&s->before, row),
                      row->kind == OPTION_INT || row->kind == OPTION_UINT ? 4 : 8) == 0) {
        buf_add_str(out, "null");
    } else {
        add_number(out, config, row);
    }
}

/* NAME=*** of a header. */
static void add_hidden(struct buf *out, const char *word)
{
    struct sv text = sv_from(word);
    text.len = sv_find(text, '=');
    settings_write_text(out, sv_trim(text));
    buf_add_str(out, "=***");
}

static void add_words(struct buf *out, const struct config_snapshot *s,
                      const struct option_row *row)
{
    const struct option_trace *trace = &s->parser->traces[row - s->parser->rows];
    bool list = (row->flags & OPTION_MULTI) != 0;
    buf_add_str(out, list ? "[" : "");
    for (size_t i = 0; i < trace->count; i++) {
        buf_add_str(out, i > 0 ? ", " : "");
        if ((row->flags & OPTION_SECRET) != 0) {
            add_hidden(out, trace->words[i]);
        } else {
            settings_write_text(out, sv_from(trace->words[i]));
        }
    }
    buf_add_str(out, list ? "]" : "");
}

static void add_value(struct buf *out, const struct config_snapshot *s,
                      const struct option_row *row)
{
    bool given = s->parser->given[row - s->parser->rows] > 0;
    if (has_field(row)) {
        add_field(out, s, s->after, row);
    } else if (given && option_is_switch(row)) {
        buf_add_str(out, "true");
    } else if (given) {
        add_words(out, s, row);
    } else if (row->default_text != NULL) {
        settings_write_text(out, sv_from(row->default_text));
    } else {
        buf_add_str(out, option_is_switch(row) ? "false" : "null");
    }
}

static bool is_derived(const struct config_snapshot *s, const struct option_row *row)
{
    if (!has_field(row)) {
        return false;
    }
    struct buf before = {0};
    struct buf after = {0};
    add_field(&before, s, &s->before, row);
    add_field(&after, s, s->after, row);
    bool same = sv_eq(buf_sv(&before), buf_sv(&after));
    buf_done(&before);
    buf_done(&after);
    return !same;
}

static void add_variable(struct buf *out, const char *name)
{
    buf_add_str(out, "environment " CONFIG_ENV_PREFIX);
    for (; *name != '\0'; name++) {
        char c = *name;
        buf_add_char(out, c == '-' ? '_' : c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c);
    }
}

static void add_origin(struct buf *out, const struct config_snapshot *s,
                       const struct option_row *row)
{
    const struct option_trace *trace = &s->parser->traces[row - s->parser->rows];
    if (is_derived(s, row)) {
        buf_add_str(out, "derived");
        return;
    }
    switch (trace->origin) {
    case OPTION_DEFAULT:
        buf_add_str(out, "default");
        break;
    case OPTION_COMMAND_LINE:
        buf_add_str(out, "command line");
        break;
    case OPTION_FILE:
        buf_add_fmt(out, "%s, line %zu", s->after->config_file, trace->line);
        break;
    case OPTION_ENVIRONMENT:
        add_variable(out, row->name);
        break;
    }
    if ((row->flags & OPTION_SECRET) != 0 && trace->origin != OPTION_DEFAULT) {
        buf_add_str(out, "; the value is not shown");
    }
}

/* Flags of dumping itself, those that do nothing, and the second of two that share a field. */
static bool is_left_out(const struct option_row *row)
{
    static const char *const names[] = {"config", "save-config", "dump-config", "no-self-timed"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(row->name, names[i]) == 0) {
            return true;
        }
    }
    return (row->flags & OPTION_NO_EFFECT) != 0;
}

static void add_line(struct buf *out, const struct config_snapshot *s, const struct option_row *row,
                     bool comment)
{
    size_t start = out->len;
    buf_add_fmt(out, "%s%s: ", comment ? "# " : "", row->name);
    add_value(out, s, row);
    do {
        buf_add_char(out, ' ');
    } while (out->len - start < DUMP_COLUMN);
    buf_add_str(out, "# ");
    add_origin(out, s, row);
    buf_add_char(out, '\n');
}

/* Given, but not to be read back: a secret, or a value that follows from the others again. */
static bool is_comment(const struct config_snapshot *s, const struct option_row *row)
{
    return (row->flags & OPTION_SECRET) != 0 || is_derived(s, row);
}

static void add_key(struct buf *out, const struct config_snapshot *s)
{
    if (s->after->api_key != NULL) {
        buf_add_str(out, "\n# OPENAI_API_KEY is set in the environment; its value is not shown\n");
    }
}

void config_dump(const struct config_snapshot *s, struct buf *out)
{
    const struct option_parser *p = s->parser;
    const char *group = "";
    for (size_t i = 0; i < p->row_count; i++) {
        const struct option_row *row = &p->rows[i];
        if (is_left_out(row)) {
            continue;
        }
        if (strcmp(row->group, group) != 0) {
            buf_add_fmt(out, "%s# %s\n", out->len > 0 ? "\n" : "", row->group);
            group = row->group;
        }
        add_line(out, s, row, p->given[i] == 0 || is_comment(s, row));
    }
    add_key(out, s);
}

bool config_save(const struct config_snapshot *s, const char *path, struct error *err)
{
    const struct option_parser *p = s->parser;
    struct buf out = {0};
    buf_add_fmt(&out, "# Settings of vllm-bench %s; use: vllm-bench serve --config %s\n\n",
                VB_VERSION, path);
    for (size_t i = 0; i < p->row_count; i++) {
        const struct option_row *row = &p->rows[i];
        if (!is_left_out(row) && p->given[i] > 0) {
            add_line(&out, s, row, is_comment(s, row));
        }
    }
    buf_add_str(&out, "\n# Not given:\n");
    for (size_t i = 0; i < p->row_count; i++) {
        if (!is_left_out(&p->rows[i]) && p->given[i] == 0) {
            add_line(&out, s, &p->rows[i], true);
        }
    }
    add_key(&out, s);
    bool ok = file_write_atomic(path, buf_sv(&out), err);
    buf_done(&out);
    return ok;
}
