/* See hf_card.h.  The forms of `data_files` (datasets 5.2: data_files.py): one pattern, a list of patterns, both for the
 * split "train", or a list of {split, path}, path being one pattern or a list. */
#include "datasets/hf_card.h"

#include <yaml.h>

struct reader {
    yaml_document_t document;
    struct arena *arena;
};

static const yaml_node_t *node_at(struct reader *r, int id)
{
    return yaml_document_get_node(&r->document, id);
}

static struct sv scalar_of(const struct reader *r, const yaml_node_t *node)
{
    if (node == NULL || node->type != YAML_SCALAR_NODE)
        return (struct sv){0};
    struct sv text = sv_make((const char *)node->data.scalar.value, node->data.scalar.length);
    return arena_copy(r->arena, text);
}

static const yaml_node_t *member(struct reader *r, const yaml_node_t *mapping, const char *name)
{
    if (mapping == NULL || mapping->type != YAML_MAPPING_NODE)
        return NULL;
    for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         pair < mapping->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = node_at(r, pair->key);
        if (key != NULL && key->type == YAML_SCALAR_NODE &&
            sv_eq(sv_make((const char *)key->data.scalar.value, key->data.scalar.length),
                  sv_from(name)))
            return node_at(r, pair->value);
    }
    return NULL;
}

static size_t length_of(const yaml_node_t *list)
{
    return list != NULL && list->type == YAML_SEQUENCE_NODE
               ? (size_t)(list->data.sequence.items.top - list->data.sequence.items.start)
               : 0;
}

static const yaml_node_t *element(struct reader *r, const yaml_node_t *list, size_t index)
{
    return node_at(r, list->data.sequence.items.start[index]);
}

/* One pattern or a list of them. */
static void read_patterns(struct reader *r, const yaml_node_t *node, struct hf_card_split *split)
{
    size_t count = length_of(node);
    split->patterns = arena_array(r->arena, count + 1, sizeof(*split->patterns));
    if (node != NULL && node->type == YAML_SCALAR_NODE)
        split->patterns[split->count++] = scalar_of(r, node);
    for (size_t i = 0; i < count; i++) {
        struct sv pattern = scalar_of(r, element(r, node, i));
        if (pattern.len > 0)
            split->patterns[split->count++] = pattern;
    }
}

static void read_files(struct reader *r, const yaml_node_t *files, struct hf_card_config *config)
{
    size_t count = length_of(files);
    bool named = count > 0 && element(r, files, 0) != NULL &&
                 element(r, files, 0)->type == YAML_MAPPING_NODE;
    if (files == NULL)
        return;
    config->splits = arena_array(r->arena, named ? count : 1, sizeof(*config->splits));
    if (!named) {
        config->splits[0].name = SV_LIT("train");
        read_patterns(r, files, &config->splits[0]);
        config->count = 1;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const yaml_node_t *entry = element(r, files, i);
        struct sv name = scalar_of(r, member(r, entry, "split"));
        if (name.len == 0)
            continue;
        config->splits[config->count].name = name;
        read_patterns(r, member(r, entry, "path"), &config->splits[config->count++]);
    }
}

static void read_configs(struct reader *r, struct hf_card *card)
{
    const yaml_node_t *root = yaml_document_get_root_node(&r->document);
    const yaml_node_t *configs = member(r, root, "configs");
    size_t count = length_of(configs);
    card->has_features = member(r, root, "dataset_info") != NULL;
    card->configs = arena_array(r->arena, count + 1, sizeof(*card->configs));
    for (size_t i = 0; i < count; i++) {
        const yaml_node_t *entry = element(r, configs, i);
        struct hf_card_config *config = &card->configs[card->count];
        config->name = scalar_of(r, member(r, entry, "config_name"));
        if (config->name.len == 0)
            continue;
        config->is_default = sv_eq(scalar_of(r, member(r, entry, "default")), SV_LIT("true"));
        config->folder = scalar_of(r, member(r, entry, "data_dir"));
        read_files(r, member(r, entry, "data_files"), config);
        card->count++;
    }
}

/* What stands between the first line, "---", and the next such line. */
static struct sv front_matter(struct sv text)
{
    struct sv line;
    if (sv_starts(text, SV_LIT("\xEF\xBB\xBF")))
        text = sv_skip(text, 3);
    if (!sv_split(&text, '\n', &line) || !sv_eq(sv_trim(line), SV_LIT("---")))
        return (struct sv){0};
    const char *start = text.ptr;
    while (sv_split(&text, '\n', &line))
        if (sv_starts(line, SV_LIT("---")) && sv_eq(sv_trim(line), SV_LIT("---")))
            return sv_make(start, (size_t)(line.ptr - start));
    return (struct sv){0};
}

bool hf_card_parse(struct sv readme, struct hf_card *card, struct error *err)
{
    struct sv front = front_matter(readme);
    struct hf_card made = {0};
    struct reader r = {.arena = &made.arena};
    yaml_parser_t parser;
    if (front.len == 0) {
        *card = made;
        return true;
    }
    if (!yaml_parser_initialize(&parser))
        return error_set(err, E_LIMIT, "no memory for reading YAML");
    yaml_parser_set_input_string(&parser, (const unsigned char *)front.ptr, front.len);
    bool ok = yaml_parser_load(&parser, &r.document) != 0;
    if (ok) {
        read_configs(&r, &made);
        yaml_document_delete(&r.document);
        *card = made;
    } else {
        error_set(err, E_PARSE, "line %zu: %s", parser.problem_mark.line + 2,
                  parser.problem != NULL ? parser.problem : "malformed YAML");
        arena_done(&made.arena);
    }
    yaml_parser_delete(&parser);
    return ok;
}

void hf_card_done(struct hf_card *card)
{
    arena_done(&card->arena);
    *card = (struct hf_card){0};
}
