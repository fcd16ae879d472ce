"""`caliper doctor --json` counts what its exercise did, and CALIPER_TRACE writes what a run did.

Usage: test_counters.py CALIPER HELLO_APPLET
Expected values come from the sizes: a texture of 64 x 32 pixels of 4 bytes, updated twice.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

UPDATES = 2
PIXEL_BYTES = 64 * 32 * 4
CAPS = {"device_source", "stream_ordered", "import_fd", "import_host_pointer", "shared_in_place",
        "recovers"}
PATHS = {"vulkan": "CPU-staged (Vulkan)", "gl": "CPU-staged (GL fallback)",
         "cpu": "CPU reference (no GPU)"}
IN_PLACE = "GPU-resident (Vulkan, zero CPU staging)"
FRAMES = 6


def check(good, words):
    if not good:
        raise AssertionError(words)


def check_part(renderer, name, part, staged_bytes, passes, path):
    words = f"{renderer} {name}: {part}"
    counters = part["counters"]
    check(part["exact"] is True, words)
    check(part["width_px"] * part["height_px"] * 4 == part["tensor_bytes"] == PIXEL_BYTES, words)
    check(counters["updates"] == UPDATES, words)
    check(counters["staged_bytes"] == staged_bytes, words)
    check(counters["passes"] == passes, words)
    check(counters["device_copied_bytes"] == 0 and counters["hand_overs"] == 0, words)
    check(part["path"] == path, words)


def check_doctor(caliper, environment):
    result = subprocess.run([caliper, "doctor", "--json"], env=environment, capture_output=True,
                            text=True, check=True)
    renderers = {one["name"]: one for one in json.loads(result.stdout)["renderers"]}
    check(list(renderers) == ["vulkan", "gl", "cpu"], f"renderers {list(renderers)}")
    check(renderers["cpu"]["available"], "the reference does not start")
    started = 0
    for name, one in renderers.items():
        if not one["available"]:
            check("info" not in one and "counters" not in one, f"{name} did not start: {one}")
            continue
        started += 1
        info, exercise, total = one["info"], one["exercise"], one["counters"]
        check(info["name"] == name and info["device"] and info["api"], f"{name}: {info}")
        check(set(info["caps"]) <= CAPS and isinstance(info["software"], bool), f"{name}: {info}")
        check(info["max_texture_px"] >= 2048, f"{name}: {info}")
        in_place = "shared_in_place" in info["caps"]
        on_device = in_place and name != "cpu"
        staged = UPDATES * PIXEL_BYTES
        check_part(name, "host", exercise["host"], staged, 0, PATHS[name])
        check(exercise["shared"]["in_place"] is in_place, f"{name}: {exercise['shared']}")
        # The cpu renderer reads shared memory in place too, but it is the CPU that does.
        check_part(name, "shared", exercise["shared"], 0 if on_device else staged,
                   UPDATES if on_device else 0, IN_PLACE if on_device else PATHS[name])
        takes_cuda = "device_source" in info["caps"]
        check((exercise["cuda"] is not None) == takes_cuda, f"{name}: {exercise}")
        if takes_cuda:
            check_part(name, "cuda", exercise["cuda"], 0, UPDATES,
                       "GPU-resident (Vulkan + CUDA, zero CPU staging)")
        parts = [one for one in exercise.values() if one is not None]
        check(total["updates"] == len(parts) * UPDATES, f"{name}: {total}")
        for key in ("staged_bytes", "passes"):
            check(total[key] == sum(one["counters"][key] for one in parts), f"{name}: {total}")
    return started


def run_traced(caliper, hello, environment, trace, frames):
    return subprocess.Popen(
        [caliper, "run", hello, "--headless", "--frames", str(frames), "--renderer", "cpu"],
        env={**environment, "CALIPER_TRACE": str(trace)}, stderr=subprocess.PIPE, text=True)


def check_events(events):
    for event in events:
        check({"ph", "name", "cat", "pid", "tid", "ts", "args"} <= set(event), f"{event}")
        check(event["ph"] != "X" or event["dur"] >= 0, f"{event}")


def check_trace(caliper, hello, environment, folder):
    path = folder / "trace.json"
    process = run_traced(caliper, hello, environment, path, FRAMES)
    _, words = process.communicate(timeout=120)
    check(process.returncode == 0, words)
    events = json.loads(path.read_text(encoding="utf-8"))
    check_events(events)
    spans = {}
    for event in events:
        spans.setdefault((event["cat"], event["name"]), []).append(event)
    for cat, name in (("shell", "frame"), ("render", "frame_begin"), ("render", "frame_end"),
                      ("applet", "frame()")):
        check(len(spans.get((cat, name), ())) == FRAMES, f"{cat} {name}: {spans.keys()}")
    # hello's tensor: 8 x 8 of 4 bytes, made once and updated in every frame; the backdrop is larger.
    hellos = [e["args"] for e in spans["render", "texture_update"] if e["args"]["width_px"] == 8]
    check(len(hellos) == 1 + FRAMES, f"{hellos}")
    check(all(a["bytes"] == a["staged_bytes"] == 256 and a["kind"] == "host" for a in hellos),
          f"{hellos}")
    labels = {e["args"]["label"] for e in spans["applet", "frame()"]}
    check(labels == {"org.caliper.hello"}, f"{labels}")
    check("dropped" not in {name for _, name in spans}, "events were dropped")
    return len(events)


def check_killed(caliper, hello, environment, folder):
    """The file of a process that was killed lacks its end and nothing else."""
    path = folder / "killed.json"
    process = run_traced(caliper, hello, environment, path, 10000000)
    until = time.monotonic() + 120
    while time.monotonic() < until and (not path.exists() or path.stat().st_size < 10000):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    text = path.read_text(encoding="utf-8").rstrip()
    check(not text.endswith("]"), "it ended by itself")
    check_events(json.loads(text + "]"))


def check_refused(caliper, hello, environment, folder):
    process = run_traced(caliper, hello, environment, folder / "no" / "trace.json", 2)
    _, words = process.communicate(timeout=120)
    check(process.returncode == 0, words)
    check(words.count("CALIPER_TRACE=") == 1, words)


def main():
    caliper, hello = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith("CALIPER_")}
        environment["CALIPER_DATA_DIR"] = str(folder / "data")
        started = check_doctor(caliper, environment)
        events = check_trace(caliper, hello, environment, folder)
        check_killed(caliper, hello, environment, folder)
        check_refused(caliper, hello, environment, folder)
    print(f"{started} renderers counted, {events} events traced")
    return 0


sys.exit(main())
