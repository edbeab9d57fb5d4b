/* Which mode the settings ask for (ORCHESTRATION 1), and the plain one: a single run. */
#include "modes/serve.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "config/secrets.h"
#include "modes/compare.h"
#include "modes/multi_turn.h"
#include "modes/points.h"
#include "modes/repeat.h"
#include "modes/sweep.h"

static bool single_run(struct session *session, struct error *err)
{
    struct points p;
    points_init(&p, session, NULL);
    points_add(&p);
    points_run(&p);
    return points_finish(&p, err);
}

static bool run_mode(struct session *session, struct error *err)
{
    const struct config *config = session->config;
    if (config->multi_turn.on)
        return multi_turn_run(session, err);
    if (config->sweep_max_concurrency.count > 0)
        return sweep_run(session, SWEEP_CONCURRENCY, NULL, err);
    if (config->sweep_request_rate.count > 0)
        return sweep_run(session, SWEEP_RATE, NULL, err);
    if (config->num_runs > 1)
        return repeat_run(session, err);
    return single_run(session, err);
}

bool serve_run(struct config *config, struct error *err)
{
    if (config->compare.count > 0)
        return compare_run(config, err);
    struct session *session = mem_new(struct session);
    bool ok = session_open(session, config, err) && run_mode(session, err);
    if (!ok)
        config_redact_error(config, err);
    session_close(session);
    free(session);
    return ok;
}
