# syntax=docker/dockerfile:1
# Debian with Node 20.19 or newer and npm. By digest for builds that can be repeated:
# --build-arg BASE_IMAGE=docker.io/library/node:24-bookworm-slim@sha256:…
ARG BASE_IMAGE=docker.io/library/node:24-bookworm-slim

FROM ${BASE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci
COPY . .
# Readable for the user that the service runs as, whatever the umask of the checkout was. Optional packages are a
# compiler that only builds use, and a socket of Cloudflare.
RUN npm run build && npm prune --omit=dev --omit=optional && rm -rf node_modules/.cache \
  && find node_modules dist -name '*.js.map' -delete \
  && chmod -R a+rX package.json .env.example node_modules dist libs
# docker build --build-arg MINILM=true, for EMBEDDINGS_LOCAL_MODEL=minilm
ARG MINILM=false
RUN if [ "$MINILM" = true ]; then npm run minilm:install; fi

FROM ${BASE_IMAGE}
ARG VERSION=0.2.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Switchboard" \
      org.opencontainers.image.description="MCP server aggregator: many MCP servers behind one endpoint" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# tini reaps the children of STDIO servers. The user is a number, so that Kubernetes can check that it is not root.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends tini \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/* \
  && install --directory --owner=1000 --group=1000 --mode=0700 /data
WORKDIR /app
# The root file system may be read-only: only /data and /tmp are written. npx keeps the servers that it fetches in HOME.
ENV NODE_ENV=production \
    HOME=/data \
    MCP_AGGREGATOR_HOST=0.0.0.0 \
    MCP_AGGREGATOR_PORT=8081 \
    MCP_AGGREGATOR_DATA_DIR=/data
COPY --from=build --chown=0:0 /app/package.json /app/.env.example ./
COPY --from=build --chown=0:0 /app/node_modules ./node_modules
COPY --from=build --chown=0:0 /app/dist ./dist
COPY --from=build --chown=0:0 /app/libs/platform/json ./libs/platform/json
COPY --from=build --chown=0:0 /app/libs/vectors/model ./libs/vectors/model
COPY --from=build --chown=0:0 /app/libs/vectors/scan ./libs/vectors/scan
COPY --from=build --chown=0:0 /app/libs/vectors/minilm ./libs/vectors/minilm
COPY --from=build --chown=0:0 /app/libs/search/glossaries ./libs/search/glossaries
COPY --from=build --chown=0:0 /app/libs/classification/model ./libs/classification/model
RUN ln -s /app/dist/apps/aggregator/src/cli.js /usr/local/bin/switchboard \
  && chmod a+x /app/dist/apps/aggregator/src/cli.js
USER 1000:1000
VOLUME /data
EXPOSE 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.MCP_AGGREGATOR_PORT}/health/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--"]
CMD ["node", "--max-semi-space-size=64", "dist/apps/aggregator/src/main.js"]
