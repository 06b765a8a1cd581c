import { Module } from '@nestjs/common';
import { Clock, Env, FailPoints } from '@app/platform';
import { Embedder } from './embedder.js';
import { ExactIndex } from './exact-index.js';
import { StaticEmbedder } from './static-embedder.js';
import { StaticModel } from './static-model.js';
import { toolFilterFields, TOOLS_COLLECTION } from './tool-payload.js';
import { ToolVectorStore } from './tool-vector.store.js';
import { ToolVectors } from './tool-vectors.js';
import type { VectorIndex } from './vector-index.js';
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

/** Its SDK, like Qdrant's client, is loaded only when it is configured. */
async function configuredEmbedder(env: Env, local: StaticModel): Promise<Embedder> {
  if (!env.EMBEDDINGS_URL) return new StaticEmbedder(local);
  const { RemoteEmbedder } = await import('./remote-embedder.js');
  return new RemoteEmbedder({
    url: env.EMBEDDINGS_URL,
    apiKey: env.EMBEDDINGS_API_KEY,
    model: env.EMBEDDINGS_MODEL,
  });
}

async function configuredIndex(env: Env): Promise<VectorIndex> {
  if (!env.QDRANT_URL) return new ExactIndex();
  const { QdrantIndex } = await import('./qdrant-index.js');
  return new QdrantIndex(
    { url: env.QDRANT_URL, apiKey: env.QDRANT_API_KEY },
    TOOLS_COLLECTION,
    toolFilterFields,
  );
}

async function toolVectors(
  env: Env,
  embedder: Embedder,
  local: StaticModel,
  rows: ToolVectorStore,
  clock: Clock,
  failPoints: FailPoints,
): Promise<ToolVectors> {
  const index = await configuredIndex(env);
  const isLocal = embedder instanceof StaticEmbedder && index instanceof ExactIndex;
  const standIn = isLocal
    ? undefined
    : new VectorSpace(new StaticEmbedder(local), new ExactIndex());
  return new ToolVectors(new VectorSpace(embedder, index, rows, failPoints), standIn, rows, clock);
}
