"""See gpu-check.sh. Only PyTorch and transformers are needed beside the standard library, and only for speed."""

import argparse
import json
import math
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time
import traceback
import urllib.error
import urllib.request

LENGTHS = [128, 512, 2048]
BATCH_TOKENS = 16384
# bge-m3's shape. The vocabulary is that of the tokenizer at hand: a table's size does not change the time per token.
SHAPE = dict(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096)
CONTRACT = {"f32": 0.99999, "f16": 0.999, "bf16": 0.999}
MOST_LOGIT_F32 = 1e-3
# Of the largest logit, or of 1. The emulated GPU is 0.008 off at most in bf16, over a sample.
MOST_LOGIT_HALF = 0.02
# Between probabilities of a verifier. The weights were rounded to Q8_0 after the reference was made: 0.002 on a CPU.
MOST_SHARE = 0.03
LABELS = {"entailment": "supports", "contradiction": "refutes", "neutral": "neutral"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("golden", type=pathlib.Path, help="folder with parity/* and lite/*")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--backend", default="native", choices=["native", "candle"], help="whose kernels; candle needs a build with `candle-cuda`")
    parser.add_argument("--minutes", type=float, default=9)
    parser.add_argument("--skip-speed", action="store_true")
    options = parser.parse_args()
    check = Check(options)
    parts = [check.machine, check.parity]
    if options.backend == "candle" and options.device != "cpu":
        parts.append(check.fallback)
    if not options.skip_speed:
        parts += [check.ceiling, check.ours, check.torch, check.profile]
    for part in parts:
        if check.left() < 20:
            check.note(f"no time left for {part.__name__}")
            continue
        try:
            part()
        except Exception as error:  # One broken part must not cost the others.
            check.note(f"{part.__name__}: {error}")
            traceback.print_exc()
        check.save()
    check.table()
    return 0 if check.passed() else 1


class Check:
    def __init__(self, options):
        self.options = options
        self.begun = time.monotonic()
        self.result = {"notes": [], "parity": []}
        options.out.mkdir(parents=True, exist_ok=True)

    def left(self):
        return self.options.minutes * 60 - (time.monotonic() - self.begun)

    def note(self, text):
        print("NOTE", text, flush=True)
        self.result["notes"].append(text)

    def save(self):
        self.result["seconds"] = round(time.monotonic() - self.begun, 1)
        (self.options.out / "gpu-check.json").write_text(json.dumps(self.result, indent=1))

    def passed(self):
        rows = self.result["parity"]
        return bool(rows) and all(row["ok"] for row in rows)

    # --- what this runs on

    def machine(self):
        self.result["binary"] = run([str(self.options.binary), "--version"])
        query = "name,driver_version,memory.total,clocks.sm,power.limit"
        self.result["gpu"] = run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"], fails="none")
        self.result["libraries"] = os.environ.get("LYRA_CUDA_LIBS", "")

    # --- agreement

    def parity(self):
        folders = [file for part in ("parity", "lite", "verify") for file in sorted(self.options.golden.glob(f"{part}/*/golden.json"))]
        if not folders:
            raise RuntimeError(f"no golden.json under {self.options.golden}")
        # The processor has one precision of its own.
        types = ["f32", "bf16", "f16"] if self.options.device != "cpu" else ["f32"]
        for dtype in types:
            for file in folders:
                if self.left() < 60:
                    self.note("parity: cut short for lack of time")
                    return
                name = f"{file.parent.parent.name}/{file.parent.name}"
                row = {"model": name, "dtype": dtype, "ok": False}
                try:
                    row.update(self.one_model(file, dtype))
                except Exception as error:
                    row["error"] = str(error)[-600:]
                self.result["parity"].append(row)
                print("parity", row, flush=True)
                self.save()

    def one_model(self, file, dtype):
        golden = json.loads(file.read_text())
        kinds = {"embeddings": ("--embed-model", compare_embed), "pairs": ("--nli-model", compare_nli), "items": ("--verify-model", compare_verify)}
        kind, compare = next(kinds[key] for key in kinds if key in golden)
        model = next(file.parent.glob("*.gguf"), file.parent)
        with Server(self, [kind, str(model)], dtype) as server:
            info = server.info()["models"][0]
            row = {"start_s": round(server.took, 2), "device": info["device"], "backend": info["backend"]}
            row.update(compare(server, golden))
        least = CONTRACT[dtype]
        if "share" in row:
            row["ok"] = row["share"] <= MOST_SHARE
        elif "logit" in row:
            # Logits of random models are near zero, where their direction says nothing.
            row["ok"] = row["logit"] <= (MOST_LOGIT_F32 if dtype == "f32" else MOST_LOGIT_HALF * max(1.0, row["largest"]))
        else:
            row["ok"] = row["cosine"] >= least
        if self.options.device != "cpu" and not row["device"].startswith("cuda"):
            row["ok"] = False
            row["error"] = "ran on the processor"
        elif row["backend"] != self.options.backend:
            row["ok"] = False
            row["error"] = f"ran with {row['backend']}"
        return row

    # --- the next backend

    def fallback(self):
        """A model with a feed-forward block that the fused kernels do not compute: `auto` has to take candle on the GPU."""
        import shutil

        from safetensors.torch import load_file, save_file

        source, folder = self.options.golden / "parity/bert-embed-mean", self.options.out / "uneven"
        # Without modes: what is carried may be read-only.
        shutil.copytree(source, folder, copy_function=shutil.copyfile, dirs_exist_ok=True)
        config = json.loads((source / "config.json").read_text())
        wide = config["intermediate_size"] = config["intermediate_size"] - 4
        (folder / "config.json").write_text(json.dumps(config))
        tensors = load_file(source / "model.safetensors")
        for name, value in tensors.items():
            if ".intermediate.dense." in name:
                tensors[name] = value[:wide].contiguous()
            elif ".output.dense.weight" in name and "attention" not in name:
                tensors[name] = value[:, :wide].contiguous()
        save_file(tensors, folder / "model.safetensors")
        texts = [one["text"] for one in json.loads((source / "golden.json").read_text())["embeddings"]]
        answers = []
        for device, backend in (("cpu", "native"), ("auto", "auto")):
            with Server(self, ["--embed-model", str(folder)], "f32", device, backend) as server:
                answers.append((server.post("/embed", {"inputs": texts[:32]}), server.info()["models"][0]))
        (reference, _), (got, model) = answers
        row = {"model": "fallback/uneven", "dtype": "f32", "backend": model["backend"], "device": model["device"], "passed_over": model["passed_over"],
               "cosine": min(cosine(a, b) for a, b in zip(reference, got, strict=True))}
        row["ok"] = row["backend"] == "candle" and row["device"].startswith("cuda") and row["cosine"] >= CONTRACT["f32"]
        self.result["parity"].append(row)
        print("fallback", row, flush=True)

    # --- speed

    def ceiling(self):
        import torch

        if not torch.cuda.is_available():
            self.note("ceiling: PyTorch sees no GPU")
            return
        n = 8192
        a = torch.randn(n, n, device="cuda", dtype=torch.bfloat16)
        b = torch.randn(n, n, device="cuda", dtype=torch.bfloat16)
        seconds = timed_cuda(torch, lambda: a @ b, 10)
        self.result["matmul_tflops"] = round(2 * n**3 / seconds / 1e12, 1)
        big = torch.empty(1 << 30, device="cuda", dtype=torch.int32)
        other = torch.empty_like(big)
        seconds = timed_cuda(torch, lambda: other.copy_(big), 5)
        self.result["copy_tb_per_s"] = round(2 * big.numel() * 4 / seconds / 1e12, 2)
        print("ceiling", self.result["matmul_tflops"], "TFLOP/s,", self.result["copy_tb_per_s"], "TB/s", flush=True)
        del a, b, big, other
        torch.cuda.empty_cache()

    def model_folder(self):
        """An embedder of bge-m3's shape with random weights, made once."""
        folder = self.options.out / "shape"
        if (folder / "model.safetensors").exists():
            return folder
        import shutil

        import torch
        from transformers import XLMRobertaConfig, XLMRobertaModel

        source = next(self.options.golden.glob("parity/xlmr-embed-cls"))
        vocabulary = json.loads((source / "config.json").read_text())["vocab_size"]
        shape = dict(SHAPE) if self.options.device != "cpu" else dict(SHAPE, num_hidden_layers=2)
        config = XLMRobertaConfig(vocab_size=vocabulary, max_position_embeddings=8194, type_vocab_size=1, layer_norm_eps=1e-5, pad_token_id=1, **shape)
        torch.manual_seed(0)
        model = XLMRobertaModel(config, add_pooling_layer=False).to(torch.bfloat16)
        folder.mkdir(parents=True, exist_ok=True)
        model.save_pretrained(folder)
        for name in ["tokenizer.json", "tokenizer_config.json", "modules.json", "sentence_bert_config.json"]:
            if (source / name).exists():
                shutil.copy(source / name, folder / name)
        (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 8192, "do_lower_case": False}))
        shutil.copytree(source / "1_Pooling", folder / "1_Pooling", dirs_exist_ok=True)
        pooling = folder / "1_Pooling/config.json"
        text = json.loads(pooling.read_text())
        for key in ("word_embedding_dimension", "embedding_dimension"):
            if key in text:
                text[key] = shape["hidden_size"]
        pooling.write_text(json.dumps(text))
        self.result["layers"] = shape["num_hidden_layers"]
        return folder

    def flops(self, length):
        """Of one token of a text of `length`: products, and attention's two."""
        h, wide, layers = SHAPE["hidden_size"], SHAPE["intermediate_size"], self.result.get("layers", SHAPE["num_hidden_layers"])
        return layers * (2 * (4 * h * h + 2 * h * wide) + 4 * length * h)

    def share(self, rate, length):
        tflops = rate * self.flops(length) / 1e12
        ceiling = self.result.get("matmul_tflops")
        return {"tflops": round(tflops, 1), "share": round(tflops / ceiling, 3) if ceiling else None}

    def ours(self):
        folder = self.model_folder()
        self.result["ours"] = {}
        cpu = self.options.device == "cpu"
        lengths = [128] if cpu else LENGTHS
        for dtype, batch in [("bf16", BATCH_TOKENS), ("f16", BATCH_TOKENS), ("bf16", 4 * BATCH_TOKENS)]:
            if self.left() < 40 or (cpu and self.result["ours"]):
                break
            command = [str(self.options.binary), "bench", str(folder), "--device", self.options.device, "--backend", self.options.backend, "--dtype", dtype]
            command += ["--lengths", ",".join(map(str, lengths)), "--batch-tokens", str(512 if cpu else batch)]
            memory = Memory()
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            memory.watch(process, min(120, self.left()))
            out, err = process.communicate()
            if process.returncode:
                self.note(f"bench {dtype}: {err[-800:]}")
                continue
            measured = json.loads(out)
            for rate in measured["rates"]:
                rate.update(self.share(rate["tokens_per_second"], rate["length"]))
            measured["gpu_mib"] = memory.most
            self.result["ours"][f"{dtype} {batch}"] = measured
            print("ours", dtype, batch, json.dumps(measured), flush=True)

    def torch(self):
        """The same weights through transformers (each attention there is) and sentence-transformers."""
        import torch

        cuda = torch.cuda.is_available() and self.options.device != "cpu"
        if not cuda:
            self.note("torch: only compared on a GPU")
            return
        from transformers import AutoModel

        folder = self.model_folder()
        self.result["torch"] = {}
        for attention in ["sdpa", "flash_attention_2"]:
            if self.left() < 60:
                self.note(f"torch {attention}: no time left")
                continue
            try:
                model = AutoModel.from_pretrained(folder, dtype=torch.bfloat16, attn_implementation=attention).cuda().eval()
            except Exception as error:
                self.note(f"torch {attention}: {str(error)[:200]}")
                continue
            rates = {}
            for length in LENGTHS:
                count = max(1, BATCH_TOKENS // length)
                ids = torch.randint(10, model.config.vocab_size - 10, (count, length), device="cuda")
                mask = torch.ones_like(ids)
                with torch.inference_mode():
                    seconds = timed_cuda(torch, lambda: model(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0], 10)
                rate = count * length / seconds
                rates[length] = {"tokens_per_second": round(rate), **self.share(rate, length)}
            self.result["torch"][attention] = rates
            print("torch", attention, json.dumps(rates), flush=True)
            del model
            torch.cuda.empty_cache()
        self.sentence_transformers(torch, folder)

    def sentence_transformers(self, torch, folder):
        if self.left() < 60:
            return
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(folder), device="cuda", model_kwargs={"dtype": torch.bfloat16, "attn_implementation": "sdpa"})
        word = "vitamin study of bone density in adults and fractures "
        rates = {}
        for length in [128, 512]:
            text = word * (length // 4)
            model.max_seq_length = length
            texts = [f"{i} {text}" for i in range(max(8, 4 * BATCH_TOKENS // length))]
            tokens = len(texts) * length
            batch = max(1, BATCH_TOKENS // length)
            model.encode(texts[:batch], batch_size=batch)
            started = time.perf_counter()
            model.encode(texts, batch_size=batch)
            seconds = time.perf_counter() - started
            rates[length] = {"tokens_per_second": round(tokens / seconds), **self.share(tokens / seconds, length)}
        self.result["torch"]["sentence-transformers sdpa, with tokenizing"] = rates
        print("sentence-transformers", json.dumps(rates), flush=True)

    def profile(self):
        """Time by kernel of one batch of 512-token texts, where Nsight Compute is there."""
        if self.options.device == "cpu" or self.left() < 90:
            return
        folder = self.model_folder()
        command = ["ncu", "--clock-control", "none", "--metrics", "gpu__time_duration.sum", "--csv", "--page", "raw", "--launch-skip", "600", "--launch-count", "240"]
        command += [str(self.options.binary), "bench", str(folder), "--device", self.options.device, "--lengths", "512"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=min(100, self.left() - 30))
        except (OSError, subprocess.TimeoutExpired) as error:
            self.note(f"profile: {str(error)[:200]}")
            return
        import csv

        lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
        rows = list(csv.DictReader(lines))
        names = {}
        for row in rows:
            value = row.get("gpu__time_duration.sum", "")
            try:
                micros = float(value.replace(",", ""))
            except ValueError:
                continue  # The row of units.
            entry = names.setdefault(row.get("Kernel Name", "?")[:90], [0, 0.0])
            entry[0] += 1
            entry[1] += micros
        unit = rows[0].get("gpu__time_duration.sum") if rows else None
        self.result["profile"] = {"unit": unit, "kernels": sorted(([k, n, round(t, 1)] for k, (n, t) in names.items()), key=lambda e: -e[2])}
        for entry in self.result["profile"]["kernels"][:12]:
            print("profile", entry, flush=True)

    # --- the end

    def table(self):
        lines = [f"GPU: {self.result.get('gpu')}", f"bf16 product: {self.result.get('matmul_tflops')} TFLOP/s", ""]
        for row in self.result["parity"]:
            state = "ok  " if row["ok"] else "FAIL"
            lines.append(f"{state} {row['model']:32} {row['dtype']:5} cosine {row.get('cosine', float('nan')):.7f} logit or share {row.get('logit', row.get('share', 0)):.2e} start {row.get('start_s', '-')} s {row.get('error', '')}")
        lines.append("")
        for name, measured in self.result.get("ours", {}).items():
            for rate in measured["rates"]:
                lines.append(f"lyra {name:12} {rate['length']:5} tokens: {rate['tokens_per_second']:12.0f} tokens/s {rate['tflops']:7.1f} TFLOP/s share {rate['share']} alone {rate['alone_ms']:.2f} ms, {measured['gpu_mib']} MiB, start {measured['start_seconds']:.1f} s")
        for name, rates in self.result.get("torch", {}).items():
            for length, rate in rates.items():
                lines.append(f"{name:30} {length:5} tokens: {rate['tokens_per_second']:12.0f} tokens/s {rate['tflops']:7.1f} TFLOP/s share {rate['share']}")
        lines += ["", *("NOTE " + note for note in self.result["notes"]), f"{'PASSED' if self.passed() else 'FAILED'} after {self.result.get('seconds')} s"]
        text = "\n".join(lines)
        (self.options.out / "gpu-check.txt").write_text(text + "\n")
        print(text, flush=True)


class Server:
    """The binary, serving one model on a free port."""

    def __init__(self, check, models, dtype, device=None, backend=None):
        self.check, self.models, self.dtype = check, models, dtype
        self.device, self.backend = device or check.options.device, backend or check.options.backend

    def __enter__(self):
        started = time.monotonic()
        command = [str(self.check.options.binary), *self.models, "--port", "0", "--device", self.device, "--backend", self.backend, "--dtype", self.dtype]
        self.log = open(self.check.options.out / "server.log", "w+")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT, env={**os.environ, "NO_COLOR": "1", "RUST_LOG": "info"})
        self.url = None
        while True:
            self.log.flush()
            text = pathlib.Path(self.log.name).read_text()
            if self.process.poll() is not None:
                raise RuntimeError(f"server ended: {text[-600:]}")
            if self.url is None and "listening" in text:
                # Colors may stand between the name and the value.
                self.url = "http://" + text.split("listening", 1)[1].split("http://", 1)[1].split('"')[0].split()[0].split("\x1b")[0]
            if self.url and self.ready():
                break
            if time.monotonic() - started > 90:
                self.__exit__(None, None, None)
                raise RuntimeError(f"not ready after 90 s: {text[-600:]}")
            time.sleep(0.05)
        self.took = time.monotonic() - started
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def ready(self):
        try:
            with urllib.request.urlopen(self.url + "/ready", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def info(self):
        with urllib.request.urlopen(self.url + "/info", timeout=10) as answer:
            return json.load(answer)

    def post(self, path, body):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), {"content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.code} {error.read().decode()[:400]}") from None


def compare_embed(server, golden):
    texts = [one["text"] for one in golden["embeddings"]]
    limit = server.info()["models"][0]["max_tokens"]
    if limit != golden["max_length"]:
        raise RuntimeError(f"the model reads {limit} tokens, the reference {golden['max_length']}")
    worst = 1.0
    alone = [server.post("/embed", {"inputs": text})[0] for text in texts]
    together = [row for at in range(0, len(texts), 32) for row in server.post("/embed", {"inputs": texts[at : at + 32]})]
    for rows in (alone, together):
        for row, one in zip(rows, golden["embeddings"], strict=True):
            worst = min(worst, cosine(row, one["embedding"]))
    return {"cosine": worst}


def compare_nli(server, golden):
    pairs = [[one["premise"], one["hypothesis"]] for one in golden["pairs"]]
    labels = server.info()["models"][0]["labels"]
    answers = []
    for size in (1, 32):
        rows = []
        for at in range(0, len(pairs), size):
            body = {"inputs": pairs[at : at + size], "raw_scores": True, "truncate": True}
            rows += server.post("/predict", body)
        answers.append([[next(p["score"] for p in row if p["label"] == label) for label in labels] for row in rows])
    flat = [value for one in golden["pairs"] for value in one["logits"]]
    worst, logit = 1.0, 0.0
    for rows in answers:
        got = [value for row in rows for value in row]
        worst = min(worst, cosine(got, flat))
        logit = max([logit] + [abs(a - b) for a, b in zip(got, flat, strict=True)])
    agreed = sum(row.index(max(row)) == one["logits"].index(max(one["logits"])) for row, one in zip(answers[1], golden["pairs"], strict=True))
    return {"cosine": worst, "logit": logit, "largest": max(map(abs, flat)), "labels_agree": f"{agreed}/{len(pairs)}"}


def compare_verify(server, golden):
    items = [{key: one[key] for key in ("claim", "title", "sentences") if key in one} for one in golden["items"]]
    labels = [LABELS[name] for name in server.info()["models"][0]["labels"]]
    worst, agreed = 0.0, 0
    for size in (1, 32):
        answers = [row for at in range(0, len(items), size) for row in server.post("/verify", {"items": items[at : at + size]})["results"]]
        for row, one in zip(answers, golden["items"], strict=True):
            powers = [math.exp(logit) for logit in one["logits"]]
            want = [power / sum(powers) for power in powers] + [1 / (1 + math.exp(-logit)) for logit in one["rationale"]]
            got = [row["scores"][label] for label in labels] + row["rationale"]
            worst = max([worst] + [abs(a - b) for a, b in zip(got, want, strict=True)])
            agreed += row["label"] == labels[one["logits"].index(max(one["logits"]))]
    return {"share": worst, "labels_agree": f"{agreed}/{2 * len(items)}"}


def cosine(a, b):
    dot = math.fsum(x * y for x, y in zip(a, b, strict=True))
    return dot / math.sqrt(math.fsum(x * x for x in a) * math.fsum(y * y for y in b))


class Memory:
    """The most memory that the GPU reports as used while a process runs."""

    def __init__(self):
        self.most = None

    def watch(self, process, seconds):
        end = time.monotonic() + seconds
        while process.poll() is None:
            if time.monotonic() > end:
                process.kill()
                return
            text = run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], fails="")
            if text.split("\n")[0].strip().isdigit():
                self.most = max(self.most or 0, int(text.split("\n")[0]))
            time.sleep(0.5)


def timed_cuda(torch, work, runs):
    for _ in range(3):
        work()
    torch.cuda.synchronize()
    times = []
    for _ in range(runs):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        work()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return statistics.median(times)


def run(command, fails=None):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=30).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        if fails is None:
            raise
        return fails


if __name__ == "__main__":
    sys.exit(main())
