/* Settings out of the file of --config and out of the environment, given to the option table as though they were words
 * of the command line, but weaker.  Python's reading of the file: true is a switch, false is none, a list is several
 * words, a mapping is JSON (and here the KEY=VALUE words of a flag that takes
 * such), anything else is its text. */
#include "config/sources.h"

#include "config/options_priv.h"
#include "config/settings_file.h"
#include "json/tree.h"

#include <stdlib.h>
#include <unistd.h>

/* "a,b" of a list for a flag that takes one word. */
static const char *join(struct arena *arena, const struct settings_item *item)
{
    struct buf out = {0};
    for (size_t i = 0; i < item->count; i++) {
        buf_add_str(&out, i > 0 ? "," : "");
        buf_add_str(&out, item->words[i]);
    }
    const char *text = arena_copy(arena, buf_sv(&out)).ptr;
    buf_done(&out);
    return text;
}

static const struct option_row *row_of(const struct option_parser *p, struct sv name)
{
    return option_find(p->rows, p->row_count, name);
}

static bool give_switch(struct option_parser *p, const struct settings_item *item,
                        struct option_gift *gift, struct error *err)
{
    if (item->kind != SETTING_TRUE && item->kind != SETTING_FALSE) {
        return error_set(err, E_USAGE, "%s: takes true or false, but '%s' was given", item->name,
                         item->count > 0 ? item->words[0] : "");
    }
    gift->off = item->kind == SETTING_FALSE;
    return option_give(p, gift, err);
}

/* A scalar of a mapping as the command line would have it. */
static bool item_text(const struct js_value *value, struct sv *text)
{
    if (value->type == JS_STRING || value->type == JS_NUMBER) {
        *text = value->text;
    } else if (value->type == JS_BOOL) {
        *text = value->boolean ? SV_LIT("True") : SV_LIT("False");
    } else {
        *text = SV_LIT("");
    }
    return value->type != JS_ARRAY && value->type != JS_OBJECT;
}

/* Appends the members of `mapping` as KEY=VALUE words, NAME:MS ones for --goodput.  Values are not named in messages:
 * they may be secret. */
static bool add_members(struct arena *arena, const struct option_row *row,
                        const struct js_value *mapping, struct settings_item *to, struct error *err)
{
    char sign = strchr(row->value, '=') != NULL ? '=' : ':';
    for (const struct js_value *v = mapping->first; v != NULL; v = v->next) {
        struct sv text;
        if (!item_text(v, &text)) {
            return error_set(err, E_USAGE, "%s: the value of '" SV_FMT "' must be one word or text",
                             row->name, SV_ARG(v->key));
        }
        if (sv_find(v->key, sign) < v->key.len ||
            (text.len > 0 && memchr(text.ptr, '\0', text.len) != NULL)) {
            return error_set(err, E_USAGE, "%s: '" SV_FMT "' cannot be written as " SV_FMT "%c...",
                             row->name, SV_ARG(v->key), SV_ARG(v->key), sign);
        }
        to->words[to->count++] =
            arena_fmt(arena, SV_FMT "%c" SV_FMT, SV_ARG(v->key), sign, SV_ARG(text)).ptr;
    }
    return true;
}

/* Mappings where the flag takes pairs, `metadata: {gpu: H100}`, become the words of the command line. */
static bool spread_mappings(struct arena *arena, const struct option_row *row,
                            struct settings_item *item, struct error *err)
{
    struct settings_item all = *item;
    const struct js_value **trees =
        arena_array(arena, item->count > 0 ? item->count : 1, sizeof(*trees));
    size_t count = 0;
    for (size_t i = 0; i < item->count; i++) {
        struct error ignored;
        trees[i] = item->words[i][0] == '{'
                       ? js_parse(arena, sv_from(item->words[i]), "the value", &ignored)
                       : NULL;
        count += trees[i] != NULL ? trees[i]->count : 1;
    }
    all.words = arena_array(arena, count > 0 ? count : 1, sizeof(*all.words));
    all.count = 0;
    for (size_t i = 0; i < item->count; i++) {
        if (trees[i] == NULL) {
            all.words[all.count++] = item->words[i];
        } else if (!add_members(arena, row, trees[i], &all, err)) {
            return false;
        }
    }
    *item = all;
    return true;
}

/* KEY=VALUE or NAME:MS items. */
static bool takes_pairs(const struct option_row *row)
{
    return (row->flags & OPTION_MULTI) != 0 && row->value != NULL &&
           strpbrk(row->value, "=:") != NULL;
}

static bool give_item(struct option_parser *p, const struct settings_item *item, struct error *err)
{
    const struct option_row *row = row_of(p, sv_from(item->name));
    struct option_gift gift = {.row = row, .origin = OPTION_FILE, .line = item->line};
    if (row == NULL) {
        return option_fail_unknown(p, "", sv_from(item->name), err);
    }
    if (strcmp(row->name, "config") == 0) {
        return error_set(err, E_USAGE, "config: a file of settings cannot name another");
    }
    if (item->kind == SETTING_NULL || (item->kind == SETTING_LIST && item->count == 0)) {
        return true; /* nothing after the colon, or in the list: nothing was set */
    }
    if (option_is_switch(row)) {
        return give_switch(p, item, &gift, err);
    }
    if (item->kind == SETTING_TRUE || item->kind == SETTING_FALSE) {
        return error_set(err, E_USAGE, "%s: needs a value, but '%s' was given; quote a word",
                         item->name, item->words[0]);
    }
    const char *joined;
    struct settings_item pairs = *item;
    if (takes_pairs(row) && !spread_mappings(p->arena, row, &pairs, err)) {
        return false;
    }
    if (pairs.count == 0) {
        return true; /* an empty mapping sets nothing */
    }
    gift.words = pairs.words;
    gift.count = pairs.count;
    if (item->kind == SETTING_LIST && (row->flags & OPTION_MULTI) == 0) {
        joined = join(p->arena, item);
        gift.words = &joined;
        gift.count = 1;
    }
    return option_give(p, &gift, err);
}

static bool read_file(struct config *config, struct option_parser *p, struct error *err)
{
    struct settings_file file;
    if (!settings_read(config->config_file, p->arena, &file, err)) {
        return error_context(err, "--config");
    }
    for (size_t i = 0; i < file.count; i++) {
        if (!give_item(p, &file.items[i], err)) {
            return error_context(err, "%s: line %zu", config->config_file, file.items[i].line);
        }
    }
    return true;
}

/* "NUM_PROMPTS" is num-prompts. */
static struct sv flag_name(struct arena *arena, struct sv variable)
{
    struct sv copy = arena_copy(arena, variable);
    char *text = arena_strdup(arena, copy.ptr);
    for (size_t i = 0; i < copy.len; i++) {
        char c = text[i];
        text[i] = c == '_' ? '-' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return sv_make(text, copy.len);
}

static bool is_word_of(const char *words, const char *text)
{
    struct sv rest = sv_from(words);
    struct sv word;
    while (option_next_name(&rest, &word)) {
        if (sv_eq_nocase(word, sv_from(text))) {
            return true;
        }
    }
    return false;
}

/* The lines of a value, for flags that take several. */
static void split_lines(struct arena *arena, const char *value, struct option_gift *gift)
{
    struct sv rest = sv_from(value);
    struct sv line;
    size_t count = 0;
    const char **words = arena_array(arena, strlen(value) + 1, sizeof(*words));
    while (sv_split(&rest, '\n', &line)) {
        if (line.len > 0) {
            words[count++] = arena_copy(arena, line).ptr;
        }
    }
    gift->words = words;
    gift->count = count;
}

static bool give_variable(struct option_parser *p, const struct option_row *row, const char *value,
                          struct error *err)
{
    struct option_gift gift = {.row = row, .origin = OPTION_ENVIRONMENT};
    if (value[0] == '\0') {
        return true; /* as though it were not set */
    }
    if (option_is_switch(row)) {
        gift.off = is_word_of("0 false no off", value);
        if (!gift.off && !is_word_of("1 true yes on", value)) {
            return error_set(err, E_USAGE, "'%s' is neither true nor false", value);
        }
        return option_give(p, &gift, err);
    }
    gift.words = &value;
    gift.count = 1;
    if ((row->flags & OPTION_MULTI) != 0) {
        split_lines(p->arena, value, &gift);
    }
    return option_give(p, &gift, err);
}

static bool read_variable(struct config *config, struct option_parser *p, const char *entry,
                          struct error *err)
{
    struct sv prefix = SV_LIT(CONFIG_ENV_PREFIX);
    struct sv variable = sv_from(entry);
    variable.len = sv_find(variable, '=');
    const char *value = entry + variable.len + (entry[variable.len] == '=');
    struct sv name = flag_name(p->arena, sv_skip(variable, prefix.len));
    const struct option_row *row = row_of(p, name);
    if (row == NULL) {
        config_warn(config, "the environment variable " SV_FMT " names no flag", SV_ARG(variable));
        return true;
    }
    return give_variable(p, row, value, err) ||
           error_context(err, "the environment variable " SV_FMT, SV_ARG(variable));
}

static bool read_environment(struct config *config, struct option_parser *p, struct error *err)
{
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        if (strncmp(*entry, CONFIG_ENV_PREFIX, sizeof(CONFIG_ENV_PREFIX) - 1) == 0 &&
            !read_variable(config, p, *entry, err)) {
            return false;
        }
    }
    return true;
}

static bool given_above(const struct option_parser *p, const struct option_row *row,
                        const char *names)
{
    struct sv rest = sv_from(names);
    struct sv name;
    while (option_next_name(&rest, &name)) {
        const struct option_row *other = row_of(p, name);
        if (other != NULL && p->given[other - p->rows] > 0 &&
            p->traces[other - p->rows].origin < p->traces[row - p->rows].origin) {
            return true;
        }
    }
    return false;
}

/* --base-url stands for --host and --port, --input-len for the input length of every data set.  The general flag wins
 * over the special one, unless it comes from a weaker source. */
static void settle(struct config *config, struct option_parser *p)
{
    const struct {
        const char *general, *special;
    } pairs[] = {
        {"base-url", "host port"},
        {"input-len", "random-input-len sonnet-input-len"},
        {"output-len", "random-output-len custom-output-len sharegpt-output-len sonnet-output-len "
                       "prefix-repetition-output-len spec-bench-output-len "
                       "speed-bench-output-len hf-output-len"},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        const struct option_row *row = row_of(p, sv_from(pairs[i].general));
        if (p->given[row - p->rows] == 0 || !given_above(p, row, pairs[i].special)) {
            continue;
        }
        config_warn(config, "--%s is left out: %s comes from a stronger source", row->name,
                    i == 0 ? "--host or --port" : "a length of the data set");
        option_forget(p, row);
        if (i == 0) {
            config->base_url = NULL;
        } else if (i == 1) {
            config->input_len = -1;
        } else {
            config->output_len = -1;
        }
    }
}

bool config_read_sources(struct config *config, struct option_parser *parser, struct error *err)
{
    const char *file = getenv(CONFIG_ENV_PREFIX "CONFIG");
    if (config->config_file == NULL && file != NULL && file[0] != '\0') {
        config->config_file = arena_strdup(parser->arena, file);
    }
    if (config->config_file != NULL && !read_file(config, parser, err)) {
        return false;
    }
    if (!read_environment(config, parser, err)) {
        return false;
    }
    settle(config, parser);
    return true;
}
