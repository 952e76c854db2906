"""The other side of compare.py: sentence-transformers on PyTorch in f32, in process or behind FastAPI.

    torch_side.py embed MODEL THREADS            lines of JSON like benches/compare/main.rs
    torch_side.py serve MODEL THREADS PORT       POST /embed
    torch_side.py make FOLDER                    random weights in the shape of bge-m3, with a small vocabulary
"""

import json
import os
import sys
import time


def model(folder, threads):
    os.environ["OMP_NUM_THREADS"] = str(threads)
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(threads)
    return SentenceTransformer(folder, device="cpu")


def say(value):
    print(json.dumps(value), flush=True)


def embed(folder, threads):
    started = time.monotonic()
    encoder = model(folder, threads)
    say({"loaded": time.monotonic() - started})
    for line in sys.stdin:
        order = json.loads(line)
        with open(order["texts"]) as file:
            texts = json.load(file)
        started = time.monotonic()
        vectors = encoder.encode(texts, batch_size=order["batch"], normalize_embeddings=True)
        seconds = time.monotonic() - started
        if order["vectors"]:
            with open(order["vectors"], "w") as file:
                json.dump(vectors.tolist(), file)
        say({"seconds": seconds})


def serve(folder, threads, port):
    from threading import Lock

    import uvicorn
    from fastapi import FastAPI
    from pydantic import BaseModel

    class Body(BaseModel):
        inputs: str | list[str]

    encoder = model(folder, threads)
    app = FastAPI()
    # PyTorch itself uses all threads; requests that fight for them make it slower still.
    one = Lock()

    @app.get("/ready")
    def ready():
        return "ok"

    @app.post("/embed")
    def embed(body: Body):
        texts = [body.inputs] if isinstance(body.inputs, str) else body.inputs
        with one:
            vectors = encoder.encode(texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False)
        return vectors.tolist()

    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


def make(folder):
    import torch
    from sentence_transformers import SentenceTransformer, models
    from tokenizers import Tokenizer, pre_tokenizers
    from tokenizers.models import WordLevel
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaModel

    words = ["<s>", "<pad>", "</s>", "<unk>"] + [f"w{i}" for i in range(996)]
    inner = Tokenizer(WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.post_processor = TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, model_max_length=8192, bos_token="<s>", cls_token="<s>", pad_token="<pad>",
        eos_token="</s>", sep_token="</s>", unk_token="<unk>",
    )
    torch.manual_seed(0)
    config = XLMRobertaConfig(
        vocab_size=len(words), hidden_size=1024, num_hidden_layers=24, num_attention_heads=16,
        intermediate_size=4096, max_position_embeddings=8194, type_vocab_size=1, layer_norm_eps=1e-5,
        bos_token_id=0, pad_token_id=1, eos_token_id=2,
    )
    inside = os.path.join(folder, "inside")
    XLMRobertaModel(config, add_pooling_layer=False).save_pretrained(inside)
    tokenizer.save_pretrained(inside)
    transformer = models.Transformer(inside, max_seq_length=8192)
    pooling = models.Pooling(config.hidden_size, pooling_mode="cls")
    SentenceTransformer(modules=[transformer, pooling]).save(os.path.join(folder, "model"))


if __name__ == "__main__":
    command, folder, *rest = sys.argv[1:]
    {"embed": embed, "serve": serve, "make": make}[command](folder, *map(int, rest))
