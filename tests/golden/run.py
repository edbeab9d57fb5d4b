"""Recorded behaviour of Python's `vllm bench serve` 0.33.0, and raw server responses taken from public bug reports,
played to the built program.  Recordings and players are not part of the project: they are looked for in the folder VB_SHARED
or, without it, in ../shared beside the project, and every test is skipped where they are absent.

    run.py PROGRAM peers|rust|cases [NAME ...]

peers are recordings of Python's tool, rust those of the native Rust tool for what Python's does not have.

Output is TAP, a line a recording.  The tables below say which recordings this version is held to; one that becomes
possible is added there.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SHARED = os.path.abspath(os.environ.get("VB_SHARED") or os.path.join(ROOT, "..", "shared"))

# Not yet: data sets beyond random and custom.
PEERS = """
backend_vllm backend_chat backend_responses backend_embeddings backend_infinity backend_pooling base_url
endpoint_prefix endpoint_chat_on_openai served_model_name model_from_server
model_from_server_tok model_none_on_server request_id_default host_localhost header_auth
append append_new result_name_auto result_name_rate result_dir_new detailed detailed_server_metrics
detailed_embeddings
tqdm plot_dataset spec_decode diffusion probe lora_random lora_round_robin tls_insecure
percentiles percentiles_e2el percentiles_queue goodput goodput_zero goodput_bad goodput_badvalue goodput_negative
rate_20 rate_20_const rate_conc ramp_linear ready_check_late ready_check_warm profile
sampling_chat sampling_responses extra_body extra_body_encoding extra_body_chat extra_body_model extra_body_nostream
logprobs logprobs_chat beam_search
ds_custom_template ds_custom_shuffle ds_custom_perline ds_custom_no_oversample
ds_random ds_random_prefix ds_random_range ds_random_range_json ds_random_seed1 ds_random_mismatch
ds_random_notokenize
ds_random_bos ds_random_chat ds_random_mm_badbackend skip_tokenizer
st_no_usage st_reasoning st_reasoning_content st_bundled st_unicode_split st_unicode_split_chat st_comments st_no_done
st_crlf st_short st_final_empty st_final_empty_chat st_usage_each st_usage_each_chat st_usage_inline st_split_chat
st_role_early st_reasoning_responses st_responses_no_usage st_responses_close
err_unreachable err_unreachable_ready err_400 err_400_ready err_404_endpoint err_close_mid err_close_mid_chat
err_close_first err_close_rst err_sse_error err_sse_error_first err_500_warmup err_500_embeddings err_tls
flag_underscore flag_equals flag_abbrev err_flag_unknown err_num_prompts_text err_num_prompts_zero err_rate_negative
err_burstiness_zero err_range_ratio err_percentile_bad err_percentile_name err_percentile_range err_header_bad
err_metadata_bad err_extra_body_list err_dataset_missing err_dataset_nopath err_dataset_malformed err_dataset_noprompt
err_dataset_empty err_dataset_perline_missing err_random_with_path err_result_dir_file err_tokenizer_missing
config_yaml
""".split()

# Not mt_minmax and mt_sharegpt: the Rust tool draws from a generator of its own, and shuffles in spite of --disable-shuffle.
RUST = """
no_steady steady_opts profile_batch num_runs sweep_conc sweep_rate sweep_runs sweep_append compare_missing dry_run dry_run_random
profile_threshold_alone mt_random mt_completions mt_detailed mt_sweep mt_responses mt_dry_run mt_warm mt_rate mt_goodput mt_mm
""".split()

CASES = """
e03-200-with-json-error-body e04-event-error-line e05-400-with-message e07-500-html e08-429-no-hidden-retry
e10-reset-midstream e11-empty-stream e11b-empty-stream-chat e12-empty-body-200 e15-nothing-listens
e17-idle-connection-closed e17b-connection-closed-in-the-race e18-connection-close-header
f01-event-in-three-pieces f03-cut-inside-spaces-of-text f04-utf8-cut f05-many-events-one-write f06-no-blank-after-colon
f09-keepalive-comment f10-bare-colon-ping f11-comment-glued-to-event f12-two-data-lines f14-done-without-newline
f17-u2028-in-json f19-escaped-surrogates f21-chunk-extension-and-trailer f22-close-delimited-body
h01-custom-header h02-api-key h03-no-key-no-header h04-single-content-type h05-ipv6-host h07-base-url-with-prefix
h09-no-compression-asked h10-tls-self-signed h11-tls-self-signed-refused h15-served-model-name
n03-goodput-single-token-tpot n05-rate-is-kept n06-warmups-not-counted n07-ready-check n08-peak-not-below-mean
n10-zero-gap-latency
p01-embeddings p03-embeddings-error-200 r02-responses-failed r03-responses-incomplete
s01-completions-plain s04-chat-reasoning-content s05-chat-reasoning-field s07-chat-tool-calls
s09-chat-empty-content-token s10-completions-empty-text-token
u03-usage-on-last-choice-chunk u05-usage-chunk-no-choices-key u06-usage-null-everywhere u07-no-usage-at-all
u08-early-stop u09-server-prompt-tokens u10-cached-tokens-details u12-n-two-choices
""".split()


def play_rust(program, names):
    return play_peers(program, names, "rust")


def play_peers(program, names, peer="python"):
    """Differences by name; a name that was not played is missing."""
    tool = os.path.join(SHARED, "golden", "peers", "run_case.py")
    done = subprocess.run([sys.executable, tool, "--cmd", "'%s' bench serve" % program, "--as", peer,
                           *(["--prompts", "exact"] if peer == "python" else []), "--notes", "--allow",
                           os.path.join(HERE, "allow_%s.txt" % peer), *names],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    found, current = {}, None
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        verdict = re.match(r"(PASS|FAIL) (\S+)$", line)
        if verdict:
            current = found.setdefault(verdict[2], [])
        elif current is not None and line.startswith("     "):
            # Notes are of no weight, but for the order of keys, which is Python's to the letter.
            if not line.strip().startswith("note:") or ("order differs" in line and peer == "python"):
                current.append(line.strip())
    return found, done.stdout.decode("utf-8", "replace")


def play_cases(program, names):
    tool = os.path.join(SHARED, "cases", "run")
    with tempfile.TemporaryDirectory(prefix="vb-golden-") as folder:
        table = os.path.join(folder, "rows.jsonl")
        done = subprocess.run([sys.executable, tool, "--cmd", "'%s'" % program, "--tok",
                               os.path.join(SHARED, "golden", "peers", "tok-mini"), "--json", table, *names],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        rows = []
        if os.path.exists(table):
            with open(table, encoding="utf-8") as f:
                rows = [json.loads(line) for line in f]
    return {row["id"]: row["not_held"] for row in rows}, done.stdout.decode("utf-8", "replace")


def main():
    program, suite = os.path.abspath(sys.argv[1]), sys.argv[2]
    names, play, needed = {"rust": (RUST, play_rust, "golden/peers/run_case.py"),
                           "peers": (PEERS, play_peers, "golden/peers/run_case.py"),
                           "cases": (CASES, play_cases, "cases/run")}[suite]
    names = sys.argv[3:] or names
    print("1..%d" % len(names))
    if not os.path.exists(os.path.join(SHARED, needed)):
        for number, name in enumerate(names, 1):
            print("ok %d - %s # SKIP the recordings are not here ('%s'; VB_SHARED names their folder)"
                  % (number, name, os.path.join(SHARED, needed)))
        return 0
    found, text = play(program, names)
    failed = 0
    for number, name in enumerate(names, 1):
        differences = found.get(name, ["it was not played"])
        failed += bool(differences)
        print("%s %d - %s" % ("not ok" if differences else "ok", number, name))
        for line in differences:
            print("# " + line)
    if not found:
        print("# " + "\n# ".join(text.splitlines()[-20:]))
    return 1 if failed else 0


sys.exit(main())
