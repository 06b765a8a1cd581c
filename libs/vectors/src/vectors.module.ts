import { Module } from '@nestjs/common';
import { Clock, Env, FailPoints } from '@app/platform';
import { Embedder } from './embed/embedder.js';
import { ExactIndex } from './indexes/exact-index.js';
import type { QdrantIndex } from './indexes/qdrant-index.js';
import type { RemoteEmbedderSettings } from './embed/remote-embedder.js';
import { SKILLS_COLLECTION, skillFilterFields } from './spaces/skill-payload.js';
import { SkillVectors } from './spaces/skill-vectors.js';
import { StaticEmbedder } from './embed/static-embedder.js';
import { StaticModel } from './embed/static-model.js';
import { toolFilterFields, TOOLS_COLLECTION } from './spaces/tool-payload.js';
import { ToolVectorStore } from './spaces/tool-vector.store.js';
import { ToolVectors } from './spaces/tool-vectors.js';
import { VectorSpace } from './spaces/vector-space.js';

/** Embedding models and vector indexes: local by default, a remote model and Qdrant if configured. */
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
    { provide: SkillVectors, inject: [Env, Embedder, ToolVectorStore], useFactory: skillVectors },
  ],
  exports: [StaticModel, ToolVectors, SkillVectors],
})
export class VectorsModule {}

/** Remote models, MiniLM and Qdrant are imported only if they are configured. */
async function configuredEmbedder(env: Env, local: StaticModel): Promise<Embedder> {
  const settings = remoteSettings(env);
  if (settings) {
    const { RemoteEmbedder } = await import('./embed/remote-embedder.js');
    return new RemoteEmbedder(settings);
  }
  if (env.EMBEDDINGS_LOCAL_MODEL !== 'minilm') return new StaticEmbedder(local);
  const { MinilmEmbedder } = await import('./embed/minilm-embedder.js');
  return new MinilmEmbedder(local);
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

async function configuredQdrant(
  env: Env,
  collection: string,
  filterFields: Readonly<Record<string, 'keyword' | 'bool'>>,
): Promise<QdrantIndex | undefined> {
  if (!env.QDRANT_URL) return undefined;
  const { QdrantIndex } = await import('./indexes/qdrant-index.js');
  const settings = { url: env.QDRANT_URL, apiKey: env.QDRANT_API_KEY };
  return new QdrantIndex(settings, collection, filterFields);
}

async function skillVectors(
  env: Env,
  embedder: Embedder,
  rows: ToolVectorStore,
): Promise<SkillVectors> {
  const index = await configuredQdrant(env, SKILLS_COLLECTION, skillFilterFields);
  return new SkillVectors(embedder, index, rows);
}

async function toolVectors(
  env: Env,
  embedder: Embedder,
  local: StaticModel,
  rows: ToolVectorStore,
  clock: Clock,
  failPoints: FailPoints,
): Promise<ToolVectors> {
  const index =
    (await configuredQdrant(env, TOOLS_COLLECTION, toolFilterFields)) ?? new ExactIndex();
  const isLocal = embedder instanceof StaticEmbedder && index instanceof ExactIndex;
  const fallback = isLocal
    ? undefined
    : new VectorSpace(new StaticEmbedder(local), new ExactIndex(), clock);
  // The built-in model makes a vector in less time than a row is read.
  const kept = isLocal ? undefined : rows;
  const configured = new VectorSpace(embedder, index, clock, kept, failPoints);
  return new ToolVectors(configured, fallback, rows, clock, async (modelId) => {
    const settings = remoteSettings(env);
    if (!settings) return undefined;
    const { RemoteEmbedder } = await import('./embed/remote-embedder.js');
    const previous = RemoteEmbedder.byId(settings, modelId);
    return previous && new VectorSpace(previous, new ExactIndex(), clock, rows);
  });
}
