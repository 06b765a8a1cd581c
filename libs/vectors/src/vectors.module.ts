import { Module } from '@nestjs/common';
import { Clock, Env, FailPoints } from '@app/platform';
import { Embedder } from './embedder.js';
import { ExactIndex } from './exact-index.js';
import type { QdrantIndex } from './qdrant-index.js';
import type { RemoteEmbedderSettings } from './remote-embedder.js';
import { SKILLS_COLLECTION, skillFilterFields } from './skill-payload.js';
import { SkillVectors } from './skill-vectors.js';
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
    { provide: SkillVectors, inject: [Env, Embedder, ToolVectorStore], useFactory: skillVectors },
  ],
  exports: [StaticModel, Embedder, ToolVectors, ToolVectorStore, SkillVectors],
})
export class VectorsModule {}

/** Its code, like Qdrant's client, is loaded only when it is configured. */
async function configuredEmbedder(env: Env, local: StaticModel): Promise<Embedder> {
  const settings = remoteSettings(env);
  if (settings) {
    const { RemoteEmbedder } = await import('./remote-embedder.js');
    return new RemoteEmbedder(settings);
  }
  if (env.EMBEDDINGS_LOCAL_MODEL !== 'minilm') return new StaticEmbedder(local);
  const { MinilmEmbedder } = await import('./minilm-embedder.js');
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
  const { QdrantIndex } = await import('./qdrant-index.js');
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
  const standIn = isLocal
    ? undefined
    : new VectorSpace(new StaticEmbedder(local), new ExactIndex(), clock);
  const configured = new VectorSpace(embedder, index, clock, rows, failPoints);
  return new ToolVectors(configured, standIn, rows, clock, async (modelId) => {
    const settings = remoteSettings(env);
    if (!settings) return undefined;
    const { RemoteEmbedder } = await import('./remote-embedder.js');
    const previous = RemoteEmbedder.byId(settings, modelId);
    return previous && new VectorSpace(previous, new ExactIndex(), clock, rows);
  });
}
