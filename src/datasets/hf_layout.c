/* See hf_layout.h.  Names that begin with a dot, or lie in folders that do or that begin with two underscores, are left
 * out, as are cards and descriptions. */
#include "datasets/hf_layout.h"

#include "base/buf.h"

enum { MAX_SPLITS = 64 };

#define SEPARATORS "[-._ 0-9]"
#define NUMBERED   "-[0-9][0-9][0-9][0-9][0-9]-of-[0-9][0-9][0-9][0-9][0-9]*.*"

/* A split and the patterns of its files. */
struct split_rule {
    struct sv name;
    const struct sv *patterns;
    size_t count;
};

struct layout {
    const char *what;
    const struct sv *names;
    size_t count;
    struct sv folder; /* only names below it, which it is taken off; empty or ends with '/' */
    struct sv config; /* empty: none */
    struct split_rule rules[MAX_SPLITS];
    size_t rule_count;
    struct arena arena;
};

/* ---- patterns ----------------------------------------------------------------------------------------------------- */

/* At "[...]": does c belong to it?  *pattern moves behind it; a '[' that is never closed stands for itself. */
static bool match_set(struct sv *pattern, char c)
{
    size_t i = 1;
    bool negated = i < pattern->len && (pattern->ptr[i] == '!' || pattern->ptr[i] == '^');
    bool inside = false;
    i += negated;
    size_t start = i;
    while (i < pattern->len && (pattern->ptr[i] != ']' || i == start)) {
        char low = pattern->ptr[i];
        bool range =
            i + 2 < pattern->len && pattern->ptr[i + 1] == '-' && pattern->ptr[i + 2] != ']';
        char high = range ? pattern->ptr[i + 2] : low;
        inside = inside || (c >= low && c <= high);
        i += range ? 3 : 1;
    }
    if (i >= pattern->len) {
        *pattern = sv_skip(*pattern, 1);
        return c == '[';
    }
    *pattern = sv_skip(*pattern, i + 1);
    return inside != negated;
}

/* One part of a path.  After a '*' that did not work out the match goes on from the character after the one that it
 * last reached; only the last '*' need be looked at again. */
static bool match_part(struct sv pattern, struct sv text)
{
    struct sv again_pattern = {0};
    struct sv again_text = {0};
    for (;;) {
        if (pattern.len > 0 && pattern.ptr[0] == '*') {
            pattern = again_pattern = sv_skip(pattern, 1);
            again_text = text;
            continue;
        }
        if (pattern.len == 0 && text.len == 0)
            return true;
        bool same = false;
        if (pattern.len > 0 && text.len > 0) {
            if (pattern.ptr[0] == '[') {
                same = match_set(&pattern, text.ptr[0]);
            } else {
                same = pattern.ptr[0] == '?' || pattern.ptr[0] == text.ptr[0];
                pattern = sv_skip(pattern, 1);
            }
        }
        if (same) {
            text = sv_skip(text, 1);
            continue;
        }
        if (again_pattern.ptr == NULL || again_text.len == 0)
            return false;
        pattern = again_pattern;
        text = again_text = sv_skip(again_text, 1);
    }
}

static bool next_part(struct sv *rest, struct sv *part)
{
    return sv_split(rest, '/', part);
}

/* As match_part, with whole parts for characters and "**" for '*'. */
bool hf_glob_match(struct sv pattern, struct sv name)
{
    struct sv again_pattern = {0};
    struct sv again_name = {0};
    bool again = false;
    for (;;) {
        struct sv rest = pattern;
        struct sv left = name;
        struct sv part;
        struct sv first;
        bool more = next_part(&rest, &part);
        if (more && sv_eq(part, SV_LIT("**"))) {
            if (rest.len == 0)
                return name.len > 0;
            pattern = again_pattern = rest;
            again_name = name;
            again = true;
            continue;
        }
        bool named = next_part(&left, &first);
        if (!more && !named)
            return true;
        if (more && named && match_part(part, first)) {
            pattern = rest;
            name = left;
            continue;
        }
        if (!again || !next_part(&again_name, &first))
            return false;
        pattern = again_pattern;
        name = again_name;
    }
}

/* ---- names -------------------------------------------------------------------------------------------------------- */

static struct sv base_name(struct sv name)
{
    size_t at = name.len;
    while (at > 0 && name.ptr[at - 1] != '/')
        at--;
    return sv_skip(name, at);
}

bool hf_is_table(struct sv name)
{
    static const char *const ends[] = {".parquet", ".jsonl", ".json", ".ndjson"};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct sv end = sv_from(ends[i]);
        if (name.len > end.len && sv_eq_nocase(sv_skip(name, name.len - end.len), end))
            return true;
    }
    return false;
}

static bool is_left_out(struct sv name)
{
    static const char *const ignored[] = {"README.md",         "config.json",
                                          "dataset_info.json", "dataset_infos.json",
                                          "dummy_data.zip",    "dataset_dict.json"};
    struct sv base = base_name(name);
    struct sv part;
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        if (sv_eq(base, sv_from(ignored[i])))
            return true;
    while (next_part(&name, &part))
        if (sv_starts(part, SV_LIT(".")) || (name.len > 0 && sv_starts(part, SV_LIT("__"))))
            return true;
    return false;
}

/* The name below the layout's folder; false when it is not there or is left out. */
static bool visible(const struct layout *l, struct sv name, struct sv *below)
{
    if (!sv_starts(name, l->folder))
        return false;
    *below = sv_skip(name, l->folder.len);
    return !is_left_out(*below);
}

static bool any_match(const struct layout *l, struct sv pattern)
{
    struct sv below;
    for (size_t i = 0; i < l->count; i++)
        if (visible(l, l->names[i], &below) && hf_glob_match(pattern, below))
            return true;
    return false;
}

/* ---- splits ------------------------------------------------------------------------------------------------------- */

static void add_rule(struct layout *l, struct sv name, const struct sv *patterns, size_t count)
{
    if (l->rule_count < MAX_SPLITS)
        l->rules[l->rule_count++] =
            (struct split_rule){.name = name, .patterns = patterns, .count = count};
}

static int rank_of(struct sv split)
{
    return sv_eq(split, SV_LIT("train"))        ? 0
           : sv_eq(split, SV_LIT("validation")) ? 1
           : sv_eq(split, SV_LIT("test"))       ? 2
                                                : 3;
}

static bool comes_before(struct sv a, struct sv b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = memcmp(a.ptr, b.ptr, n);
    if (rank_of(a) != rank_of(b))
        return rank_of(a) < rank_of(b);
    return order != 0 ? order < 0 : a.len < b.len;
}

/* data/NAME-00000-of-00001.parquet: any NAME is a split. */
static void numbered_rules(struct layout *l)
{
    static const size_t digits = sizeof("-00000-of-00001") - 1;
    for (size_t i = 0; i < l->count; i++) {
        struct sv below;
        if (!visible(l, l->names[i], &below) || !hf_glob_match(SV_LIT("data/*" NUMBERED), below))
            continue;
        struct sv base = base_name(below);
        size_t n = base.len - digits;
        while (n > 0 && !match_part(SV_LIT(NUMBERED), sv_skip(base, n)))
            n--;
        struct sv name = sv_make(base.ptr, n);
        size_t at = 0;
        while (at < l->rule_count && comes_before(l->rules[at].name, name))
            at++;
        if (n == 0 || (at < l->rule_count && sv_eq(l->rules[at].name, name)) ||
            l->rule_count == MAX_SPLITS)
            continue;
        struct sv *pattern = arena_array(&l->arena, 1, sizeof(*pattern));
        *pattern = arena_fmt(&l->arena, "data/" SV_FMT "%s", SV_ARG(name), NUMBERED);
        memmove(&l->rules[at + 1], &l->rules[at], (l->rule_count - at) * sizeof(l->rules[0]));
        l->rules[at] = (struct split_rule){.name = name, .patterns = pattern, .count = 1};
        l->rule_count++;
    }
}

/* Words that stand for a split, in folders' or in files' names. */
static void keyword_rules(struct layout *l, bool folders)
{
    static const char *const names[] = {"train", "validation", "test"};
    static const char *const words[][5] = {{"train", "training"},
                                           {"validation", "valid", "dev", "val"},
                                           {"test", "testing", "eval", "evaluation"}};
    static const char *const in_folders[] = {"**/%s/**", "**/%s" SEPARATORS "*/**",
                                             "**/*" SEPARATORS "%s/**",
                                             "**/*" SEPARATORS "%s" SEPARATORS "*/**"};
    static const char *const in_files[] = {"**/%s" SEPARATORS "*",
                                           "**/*" SEPARATORS "%s" SEPARATORS "*"};
    for (size_t s = 0; s < 3; s++) {
        struct sv *patterns = arena_array(&l->arena, 16, sizeof(*patterns));
        size_t count = 0;
        bool any = false;
        for (size_t w = 0; words[s][w] != NULL; w++) {
            for (size_t f = 0; f < (folders ? 4 : 2); f++) {
                const char *form = folders ? in_folders[f] : in_files[f];
                struct sv rest = sv_from(form);
                struct buf text = {0};
                const char *at = strstr(form, "%s");
                buf_add(&text, sv_make(form, (size_t)(at - form)));
                buf_add_str(&text, words[s][w]);
                buf_add(&text, sv_skip(rest, (size_t)(at - form) + 2));
                patterns[count] = arena_copy(&l->arena, buf_sv(&text));
                buf_done(&text);
                any = any || any_match(l, patterns[count]);
                count++;
            }
        }
        if (any)
            add_rule(l, sv_from(names[s]), patterns, count);
    }
}

static void rules_from_names(struct layout *l)
{
    static const struct sv everything = {"**", 2};
    numbered_rules(l);
    if (l->rule_count == 0)
        keyword_rules(l, true);
    if (l->rule_count == 0)
        keyword_rules(l, false);
    if (l->rule_count == 0)
        add_rule(l, SV_LIT("train"), &everything, 1);
}

/* ---- choices ------------------------------------------------------------------------------------------------------ */

static bool set_folder(struct layout *l, struct sv folder)
{
    struct sv slash = arena_fmt(&l->arena, SV_FMT "/", SV_ARG(folder));
    for (size_t i = 0; i < l->count; i++) {
        if (sv_starts(l->names[i], slash)) {
            l->folder = slash;
            return true;
        }
    }
    return false;
}

static bool no_config(const struct layout *l, const struct hf_card *card, const char *config,
                      struct error *err)
{
    struct buf list = {0};
    for (size_t i = 0; i < card->count; i++)
        buf_add_fmt(&list, "%s" SV_FMT, i > 0 ? ", " : "", SV_ARG(card->configs[i].name));
    if (config == NULL)
        error_set(err, E_CONFIG, "'%s' has several configurations: %s; choose one with --hf-subset",
                  l->what, buf_cstr(&list));
    else if (card->count > 0)
        error_set(err, E_CONFIG, "--hf-subset: '%s' is no configuration of '%s'; it has %s", config,
                  l->what, buf_cstr(&list));
    else
        error_set(err, E_CONFIG,
                  "--hf-subset: '%s' is no configuration of '%s', which names none and has no "
                  "folder of that name",
                  config, l->what);
    buf_done(&list);
    return false;
}

static const struct hf_card_config *find_config(const struct hf_card *card, const char *name)
{
    for (size_t i = 0; i < card->count; i++)
        if (name != NULL ? sv_eq(card->configs[i].name, sv_from(name))
                         : card->configs[i].is_default || card->count == 1)
            return &card->configs[i];
    for (size_t i = 0; name == NULL && i < card->count; i++)
        if (sv_eq(card->configs[i].name, SV_LIT("default")))
            return &card->configs[i];
    return NULL;
}

static bool choose_config(struct layout *l, const struct hf_card *card,
                          const struct hf_wanted *wanted, struct error *err)
{
    const struct hf_card_config *config = find_config(card, wanted->config);
    if (config == NULL && wanted->config != NULL && !wanted->config_given && card->count > 0)
        config = find_config(card, NULL);
    if (config == NULL && wanted->config == NULL && wanted->first_config && card->count > 0)
        config = &card->configs[0];
    if (config == NULL && card->count > 0)
        return no_config(l, card, wanted->config, err);
    if (config == NULL && wanted->config != NULL && !set_folder(l, sv_from(wanted->config)) &&
        wanted->config_given)
        return no_config(l, card, wanted->config, err);
    if (config != NULL && config->folder.len > 0 && !set_folder(l, config->folder))
        return error_set(err, E_PARSE,
                         "'%s': its card names a folder '" SV_FMT "' that is not there", l->what,
                         SV_ARG(config->folder));
    l->config = config != NULL ? config->name : l->config;
    for (size_t i = 0; config != NULL && i < config->count; i++)
        add_rule(l, config->splits[i].name, config->splits[i].patterns, config->splits[i].count);
    if (l->rule_count == 0)
        rules_from_names(l);
    return true;
}

static const struct split_rule *find_rule(const struct layout *l, const char *name)
{
    for (size_t i = 0; i < l->rule_count; i++)
        if (sv_eq(l->rules[i].name, sv_from(name)))
            return &l->rules[i];
    return NULL;
}

static const struct split_rule *choose_split(const struct layout *l, const struct hf_wanted *wanted,
                                             struct error *err)
{
    static const char *const favourites[] = {"train", "test", "validation"};
    const struct split_rule *rule = NULL;
    bool unclear = wanted->split == NULL && wanted->split_needed && l->rule_count > 1;
    if (wanted->split != NULL)
        rule = find_rule(l, wanted->split);
    for (size_t i = 0; wanted->split == NULL && rule == NULL && i < 3; i++)
        rule = find_rule(l, favourites[i]);
    if (wanted->split == NULL && rule == NULL)
        rule = &l->rules[0];
    if (rule != NULL && !unclear)
        return rule;
    struct buf list = {0};
    for (size_t i = 0; i < l->rule_count; i++)
        buf_add_fmt(&list, "%s" SV_FMT, i > 0 ? ", " : "", SV_ARG(l->rules[i].name));
    if (unclear)
        error_set(err, E_CONFIG, "'%s' has several splits: %s; choose one with --hf-split", l->what,
                  buf_cstr(&list));
    else
        error_set(err, E_CONFIG, "--hf-split: '%s' is no split of '%s'; it has %s", wanted->split,
                  l->what, buf_cstr(&list));
    buf_done(&list);
    return NULL;
}

static bool is_parquet(struct sv name)
{
    return name.len > 8 && sv_eq_nocase(sv_skip(name, name.len - 8), SV_LIT(".parquet"));
}

/* Files of one kind only, the commoner one; Parquet when there are as many. */
static bool keep_one_kind(const struct layout *l, struct hf_files *files, struct error *err)
{
    size_t parquet = 0;
    size_t json = 0;
    size_t kept = 0;
    struct sv other = {0};
    for (size_t i = 0; i < files->count; i++) {
        bool table = hf_is_table(files->names[i]);
        parquet += table && is_parquet(files->names[i]);
        json += table && !is_parquet(files->names[i]);
        other = table ? other : files->names[i];
    }
    for (size_t i = 0; i < files->count; i++)
        if (hf_is_table(files->names[i]) && is_parquet(files->names[i]) == (parquet >= json))
            files->names[kept++] = files->names[i];
    if (kept == 0 && other.len > 0)
        return error_set(err, E_UNSUPPORTED,
                         "'%s': split '" SV_FMT "' has neither .parquet, .json, .jsonl nor .ndjson "
                         "files; the first of what it has is '" SV_FMT "'",
                         l->what, SV_ARG(files->split), SV_ARG(other));
    files->count = kept;
    return kept > 0 || error_set(err, E_PARSE, "'%s': split '" SV_FMT "' has no files", l->what,
                                 SV_ARG(files->split));
}

/* A file that matches several patterns of a split comes several times, as in Python. */
static void collect(const struct layout *l, const struct split_rule *rule, struct hf_files *files)
{
    struct sv below;
    files->names = arena_array(&files->arena, l->count * rule->count + 1, sizeof(*files->names));
    for (size_t p = 0; p < rule->count; p++)
        for (size_t i = 0; i < l->count; i++)
            if (visible(l, l->names[i], &below) && hf_glob_match(rule->patterns[p], below))
                files->names[files->count++] = arena_copy(&files->arena, l->names[i]);
}

bool hf_layout_find(const char *what, const struct sv *names, size_t count,
                    const struct hf_card *card, const struct hf_wanted *wanted,
                    struct hf_files *files, struct error *err)
{
    struct layout l = {
        .what = what, .names = names, .count = count, .folder = {"", 0}, .config = {"", 0}};
    struct hf_files made = {0};
    const struct split_rule *rule =
        choose_config(&l, card, wanted, err) ? choose_split(&l, wanted, err) : NULL;
    bool ok = rule != NULL;
    if (ok) {
        made.split = arena_copy(&made.arena, rule->name);
        made.config = arena_copy(&made.arena, l.config);
        collect(&l, rule, &made);
        ok = keep_one_kind(&l, &made, err);
    }
    if (ok)
        *files = made;
    else
        arena_done(&made.arena);
    arena_done(&l.arena);
    return ok;
}

void hf_files_done(struct hf_files *files)
{
    arena_done(&files->arena);
    *files = (struct hf_files){0};
}
