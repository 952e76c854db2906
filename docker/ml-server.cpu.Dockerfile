# lyra-ml-server on processors, with the lite models in it. docker build -f docker/ml-server.cpu.Dockerfile -t lyra-ml-server:cpu .
ARG RUST_VERSION=1.95
ARG DEBIAN=bookworm

# The same steps as in orchestrator.Dockerfile, so that a builder with both compiles once.
FROM rust:${RUST_VERSION}-slim-${DEBIAN} AS build
WORKDIR /src
ENV CARGO_INCREMENTAL=0
# Features beyond the usual ones: lyra/otlp,lyra-ml-server/otlp
ARG FEATURES=""
COPY . .
# The toolchain of the image is the one to use.
RUN rm -f rust-toolchain.toml
RUN --mount=type=cache,id=lyra-cargo,target=/usr/local/cargo/registry,sharing=locked \
    --mount=type=cache,id=lyra-target,target=/src/target,sharing=locked \
    cargo build --release --locked -p lyra -p lyra-ml-server --features "$FEATURES" \
    && mkdir /out && cp target/release/lyra target/release/lyra-ml-server /out/ && strip /out/*

FROM debian:${DEBIAN}-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/* /var/cache/apt/* \
    && useradd --uid 10001 --no-create-home --home-dir /cache --shell /usr/sbin/nologin lyra && install -d -o 10001 -g 10001 -m 700 /cache
COPY models/lite-embed.gguf models/lite-verify.gguf /models/
COPY --from=build /out/lyra-ml-server /usr/local/bin/lyra-ml-server
USER 10001:10001
ENV LYRA_ML_HOST=0.0.0.0 LYRA_ML_PORT=8421 LYRA_MODELS_DIR=/models HF_HOME=/cache/huggingface LYRA_ML_LOG_FORMAT=json
# Models of the hub, and nothing else.
VOLUME /cache
EXPOSE 8421
# Ready: the models are loaded.
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s --retries=6 CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8421 && printf 'GET /ready HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' >&3 && head -n 1 <&3 | grep -q ' 200 '"]
ENTRYPOINT ["lyra-ml-server"]
