export { Clock } from './clock.js';
export {
  type ConfiguredToken,
  Env,
  InvalidEnv,
  isLoopbackHost,
  parseEnv,
  processVariables,
  tokenScopes,
  type TokenScope,
  unknownSettings,
} from './config/env.js';
export { Variables } from './config/variables.js';
export { DataDirInUse, holdDataDir } from './database/data-dir.js';
export { Database, type Tx } from './database/database.js';
export type { ExclusiveLock } from './database/exclusive-lock.js';
export { DatabaseModule } from './database/database.module.js';
export { type ReplicaNews, Replicas } from './database/replicas.js';
export { makeDatabaseTemplate, migrateOnce } from './database/migrate-once.js';
export type { MigrationClass } from './database/migrations.js';
export { isUniqueViolation } from './database/pg-errors.js';
export {
  AppError,
  type ErrorDetails,
  type ErrorKind,
  type FieldIssue,
  InvalidInput,
  MalformedRequest,
} from './errors/app-error.js';
export { type ErrorBody, errorAnswer } from './errors/error-body.js';
export { HttpErrorFilter } from './errors/http-error.filter.js';
export { RequestValidationPipe } from './errors/validation.pipe.js';
export { parseJsonBody } from './http/json-body.js';
export { isJsonObject, type JsonObject, type JsonValue } from './json.js';
export { createPino, PinoLogger } from './logging/logger.js';
export { product } from './product.js';
export { PlatformModule } from './platform.module.js';
export { Metrics } from './metrics/metrics.js';
export { isCleanText, IsCleanText } from './text.js';
export { ApiErrors } from './errors/error.dto.js';
export { whileConnected } from './http/while-connected.js';
export { PageQuery, PageView, ToFlag, ToWholeNumber } from './http/page-query.js';
export { installedFolder } from './installed-folder.js';
export { type FailPoint, FailPoints, failPoints } from './fail-points.js';
export { createSecretFile } from './secret-file.js';
export { Crowd } from './crowd.js';
export { onOneLine, WrittenObject } from './written-object.js';
export { abortSignalOf, type CancelSignal, Cancellation } from './cancellation.js';
