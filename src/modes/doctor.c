/* The order of the checks: first the way to the server, then what it says of itself, then the machine.  Each finding is
 * one of three: good, doubtful (figures may mislead), failed (a run would not work). */
#include "modes/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "config/secrets.h"
#include "json/tree.h"
#include "json/writer.h"
#include "mock/mock.h"
#include "modes/doctor_priv.h"

const char doctor_sample[] =
    "The quick brown fox jumps over 13 lazy dogs; Stra\xc3\x9f"
    "e, na\xc3\xafve caf\xc3\xa9, \xe4\xbd\xa0\xe5\xa5\xbd\xe4\xb8\x96\xe7\x95\x8c, "
    "\xf0\x9f\x99\x82 1234567.89 == x[i] += 2;\n\n\tif (a != b) return  NULL;";

__attribute__((format(printf, 5, 0))) static void say(struct doctor *d, const char *verdict,
                                                      const char *what, const char *mend,
                                                      const char *format, va_list args)
{
    struct buf text = {0};
    struct buf shown = {0};
    buf_add_vfmt(&text, format, args);
    config_redact(d->config, buf_sv(&text), &shown);
    printf("%-5s %-10s " SV_FMT "\n", verdict, what, SV_ARG(buf_sv(&shown)));
    if (mend != NULL)
        printf("      %-10s mend: %s\n", "", mend);
    fflush(stdout);
    buf_done(&text);
    buf_done(&shown);
}

void doctor_ok(struct doctor *d, const char *what, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(d, "ok", what, NULL, format, args);
    va_end(args);
    d->good++;
}

void doctor_warn(struct doctor *d, const char *what, const char *mend, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(d, "warn", what, mend, format, args);
    va_end(args);
    d->doubtful++;
}

void doctor_fail(struct doctor *d, const char *what, const char *mend, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(d, "FAIL", what, mend, format, args);
    va_end(args);
    d->failed++;
}

uint64_t doctor_concurrency(const struct doctor *d)
{
    const struct config *config = d->config;
    return config->max_concurrency > 0 && config->max_concurrency < config->num_prompts
               ? config->max_concurrency
               : config->num_prompts;
}

/* ---- the models ------------------------------------------------------------------------------------------------- */

static const char *mend_models(const struct doctor *d, const char *message)
{
    struct sv prefix = sv_from(d->session.target.prefix);
    if (strstr(message, "HTTP 401") != NULL || strstr(message, "HTTP 403") != NULL)
        return "set OPENAI_API_KEY, or give --header Authorization='Bearer KEY'";
    if (sv_ends(prefix, SV_LIT("/v1")))
        return "leave '/v1' out of --base-url: the endpoint begins with it";
    if (strstr(message, "HTTP 404") != NULL)
        return "is this the server's own address, and not that of a page or proxy in front of it?";
    if (strstr(message, "HTTP 5") != NULL)
        return "the server, or a proxy before it, is ill or still loading the model; see its log";
    return "does the server speak HTTP there?  Perhaps the URL needs https://, or another port";
}

/* Whether the model has room for the lengths that a run with these settings would ask for. */
static void check_room(struct doctor *d, const struct js_value *model)
{
    const struct config *config = d->config;
    int64_t room;
    uint64_t need =
        config->random_prefix_len + config->random_input_len + config->random_output_len;
    if (strcmp(config->dataset_name, "random") != 0 || config->prompt_token_ids ||
        !js_as_i64(js_get(model, "max_model_len"), &room) || room <= 0)
        return;
    if (need > (uint64_t)room)
        doctor_fail(
            d, "length",
            "lower --random-input-len or --random-output-len, or start the server "
            "with a larger --max-model-len",
            "the model takes %lld tokens, prompt and answer together; these settings ask for "
            "%llu",
            (long long)room, (unsigned long long)need);
    else
        doctor_ok(d, "length", "the model takes %lld tokens; these settings ask for %llu",
                  (long long)room, (unsigned long long)need);
}

static void judge_models(struct doctor *d, const struct js_value *list)
{
    const struct config *config = d->config;
    const char *wanted =
        config->served_model_name != NULL ? config->served_model_name : config->model;
    const struct js_value *found = wanted == NULL ? js_at(list, 0) : NULL;
    struct buf names = {0};
    for (const struct js_value *m = list != NULL ? list->first : NULL; m != NULL; m = m->next) {
        struct sv id = {0};
        if (!js_as_sv(js_get(m, "id"), &id))
            continue;
        buf_add_fmt(&names, "%s'" SV_FMT "'", names.len > 0 ? ", " : "", SV_ARG(id));
        if (wanted != NULL && sv_eq(id, sv_from(wanted)))
            found = m;
    }
    if (names.len == 0)
        doctor_fail(d, "models", "name the model with --model; the server's list is empty",
                    "/v1/models lists none");
    else if (found == NULL)
        doctor_fail(d, "models",
                    "use a name of the list, exactly: --model, or --served-model-name beside it",
                    "the server has no '%s'; it has %s", wanted, buf_cstr(&names));
    else
        doctor_ok(d, "models", "%s", buf_cstr(&names));
    if (found != NULL)
        check_room(d, found);
    buf_done(&names);
}

static void show_version(struct doctor *d)
{
    struct buf reply = {0};
    struct error err;
    struct sv version;
    if (!server_get(&d->session.server, "/version", 5 * NS_PER_S, &reply, &err)) {
        buf_done(&reply);
        return; /* only some servers have it */
    }
    const struct js_value *tree = js_parse(&d->session.arena, buf_sv(&reply), "/version", &err);
    if (tree != NULL && js_as_sv(js_get(tree, "version"), &version))
        doctor_ok(d, "version", "the server says " SV_FMT, SV_ARG(version));
    buf_done(&reply);
}

static void check_models(struct doctor *d)
{
    struct buf reply = {0};
    struct error err = {0};
    if (!server_get(&d->session.server, "/v1/models", 10 * NS_PER_S, &reply, &err)) {
        doctor_fail(d, "models", mend_models(d, err.message), "%s", err.message);
    } else {
        const struct js_value *tree =
            js_parse(&d->session.arena, buf_sv(&reply), "the reply of /v1/models", &err);
        if (tree == NULL)
            doctor_fail(d, "models", mend_models(d, ""), "%s", err.message);
        else
            judge_models(d, js_get(tree, "data"));
        show_version(d);
    }
    buf_done(&reply);
}

/* ---- tokens ----------------------------------------------------------------------------------------------------- */

/* What the server's /tokenize says; false when it has none. */
static bool count_on_server(struct doctor *d, int64_t *count)
{
    struct buf body = {0};
    struct buf reply = {0};
    struct error err;
    struct js_writer w;
    js_writer_init(&w, &body);
    js_begin_object(&w);
    js_key(&w, "model");
    js_cstring(&w, d->session.wire_model);
    js_key(&w, "prompt");
    js_cstring(&w, doctor_sample);
    js_end_object(&w);
    bool ok = server_post(&d->session.server, "/tokenize", buf_sv(&body), &reply, &err);
    const struct js_value *tree =
        ok ? js_parse(&d->session.arena, buf_sv(&reply), "/tokenize", &err) : NULL;
    ok = tree != NULL && js_as_i64(js_get(tree, "count"), count);
    buf_done(&body);
    buf_done(&reply);
    return ok;
}

/* `usage`: prompt tokens of the streaming request, which sent the same text; -1: not said. */
static void check_tokens(struct doctor *d, int64_t usage)
{
    const struct tokenizer *t = d->session.tokenizer;
    struct token_ids ids = {0};
    struct error err;
    int64_t theirs = -1;
    bool asked = count_on_server(d, &theirs);
    bool completions = strcmp(d->session.backend->endpoint_suffix, "completions") == 0;
    if (t == NULL || tokenizer_is_remote(t)) {
        doctor_warn(d, "tokens", "name a folder with the model's tokenizer.json: --tokenizer DIR",
                    "no local tokenizer; %s",
                    asked ? "the server's own is asked, which is slow for large runs"
                          : "and the server has no /tokenize: lengths cannot be checked");
        return;
    }
    if (!tokenizer_encode(t, sv_from(doctor_sample), true, &ids, &err)) {
        doctor_fail(d, "tokens", NULL, "%s", err.message);
        return;
    }
    long long ours = (long long)ids.count;
    token_ids_done(&ids);
    if (!asked && completions)
        theirs = usage;
    if (theirs < 0)
        doctor_warn(
            d, "tokens", NULL,
            "%lld tokens by the local tokenizer; the server has no /tokenize to compare with",
            ours);
    else if (theirs != ours)
        doctor_fail(
            d, "tokens",
            "take the tokenizer of the very model that is served (--tokenizer); lengths and "
            "token rates would be wrong",
            "a sample text has %lld tokens by the local tokenizer, %lld by the server", ours,
            (long long)theirs);
    else
        doctor_ok(d, "tokens", "server and local tokenizer agree: %lld tokens of a sample text",
                  ours);
}

/* ---- all ------------------------------------------------------------------------------------------------------- */

static bool start_mock(struct doctor *d, pid_t *pid)
{
    struct mock_options options;
    struct error err;
    uint16_t port;
    mock_options_init(&options);
    if (!mock_spawn(&options, pid, &port, &err)) {
        doctor_fail(d, "mock", NULL, "%s", err.message);
        return false;
    }
    d->config->base_url = NULL;
    d->config->host = "127.0.0.1";
    d->config->port = port;
    d->config->mock = false;
    return true;
}

/* As serve would open it; what only the tokenizer lacks does not end the examination. */
static bool open_session(struct doctor *d, bool *has_tokenizer)
{
    struct error err = {0};
    *has_tokenizer = true;
    if (session_open(&d->session, d->config, &err) && session_resolve(&d->session, &err))
        return true;
    doctor_fail(d, "tokenizer",
                "--tokenizer DIR, or --skip-tokenizer-init with data that needs none", "%s",
                err.message);
    session_close(&d->session);
    d->config->skip_tokenizer_init = true;
    *has_tokenizer = false;
    return session_open(&d->session, d->config, &err) && session_resolve(&d->session, &err);
}

static void check_server(struct doctor *d)
{
    int64_t prompt_tokens = -1;
    bool has_tokenizer;
    if (!doctor_check_way(d))
        return;
    unsigned before = d->failed;
    check_models(d);
    session_close(&d->session);
    d->session = (struct session){.config = d->config};
    if (d->failed > before && d->config->model == NULL)
        return; /* without a model nothing can be asked */
    if (!open_session(d, &has_tokenizer))
        return;
    doctor_check_stream(d, &prompt_tokens);
    if (has_tokenizer)
        check_tokens(d, prompt_tokens);
}

void doctor_run(struct config *config, unsigned *failures)
{
    struct doctor *d = mem_new(struct doctor);
    pid_t mock = 0;
    d->config = config;
    if (!config->mock || start_mock(d, &mock))
        check_server(d);
    session_close(&d->session);
    doctor_check_machine(d);
    printf("\n%u good, %u doubtful, %u failed\n", d->good, d->doubtful, d->failed);
    if (mock > 0)
        mock_reap(mock);
    *failures = d->failed;
    free(d);
}
