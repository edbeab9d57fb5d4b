/* vLLM's /v1/embeddings with messages in place of an input, for models that embed pictures: plain, for CLIP (a text or
 * a picture, not both) and for VLM2Vec (the picture first, then an instruction). */
#include "backends/api_priv.h"
#include "backends/body_priv.h"

static bool messages_body(const struct body_piece *messages, size_t count,
                          const struct config *config, struct body_template *t, struct error *err)
{
    struct body b = {0};
    body_add_model(&b);
    body_add_pieces(&b, "messages", messages, count);
    body_add_truncate(&b, config);
    return body_finish(&b, config, t, err);
}

bool embeddings_chat_body_parts(const struct config *config, struct body_template *t,
                                struct error *err)
{
    static const struct body_piece messages[] = {
        {PART_WRAPPER, "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"},
        {PART_PROMPT, NULL},
        {PART_WRAPPER, "}"},
        {PART_MEDIA, NULL},
        {PART_WRAPPER, "]}]"},
    };
    return messages_body(messages, BODY_COUNT(messages), config, t, err);
}

bool embeddings_clip_body_parts(const struct config *config, struct body_template *t,
                                struct error *err)
{
    static const struct body_piece messages[] = {
        {PART_WRAPPER, "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"},
        {PART_PROMPT_CLIP, NULL},
        {PART_WRAPPER, "}"},
        {PART_MEDIA, NULL},
        {PART_WRAPPER, "]}]"},
    };
    return messages_body(messages, BODY_COUNT(messages), config, t, err);
}

bool embeddings_vlm2vec_body_parts(const struct config *config, struct body_template *t,
                                   struct error *err)
{
    static const struct body_piece messages[] = {
        {PART_WRAPPER, "[{\"role\":\"user\",\"content\":["},
        {PART_MEDIA_FIRST, NULL},
        {PART_WRAPPER, "{\"type\":\"text\",\"text\":"},
        {PART_PROMPT_VLM2VEC, NULL},
        {PART_WRAPPER, "}]}]"},
    };
    return messages_body(messages, BODY_COUNT(messages), config, t, err);
}
