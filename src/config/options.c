/* Walks the words of a command line over an option table: which row a word names, which words are its values, what was
 * repeated.  Converting values is options_value.c, help is options_help.c. */
#include "config/options.h"

#include "config/options_priv.h"

/* One step of the walk: the words and where it stands. */
struct walk {
    struct option_parser *p;
    int argc;
    char **argv;
    int at;
};

bool option_names_alike(struct sv a, struct sv b)
{
    if (a.len != b.len) {
        return false;
    }
    for (size_t i = 0; i < a.len; i++) {
        char x = a.ptr[i] == '_' ? '-' : a.ptr[i];
        char y = b.ptr[i] == '_' ? '-' : b.ptr[i];
        if (x != y) {
            return false;
        }
    }
    return true;
}

bool option_next_name(struct sv *rest, struct sv *name)
{
    while (sv_split(rest, ' ', name)) {
        if (name->len > 0) {
            return true;
        }
    }
    return false;
}

const struct option_row *option_find(const struct option_row *rows, size_t count, struct sv name)
{
    for (size_t i = 0; i < count; i++) {
        if (option_names_alike(sv_from(rows[i].name), name)) {
            return &rows[i];
        }
        struct sv rest = sv_from(rows[i].aliases);
        struct sv alias;
        while (option_next_name(&rest, &alias)) {
            if (option_names_alike(alias, name)) {
                return &rows[i];
            }
        }
    }
    return NULL;
}

unsigned option_given(const struct option_parser *p, const char *name)
{
    const struct option_row *row = option_find(p->rows, p->row_count, sv_from(name));
    return row != NULL && p->given != NULL ? p->given[row - p->rows] : 0;
}

/* "-", "-1", "-.5" and everything without a leading dash are values. */
static bool is_value(const char *word)
{
    if (word[0] != '-' || word[1] == '\0') {
        return true;
    }
    const char *digit = word[1] == '.' ? word + 2 : word + 1;
    return *digit >= '0' && *digit <= '9';
}

static void warn(const struct option_parser *p, struct sv sentence)
{
    if (p->warn != NULL) {
        p->warn(p->target, sentence.ptr);
    }
}

/* All names of the table, blank-separated. */
static void collect_names(struct buf *out, const struct option_parser *p)
{
    buf_add_str(out, "help version");
    for (size_t i = 0; i < p->row_count; i++) {
        buf_add_fmt(out, " %s", p->rows[i].name);
        if (p->rows[i].aliases != NULL) {
            buf_add_fmt(out, " %s", p->rows[i].aliases);
        }
    }
}

/* `name` without dashes; `dashes` as it was written. */
static bool fail_unknown(const struct option_parser *p, const char *dashes, struct sv name,
                         struct error *err)
{
    struct buf names = {0};
    collect_names(&names, p);
    struct sv near = option_near(buf_cstr(&names), name);
    if (near.len == 0) {
        error_set(err, E_USAGE, "%s" SV_FMT ": '%s' has no such flag", dashes, SV_ARG(name),
                  p->command);
    } else if (option_names_alike(near, name)) {
        error_set(err, E_USAGE, "%s" SV_FMT ": a flag begins with two dashes: '--" SV_FMT "'",
                  dashes, SV_ARG(name), SV_ARG(near));
    } else if (near.len > name.len && option_names_alike(sv_make(near.ptr, name.len), name)) {
        error_set(err, E_USAGE,
                  "%s" SV_FMT ": flags cannot be abbreviated; did you mean '--" SV_FMT "'?", dashes,
                  SV_ARG(name), SV_ARG(near));
    } else {
        error_set(err, E_USAGE, "%s" SV_FMT ": unknown flag; did you mean '--" SV_FMT "'?", dashes,
                  SV_ARG(name), SV_ARG(near));
    }
    buf_done(&names);
    return false;
}

/* A flag of the peers that this version lacks: harmless when it asks for what happens anyway. */
static bool apply_later(const struct option_row *row, struct sv name, const char *value,
                        struct error *err)
{
    if (value != NULL && option_is_default(row, value)) {
        return true;
    }
    if (value != NULL) {
        return error_set(err, E_USAGE,
                         "--" SV_FMT " is not supported by this version of vllm-bench (given '%s')",
                         SV_ARG(name), value);
    }
    return error_set(err, E_USAGE, "--" SV_FMT " is not supported by this version of vllm-bench",
                     SV_ARG(name));
}

/* One value of a row, or NULL for a switch. */
static bool apply(const struct option_parser *p, const struct option_row *row, struct sv name,
                  const char *value, struct error *err)
{
    if ((row->flags & OPTION_LATER) != 0) {
        return apply_later(row, name, value, err);
    }
    if ((row->flags & OPTION_NO_EFFECT) != 0 && p->given[row - p->rows] == 1) {
        warn(p, arena_fmt(p->arena, "--%s has no effect: %s", row->name,
                          row->note != NULL ? row->note : "this program does not need it"));
    }
    if ((row->flags & OPTION_NO_EFFECT) != 0 && row->set == NULL) {
        return true;
    }
    const struct option_call call = {
        .row = row, .target = p->target, .arena = p->arena, .value = value};
    return option_store(&call, err) || error_context(err, "--" SV_FMT, SV_ARG(name));
}

static bool fail_missing(const struct walk *w, const struct option_row *row, struct error *err)
{
    if (w->at < w->argc && strcmp(w->argv[w->at], "--") != 0) {
        return error_set(err, E_USAGE,
                         "--%s: needs a value, and '%s' looks like a flag; a value that begins "
                         "with '-' is written --%s=%s",
                         row->name, w->argv[w->at], row->name, w->argv[w->at]);
    }
    const char *example = row->example != NULL ? row->example : row->default_text;
    if (example == NULL) {
        return error_set(err, E_USAGE, "--%s: needs a value", row->name);
    }
    return error_set(err, E_USAGE, "--%s: needs a value; e.g. --%s %s", row->name, row->name,
                     example);
}

/* The values of a row: `inline_value` after '=' or the words that follow. */
static bool take_values(struct walk *w, const struct option_row *row, struct sv name,
                        const char *inline_value, struct error *err)
{
    w->p->given[row - w->p->rows]++;
    if (option_is_switch(row)) {
        if (inline_value != NULL) {
            return error_set(err, E_USAGE, "--" SV_FMT ": takes no value, but '%s' was given",
                             SV_ARG(name), inline_value);
        }
        return apply(w->p, row, name, NULL, err);
    }
    const char *value = inline_value;
    if (value == NULL) {
        if (w->at >= w->argc || !is_value(w->argv[w->at])) {
            return fail_missing(w, row, err);
        }
        value = w->argv[w->at++];
    }
    for (;;) {
        if (!apply(w->p, row, name, value, err)) {
            return false;
        }
        if ((row->flags & OPTION_MULTI) == 0 || w->at >= w->argc || !is_value(w->argv[w->at])) {
            return true;
        }
        value = w->argv[w->at++];
    }
}

static void ask_help(struct option_parser *p, const char *topic)
{
    bool full = topic == NULL || topic[0] == '\0' || strcmp(topic, "all") == 0;
    p->help = full ? OPTION_HELP_FULL : OPTION_HELP_TOPIC;
    p->help_topic = full ? NULL : topic;
}

/* A word that begins with two dashes and goes on. */
static bool take_long(struct walk *w, const char *word, struct error *err)
{
    struct sv name = sv_from(word + 2);
    const char *inline_value = NULL;
    size_t equals = sv_find(name, '=');
    if (equals < name.len) {
        inline_value = name.ptr + equals + 1;
        name.len = equals;
    }
    struct option_parser *p = w->p;
    if (sv_eq(name, SV_LIT("help"))) {
        ask_help(p, inline_value);
        return true;
    }
    if (sv_eq(name, SV_LIT("version"))) {
        p->version = true;
        return true;
    }
    const struct option_row *row = option_find(p->rows, p->row_count, name);
    if (row != NULL) {
        return take_values(w, row, name, inline_value, err);
    }
    struct sv base = sv_make(name.ptr, sv_find(name, '.'));
    row = option_find(p->rows, p->row_count, base);
    if (row != NULL && base.len < name.len) {
        return error_set(err, E_USAGE,
                         "--" SV_FMT ": flags with a dot are not supported by this version of "
                         "vllm-bench; write the value of --%s as one JSON object",
                         SV_ARG(name), row->name);
    }
    return fail_unknown(p, "--", name, err);
}

static bool fail_positional(const char *word, struct error *err)
{
    return error_set(err, E_USAGE,
                     "unexpected word '%s'; a value stands after its flag, as in "
                     "--model NAME",
                     word);
}

static void warn_repeated(const struct option_parser *p)
{
    for (size_t i = 0; i < p->row_count; i++) {
        const struct option_row *row = &p->rows[i];
        if (p->given[i] > 1 && (row->flags & (OPTION_MULTI | OPTION_NO_EFFECT)) == 0) {
            warn(p, arena_fmt(p->arena, "--%s was given %u times; the last one counts", row->name,
                              p->given[i]));
        }
    }
}

bool option_parse(struct option_parser *p, int argc, char **argv, struct error *err)
{
    struct walk w = {.p = p, .argc = argc, .argv = argv};
    p->help = OPTION_HELP_NONE;
    p->help_topic = NULL;
    p->version = false;
    p->given = arena_array(p->arena, p->row_count > 0 ? p->row_count : 1, sizeof(*p->given));
    while (w.at < argc && p->help == OPTION_HELP_NONE && !p->version) {
        const char *word = argv[w.at++];
        if (strcmp(word, "-h") == 0) {
            p->help = OPTION_HELP_SHORT;
        } else if (strcmp(word, "--") == 0) {
            return w.at >= argc || fail_positional(argv[w.at], err);
        } else if (strncmp(word, "--", 2) == 0) {
            if (!take_long(&w, word, err)) {
                return false;
            }
        } else if (!is_value(word)) {
            struct sv name = sv_from(word + 1);
            name.len = sv_find(name, '=');
            return fail_unknown(p, "-", name, err);
        } else {
            return fail_positional(word, err);
        }
    }
    warn_repeated(p);
    return true;
}
