# lyra-ml-server on NVIDIA GPUs. docker build -f docker/ml-server.cuda.Dockerfile -t lyra-ml-server:cuda .
# Needs the NVIDIA container toolkit where it runs, which brings the driver; the other libraries come with the image.
ARG RUST_VERSION=1.95
ARG CUDA=13.0.1
ARG CUDA_PACKAGES=13-0

FROM rust:${RUST_VERSION}-slim-bookworm AS rust

# Candle's kernels are compiled by CUDA's compiler, for this and newer GPUs.
FROM nvidia/cuda:${CUDA}-devel-ubuntu24.04 AS build
ARG CUDA_COMPUTE_CAP=80
COPY --from=rust /usr/local/rustup /usr/local/rustup
COPY --from=rust /usr/local/cargo /usr/local/cargo
ENV RUSTUP_HOME=/usr/local/rustup CARGO_HOME=/usr/local/cargo PATH=/usr/local/cargo/bin:$PATH CARGO_INCREMENTAL=0 \
    CUDA_COMPUTE_CAP=${CUDA_COMPUTE_CAP} LIBRARY_PATH=/usr/local/cuda/lib64/stubs
WORKDIR /src
# Features beyond the usual ones: lyra/otlp,lyra-ml-server/otlp
ARG FEATURES=""
COPY . .
# The toolchain of the image is the one to use.
RUN rm -f rust-toolchain.toml
# The fused kernels and candle. This program is linked against CUDA, so this image shares no compiled crates with the others.
RUN --mount=type=cache,id=lyra-cargo,target=/usr/local/cargo/registry,sharing=locked \
    --mount=type=cache,id=lyra-target-cuda,target=/src/target,sharing=locked \
    cargo build --release --locked -p lyra -p lyra-ml-server --features "lyra-ml-server/cuda lyra-ml-server/candle-cuda $FEATURES" \
        --bin lyra-ml-server \
    && mkdir /out && cp target/release/lyra-ml-server /out/ && strip /out/*

FROM nvidia/cuda:${CUDA}-base-ubuntu24.04
ARG CUDA_PACKAGES
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libcublas-${CUDA_PACKAGES} cuda-nvrtc-${CUDA_PACKAGES} \
        cuda-cudart-${CUDA_PACKAGES} libcurand-${CUDA_PACKAGES} \
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
