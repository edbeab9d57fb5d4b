/* CSV: any bytes give records or a message that names the file and a line; fields lie in valid memory, and reading ends.
 * The times of traces are tried on every field. */
#include "base/alloc.h"
#include "base/num.h"
#include "datasets/format/csv.h"
#include "datasets/trace_time.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct csv *c = mem_new(struct csv);
    struct error err = {0};
    size_t records = 0;
    if (csv_init(c, "file", sv_make((const char *)data, size), &err)) {
        enum csv_result result;
        while ((result = csv_next(c, &err)) == CSV_RECORD) {
            size_t total = 0;
            int64_t ns;
            double number;
            for (size_t i = 0; i < c->count; i++) {
                total += c->fields[i].len;
                trace_time_parse(c->fields[i], &ns);
                num_parse_double(c->fields[i], &number); /* reads every byte */
            }
            if (total > size || c->count == 0 || ++records > size)
                abort();
        }
        if (result == CSV_FAILED && strstr(err.message, "'file': line ") == NULL)
            abort();
    } else if (strstr(err.message, "'file'") == NULL) {
        abort();
    }
    csv_done(c);
    free(c);
    return 0;
}
