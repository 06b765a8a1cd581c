import { AppError } from '@app/platform';

export class EmbeddingFailed extends AppError {
  constructor(modelId: string, reason: string, cause?: unknown) {
    super(`The embedding model ${modelId} cannot be used: ${reason}`, {
      kind: 'unavailable',
      code: 'EMBEDDING_FAILED',
      cause,
    });
  }
}

export class VectorIndexFailed extends AppError {
  constructor(index: string, reason: string, cause?: unknown) {
    super(`The vector index ${index} cannot be used: ${reason}`, {
      kind: 'unavailable',
      code: 'VECTOR_INDEX_FAILED',
      cause,
    });
  }
}
