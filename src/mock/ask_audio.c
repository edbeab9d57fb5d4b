/* The form of /v1/audio/transcriptions (multipart/form-data, RFC 7578): the recording is measured, the fields that
 * decide about the answer are read. */
#include "mock/ask_priv.h"

#include "base/num.h"

enum { BYTES_A_TOKEN = 640 }; /* 20 ms of 16 kHz, 16 bits */

/* Value of a header, or of a parameter such as name="file" in one. */
static bool find_header(struct sv fields, struct sv name, struct sv *value)
{
    struct sv line;
    while (sv_split(&fields, '\n', &line)) {
        size_t colon = sv_find(line, ':');
        if (colon < line.len && sv_eq_nocase(sv_make(line.ptr, colon), name)) {
            *value = sv_trim(sv_skip(line, colon + 1));
            return true;
        }
    }
    return false;
}

static bool find_parameter(struct sv value, struct sv name, struct sv *out)
{
    struct sv part;
    while (sv_split(&value, ';', &part)) {
        part = sv_trim(part);
        size_t equals = sv_find(part, '=');
        if (equals == part.len || !sv_eq_nocase(sv_make(part.ptr, equals), name))
            continue;
        *out = sv_skip(part, equals + 1);
        if (out->len >= 2 && out->ptr[0] == '"')
            *out = sv_make(out->ptr + 1, out->len - 2);
        return true;
    }
    return false;
}

static size_t find_text(struct sv v, struct sv text)
{
    const char *at = text.len <= v.len ? memmem(v.ptr, v.len, text.ptr, text.len) : NULL;
    return at != NULL ? (size_t)(at - v.ptr) : v.len;
}

static bool is_true(struct sv text)
{
    return sv_eq_nocase(text, SV_LIT("true")) || sv_eq(text, SV_LIT("1"));
}

static bool read_field(struct mock_ask *ask, struct sv name, struct sv content)
{
    if (sv_eq(name, SV_LIT("file"))) {
        ask->has_prompt = true;
        ask->prompt_tokens = 1 + content.len / BYTES_A_TOKEN;
    } else if (sv_eq(name, SV_LIT("model"))) {
        ask->model = content;
    } else if (sv_eq(name, SV_LIT("stream"))) {
        ask->stream = is_true(content);
    } else if (sv_eq(name, SV_LIT("stream_include_usage"))) {
        ask->include_usage = is_true(content);
    } else if (sv_eq(name, SV_LIT("stream_continuous_usage_stats"))) {
        ask->continuous_usage = is_true(content);
    } else if (sv_eq(name, SV_LIT("max_completion_tokens"))) {
        ask->has_max_tokens = true;
        if (!num_parse_u64(content, &ask->max_tokens) || ask->max_tokens == 0)
            return mock_ask_refuse(ask, "max_completion_tokens",
                                   "Input should be a valid integer, at least 1");
    }
    return true;
}

/* One part behind its boundary: header lines, an empty line, the content. */
static bool read_part(struct mock_ask *ask, struct sv part)
{
    struct sv disposition, name;
    size_t head = find_text(part, SV_LIT("\r\n\r\n"));
    if (head == part.len)
        return mock_ask_refuse(ask, NULL, "a part of the form has no content");
    struct sv lines = sv_make(part.ptr, head);
    if (!find_header(lines, SV_LIT("content-disposition"), &disposition) ||
        !find_parameter(disposition, SV_LIT("name"), &name))
        return mock_ask_refuse(ask, NULL, "a part of the form has no name");
    return read_field(ask, name, sv_skip(part, head + 4));
}

static bool read_parts(struct mock_ask *ask, struct sv boundary, struct sv body)
{
    struct buf mark = {0};
    buf_add_fmt(&mark, "\r\n--" SV_FMT, SV_ARG(boundary));
    struct sv first = sv_skip(buf_sv(&mark), 2);
    bool ok = sv_starts(body, first) || mock_ask_refuse(ask, NULL, "the form has no beginning");
    body = sv_skip(body, first.len);
    while (ok && !sv_starts(body, SV_LIT("--"))) {
        size_t end = find_text(body, buf_sv(&mark));
        if (end == body.len)
            ok = mock_ask_refuse(ask, NULL, "the form has no end");
        else
            ok = read_part(ask, sv_make(body.ptr, end));
        body = sv_skip(body, end + mark.len);
    }
    buf_done(&mark);
    return ok;
}

bool mock_ask_audio(struct mock_ask *ask, struct sv fields, struct sv body)
{
    struct sv type, boundary;
    *ask = (struct mock_ask){.api = MOCK_API_AUDIO, .chat = true};
    if (!find_header(fields, SV_LIT("content-type"), &type) ||
        !find_parameter(type, SV_LIT("boundary"), &boundary) || boundary.len == 0)
        return mock_ask_refuse(ask, NULL, "the body should be a form with a boundary");
    if (!read_parts(ask, boundary, body))
        return false;
    return ask->has_prompt || mock_ask_refuse(ask, "file", "Field required");
}
