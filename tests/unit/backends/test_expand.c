/* What single requests put into a body: media, messages, lists, own members, files.  Wire forms: vllm bench serve
 * 0.33.0, compact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backends/backend.h"

#define PNG1 "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,AA==\"}}"
#define PNG2                                                                                       \
    "{\"type\":\"image_url\",\"image_url\":{\"url\":\"http://a/b.png\",\"detail\":\"low\"}}"
#define VIDEO                                                                                      \
    "{\"video_url\":{\"uuid\":7,\"url\":\"data:video/"                                             \
    "mp4;base64,A\\u0041==\"},\"type\":\"video_url\"}"
#define TEXT     "\"Compare the two pictures.\""
#define MESSAGES "[{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\",\"content\":\"u\"}]"
#define TAIL     ",\"truncate_prompt_tokens\":-1}"

static struct sv text(const char *chars)
{
    return sv_from(chars);
}

static void check_with(const char *backend, const char *extra_body, struct body_values values,
                       const char *wanted)
{
    struct config config = {.extra_body = extra_body};
    struct body_template t;
    struct error err;
    struct sv views[BODY_MAX_VIEWS];
    struct buf body = {0};
    values.model = values.model.ptr != NULL ? values.model : text("\"m\"");
    values.output_len = text("6");
    if (!backend_find(backend)->body_parts(&config, &t, &err))
        fail_msg("%s: %s", backend, err.message);
    size_t count = body_expand(&t, &values, views);
    for (size_t i = 0; i < count; i++) {
        assert_true(views[i].len > 0);
        buf_add(&body, views[i]);
    }
    if (!sv_eq(buf_sv(&body), text(wanted)))
        fail_msg("%s: got\n%s, wanted\n%s", backend, buf_cstr(&body), wanted);
    buf_done(&body);
    body_template_done(&t);
}

static void check(const char *backend, struct body_values values, const char *wanted)
{
    check_with(backend, NULL, values, wanted);
}

static void media_stand_behind_the_text_of_a_message(void **state)
{
    (void)state;
    struct body_values values = {.prompt = text(TEXT), .media = text(PNG1 "," PNG2)};
    check("openai-chat", values,
          "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\","
          "\"text\":" TEXT "}," PNG1 "," PNG2 "]}],\"max_completion_tokens\":6,\"stream\":true,"
          "\"stream_options\":{\"include_usage\":true}}");
    check("openai-embeddings-chat", values,
          "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\","
          "\"text\":" TEXT "}," PNG1 "," PNG2 "]}]" TAIL);
}

static void extra_keys_replace_in_a_request_with_media_too(void **state)
{
    (void)state;
    struct body_values values = {.prompt = text(TEXT), .media = text(PNG1)};
    check_with("openai-chat", "{\"stream\":false,\"max_completion_tokens\":1,\"a\":2}", values,
               "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\","
               "\"text\":" TEXT "}," PNG1 "]}],\"max_completion_tokens\":1,\"stream\":false,"
               "\"stream_options\":{\"include_usage\":true},\"a\":2}");
    check_with("openai-chat", "{\"messages\":[]}", values,
               "{\"model\":\"m\",\"messages\":[],\"max_completion_tokens\":6,\"stream\":true,"
               "\"stream_options\":{\"include_usage\":true}}");
}

static void clip_sends_no_text_beside_a_picture(void **state)
{
    (void)state;
    struct body_values values = {.prompt = text(TEXT), .media = text(PNG1)};
    check("openai-embeddings-clip", values,
          "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\","
          "\"text\":\"\"}," PNG1 "]}]" TAIL);
}

#define VLM2VEC(media, instruction)                                                                \
    "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[" media                        \
    ",{\"type\":\"text\",\"text\":\"" instruction "\"}]}]" TAIL

static void vlm2vec_sends_the_picture_first_and_asks_every_second_time(void **state)
{
    (void)state;
    struct body_values values = {.prompt = text(TEXT), .media = text(PNG1 "," PNG2)};
    static const char *const bare = VLM2VEC(PNG1 "," PNG2, "Represent the given image.");
    static const char *const asking =
        VLM2VEC(PNG1 "," PNG2, "Represent the given image with the following question: Compare the "
                               "two pictures.");
    check("openai-embeddings-vlm2vec", values, bare); /* no id */
    values.index = 1;
    check("openai-embeddings-vlm2vec", values, bare);
    values.has_index = true;
    check("openai-embeddings-vlm2vec", values, asking);
    values.index = 12;
    check("openai-embeddings-vlm2vec", values, bare);
    values.index = 1999;
    check("openai-embeddings-vlm2vec", values, asking);
    values.media = text("");
    check("openai-embeddings-vlm2vec", values,
          "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\","
          "\"text\":" TEXT "}]}]" TAIL);
}

static void infinity_sends_a_picture_in_place_of_a_text(void **state)
{
    (void)state;
    struct body_values empty = {.prompt = text("\"\""), .media = text(PNG1)};
    check("infinity-embeddings", empty,
          "{\"model\":\"m\",\"input\":\"data:image/png;base64,AA==\",\"modality\":\"image\"}");
    empty.media = text(VIDEO);
    check(
        "infinity-embeddings", empty,
        "{\"model\":\"m\",\"input\":\"data:video/mp4;base64,A\\u0041==\",\"modality\":\"video\"}");
    struct body_values both = {.prompt = text(TEXT), .media = text(PNG2)};
    check("infinity-embeddings", both, "{\"model\":\"m\",\"input\":" TEXT "}");
    check("infinity-embeddings-clip", both,
          "{\"model\":\"m\",\"input\":\"http://a/b.png\",\"modality\":\"image\"}");
    check_with("infinity-embeddings-clip", "{\"modality\":\"photo\"}", both,
               "{\"model\":\"m\",\"input\":\"http://a/b.png\",\"modality\":\"photo\"}");
    both.media = text("");
    check("infinity-embeddings-clip", both, "{\"model\":\"m\",\"input\":" TEXT "}");
}

static void messages_of_a_request_are_the_whole_value(void **state)
{
    (void)state;
    struct body_values values = {
        .prompt = text(MESSAGES), .is_messages = true, .media = text(PNG1)};
    check("openai-chat", values,
          "{\"model\":\"m\",\"messages\":" MESSAGES ",\"max_completion_tokens\":6,\"stream\":true,"
          "\"stream_options\":{\"include_usage\":true}}");
    check("openai-responses", values,
          "{\"model\":\"m\",\"input\":" MESSAGES ",\"max_output_tokens\":6,\"stream\":true,"
          "\"store\":false}");
    check("openai-embeddings-vlm2vec", values, "{\"model\":\"m\",\"messages\":" MESSAGES TAIL);
}

static void a_list_is_one_input_or_query_and_documents(void **state)
{
    (void)state;
    struct body_values list = {.prompt = text("[\"q, \\\"1\\\"\",\"a\",\"b\"]"), .first_len = 10};
    check("openai-embeddings", list,
          "{\"model\":\"m\",\"input\":[\"q, \\\"1\\\"\",\"a\",\"b\"]" TAIL);
    check("vllm-rerank", list,
          "{\"model\":\"m\",\"query\":\"q, \\\"1\\\"\",\"documents\":[\"a\",\"b\"]" TAIL);
    struct body_values alone = {.prompt = text("[\"q\"]"), .first_len = 3};
    check("vllm-rerank", alone, "{\"model\":\"m\",\"query\":\"q\",\"documents\":[]" TAIL);
    struct body_values ids = {.prompt = text("[1,2,3]")};
    check("openai-embeddings", ids, "{\"model\":\"m\",\"input\":[1,2,3]" TAIL);
}

static void inputs_are_counted(void **state)
{
    (void)state;
    static const struct {
        const char *backend;
        const char *extra_body;
        uint32_t sequences;
        uint32_t inputs;
    } rows[] = {
        {"openai-embeddings", NULL, 0, 1},
        {"openai-embeddings", NULL, 1, 1},
        {"openai-embeddings", NULL, 7, 7},
        {"vllm-rerank", NULL, 3, 2},
        {"vllm-rerank", NULL, 0, 0},
        {"vllm-rerank", "{\"documents\":[\"a\",{\"text\":\"b\"},\"c\"]}", 0, 3},
        {"openai-embeddings", "{\"input\":[\"a\",\"b\"]}", 5, 2},
        {"openai-embeddings", "{\"input\":[1,2,3]}", 0, 1}, /* the ids of one input */
        {"openai", NULL, 0, 1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct backend *backend = backend_find(rows[i].backend);
        struct config config = {.extra_body = rows[i].extra_body};
        struct body_template t;
        struct error err;
        assert_true(backend->body_parts(&config, &t, &err));
        assert_int_equal(backend_inputs(backend, &t, rows[i].sequences), rows[i].inputs);
        body_template_done(&t);
    }
}

static void members_of_a_request_come_last(void **state)
{
    (void)state;
    struct body_values values = {.prompt = text(TEXT), .extra = text("\"tools\":[{\"a\":1}]")};
    check_with("openai-chat", "{\"x\":1}", values,
               "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\","
               "\"text\":" TEXT "}]}],\"max_completion_tokens\":6,\"stream\":true,"
               "\"stream_options\":{\"include_usage\":true},\"x\":1,\"tools\":[{\"a\":1}]}");
}

static void an_encoding_in_bytes_changes_how_the_reply_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *extra_body;
        enum body_reply reply;
    } rows[] = {
        {NULL, BODY_REPLY_JSON},
        {"{\"encoding_format\":\"base64\"}", BODY_REPLY_JSON},
        {"{\"encoding_format\":\"bytes\"}", BODY_REPLY_BYTES},
        {"{\"encoding_format\":\"bytes_only\"}", BODY_REPLY_BYTES_ONLY},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct config config = {.extra_body = rows[i].extra_body};
        struct body_template t;
        struct error err;
        assert_true(backend_find("vllm-pooling")->body_parts(&config, &t, &err));
        assert_int_equal(t.reply, rows[i].reply);
        body_template_done(&t);
    }
}

/* ---- the form of openai-audio ---------------------------------------------------------------------------------- */

/* Splits a form at its boundary into "headers|content" lines, so that the expectation can be read. */
static void describe_form(struct sv body, struct sv boundary, struct buf *out)
{
    assert_true(sv_starts(body, SV_LIT("--")));
    body = sv_skip(body, 2);
    for (;;) {
        assert_true(sv_starts(body, boundary));
        body = sv_skip(body, boundary.len);
        if (sv_eq(body, SV_LIT("--\r\n")))
            return;
        assert_true(sv_starts(body, SV_LIT("\r\n")));
        const char *next = memmem(body.ptr, body.len, boundary.ptr, boundary.len);
        assert_non_null(next);
        assert_memory_equal(next - 4, "\r\n--", 4);
        for (const char *at = body.ptr + 2; at < next - 4; at++) {
            if (*at == '\r')
                continue;
            buf_add_char(out, *at == '\n' ? '|' : *at);
        }
        buf_add_char(out, '\n');
        body = sv_skip(body, (size_t)(next - body.ptr));
    }
}

static void check_form(struct config config, struct body_values values, const char *wanted)
{
    const struct backend *backend = backend_find("openai-audio");
    struct body_template t;
    struct error err;
    struct sv views[BODY_MAX_VIEWS];
    struct buf body = {0}, lines = {0}, model = {0};
    assert_true(backend->body_parts(&config, &t, &err));
    assert_true(t.is_form);
    body_model_text(&t, "org/wh\"isper", &model);
    values.model = buf_sv(&model);
    values.output_len = text("6");
    size_t count = body_expand(&t, &values, views);
    for (size_t i = 0; i < count; i++)
        buf_add(&body, views[i]);
    struct sv type = text(backend->content_type);
    assert_true(sv_starts(type, SV_LIT("multipart/form-data; boundary=")));
    describe_form(buf_sv(&body), sv_skip(type, sizeof("multipart/form-data; boundary=") - 1),
                  &lines);
    if (!sv_eq(buf_sv(&lines), text(wanted)))
        fail_msg("got\n%s, wanted\n%s", buf_cstr(&lines), wanted);
    buf_done(&model);
    buf_done(&body);
    buf_done(&lines);
    body_template_done(&t);
}

#define FIELD(name, value)                                                                         \
    "Content-Type: text/plain; charset=utf-8|Content-Disposition: form-data; name=\"" name         \
    "\"||" value "\n"
#define SOUND(type, name)                                                                          \
    "Content-Type: audio/" type "|Content-Disposition: form-data; name=\"file\"; filename=\"" name \
    "\"||RIFFdata\n"
#define WAV(name) SOUND("wav", name)

static void a_recording_goes_up_as_a_form(void **state)
{
    (void)state;
    struct body_values values = {.prompt = text(TEXT), .file = text("RIFFdata")};
    check_form((struct config){0}, values,
               WAV("audio.wav") FIELD("model", "org/wh\"isper") FIELD("max_completion_tokens", "6")
                   FIELD("stream", "True") FIELD("language", "en")
                       FIELD("stream_include_usage", "True")
                           FIELD("stream_continuous_usage_stats", "True"));
    values.file_name = text("a\"b\r\n.wav");
    check_form((struct config){.plain_openai = true}, values,
               WAV("audio.wav") FIELD("model", "org/wh\"isper") FIELD("stream", "True")
                   FIELD("language", "en"));
    values.file_name = text("tone.flac");
    check_form((struct config){.extra_body = "{\"language\":\"d\\u0065\",\"temperature\":0.5,"
                                             "\"a\":false,\"b\":null,\"c\\\"\":[1,\"x\"]}",
                               .plain_openai = true},
               values,
               SOUND("flac", "tone.flac") FIELD("model", "org/wh\"isper") FIELD("stream", "True")
                   FIELD("language", "de") FIELD("temperature", "0.5") FIELD("a", "False")
                       FIELD("b", "None") FIELD("c%22", "[1,\"x\"]"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(media_stand_behind_the_text_of_a_message),
        cmocka_unit_test(extra_keys_replace_in_a_request_with_media_too),
        cmocka_unit_test(clip_sends_no_text_beside_a_picture),
        cmocka_unit_test(vlm2vec_sends_the_picture_first_and_asks_every_second_time),
        cmocka_unit_test(infinity_sends_a_picture_in_place_of_a_text),
        cmocka_unit_test(messages_of_a_request_are_the_whole_value),
        cmocka_unit_test(a_list_is_one_input_or_query_and_documents),
        cmocka_unit_test(inputs_are_counted),
        cmocka_unit_test(members_of_a_request_come_last),
        cmocka_unit_test(an_encoding_in_bytes_changes_how_the_reply_is_read),
        cmocka_unit_test(a_recording_goes_up_as_a_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
