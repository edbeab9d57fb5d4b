/* The reader of `custom` data sets: any bytes give rows or a message that names the file; rows hold valid UTF-8 and a
 * positive output length when lines must have one.
 * Input: one byte whose lowest bit asks for output lengths, then the file. */
#include "datasets/custom_rows.h"
#include "tokenizer/utf8.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct custom_rows rows = {0};
    struct error err = {0};
    if (size == 0)
        return 0;
    bool per_line = (data[0] & 1) != 0;
    struct sv text = sv_make((const char *)data + 1, size - 1);
    if (custom_rows_parse(text, "file", per_line, &rows, &err)) {
        check(rows.count > 0);
        for (size_t i = 0; i < rows.count; i++) {
            struct buf prompt = {0};
            custom_row_text(&rows.items[i], &prompt);
            check(prompt.len == 0 || utf8_valid(buf_sv(&prompt)));
            check(!per_line || rows.items[i].output_tokens > 0);
            buf_done(&prompt);
        }
    } else {
        check(strstr(err.message, "'file'") != NULL);
    }
    custom_rows_done(&rows);
    return 0;
}
