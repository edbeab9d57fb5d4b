/* Questions to the datasets server, and the choice of configuration and split. */
#include "hub/datasets_server.h"

#include "hub/answers.h"
#include "hub/hub_priv.h"

/* GET BASE/QUESTION?dataset=ID; the body into *reply. */
static enum hub_outcome ask(struct hub_context *hub, const char *question, const char *id,
                            struct hub_reply *reply, struct error *err)
{
    struct buf url = {0};
    struct buf what = {0};
    enum hub_outcome outcome = HUB_FAILED;
    buf_add_fmt(&what, "/%s of the data set '%s'", question, id);
    if (!hub_is_id(id)) {
        error_set(err, E_CONFIG, "'%s' is no name of a data set; ORG/NAME is expected", id);
    } else if (hub->offline) {
        error_set(err, E_NETWORK,
                  "HF_HUB_OFFLINE is set, so the datasets server is not asked for %s",
                  buf_cstr(&what));
        outcome = HUB_OFFLINE;
    } else {
        buf_add_fmt(&url, "%s/%s?dataset=", hub->datasets_server, question);
        hub_add_escaped(&url, sv_from(id), false);
        struct hub_request request = {.url = buf_cstr(&url), .wait = HUB_WAIT_JSON};
        outcome = hub_send_patiently(hub, &request, reply, err);
        if (outcome == HUB_OK)
            outcome = hub_judge(hub, reply, buf_cstr(&what), err);
    }
    buf_done(&url);
    buf_done(&what);
    return outcome;
}

enum hub_outcome datasets_info_get(struct hub_context *hub, const char *id,
                                   struct datasets_info *info, struct error *err)
{
    struct hub_reply reply = {0};
    *info = (struct datasets_info){0};
    enum hub_outcome outcome = ask(hub, "info", id, &reply, err);
    if (outcome == HUB_OK && !hub_parse_info(buf_sv(&reply.body), info, err)) {
        error_context(err, "data set '%s'", id);
        outcome = HUB_FAILED;
    }
    hub_reply_done(&reply);
    return outcome;
}

void datasets_info_done(struct datasets_info *info)
{
    arena_done(&info->arena);
    *info = (struct datasets_info){0};
}

enum hub_outcome datasets_parquet_list(struct hub_context *hub, const char *id, const char *config,
                                       const char *split, struct hub_names *names,
                                       struct error *err)
{
    struct hub_reply reply = {0};
    *names = (struct hub_names){0};
    enum hub_outcome outcome = ask(hub, "parquet", id, &reply, err);
    if (outcome == HUB_OK && !hub_parse_parquet(buf_sv(&reply.body), config, split, names, err)) {
        error_context(err, "data set '%s'", id);
        outcome = HUB_FAILED;
    }
    hub_reply_done(&reply);
    return outcome;
}

/* ---- the choice --------------------------------------------------------------------------------------------------- */

static const struct datasets_config *config_named(const struct datasets_info *info, struct sv name)
{
    for (size_t i = 0; i < info->count; i++)
        if (sv_eq(info->configs[i].name, name))
            return &info->configs[i];
    return NULL;
}

static bool has_split(const struct datasets_config *config, struct sv name)
{
    for (size_t i = 0; i < config->split_count; i++)
        if (sv_eq(config->splits[i], name))
            return true;
    return false;
}

static void add_name(struct buf *out, struct sv name)
{
    buf_add_fmt(out, "%s'" SV_FMT "'", out->len > 0 ? ", " : "", SV_ARG(name));
}

static bool no_config(const struct datasets_info *info, const char *name, struct error *err)
{
    struct buf known = {0};
    for (size_t i = 0; i < info->count; i++)
        add_name(&known, info->configs[i].name);
    error_set(err, E_CONFIG, "the data set has no configuration '%s'; it has %s", name,
              buf_cstr(&known));
    buf_done(&known);
    return false;
}

static bool no_split(const struct datasets_config *config, const char *name, struct error *err)
{
    struct buf known = {0};
    for (size_t i = 0; i < config->split_count; i++)
        add_name(&known, config->splits[i]);
    error_set(err, E_CONFIG,
              "configuration '" SV_FMT "' of the data set has no split '%s'; it has %s",
              SV_ARG(config->name), name, known.len > 0 ? buf_cstr(&known) : "none");
    buf_done(&known);
    return false;
}

bool datasets_info_choose(const struct datasets_info *info, const char *config, const char *split,
                          struct sv *chosen_config, struct sv *chosen_split, struct error *err)
{
    static const struct sv usual[] = {{"train", 5}, {"test", 4}, {"validation", 10}};
    const struct datasets_config *c =
        config_named(info, config != NULL ? sv_from(config) : SV_LIT("default"));
    if (c == NULL && (config != NULL || info->count == 0))
        return no_config(info, config != NULL ? config : "default", err);
    c = c != NULL ? c : &info->configs[0];
    struct sv s = split != NULL ? sv_from(split) : (struct sv){0};
    if (split != NULL && !has_split(c, s))
        return no_split(c, split, err);
    for (size_t i = 0; i < 3 && s.ptr == NULL; i++)
        s = has_split(c, usual[i]) ? usual[i] : s;
    if (s.ptr == NULL && c->split_count == 0)
        return no_split(c, "train", err);
    *chosen_config = c->name;
    *chosen_split = s.ptr != NULL ? s : c->splits[0];
    return true;
}
