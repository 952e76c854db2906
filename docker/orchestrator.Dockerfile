# lyra: the orchestrator. Build from the repository: docker build -f docker/orchestrator.Dockerfile -t lyra .
ARG RUST_VERSION=1.95
ARG DEBIAN=bookworm

# The same steps as in ml-server.cpu.Dockerfile, so that a builder with both compiles once.
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
    && useradd --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin lyra && install -d -o 10001 -g 10001 -m 700 /data
COPY --from=build /out/lyra /usr/local/bin/lyra
USER 10001:10001
# USER: who the audit log says did it.
ENV USER=lyra LYRA_DATA_DIR=/data LYRA__SERVER__HOST=0.0.0.0 LYRA__LOG__LEVEL=info,rmcp=error LYRA__LOG__FORMAT=json
VOLUME /data
EXPOSE 8420
# Ready: the store answers. bash, because nothing else in the image speaks HTTP.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=6 CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8420 && printf 'GET /ready HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' >&3 && head -n 1 <&3 | grep -q ' 200 '"]
ENTRYPOINT ["lyra"]
CMD ["serve"]
