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
    struct sv *members; /* of each row: the object of its --name.key flags */
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

/* How other tools call what the table has under another name; empty for none. */
static struct sv usual_name(const struct option_parser *p, struct sv name)
{
    static const struct {
        const char *others, *name;
    } list[] = {
        {"n num num-requests requests request-count prompts total-requests", "num-prompts"},
        {"c concurrency concurrent parallel max-concurrent-requests", "max-concurrency"},
        {"u url server-url api-base api-url endpoint-url", "base-url"},
        {"H headers", "header"},
        {"k", "insecure"},
        {"m model-name", "model"},
        {"b api", "backend"},
        {"d dataset", "dataset-name"},
        {"p", "port"},
        {"rps qps rate request-per-second", "request-rate"},
        {"timeout", "request-timeout"},
        {"warmup warmups warmup-requests warmup-request-count", "num-warmups"},
        {"percentiles", "metric-percentiles"},
        {"slo", "goodput"},
        {"input-tokens prompt-tokens isl", "input-len"},
        {"output-tokens max-tokens osl", "output-len"},
        {"output output-file o", "result-filename"},
        {"output-dir", "result-dir"},
    };
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        struct sv rest = sv_from(list[i].others);
        struct sv other;
        while (option_next_name(&rest, &other)) {
            if (option_names_alike(other, name) &&
                option_find(p->rows, p->row_count, sv_from(list[i].name)) != NULL) {
                return sv_from(list[i].name);
            }
        }
    }
    return sv_make(NULL, 0);
}

/* `name` without dashes; `dashes` as it was written. */
bool option_fail_unknown(const struct option_parser *p, const char *dashes, struct sv name,
                         struct error *err)
{
    struct buf names = {0};
    collect_names(&names, p);
    struct sv usual = usual_name(p, name);
    struct sv near = usual.len > 0 ? usual : option_near(buf_cstr(&names), name);
    if (near.len == 0) {
        error_set(err, E_USAGE, "%s" SV_FMT ": '%s' has no such flag", dashes, SV_ARG(name),
                  p->command);
    } else if (option_names_alike(near, name)) {
        error_set(err, E_USAGE, "%s" SV_FMT ": a flag begins with two dashes: '--" SV_FMT "'",
                  dashes, SV_ARG(name), SV_ARG(near));
    } else if (usual.len == 0 && near.len > name.len &&
               option_names_alike(sv_make(near.ptr, name.len), name)) {
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

void option_record(const struct option_parser *p, const struct option_row *row, const char *word)
{
    struct option_trace *trace = &p->traces[row - p->rows];
    if ((row->flags & OPTION_MULTI) == 0) {
        trace->count = 0;
    }
    if (trace->count == trace->cap) {
        size_t cap = trace->cap < 4 ? 4 : trace->cap * 2;
        const char **words = arena_array(p->arena, cap, sizeof(*words));
        for (size_t i = 0; i < trace->count; i++) {
            words[i] = trace->words[i];
        }
        trace->words = words;
        trace->cap = cap;
    }
    trace->words[trace->count++] = arena_strdup(p->arena, word);
}

/* One value of a row, or NULL for a switch. */
bool option_apply(const struct option_parser *p, const struct option_row *row, struct sv name,
                  const char *value, struct error *err)
{
    if (value != NULL) {
        option_record(p, row, value);
    }
    if ((row->flags & OPTION_NO_EFFECT) != 0 && p->given[row - p->rows] == 1) {
        warn(p, arena_fmt(p->arena, "--%s has no effect: %s", row->name,
                          row->note != NULL ? row->note : "this program does not need it"));
    }
    if ((row->flags & OPTION_NO_EFFECT) != 0 && row->set == NULL) {
        return true;
    }
    const struct option_call call = {
        .row = row,
        .target = p->target,
        .arena = p->arena,
        .value = value,
        .nth = p->traces[row - p->rows].count,
    };
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
    w->p->traces[row - w->p->rows].origin = OPTION_COMMAND_LINE;
    w->p->traces[row - w->p->rows].off = false;
    if (option_is_switch(row)) {
        if (inline_value != NULL) {
            return error_set(err, E_USAGE, "--" SV_FMT ": takes no value, but '%s' was given",
                             SV_ARG(name), inline_value);
        }
        return option_apply(w->p, row, name, NULL, err);
    }
    const char *value = inline_value;
    if (value == NULL) {
        if (w->at >= w->argc || !is_value(w->argv[w->at])) {
            return fail_missing(w, row, err);
        }
        value = w->argv[w->at++];
    }
    for (;;) {
        if (!option_apply(w->p, row, name, value, err)) {
            return false;
        }
        if ((row->flags & OPTION_MULTI) == 0 || w->at >= w->argc || !is_value(w->argv[w->at])) {
            return true;
        }
        value = w->argv[w->at++];
    }
}

/* A switch that is at work, so that there is something to turn off. */
static bool can_turn_off(const struct option_row *row)
{
    return row->kind == OPTION_SWITCH && (row->flags & OPTION_NO_EFFECT) == 0;
}

static void turn(const struct option_parser *p, const struct option_row *row, bool on)
{
    *(bool *)((char *)p->target + row->offset) = (row->kind == OPTION_SWITCH) == on;
    p->traces[row - p->rows].off = !on;
}

/* --no-NAME: a switch that a file or the environment turned on stays off. */
static bool take_off(const struct walk *w, const struct option_row *row, struct sv name,
                     const char *inline_value, struct error *err)
{
    if (inline_value != NULL) {
        return error_set(err, E_USAGE, "--" SV_FMT ": takes no value, but '%s' was given",
                         SV_ARG(name), inline_value);
    }
    w->p->given[row - w->p->rows]++;
    w->p->traces[row - w->p->rows].origin = OPTION_COMMAND_LINE;
    turn(w->p, row, false);
    return true;
}

/* --name.path value: kept until all words have been read, then merged into the row's object. */
static bool take_member(struct walk *w, const struct option_row *row, struct sv path,
                        const char *inline_value, struct error *err)
{
    if ((row->flags & OPTION_JSON) == 0) {
        return error_set(err, E_USAGE,
                         "--%s." SV_FMT ": the value of --%s is no JSON object that has members",
                         row->name, SV_ARG(path), row->name);
    }
    const char *value = inline_value;
    if (value == NULL) {
        if (w->at >= w->argc || !is_value(w->argv[w->at])) {
            return error_set(err, E_USAGE, "--%s." SV_FMT ": needs a value; e.g. --%s." SV_FMT " 1",
                             row->name, SV_ARG(path), row->name, SV_ARG(path));
        }
        value = w->argv[w->at++];
    }
    struct sv nested = option_json_nest(w->p->arena, path, value);
    struct sv *members = &w->members[row - w->p->rows];
    return members->len == 0 ? (*members = nested, true)
                             : option_json_merge(w->p->arena, *members, nested, members, err);
}

/* The members of every row go over the object that was given whole, if one was. */
static bool apply_members(struct walk *w, struct error *err)
{
    const struct option_parser *p = w->p;
    for (size_t i = 0; i < p->row_count; i++) {
        const struct option_row *row = &p->rows[i];
        struct sv text = w->members[i];
        if (text.len == 0) {
            continue;
        }
        const struct option_trace *trace = &p->traces[i];
        if (trace->count > 0 &&
            !option_json_merge(p->arena, sv_from(trace->words[trace->count - 1]), text, &text,
                               err)) {
            return error_context(err, "--%s", row->name);
        }
        p->given[i] = p->given[i] > 0 ? p->given[i] : 1;
        p->traces[i].origin = OPTION_COMMAND_LINE;
        if (!option_apply(p, row, sv_from(row->name), text.ptr, err)) {
            return false;
        }
    }
    return true;
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
        bool topic = inline_value == NULL && w->at < w->argc && w->argv[w->at][0] != '-';
        ask_help(p, topic ? w->argv[w->at] : inline_value);
        return true;
    }
    if (sv_eq(name, SV_LIT("version"))) {
        if (inline_value != NULL) {
            return error_set(err, E_USAGE, "--version: takes no value, but '%s' was given",
                             inline_value);
        }
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
        return take_member(w, row, sv_skip(name, base.len + 1), inline_value, err);
    }
    row = sv_starts(name, SV_LIT("no-")) || sv_starts(name, SV_LIT("no_"))
              ? option_find(p->rows, p->row_count, sv_skip(name, 3))
              : NULL;
    if (row != NULL && can_turn_off(row)) {
        return take_off(w, row, name, inline_value, err);
    }
    return option_fail_unknown(p, "--", name, err);
}

static bool take_positional(struct option_parser *p, const char *word, struct error *err)
{
    if (p->operands != NULL) {
        p->operands[p->operand_count++] = word;
        return true;
    }
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
    size_t count = p->row_count > 0 ? p->row_count : 1;
    p->given = arena_array(p->arena, count, sizeof(*p->given));
    p->traces = arena_array(p->arena, count, sizeof(*p->traces));
    w.members = arena_array(p->arena, count, sizeof(*w.members));
    while (w.at < argc && p->help == OPTION_HELP_NONE && !p->version) {
        const char *word = argv[w.at++];
        if (strcmp(word, "-h") == 0) {
            p->help = OPTION_HELP_SHORT;
        } else if (strcmp(word, "--") == 0) {
            break;
        } else if (strncmp(word, "--", 2) == 0) {
            if (!take_long(&w, word, err)) {
                return false;
            }
        } else if (!is_value(word)) {
            struct sv name = sv_from(word + 1);
            name.len = sv_find(name, '=');
            return option_fail_unknown(p, "-", name, err);
        } else if (!take_positional(p, word, err)) {
            return false;
        }
    }
    while (w.at < argc && p->help == OPTION_HELP_NONE && !p->version) {
        if (!take_positional(p, argv[w.at++], err)) {
            return false;
        }
    }
    if (p->help != OPTION_HELP_NONE || p->version) {
        return true;
    }
    warn_repeated(p);
    return apply_members(&w, err);
}

/* A row of the same field was given by a stronger source. */
static bool is_settled(const struct option_parser *p, const struct option_gift *gift)
{
    const struct option_row *row = gift->row;
    for (size_t i = 0; i < p->row_count; i++) {
        const struct option_row *other = &p->rows[i];
        bool same = other == row || (option_is_switch(row) && option_is_switch(other) &&
                                     can_turn_off(row) && other->offset == row->offset);
        if (same && p->given[i] > 0 && p->traces[i].origin < gift->origin) {
            return true;
        }
    }
    return false;
}

bool option_give(struct option_parser *p, const struct option_gift *gift, struct error *err)
{
    const struct option_row *row = gift->row;
    struct option_trace *trace = &p->traces[row - p->rows];
    struct sv name = sv_from(row->name);
    if (is_settled(p, gift)) {
        return true;
    }
    if (p->given[row - p->rows]++ == 1) {
        warn(p, arena_fmt(p->arena, "--%s was given twice; the last one counts", row->name));
    }
    trace->origin = gift->origin;
    trace->line = gift->line;
    trace->count = 0;
    if (option_is_switch(row)) {
        if (gift->off) {
            if ((row->flags & OPTION_NO_EFFECT) == 0) {
                turn(p, row, false);
            }
            return true;
        }
        return option_apply(p, row, name, NULL, err);
    }
    for (size_t i = 0; i < gift->count; i++) {
        if (!option_apply(p, row, name, gift->words[i], err)) {
            return false;
        }
    }
    return true;
}

void option_forget(struct option_parser *p, const struct option_row *row)
{
    p->given[row - p->rows] = 0;
    p->traces[row - p->rows] = (struct option_trace){0};
}
