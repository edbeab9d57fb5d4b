/* The mock server's request parser and body readers: no input may crash them, and cutting the input in two must not
 * change the outcome. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "mock/ask.h"
#include "mock/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
    enum mock_request_result result;
    size_t used;
    int status;
    struct buf body;
};

/* Feeds up to two blocks, as a connection does. */
static void run(struct outcome *out, struct sv input, size_t cut)
{
    struct mock_request r;
    struct sv blocks[2] = {sv_make(input.ptr, cut), sv_skip(input, cut)};
    mock_request_init(&r);
    *out = (struct outcome){.result = MOCK_REQUEST_MORE};
    for (int i = 0; i < 2 && out->result == MOCK_REQUEST_MORE; i++) {
        struct sv left = blocks[i];
        do {
            size_t used = 0;
            out->result = mock_request_feed(&r, left, &used);
            assert(used <= left.len);
            left = sv_skip(left, used);
            out->used += used;
        } while (out->result == MOCK_REQUEST_CONTINUE);
        assert(out->result != MOCK_REQUEST_MORE || left.len == 0);
    }
    out->status = r.status;
    buf_add(&out->body, mock_request_body(&r));
    mock_request_done(&r);
}

static void read_bodies(struct sv body)
{
    struct mock_ask ask;
    struct mock_tokens tokens = {0};
    struct buf text = {0};
    mock_ask_parse(&ask, false, body);
    mock_ask_parse(&ask, true, body);
    if (mock_ask_tokenize(&ask, body, &tokens))
        assert(tokens.count == ask.prompt_tokens);
    mock_ask_detokenize(&ask, body, &text);
    mock_tokens_done(&tokens);
    buf_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t cut = (data[0] | (size_t)data[1] << 8) % (size - 1);
    struct sv input = sv_make((const char *)data + 2, size - 2);
    struct outcome whole, parts;
    run(&whole, input, input.len);
    run(&parts, input, cut < input.len ? cut : input.len);
    assert(whole.result == parts.result && whole.status == parts.status);
    if (whole.result == MOCK_REQUEST_READY) {
        assert(whole.used == parts.used);
        assert(sv_eq(buf_sv(&whole.body), buf_sv(&parts.body)));
        read_bodies(buf_sv(&whole.body));
    }
    read_bodies(input);
    buf_done(&whole.body);
    buf_done(&parts.body);
    return 0;
}
