/* One benchmark run from settings to results.  The phases follow ORCHESTRATION section 2: target, model, tokenizer,
 * workload, ready check, prompt alignment, warm-ups, load, figures, file, console. */
#include "modes/serve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "config/secrets.h"
#include "datasets/dataset.h"
#include "load/align.h"
#include "load/fit.h"
#include "load/load.h"
#include "load/lora.h"
#include "load/probe.h"
#include "load/ready.h"
#include "load/schedule.h"
#include "load/scrape.h"
#include "load/server.h"
#include "mock/mock.h"
#include "net/proxy.h"
#include "net/tls.h"
#include "output/console.h"
#include "output/notes.h"
#include "output/progress.h"
#include "output/result.h"

struct serve {
    struct config *config;
    const struct backend *backend;
    struct net_target target;
    struct server server;
    struct tls_context *tls; /* NULL: plain */
    struct fetch_pool pool;  /* connections that are open before the load */
    struct arena arena;
    pid_t mock_pid;         /* 0: none */
    const char *wire_model; /* the name in request bodies */
    const char *tokenizer_id;
    struct tokenizer *tokenizer;
    struct mt19937 py, npl; /* the process-wide random streams */
    struct workload workload;
    struct body_template body;
    struct sv *lora; /* adapters as the body holds them, and which one each request uses */
    uint32_t *lora_of;
    struct buf headers;
    struct buf path;
    uint64_t *due_ns;
    struct load_plan plan;
    struct load_result load;
    struct probe *probe; /* NULL: none asked for; freed when the load has ended */
    struct probe_stats probe_stats;
    struct server_stats server_stats;
    struct summary summary;
    struct progress progress;
    struct rps_change *rps_changes;
    size_t rps_change_count;
};

static void say(const char *sentence)
{
    note(stderr, "%s", sentence);
}

/* A text in which a server may have repeated a key, fit to be shown; it lives as long as the run. */
static const char *redacted(struct serve *s, const char *text)
{
    struct buf out = {0};
    config_redact(s->config, sv_from(text), &out);
    struct sv kept = arena_copy(&s->arena, buf_sv(&out));
    buf_done(&out);
    return kept.ptr;
}

static void dataset_notice(void *user, const char *sentence)
{
    (void)user;
    say(sentence);
}

/* ---- where and what -------------------------------------------------------------------------------------------- */

static bool start_mock(struct serve *s, struct error *err)
{
    struct config *config = s->config;
    if (!config->mock)
        return true;
    struct mock_options options;
    mock_options_init(&options);
    uint16_t port;
    if (!mock_spawn(&options, &s->mock_pid, &port, err))
        return error_context(err, "--mock");
    config->base_url = NULL;
    config->host = "127.0.0.1";
    config->port = port;
    note(stderr, "Embedded mock server: http://127.0.0.1:%u", port);
    return true;
}

static bool set_backend(struct serve *s, struct error *err)
{
    s->backend = backend_find(s->config->backend);
    if (s->backend == NULL) {
        error_set(err, E_USAGE, "--backend: '%s' is not a backend of this version",
                  s->config->backend);
        return false;
    }
    return true;
}

/* TLS, proxy, unix-domain socket: how the target is reached. */
static bool set_way(struct serve *s, struct error *err)
{
    const struct config *config = s->config;
    if (config->unix_socket != NULL && !target_set_unix(&s->target, config->unix_socket, err))
        return false;
    if (!config->no_proxy) {
        struct proxy_settings settings = proxy_from_env();
        if (!proxy_apply(&settings, &s->target, err))
            return false;
    }
    if (s->target.proxied)
        note(stderr, "Proxy of the environment: %s:%u (--no-proxy connects directly)",
             s->target.dial_host, s->target.dial_port);
    if (!s->target.tls)
        return true;
    struct tls_options options = {config->insecure, config->ca_file, config->cert_file,
                                  config->key_file};
    s->tls = tls_context_new(&options, err);
    s->target.tls_context = s->tls;
    return s->tls != NULL;
}

static bool set_target(struct serve *s, struct error *err)
{
    const struct config *config = s->config;
    bool ok = config->base_url != NULL
                  ? target_parse(&s->target, sv_from(config->base_url), err) ||
                        error_context(err, "--base-url")
                  : target_from_host(&s->target, config->host, config->port, err);
    if (!ok)
        return false;
    if (!set_way(s, err))
        return false;
    fetch_pool_init(&s->pool, &s->target);
    s->server = (struct server){config, &s->target, &s->pool};
    struct sv endpoint =
        sv_from(config->endpoint != NULL ? config->endpoint : s->backend->endpoint);
    const char *suffix2 = s->backend->endpoint_suffix2;
    if (!sv_ends(endpoint, sv_from(s->backend->endpoint_suffix)) &&
        (suffix2 == NULL || !sv_ends(endpoint, sv_from(suffix2))))
        note(stderr, "warning: --endpoint '" SV_FMT "' does not end in '%s', as %s requests expect",
             SV_ARG(endpoint), s->backend->endpoint_suffix, s->backend->name);
    target_request_base(&s->target, &s->path);
    if (!sv_starts(endpoint, SV_LIT("/")))
        buf_add_char(&s->path, '/');
    buf_add(&s->path, endpoint);
    return true;
}

static bool resolve(struct serve *s, struct error *err)
{
    if (s->target.address_len > 0)
        return true;
    if (!target_resolve(&s->target, err))
        return false;
    if (!s->target.answered)
        note(stderr, "warning: no address of host '%s' accepts connections; using %s",
             s->target.host, s->target.address_text);
    else if (strstr(s->target.address_text, s->target.host) == NULL)
        note(stderr, "Host '%s' answers at %s", s->target.host, s->target.address_text);
    return true;
}

static bool set_model(struct serve *s, struct error *err)
{
    struct config *config = s->config;
    if (config->model == NULL) {
        struct server_model model;
        if (!resolve(s, err) || !server_discover(&s->server, &s->arena, &model, err))
            return false;
        s->wire_model = mem_strndup(model.id.ptr, model.id.len);
        config->model = arena_strdup(&config->arena, arena_copy(&s->arena, model.root).ptr);
        note(stderr, "Model of the server: %s (root %s)", s->wire_model, config->model);
    } else {
        s->wire_model = mem_strdup(config->served_model_name != NULL ? config->served_model_name
                                                                     : config->model);
    }
    s->tokenizer_id = config->tokenizer != NULL ? config->tokenizer : config->model;
    return true;
}

/* ---- tokenizer and workload ------------------------------------------------------------------------------------ */

/* Local files first, then the server's own /tokenize (HUB_AND_TOKENIZERS 1). */
static bool set_tokenizer(struct serve *s, struct error *err)
{
    const struct config *config = s->config;
    if (config->skip_tokenizer_init)
        return true;
    if (file_exists(s->tokenizer_id)) {
        s->tokenizer = tokenizer_load(s->tokenizer_id, err);
        if (s->tokenizer == NULL)
            return error_context(err, "cannot load the tokenizer '%s'", s->tokenizer_id);
    } else if (dataset_needs_tokenizer(config)) {
        if (!resolve(s, err))
            return false;
        s->tokenizer = tokenizer_new_remote(s->wire_model, server_post, &s->server, err);
        if (s->tokenizer == NULL)
            return error_context(err,
                                 "no tokenizer '%s': it is no local path, and the server cannot "
                                 "tokenize either (name a folder with --tokenizer)",
                                 s->tokenizer_id);
    }
    if (s->tokenizer != NULL)
        note(stderr, "Tokenizer: %s", tokenizer_describe(s->tokenizer));
    return true;
}

static bool build_workload(struct serve *s, struct error *err)
{
    py_seed(&s->py, s->config->seed);
    npl_seed(&s->npl, (uint32_t)s->config->seed);
    struct dataset_context context = {
        .config = s->config,
        .tokenizer = s->tokenizer,
        .py = &s->py,
        .npl = &s->npl,
        .notice = dataset_notice,
    };
    return dataset_build(&context, &s->workload, err);
}

static void print_dry_run(const struct serve *s)
{
    struct dry_run_stats stats = {.prompts = s->workload.count};
    for (size_t i = 0; i < s->workload.count; i++) {
        stats.input_tokens += s->workload.requests[i].prompt_len;
        stats.output_tokens += s->workload.requests[i].output_len;
    }
    note_dry_run(stdout, &stats);
}

/* ---- the run --------------------------------------------------------------------------------------------------- */

static enum load_text text_needed(const struct serve *s)
{
    if (s->backend->pooling)
        return LOAD_TEXT_NONE;
    if (s->config->save_detailed)
        return LOAD_TEXT_ALWAYS;
    return s->tokenizer != NULL ? LOAD_TEXT_WITHOUT_USAGE : LOAD_TEXT_NONE;
}

static void show_progress(void *user, const struct load_progress *p)
{
    struct serve *s = user;
    struct progress_snapshot snapshot = {
        .done = p->done,
        .total = s->workload.count,
        .in_flight = p->sent - p->done,
        .failed = p->failed,
        .tokens = p->tokens,
        .elapsed_s = (double)p->elapsed_ns / 1e9,
    };
    progress_update(&s->progress, &snapshot, clock_mono_ns());
}

static struct sv model_text(struct serve *s, const char *name)
{
    struct buf text = {0};
    body_model_text(&s->body, name, &text);
    struct sv copy = arena_copy(&s->arena, buf_sv(&text));
    buf_done(&text);
    return copy;
}

/* What every request has in common, and whether the data set's requests go into it. */
static bool make_body(struct serve *s, struct error *err)
{
    const char *warning;
    if (!s->backend->body_parts(s->config, &s->body, err) ||
        !load_fits(s->backend, &s->body, &s->workload, &warning, err))
        return false;
    if (warning != NULL)
        note(stderr, "warning: %s", warning);
    server_headers(&s->server, s->backend->content_type, &s->headers);
    return true;
}

static bool make_plan(struct serve *s, struct error *err)
{
    const struct config *config = s->config;
    if (!make_body(s, err))
        return false;
    bool paced = !isinf(config->request_rate) || config->ramp_up_strategy != RAMP_UP_NONE;
    s->plan = (struct load_plan){
        .target = &s->target,
        .pool = &s->pool,
        .workload = &s->workload,
        .count = s->workload.count,
        .backend = s->backend,
        .body = &s->body,
        .model = model_text(s, s->wire_model),
        .path = buf_sv(&s->path),
        .headers = buf_sv(&s->headers),
        .id_prefix = config->request_id_prefix,
        .max_concurrency = config->max_concurrency,
        .concurrency_known = config->max_concurrency > 0 || !paced,
        .threads = config->client_threads,
        .request_timeout_ns = config->request_timeout_ns,
        .text = text_needed(s),
        .progress = show_progress,
        .user = s,
    };
    return true;
}

static void show_countdown(void *user, uint64_t left_s, const char *last_error)
{
    note(stderr, "Not ready (%s); %llu s left", redacted(user, last_error),
         (unsigned long long)left_s);
}

static bool wait_ready(struct serve *s, struct error *err)
{
    say(NOTE_TEST_RUN);
    if (s->config->ready_check_timeout_s == 0) {
        say(NOTE_READY_SKIPPED);
        return true;
    }
    note(stderr, NOTE_READY_WAIT, (unsigned long long)s->config->ready_check_timeout_s);
    if (!ready_check(&s->plan, s->config->ready_check_timeout_s, show_countdown, s, err))
        return false;
    say(NOTE_READY_DONE);
    return true;
}

/* Only prompts that were made up from token ids by a local tokenizer can be off. */
static void align(struct serve *s)
{
    if (strcmp(s->config->dataset_name, "random") != 0 || s->tokenizer == NULL ||
        tokenizer_is_remote(s->tokenizer) || !s->backend->streams)
        return;
    struct align_report report;
    align_prompts(&s->server, s->wire_model, &s->workload, &report);
    if (!report.available && report.problem[0] != '\0')
        note(stderr, "warning: prompt lengths were not checked against the server: %s",
             redacted(s, report.problem));
    if (report.mismatched > 0)
        note(stderr,
             "The server counts %zu of %zu probed prompts differently; %zu prompts were repaired, "
             "%zu "
             "still differ",
             report.mismatched, report.probed, report.repaired, report.left_over);
}

static bool warm_up(struct serve *s, struct error *err)
{
    uint64_t count = s->config->num_warmups;
    if (count == 0)
        return true;
    uint64_t failed;
    note(stderr, NOTE_WARMUP, (unsigned long long)count);
    if (!ready_warm_up(&s->plan, count, &failed, err))
        return false;
    if (failed > 0)
        note(stderr, "warning: %llu of %llu warm-up requests failed", (unsigned long long)failed,
             (unsigned long long)count);
    say(NOTE_WARMUP_DONE);
    return true;
}

static void profiler(struct serve *s, bool start)
{
    if (!s->config->profile)
        return;
    struct error err;
    say(start ? NOTE_PROFILER_START : NOTE_PROFILER_STOP);
    if (server_command(&s->server, start ? "/start_profile" : "/stop_profile", &err))
        say(start ? NOTE_PROFILER_STARTED : NOTE_PROFILER_STOPPED);
    else
        note(stderr, "warning: %s", redacted(s, err.message));
}

/* With a ramp-up: the whole rates passed, at the times when their requests became due (ORCHESTRATION 7). */
static void note_rate_changes(struct serve *s)
{
    const struct config *config = s->config;
    if (config->ramp_up_strategy == RAMP_UP_NONE || s->due_ns == NULL)
        return;
    int64_t last = (int64_t)config->ramp_up_start_rps;
    size_t cap = 0;
    MEM_GROW(s->rps_changes, s->rps_change_count, cap);
    s->rps_changes[s->rps_change_count++] = (struct rps_change){last, s->load.start_real_ns};
    for (size_t i = 0; i < s->workload.count; i++) {
        int64_t rate = (int64_t)floor(schedule_rate(config, i, s->workload.count));
        for (; last < rate; s->rps_change_count++) {
            MEM_GROW(s->rps_changes, s->rps_change_count, cap);
            s->rps_changes[s->rps_change_count] =
                (struct rps_change){++last, s->load.start_real_ns + s->due_ns[i]};
        }
    }
}

static void begin_probes(void *user)
{
    struct serve *s = user;
    if (s->probe != NULL)
        probe_start(s->probe);
}

/* The load, with probes beside it when asked for, and the server's counters before and after it. */
static bool run_between_scrapes(struct serve *s, struct error *err)
{
    double probe_rate = s->config->probe_request_rate;
    struct server_counters before;
    struct server_counters after;
    bool counted = scrape_counters(&s->server, &before);
    if (probe_rate > 0.0) {
        note(stderr, NOTE_PROBES, probe_rate);
        s->probe = probe_new(&s->plan, probe_rate);
        s->plan.started = begin_probes;
    }
    bool ok = load_run(&s->plan, &s->load, err);
    if (s->probe != NULL)
        probe_stop(s->probe, &s->probe_stats);
    if (ok && counted && scrape_counters(&s->server, &after))
        server_stats_make(&before, &after, (double)s->load.duration_ns / 1e9, &s->server_stats);
    return ok;
}

/* Only measured requests use the adapters: ready check and warm-ups are over by now. */
static void use_adapters(struct serve *s)
{
    const struct config_names *modules = &s->config->lora_modules;
    if (modules->count == 0)
        return;
    s->lora = mem_array(modules->count, sizeof(*s->lora));
    for (size_t i = 0; i < modules->count; i++)
        s->lora[i] = model_text(s, modules->items[i]);
    s->lora_of = lora_assign(s->config, &s->py, s->workload.count);
    s->plan.lora = s->lora;
    s->plan.lora_of = s->lora_of;
}

static bool run_load(struct serve *s, struct error *err)
{
    const struct config *config = s->config;
    say(NOTE_MAIN_RUN);
    profiler(s, true);
    note_traffic(stderr, config);
    use_adapters(s);
    bool paced = !isinf(config->request_rate) || config->ramp_up_strategy != RAMP_UP_NONE;
    if (paced) {
        s->due_ns = mem_array(s->workload.count, sizeof(*s->due_ns));
        schedule_fill(config, &s->npl, s->due_ns, s->workload.count);
        s->plan.due_ns = s->due_ns;
    }
    progress_begin(&s->progress, stderr, progress_mode_for(stderr, config->disable_tqdm),
                   clock_mono_ns());
    bool ok = run_between_scrapes(s, err);
    struct progress_snapshot last = {.total = s->workload.count,
                                     .elapsed_s = (double)s->load.duration_ns / 1e9};
    for (size_t i = 0; i < s->load.count; i++) {
        last.done += s->load.records[i].done;
        last.failed += s->load.records[i].done && !record_ok(&s->load.records[i]);
        last.tokens += s->load.records[i].events;
    }
    progress_end(&s->progress, &last, clock_mono_ns());
    profiler(s, false);
    if (ok)
        note_rate_changes(s);
    return ok;
}

/* ---- figures ---------------------------------------------------------------------------------------------------- */

/* Output of responses without usage is counted with the tokenizer, as Python does. */
static void count_texts(struct serve *s)
{
    if (s->tokenizer == NULL || s->backend->pooling)
        return;
    struct token_ids ids = {0};
    bool warned = false;
    for (size_t i = 0; i < s->load.count; i++) {
        struct record *r = &s->load.records[i];
        if (!record_ok(r) || r->usage_completion_tokens > 0)
            continue;
        struct error err;
        ids.count = 0;
        if (tokenizer_encode(s->tokenizer, r->text, false, &ids, &err)) {
            r->text_tokens = (int64_t)ids.count;
        } else if (!warned) {
            note(stderr, "warning: cannot count the output tokens of some responses: %s",
                 redacted(s, err.message));
            warned = true;
        }
    }
    token_ids_done(&ids);
}

static void summarize(struct serve *s)
{
    const struct config *config = s->config;
    const struct config_goodput *goodput = &config->goodput;
    struct summary_options options = {
        .start_ns = s->load.start_ns,
        .duration_ns = s->load.duration_ns,
        .percentiles = config->percentiles,
        .percentile_count = config->percentile_count,
        .goodput_given = goodput->any,
        .goodput_ttft_ms = goodput->given[METRIC_TTFT] ? goodput->limit_ms[METRIC_TTFT] : HUGE_VAL,
        .goodput_tpot_ms = goodput->given[METRIC_TPOT] ? goodput->limit_ms[METRIC_TPOT] : HUGE_VAL,
        .goodput_e2el_ms = goodput->given[METRIC_E2EL] ? goodput->limit_ms[METRIC_E2EL] : HUGE_VAL,
        .has_tokenizer = s->tokenizer != NULL,
        .pooling = s->backend->pooling,
        .steady_state = !config->no_steady_state && config->max_concurrency > 0 &&
                        isinf(config->request_rate) && config->ramp_up_strategy == RAMP_UP_NONE,
        .max_concurrency = config->max_concurrency,
        .steady_threshold = config->steady_state_threshold,
        .steady_min_window_s = config->steady_state_min_window_s,
    };
    metrics_summarize(s->load.records, s->load.count, &options, &s->summary);
    note_warm_cache(stderr, config, &s->summary);
}

/* The file is written before anything is printed: a reader of stdout that goes away loses nothing. */
static bool show_results(struct serve *s, struct error *err)
{
    struct run_report report = {
        .config = s->config,
        .model_id = s->config->model,
        .tokenizer_id = s->config->skip_tokenizer_init ? NULL : s->tokenizer_id,
        .has_tokenizer = s->tokenizer != NULL,
        .pooling = s->backend->pooling,
        .date = time(NULL),
        .records = s->load.records,
        .count = s->load.count,
        .start_ns = s->load.start_ns,
        .summary = &s->summary,
        .client = &s->load.client,
        .server = &s->server_stats,
        .probe = s->probe != NULL ? &s->probe_stats : NULL,
        .interrupted = s->load.interrupted,
        .rps_changes = s->rps_changes,
        .rps_change_count = s->rps_change_count,
    };
    char *path = NULL;
    struct error print_error;
    bool saved = result_save(&report, &path, err);
    bool printed = console_print(&report, stdout, &print_error);
    if (path != NULL)
        note(stderr, "Result saved to %s", path);
    free(path);
    if (saved && !printed)
        *err = print_error;
    return saved && printed;
}

static bool judge_run(const struct serve *s, struct error *err)
{
    if (s->load.interrupted)
        return error_set(err, E_INTERRUPTED,
                         "interrupted: %llu of %zu requests were sent, and the figures cover those",
                         (unsigned long long)s->summary.sent, s->load.count);
    if (s->summary.completed == 0)
        return error_set(err, E_RESULT, "no request completed (%llu failed)",
                         (unsigned long long)s->summary.failed);
    return true;
}

static bool measure(struct serve *s, struct error *err)
{
    if (!resolve(s, err) || !make_plan(s, err) || !wait_ready(s, err))
        return false;
    align(s);
    if (!warm_up(s, err) || !run_load(s, err))
        return false;
    count_texts(s);
    summarize(s);
    return show_results(s, err) && judge_run(s, err);
}

static void serve_done(struct serve *s)
{
    summary_done(&s->summary);
    load_result_done(&s->load);
    free(s->rps_changes);
    free(s->due_ns);
    free(s->lora);
    free(s->lora_of);
    buf_done(&s->path);
    buf_done(&s->headers);
    body_template_done(&s->body);
    workload_done(&s->workload);
    tokenizer_free(s->tokenizer);
    free((void *)(uintptr_t)s->wire_model);
    fetch_pool_done(&s->pool);
    tls_context_free(s->tls);
    arena_done(&s->arena);
    if (s->mock_pid > 0)
        mock_reap(s->mock_pid);
}

bool serve_run(struct config *config, struct error *err)
{
    struct serve *s = mem_new(struct serve);
    s->config = config;
    bool ok = set_backend(s, err) && start_mock(s, err) && set_target(s, err) &&
              set_model(s, err) && set_tokenizer(s, err) && build_workload(s, err);
    if (ok && config->dry_run)
        print_dry_run(s);
    else
        ok = ok && measure(s, err);
    if (!ok)
        config_redact_error(config, err);
    serve_done(s);
    free(s);
    return ok;
}
