import { Module } from '@nestjs/common';
import { Clock, Env, FailPoints } from '@app/platform';
import { Embedder } from './embedder.js';
import { ExactIndex } from './exact-index.js';
import { MinilmEmbedder } from './minilm-embedder.js';
import { QdrantIndex } from './qdrant-index.js';
import { RemoteEmbedder, type RemoteEmbedderSettings } from './remote-embedder.js';
import { StaticEmbedder } from './static-embedder.js';
import { StaticModel } from './static-model.js';
import { toolFilterFields, TOOLS_COLLECTION } from './tool-payload.js';
import { ToolVectorStore } from './tool-vector.store.js';
import { ToolVectors } from './tool-vectors.js';
import { VectorSpace } from './vector-space.js';

/** Meaning as numbers: local by default, a remote model and Qdrant by configuration. */
@Module({
  providers: [
    ToolVectorStore,
    { provide: StaticModel, useFactory: () => StaticModel.load() },
    { provide: Embedder, inject: [Env, StaticModel], useFactory: configuredEmbedder },
    {
      provide: ToolVectors,
      inject: [Env, Embedder, StaticModel, ToolVectorStore, Clock, FailPoints],
      useFactory: toolVectors,
    },
  ],
  exports: [StaticModel, Embedder, ToolVectors, ToolVectorStore],
})
export class VectorsModule {}

function configuredEmbedder(env: Env, local: StaticModel): Embedder {
  const remote = remoteSettings(env);
  if (remote) return new RemoteEmbedder(remote);
  return env.EMBEDDINGS_LOCAL_MODEL === 'minilm'
    ? new MinilmEmbedder(local)
    : new StaticEmbedder(local);
}

function remoteSettings(env: Env): RemoteEmbedderSettings | undefined {
  return env.EMBEDDINGS_URL === undefined
    ? undefined
    : {
        url: env.EMBEDDINGS_URL,
        apiKey: env.EMBEDDINGS_API_KEY,
        model: env.EMBEDDINGS_MODEL,
      };
}

function toolVectors(
  env: Env,
  embedder: Embedder,
  local: StaticModel,
  rows: ToolVectorStore,
  clock: Clock,
  failPoints: FailPoints,
): ToolVectors {
  const index = env.QDRANT_URL
    ? new QdrantIndex(
        { url: env.QDRANT_URL, apiKey: env.QDRANT_API_KEY },
        TOOLS_COLLECTION,
        toolFilterFields,
      )
    : new ExactIndex();
  const isLocal = embedder instanceof StaticEmbedder && index instanceof ExactIndex;
  const standIn = isLocal
    ? undefined
    : new VectorSpace(new StaticEmbedder(local), new ExactIndex(), clock);
  const configured = new VectorSpace(embedder, index, clock, rows, failPoints);
  return new ToolVectors(configured, standIn, rows, clock, (modelId) => {
    const settings = remoteSettings(env);
    const previous = settings && RemoteEmbedder.byId(settings, modelId);
    return previous && new VectorSpace(previous, new ExactIndex(), clock, rows);
  });
}
