/* Any bytes as a metrics page: never a crash, never more positions than there is room for, and the page twice has no
 * more kinds of counters and positions than once. */
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "load/scrape.h"

static void check(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct server_counters once, twice;
    struct server_stats stats;
    struct sv page = sv_make((const char *)data, size);
    scrape_parse(page, &once);
    check(once.position_count <= SERVER_POSITIONS_MAX);

    struct buf both = {0};
    buf_add(&both, page);
    buf_add_char(&both, '\n');
    buf_add(&both, page);
    scrape_parse(buf_sv(&both), &twice);
    buf_done(&both);
    check(twice.has_speculation == once.has_speculation);
    check(twice.position_count == once.position_count);

    server_stats_make(&once, &twice, 1.0, &stats);
    check(stats.position_count <= 2 * SERVER_POSITIONS_MAX);
    return 0;
}
