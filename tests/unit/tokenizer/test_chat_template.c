/* Tests of src/tokenizer/chat_template.  Expected texts: Jinja2 3.1.6 with trim_blocks and lstrip_blocks, one message
 * {"role": "user", "content": "Hi {{x}}"} and bos_token "<s>". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tokenizer/chat_template.h"

#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    const char *source;
    const char *with_prompt;
    const char *without;
} rendered[] = {
    {"{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + "
     "message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}{% if add_generation_prompt %}"
     "{{ '<|im_start|>assistant\\n' }}{% endif %}",
     "<|im_start|>user\nHi {{x}}<|im_end|>\n<|im_start|>assistant\n",
     "<|im_start|>user\nHi {{x}}<|im_end|>\n"},
    {"{{ bos_token }}\n{% for m in messages %}\n  [{{ m.role }}] {{ m['content'] }}\n"
     "{% endfor %}\n{% if add_generation_prompt %}\n[assistant]\n{% else %}\nnone\n{% endif %}\n",
     "<s>\n  [user] Hi {{x}}\n[assistant]\n", "<s>\n  [user] Hi {{x}}\nnone\n"},
    {"a  {%- for m in messages -%}  {{- m.content -}}  {%- endfor -%}  b\n\n", "aHi {{x}}b\n",
     "aHi {{x}}b\n"},
    {"x {# note #}\n  {# other #}\ny {{ \"q\\\"\" ~ 'r\\'' }}\n", "x y q\"r'", "x y q\"r'"},
    {"{% for m in messages +%}\nz\n   {%+ if add_generation_prompt %}\nw{% endif %}{% endfor %}"
     "end\r\nline\r\n",
     "\nz\n   wend\nline", "\nz\n   end\nline"},
    {" {% if add_generation_prompt %} {{ '%}' + '}}' }} {% endif %} \n", " %}}}  ", " "},
};

static const struct chat_name names[] = {{{"bos_token", 9}, {"<s>", 3}}};

static void test_renders_as_jinja(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rendered); i++) {
        struct error err = {0};
        struct chat_template *c =
            chat_template_compile(sv_from(rendered[i].source), names, COUNT(names), &err);
        if (c == NULL)
            fail_msg("row %zu: %s", i, err.message);
        for (int generation = 0; generation < 2; generation++) {
            struct buf out = {0};
            chat_template_render(c, sv_from("user"), sv_from("Hi {{x}}"), generation, &out);
            assert_string_equal(buf_cstr(&out),
                                generation ? rendered[i].with_prompt : rendered[i].without);
            buf_done(&out);
        }
        chat_template_free(c);
    }
}

static void test_other_constructs_are_refused(void **state)
{
    static const char *const sources[] = {
        "{% set x = 1 %}",
        "{{ messages[0]['role'] }}",
        "{{ eos_token }}",
        "{% if messages[0]['role'] == 'system' %}x{% endif %}",
        "{% for m in loop_messages %}{% endfor %}",
        "{% for m in messages %}{{ m['content'] | trim }}{% endfor %}",
        "{% for m in messages %}{{ m['name'] }}{% endfor %}",
        "{% for m in messages %}",
        "{% endif %}",
        "{% if add_generation_prompt %}{% endfor %}",
        "{{ 'a' 'b' }}",
        "{{ 'open }}",
        "{{ '\\q' }}",
        "{{ 1 }}",
        "{{",
        "{%",
        "{# open",
        "{{ }}",
        "{% raise %}",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(sources); i++) {
        struct error err = {0};
        struct chat_template *c =
            chat_template_compile(sv_from(sources[i]), names, COUNT(names), &err);
        if (c != NULL)
            fail_msg("'%s' was accepted", sources[i]);
        assert_int_equal(err.code, E_UNSUPPORTED);
    }
}

static void test_template_of_a_tokenizer(void **state)
{
    struct error err = {0};
    bool present = false;
    struct buf out = {0};
    (void)state;
    struct tokenizer *t = tokenizer_load(TEST_DATA "/tok-mini", &err);
    assert_non_null(t);
    struct chat_template *c = chat_template_of(t, &present, &err);
    assert_true(present);
    assert_non_null(c);
    chat_template_render(c, sv_from("user"), sv_from("hi"), true, &out);
    assert_string_equal(buf_cstr(&out), "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n");
    buf_done(&out);
    chat_template_free(c);
    tokenizer_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_renders_as_jinja),
        cmocka_unit_test(test_other_constructs_are_refused),
        cmocka_unit_test(test_template_of_a_tokenizer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
