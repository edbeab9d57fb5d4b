"""Videos of random-mm: the frames are those that Python draws, and ffmpeg makes a file of them."""
import base64
import os
import re
import shutil
import subprocess
import tempfile

from harness import Skip, holds, main, run, same

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")
FLAGS = ["--dataset-name", "random-mm", "--backend", "openai-chat", "--endpoint", "/v1/chat/completions", "--model", "m",
         "--tokenizer", os.path.join(DATA, "tok-mini"), "--num-prompts", "3", "--random-input-len", "20",
         "--random-output-len", "4", "--random-mm-base-items-per-request", "2",
         "--random-mm-num-mm-items-range-ratio", "0.5", "--random-mm-limit-mm-per-prompt", '{"video": 2, "image": 1}',
         "--seed", "3"]
# Writes the SHA-256 of what it is given where the video should be.
STAND_IN = """#!/bin/sh
[ "$1" = -version ] && exit 0
for last; do :; done
sha256sum | cut -c1-64 | tr -d '\\n' >"$last"
"""
# Of the frames that RandomMultiModalDataset of vLLM 0.33.0 (numpy 2.3.5) hands to OpenCV with these flags.
FRAMES = ["8fdf774a180b6047a2ad9dce037754fc9cac685835c1387b8725104677b556af",
          "6bc5e1e8038f900617423b058a147e5374160a0a052c25dd43a3ec609d8f2730",
          "bfc66ec3d3b485cd806be11450b85525c1d10a152692609f78d3246f21b3b90c",
          "918634b83cd537b644fe5449348d218e9b9e769be22d63e20a6564e2d0e7c632",
          "5a1492c5b62a7a50fe433041153bcef23a5e42c18cc32de88c5d608395bfbfc5"]


def videos(folder, path, buckets):
    """What stands behind the data addresses of the requests, in order."""
    saved = os.path.join(folder, "requests.jsonl")
    result = run("serve", "--dry-run", "--save-workload", saved, "--random-mm-bucket-config", buckets, *FLAGS,
                 env={"PATH": path})
    same(result.status, 0, "exit status", result)
    with open(saved, encoding="utf-8") as file:
        found = re.findall(r'"type\\*":\\*"video_url\\*".*?data:video/mp4;base64,([A-Za-z0-9+/=]+)', file.read())
    return [base64.b64decode(text) for text in found]


def test_frames_are_those_of_python():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ffmpeg")
        with open(path, "w", encoding="utf-8") as file:
            file.write(STAND_IN)
        os.chmod(path, 0o755)
        found = videos(folder, folder + ":" + os.environ["PATH"], "{(16,16,1):0.4,(7,10,3):0.6}")
        same([text.decode() for text in found], FRAMES, "frames")


def test_ffmpeg_makes_mp4_with_every_frame():
    if shutil.which("ffmpeg") is None or shutil.which("ffprobe") is None:
        raise Skip("no ffmpeg here")
    with tempfile.TemporaryDirectory() as folder:
        found = videos(folder, os.environ["PATH"], "{(17,31,5):1}")
        holds(len(found) >= 3, "videos", found)
        path = os.path.join(folder, "one.mp4")
        with open(path, "wb") as file:
            file.write(found[0])
        shown = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries",
                                "stream=codec_name,codec_tag_string,width,height,nb_read_frames,r_frame_rate", "-of",
                                "csv=p=0", path], capture_output=True, text=True, check=True).stdout.strip()
        same(shown, "mpeg4,mp4v,30,16,30/1,5", "odd sides lose their last row and column, as with OpenCV")


def test_without_ffmpeg_a_sentence_says_what_to_do():
    with tempfile.TemporaryDirectory() as folder:
        result = run("serve", "--dry-run", "--random-mm-bucket-config", "{(16,16,2):1}", *FLAGS, env={"PATH": folder})
        same(result.status, 1, "exit status", result)
        holds("'ffmpeg'" in result.err and "--random-mm-bucket-config" in result.err, "names it", result)


if __name__ == "__main__":
    main(globals())
