/* The plain mode: one run, its result file, its table. */
#include "modes/serve.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "config/secrets.h"
#include "modes/run.h"
#include "output/console.h"
#include "output/notes.h"
#include "output/result.h"

/* The file is written before anything is printed: a reader of stdout that goes away loses nothing. */
static bool show_results(const struct run *r, struct error *err)
{
    struct run_report report;
    run_report(r, &report);
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

/* Said before the run, since it costs the file afterwards; the figures will still be printed. */
static void warn_of_result_dir(const struct config *config)
{
    if (config->save_result && config->result_dir != NULL && file_exists(config->result_dir) &&
        !file_is_dir(config->result_dir))
        note(stderr, "warning: --result-dir '%s' is not a folder: the result cannot be saved there",
             config->result_dir);
}

static bool run_once(struct run *r, struct error *err)
{
    warn_of_result_dir(r->config);
    if (!run_build(r, err))
        return false;
    if (r->config->dry_run) {
        run_print_dry(r);
        return run_save_workload(r, err);
    }
    return run_measure(r, err) && show_results(r, err) && run_judge(r, err);
}

bool serve_run(struct config *config, struct error *err)
{
    struct session *session = mem_new(struct session);
    struct run *run = mem_new(struct run);
    bool ok = session_open(session, config, err);
    if (ok) {
        run_init(run, session, config);
        ok = run_once(run, err);
        run_done(run);
    }
    if (!ok)
        config_redact_error(config, err);
    session_close(session);
    free(run);
    free(session);
    return ok;
}
