# lyra-ml-server on NVIDIA GPUs. docker build -f docker/ml-server.cuda.Dockerfile -t lyra-ml-server:cuda .
# Needs the NVIDIA container toolkit where it runs, which brings the driver; NVRTC and cuBLASLt come with the image.
ARG RUST_VERSION=1.95
ARG CUDA=13.0.1
ARG CUDA_PACKAGES=13-0

# Compiling needs nothing of CUDA. Features are chosen as for the other images, so that what they compiled is not compiled again.
FROM rust:${RUST_VERSION}-slim-bookworm AS build
WORKDIR /src
ENV CARGO_INCREMENTAL=0
# Features beyond the usual ones: lyra/otlp,lyra-ml-server/otlp
ARG FEATURES=""
COPY . .
# The toolchain of the image is the one to use.
RUN rm -f rust-toolchain.toml
RUN --mount=type=cache,id=lyra-cargo,target=/usr/local/cargo/registry,sharing=locked \
    --mount=type=cache,id=lyra-target,target=/src/target,sharing=locked \
    cargo build --release --locked -p lyra -p lyra-ml-server --features "lyra-ml-server/cuda $FEATURES" --bin lyra-ml-server \
    && mkdir /out && cp target/release/lyra-ml-server /out/ && strip /out/*

FROM nvidia/cuda:${CUDA}-base-ubuntu24.04
ARG CUDA_PACKAGES
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libcublas-${CUDA_PACKAGES} cuda-nvrtc-${CUDA_PACKAGES} \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* \
    && useradd --uid 10001 --no-create-home --home-dir /cache --shell /usr/sbin/nologin lyra && install -d -o 10001 -g 10001 -m 700 /cache
COPY models/lite-embed.gguf models/lite-verify.gguf /models/
COPY --from=build /out/lyra-ml-server /usr/local/bin/lyra-ml-server
USER 10001:10001
ENV LYRA_ML_HOST=0.0.0.0 LYRA_ML_PORT=8421 LYRA_ML_DEVICE=cuda LYRA_ML_DTYPE=bf16 LYRA_MODELS_DIR=/models \
    HOME=/cache HF_HOME=/cache/huggingface XDG_CACHE_HOME=/cache LYRA_ML_LOG_FORMAT=json
# Models of the hub, and kernels compiled for the card.
VOLUME /cache
EXPOSE 8421
# Ready: the models are loaded.
HEALTHCHECK --interval=10s --timeout=5s --start-period=600s --retries=6 CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8421 && printf 'GET /ready HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' >&3 && head -n 1 <&3 | grep -q ' 200 '"]
ENTRYPOINT ["lyra-ml-server"]
