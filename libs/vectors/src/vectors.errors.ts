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

/** The model works, and had too much to do to embed this in time. */
export class EmbeddingBusy extends AppError {
  constructor(modelId: string, cause?: unknown) {
    super(`The embedding model ${modelId} is busy with other queries`, {
      kind: 'unavailable',
      code: 'EMBEDDING_BUSY',
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
