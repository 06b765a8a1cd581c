export { backoffMs } from './work/backoff.js';
export { Clock, within } from './work/clock.js';
export { CoalescedRuns } from './work/coalesced-runs.js';
export { Coalescer } from './work/coalescer.js';
export { Retries } from './work/retries.js';
export { Upkeep } from './database/connections/upkeep.js';
export {
  type ConfiguredToken,
  Env,
  InvalidEnv,
  isLoopbackHost,
  MIN_RESULT_TOKENS,
  oauthIssuer,
  peopleIssuer,
  parseEnv,
  processVariables,
  type Trust,
  trustLevels,
  type Settings,
  unknownSettings,
} from './config/env.js';
export {
  includesScope,
  type Role,
  roleOf,
  roles,
  scopesOfRole,
  scopesUpTo,
  tokenScopes,
  type TokenScope,
} from './config/token-scopes.js';
export {
  type EffectiveSetting,
  effectiveSettings,
  type SettingSource,
} from './config/effective-settings.js';
export { parseConfigFile, UnreadableConfigFile } from './config/config-file.js';
export { jsonTextOf } from './config/yaml-file.js';
export { Variables } from './config/variables.js';
export { findHolder } from './data-folder/find-holder.js';
export { isPooledByTransaction } from './cluster/pooler.js';
export { DataDirError, makeDataDir } from './data-folder/data-dir.js';
export { DatabaseUnavailable } from './database/failures/database.errors.js';
export { inspectDatabase } from './database/inspect-database.js';
export { NoDatabase, openOnce } from './database/open-once.js';
export { Database, type Tx } from './database/database.js';
export { DatabaseModule } from './database/database.module.js';
export { EmbeddedDatabase } from './database/embedded-database.js';
export { rowsMark, RowWatches, whenChanged, writesMark } from './database/row-watches.js';
export { SettingsStore } from './database/settings.store.js';
export { Leadership, NotLeading } from './cluster/leadership.js';
export { ClusterKeys, credentialKey } from './cluster/cluster-keys.js';
export {
  CALLER_TOKEN_HEADER,
  PASS_SCHEME,
  passIn,
  PassMisdirected,
  PassRefused,
  Passes,
} from './cluster/passes.js';
export { type PassFailure, PassingOn } from './cluster/passing-on.js';
export { PeerPulse, type Pulse, PULSE_PATH, type PulseAnswer } from './cluster/peer-pulse.js';
export { PeerRequests, textOf } from './cluster/peer-requests.js';
export { type Peer, Peers } from './cluster/peers.js';
export { replicaUrl } from './cluster/replica-url.js';
export { type ReplicaNews, Replicas } from './cluster/replicas.js';
export type { Tenure } from './cluster/tenure.js';
export { Backup } from './database/backup/backup.js';
export { backupOnce } from './database/backup/backup-once.js';
export { restoreOnce } from './database/backup/restore-once.js';
export { makeDatabaseTemplate, migrateOnce } from './database/migrate-once.js';
export { isForeignKeyViolation, isUniqueViolation } from './database/failures/pg-errors.js';
export {
  AppError,
  type ErrorDetails,
  type ErrorKind,
  errorKinds,
  type FieldIssue,
  InvalidInput,
  UNKNOWN_FIELD,
} from './errors/app-error.js';
export { errorAnswer } from './errors/error-body.js';
export { connectionProblem } from './errors/connection-problem.js';
export { errorCode } from './errors/error-code.js';
export { HttpErrorFilter } from './errors/http-error.filter.js';
export { MaxKeys, RequestValidationPipe } from './errors/validation.pipe.js';
export { BodyLimit, bodyLimits, configureRoute, limitBody } from './http/body-limit.js';
export { isLongerThan } from './json/json-bounds.js';
export { readJsonBodies } from './http/read-json-bodies.js';
export { jsonItems } from './json/json-list.js';
export { isJsonObject, type JsonObject, type JsonValue } from './json/json.js';
export { classify } from './egress/address-ranges.js';
export { parseAddress } from './egress/address.js';
export { boundedText, TooLong } from './egress/bounded-text.js';
export { Egress, EgressRefused, type Resolve } from './egress/egress.js';
export { egressPolicy, hostProblem, LOCAL_EGRESS } from './egress/egress-policy.js';
export { urlProblem, type UrlRules } from './egress/url-problem.js';
export { createPino, PinoLogger } from './logging/logger.js';
export { product, SERVICE_NAME } from './product.js';
export { PlatformModule } from './platform.module.js';
export { counter, gauge, histogram, InjectMetric } from './metrics/metric-providers.js';
export { ServerSeries } from './metrics/server-series.js';
export {
  charCount,
  cutText,
  hasMoreChars,
  isCleanText,
  IsCleanText,
  MaxChars,
  shortened,
} from './text/text.js';
export {
  fairShare,
  hasMoreTokens,
  quartersAt,
  quartersOfUnit,
  tokenQuarters,
  tokensOf,
} from './text/token-count.js';
export { ApiErrors } from './errors/error.dto.js';
export { IgnoreUnknownQuery, UnknownParameters } from './http/unknown-parameters.guard.js';
export { isGone, whileConnected } from './http/while-connected.js';
export {
  Cursor,
  CursorPageView,
  CursorQuery,
  isRowId,
  type KeysetPage,
  type KeysetRows,
  keyRange,
  LAST_ROW_ID,
  MAX_OFFSET,
} from './http/cursor.js';
export { RowIdPipe, UuidPipe } from './http/id-pipes.js';
export { PageQuery, PageView, ToFlag, ToWholeNumber } from './http/page-query.js';
export { inSeconds } from './work/in-seconds.js';
export { installedFolder } from './files/installed-folder.js';
export { type FailPoint, FailPoints, failPoints } from './fail-points.js';
export { createSecretFile, OwnFile } from './files/whole-file.js';
export { areDescriptorsScarce, warnOfFewDescriptors } from './files/file-descriptors.js';
export { UnhashedSet } from './work/unhashed-set.js';
export { JsonFault, type JsonNotes, lastScanned, scanJson } from './json/json-scan.js';
export { RawJson, jsonLine, writeJson } from './json/kept-json.js';
export {
  changed,
  keepTextOfMembers,
  memberAsWritten,
  parseKept,
  parseScanned,
  withoutByteOrderMark,
} from './json/parse-kept.js';
export { isKey, onOneLine, RawJsonObject } from './json/raw-json-object.js';
export { abortSignalOf, type CancelSignal, Cancellation } from './work/cancellation.js';
export { MAX_NAMED_SERVERS, MAX_SERVER_NAME_CHARS, serverNames } from './server-names.js';
export { CurrentSpan } from './tracing/request-span.decorator.js';
export { Span, type SpanAttributes, timed } from './tracing/span.js';
export { readTraceContext, type TraceCarrier, type TraceContext } from './tracing/trace-context.js';
export { Tracing } from './tracing/tracing.js';
export { Signal } from './signal.js';
export { Signals } from './signals.js';
export { LayeredMap } from './collections/layered-map.js';
export { atOnce, inSlices, type Sliced } from './work/slices.js';
export { sorting } from './collections/sorting.js';
export { FairQueue, Line } from './work/fair-queue.js';
export { Shares } from './work/shares.js';
export { ClientLimits } from './http/client-limits.js';
export { SharedBytes, UnsentBytes, type UnsentReader } from './http/unsent-bytes.js';
export { dropRest, isStillSending } from './http/drop-rest.js';
export { Drain, RETRY_AFTER_S, ServiceStopping } from './http/drain.js';
export { BothEnds, type Excess } from './bytes/both-ends.js';
export { GrowingBuffer, type Room, UNCOUNTED } from './bytes/growing-buffer.js';
export { LineSplitter, type MessageLimits } from './bytes/line-splitter.js';
export { HEAVY_BYTES, inOwnTurn, loopPace } from './bytes/loop-pace.js';
export { PacedReader } from './bytes/paced-reader.js';
export { ReadingShare } from './bytes/reading-share.js';
export { BudgetShare, SharedBudget } from './bytes/shared-budget.js';
