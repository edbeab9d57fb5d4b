/* Reads the lines of a metrics page that tell of speculative and diffusion decoding (ORCHESTRATION 10).
 *
 * Example: vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="2"} 40.0 adds 40 to position 2. */
#include "load/scrape.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/num.h"

struct sample {
    struct sv name;
    int64_t position; /* label position="..."; -1 when there is none */
    int64_t value;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct sv skip_blanks(struct sv text)
{
    while (text.len > 0 && is_blank(text.ptr[0]))
        text = sv_skip(text, 1);
    return text;
}

/* One label NAME="VALUE" off *rest; false at the closing brace and at anything else, which is left in *rest. */
static bool take_label(struct sv *rest, struct sv *name, struct sv *value)
{
    struct sv at = skip_blanks(*rest);
    if (at.len > 0 && at.ptr[0] == ',')
        at = skip_blanks(sv_skip(at, 1));
    *rest = at;
    size_t equals = sv_find(at, '=');
    if (at.len == 0 || at.ptr[0] == '}' || equals == at.len)
        return false;
    *name = sv_trim(sv_make(at.ptr, equals));
    at = skip_blanks(sv_skip(at, equals + 1));
    if (at.len == 0 || at.ptr[0] != '"')
        return false;
    at = sv_skip(at, 1);
    size_t n = 0;
    while (n < at.len && at.ptr[n] != '"')
        n += at.ptr[n] == '\\' ? 2 : 1;
    if (n >= at.len)
        return false;
    *value = sv_make(at.ptr, n);
    *rest = sv_skip(at, n + 1);
    return true;
}

/* Steps over {label="value",...} and keeps the position; false when it is not well-formed. */
static bool take_labels(struct sv *rest, int64_t *position)
{
    struct sv name, value;
    *rest = sv_skip(*rest, 1);
    while (take_label(rest, &name, &value))
        if (sv_eq(name, SV_LIT("position")) && !num_parse_i64(value, position))
            return false;
    if (rest->len == 0 || rest->ptr[0] != '}')
        return false;
    *rest = sv_skip(*rest, 1);
    return true;
}

static bool take_value(struct sv rest, int64_t *out)
{
    size_t n = 0;
    double value;
    rest = skip_blanks(rest);
    while (n < rest.len && !is_blank(rest.ptr[n]))
        n++;
    if (!num_parse_double(sv_make(rest.ptr, n), &value) || !(fabs(value) < 9e18))
        return false;
    *out = (int64_t)value;
    return true;
}

static bool read_sample(struct sv line, struct sample *sample)
{
    size_t n = 0;
    while (n < line.len && line.ptr[n] != '{' && !is_blank(line.ptr[n]))
        n++;
    *sample = (struct sample){.name = sv_make(line.ptr, n), .position = -1};
    struct sv rest = skip_blanks(sv_skip(line, n));
    if (rest.len > 0 && rest.ptr[0] == '{' && !take_labels(&rest, &sample->position))
        return false;
    return take_value(rest, &sample->value);
}

/* A sum that leaves its range stays at what it was. */
static void add_to(int64_t *sum, int64_t value)
{
    int64_t result;
    if (!__builtin_add_overflow(*sum, value, &result))
        *sum = result;
}

static void add_position(struct server_counters *c, const struct sample *sample)
{
    if (sample->position < 0)
        return;
    size_t i = 0;
    while (i < c->position_count && c->positions[i].position != sample->position)
        i++;
    if (i == SERVER_POSITIONS_MAX)
        return;
    if (i == c->position_count)
        c->positions[c->position_count++] = (struct server_position){sample->position, 0};
    add_to(&c->positions[i].accepted, sample->value);
}

static bool contains(struct sv text, const char *part)
{
    return memmem(text.ptr, text.len, part, strlen(part)) != NULL;
}

static void add_speculation(struct server_counters *c, const struct sample *sample)
{
    c->has_speculation = true;
    if (contains(sample->name, "num_drafts"))
        add_to(&c->drafts, sample->value);
    else if (contains(sample->name, "num_draft_tokens"))
        add_to(&c->draft_tokens, sample->value);
    else if (contains(sample->name, "num_accepted_tokens_per_pos"))
        add_position(c, sample);
    else if (contains(sample->name, "num_accepted_tokens"))
        add_to(&c->accepted_tokens, sample->value);
}

static void add_diffusion(struct server_counters *c, const struct sample *sample)
{
    c->has_diffusion = true;
    if (contains(sample->name, "num_denoising_steps"))
        add_to(&c->denoising_steps, sample->value);
    else if (contains(sample->name, "num_canvas_positions"))
        add_to(&c->canvas_positions, sample->value);
    else if (contains(sample->name, "num_committed_tokens"))
        add_to(&c->committed_tokens, sample->value);
}

void scrape_parse(struct sv page, struct server_counters *counters)
{
    struct sv line;
    *counters = (struct server_counters){0};
    while (sv_split(&page, '\n', &line)) {
        struct sample sample;
        line = sv_trim(line);
        bool speculation = sv_starts(line, SV_LIT("vllm:spec_decode"));
        if (!speculation && !sv_starts(line, SV_LIT("vllm:diffusion")))
            continue;
        if (!read_sample(line, &sample) || !sv_ends(sample.name, SV_LIT("_total")))
            continue;
        if (speculation)
            add_speculation(counters, &sample);
        else
            add_diffusion(counters, &sample);
    }
}

bool scrape_counters(const struct server *s, const struct fetch_patience *patience,
                     struct server_counters *counters)
{
    struct buf page = {0};
    struct error err;
    *counters = (struct server_counters){0};
    if (server_get_patiently(s, "/metrics", SCRAPE_TIMEOUT_S * NS_PER_S, patience, &page, &err))
        scrape_parse(buf_sv(&page), counters);
    buf_done(&page);
    return counters->has_speculation || counters->has_diffusion;
}
