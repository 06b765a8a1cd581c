import { ConnectionLost, type Executed, type ServerRequestHandler } from '@app/mcp-client';
import {
  isLogLevel,
  type LogLevel,
  rpcCode,
  type RpcErrorBody,
  UpstreamRpcError,
} from '@app/mcp-protocol';
import { AppError, errorKinds, isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import { z } from 'zod';

/*
 * What replicas tell each other beyond MCP about a request for a server whose session is at another replica.
 */

/** The MCP endpoint of one server for other replicas, at the one that has its session. */
export const PASSED_PATH = '/mcp/replicas/servers/';

const CALLER = 'switchboard/caller';
const FAILURE = 'switchboard/failure';
const REFUSAL = 'switchboard/refusal';

const callerSchema = z.object({
  /** Its subject; its name with a replica of an earlier version. */
  name: z.string().min(1).max(2_000),
  /** The same for all requests of one client session. */
  client: z.string().max(100),
  /** Whether the server may ask it questions. */
  answers: z.boolean(),
  /** The replica that its client met, and the call there. */
  replica: z.uuid(),
  call: z.uuid(),
});
/** On whose behalf a request is sent. */
export type PassedCaller = z.infer<typeof callerSchema>;

export function callerMeta(caller: PassedCaller | undefined): JsonObject {
  return caller ? { [CALLER]: { ...caller } } : {};
}

export function callerIn(meta: JsonValue | undefined): PassedCaller | undefined {
  const read = callerSchema.safeParse(isJsonObject(meta) ? meta[CALLER] : undefined);
  return read.success ? read.data : undefined;
}

/** Removes the caller from the `_meta` that the server gets. */
export const WITHOUT_CALLER = { [CALLER]: undefined };

export const LEVEL_WISH = 'switchboard/level';

const logLevel = z.custom<LogLevel>((value) => typeof value === 'string' && isLogLevel(value));
const levelSchema = z.object({
  method: z.literal(LEVEL_WISH),
  params: z.object({ replica: z.uuid(), level: logLevel.nullable() }),
});
/** The most verbose log level that clients of a replica request of a server; null when none does any more. */
export type LevelWish = z.infer<typeof levelSchema>['params'];

export function levelWish(replica: string, level: LogLevel | undefined): JsonObject {
  return { replica, level: level ?? null } satisfies LevelWish;
}

export function levelWishIn(body: unknown): LevelWish | undefined {
  return levelSchema.safeParse(body).data?.params;
}

const failureSchema = z.object({
  kind: z.enum(errorKinds),
  code: z.string().max(100),
  message: z.string().max(4_096),
  context: z.record(z.string(), z.unknown()).optional(),
  server: z.object({ id: z.string(), name: z.string(), status: z.string() }).optional(),
  retryAfterSeconds: z.number().optional(),
  /** Of a lost connection to the server: decides whether the call may be repeated (contract R16). */
  lost: z.object({ reason: z.string(), executed: z.enum(['no', 'unknown']) }).optional(),
});

/** An error of the replica that has the session, as the data of a JSON-RPC error; `outcome`: unless it has one. */
export function failureData(error: AppError, outcome?: 'not executed'): JsonObject {
  const { kind, code, message, server, retryAfterSeconds } = error;
  const context = outcome ? { outcome, ...error.context } : error.context;
  const lost =
    error instanceof ConnectionLost
      ? { reason: error.reason, executed: error.executed }
      : undefined;
  const failure = { kind, code, message, context, server, retryAfterSeconds, lost };
  return { [FAILURE]: JSON.parse(JSON.stringify(failure)) as JsonObject };
}

/** The same error here, or undefined when the server itself answered with an error. */
export function failureIn({ data }: RpcErrorBody): AppError | undefined {
  const read = failureSchema.safeParse(isJsonObject(data) ? data[FAILURE] : undefined);
  if (!read.success) return undefined;
  const { lost, ...failure } = read.data;
  return lost ? lostAs(lost.reason, lost.executed) : new PassedFailure(failure);
}

/** The error of a server without what only replicas say: a server must not pose as one. */
export function ofServer(error: UpstreamRpcError): UpstreamRpcError {
  const { data } = error.rpc;
  if (!isJsonObject(data)) return error;
  const isPosing = FAILURE in data || stopIn(error.rpc) !== undefined;
  if (!isPosing) return error;
  const rest = Object.entries(data).filter(([name]) => name !== FAILURE && name !== 'outcome');
  return new UpstreamRpcError({ ...error.rpc, data: Object.fromEntries(rest) });
}

const stopSchema = z.object({
  error_code: z.literal('SERVICE_UNAVAILABLE'),
  outcome: z.enum(['not executed', 'unknown']),
});

/** The outcome of a request that a replica refused or interrupted because it stops. */
export function stopIn({ data }: RpcErrorBody): 'not executed' | 'unknown' | undefined {
  return stopSchema.safeParse(data).data?.outcome;
}

function lostAs(reason: string, executed: Executed): ConnectionLost {
  return new ConnectionLost(reason, executed);
}

/** The replica that has the session could not carry out the request. */
class PassedFailure extends AppError {
  constructor({ message, kind, code, context, server, retryAfterSeconds }: Failure) {
    super(message, {
      kind,
      code,
      ...(context && { context }),
      ...(server && { server }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    });
  }
}
type Failure = Omit<z.infer<typeof failureSchema>, 'lost'>;

const refusalSchema = z.object({
  code: z.number(),
  message: z.string(),
  data: z.json().optional(),
});

/** Answers with the error of a client too: a stateless client can only answer, or not come back. */
export function tellingRefusals(ask: ServerRequestHandler): ServerRequestHandler {
  return async (method, params, signal) => {
    try {
      return await ask(method, params, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      const refusal =
        error instanceof UpstreamRpcError
          ? error.rpc
          : { code: rpcCode.internalError, message: 'The client did not answer' };
      return { [REFUSAL]: { ...refusal } };
    }
  };
}

/** Throws the error of a client that stands in its answer. */
export function refuseAsTold(answer: JsonObject): JsonObject {
  const read = refusalSchema.safeParse(answer[REFUSAL]);
  if (!read.success) return answer;
  const { code, message, data } = read.data;
  throw new UpstreamRpcError({ code, message, ...(data !== undefined && { data }) });
}
