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
            chat_template_compile(sv_from(rendered[i].source), names, COUNT(names), NULL, &err);
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
        "{{ messages[0].a.b }}",
        "{% for m in messages %}{{ m['content'] | wordwrap }}{% endfor %}",
        "{{ messages[0].content.zfill(3) }}",
        "{% for m in messages %}",
        "{% endif %}",
        "{% if add_generation_prompt %}{% endfor %}",
        "{{ 'open }}",
        "{{ 1 + 'a' }}",
        "{{ 'a' < 1 }}",
        "{{ x is oddish }}",
        "{{ nothing() }}",
        "{{ 'a' 1 }}",
        "{{",
        "{%",
        "{# open",
        "{{ }}",
        "{% raise %}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{% set a.b = 1 %}",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(sources); i++) {
        struct error err = {0};
        struct chat_template *c =
            chat_template_compile(sv_from(sources[i]), names, COUNT(names), NULL, &err);
        if (c != NULL && chat_template_try(c, &err))
            fail_msg("'%s' was accepted", sources[i]);
        chat_template_free(c);
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

/* Values: jinja2 3.1 with trim_blocks and lstrip_blocks. */
static void test_language(void **state)
{
    static const char *const rows[][2] = {
        {"{% set x = 1 %}{{ x + 2 }}{{ 7 // 2 }}{{ -7 // 2 }}{{ -7 % 3 }}{{ 2 * 3 }}", "33-426"},
        {"{{ 'a' ~ 1 ~ none ~ true }}", "a1NoneTrue"},
        {"{{ 'a' 'b' \"\\u00e9\\n\" }}|", "ab\xC3\xA9\n|"},
        {"{{ messages[0]['role'] }}{{ messages[-1].role }}{{ messages|length }}", "useruser1"},
        {"{{ (1, 2, 3)[::-1] | join(',') }}{{ [1, 2, 3, 4][1:3] | join }}{{ 'abc'[1:] }}",
         "3,2,123bc"},
        {"{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }}{% if not loop.last %};{% endif "
         "%}{% endfor %}",
         "a=1;b=2"},
        {"{% for i in range(5) if i % 2 == 0 %}{{ loop.index }}:{{ i }} {% else %}none{% endfor %}",
         "1:0 2:2 3:4 "},
        {"{% for i in [] %}x{% else %}none{% endfor %}", "none"},
        {"{% set ns = namespace(n=0) %}{% for i in range(3) %}{% set ns.n = ns.n + i %}{% set y = "
         "i %}{% endfor %}"
         "{{ ns.n }}{{ y is defined }}",
         "3False"},
        {"{% macro f(a, b='z') %}[{{ a }}{{ b }}]{% endmacro %}{{ f('x') }}{{ f('x', b='y') }}",
         "[xz][xy]"},
        {"{% set x %}a{{ 1 }}{% endset %}{{ x }}", "a1"},
        {"{% if x is defined %}1{% elif 'e' in 'Hello' and not false %}2{% else %}3{% endif %}",
         "2"},
        {"{{ 'yes' if 1 > 2 else 'no' }}{{ '' or 'b' }}{{ 'a' and 'b' }}{{ x | default('d') }}",
         "nobbd"},
        {"{{ '  a b '.strip() }}|{{ 'a,b,c'.split(',')[-1] }}|{{ 'aXbX'.replace('X', '-') }}",
         "a b|c|a-b-"},
        {"{{ {'a': [1, 'x', none, true]} | tojson }}{{ {'a': 1} | tojson(indent=2) }}",
         "{\"a\": [1, \"x\", null, true]}{\n  \"a\": 1\n}"},
        {"{% for i in range(9) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break "
         "%}{% endif %}"
         "{{ i }}{% endfor %}",
         "02"},
        {"{{ messages | selectattr('role', 'equalto', 'user') | list | length }}"
         "{{ messages | map(attribute='role') | join }}",
         "1user"},
        {"{{ 'a' != 'b' }}{{ 1 <= 1 }}{{ 1 not in [2] }}{{ 2 is even }}{{ none is none }}{{ 'x' is "
         "string }}",
         "TrueTrueTrueTrueTrueTrue"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        struct buf out = {0};
        struct chat_template *c =
            chat_template_compile(sv_from(rows[i][0]), names, COUNT(names), NULL, &err);
        if (c == NULL)
            fail_msg("'%s': %s", rows[i][0], err.message);
        chat_template_render(c, SV_LIT("user"), SV_LIT("Hi"), true, &out);
        assert_string_equal(buf_cstr(&out), rows[i][1]);
        buf_done(&out);
        chat_template_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_language),
        cmocka_unit_test(test_renders_as_jinja),
        cmocka_unit_test(test_other_constructs_are_refused),
        cmocka_unit_test(test_template_of_a_tokenizer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
