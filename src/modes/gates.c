/* A gate that cannot be judged, because its figure is not in the result, is not met: a typing error must not let a
 * regression through. */
#include "modes/gates.h"

#include <math.h>

#include "base/buf.h"
#include "base/num.h"
#include "output/figures.h"

static bool holds(enum gate_op op, double value, double limit)
{
    switch (op) {
    case GATE_GT:
        return value > limit;
    case GATE_GE:
        return value >= limit;
    case GATE_LT:
        return value < limit;
    case GATE_LE:
        return value <= limit;
    case GATE_EQ:
        return value <= limit && value >= limit;
    case GATE_NE:
        return value < limit || value > limit;
    }
    return false;
}

static void complain(struct buf *out, const char *text)
{
    buf_add_fmt(out, "%s%s", out->len > 0 ? "; " : "", text);
}

static void check_failures(const struct config *config, const struct js_value *result,
                           struct buf *out)
{
    const struct config_max_failures *gate = &config->max_failures;
    double failed = 0.0;
    double completed = 0.0;
    double unfinished = 0.0;
    if (!gate->given)
        return;
    js_as_double(js_get(result, "failed"), &failed);
    js_as_double(js_get(result, "completed"), &completed);
    js_as_double(js_get(result, "unfinished"), &unfinished); /* only there with --duration */
    double sent = failed + completed + unfinished;
    double bad = failed + unfinished;
    char limit[NUM_TEXT_MAX];
    num_format_short(limit, gate->limit);
    if (gate->percent ? bad * 100.0 <= gate->limit * sent : bad <= gate->limit)
        return;
    struct buf text = {0};
    buf_add_fmt(&text, "--max-failures %s%s: %.0f of %.0f requests failed", limit,
                gate->percent ? "%" : "", failed, sent);
    if (unfinished > 0.0)
        buf_add_fmt(&text, ", %.0f were unfinished", unfinished);
    complain(out, buf_cstr(&text));
    buf_done(&text);
}

static void check_rule(const struct config_gate *gate, const struct js_value *result,
                       struct buf *out)
{
    const struct js_value *found = figure_find(result, gate->key);
    struct buf text = {0};
    double value = 0.0;
    struct sv written = {0};
    if (found == NULL) {
        buf_add_fmt(&text, "--fail-if '%s': the result has no '" SV_FMT "'", gate->text,
                    SV_ARG(gate->key));
    } else if (!js_as_double(found, &value) &&
               !(js_as_sv(found, &written) && num_parse_double(written, &value))) {
        buf_add_fmt(&text, "--fail-if '%s': '" SV_FMT "' is no number in this result", gate->text,
                    SV_ARG(gate->key));
    } else if (holds(gate->op, value, gate->limit)) {
        char number[NUM_TEXT_MAX];
        num_format_short(number, value);
        buf_add_fmt(&text, "--fail-if '%s': it is %s", gate->text, number);
    }
    if (text.len > 0)
        complain(out, buf_cstr(&text));
    buf_done(&text);
}

bool gates_check(const struct config *config, const struct js_value *result, const char *where,
                 struct error *err)
{
    struct buf text = {0};
    check_failures(config, result, &text);
    for (size_t i = 0; i < config->fail_if.count; i++)
        check_rule(&config->fail_if.items[i], result, &text);
    bool ok = text.len == 0;
    if (!ok)
        error_set(err, E_GATE, "gate not met%s%s: %s", where != NULL ? " at " : "",
                  where != NULL ? where : "", buf_cstr(&text));
    buf_done(&text);
    return ok;
}
