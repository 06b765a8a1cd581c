import {
  Client,
  type JSONRPCMessage,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Transport,
} from '@modelcontextprotocol/client';
import { AppError, cutText, isJsonObject, type JsonObject } from '@app/platform';
import {
  type ProtocolEra,
  type RpcMessage,
  Provenance,
  type RpcId,
  viaIn,
} from '@app/mcp-protocol';
import type { ConnectOptions } from '../upstream.js';
import {
  ConnectFailed,
  ConnectionLost,
  LoopRefused,
  UpstreamHttpError,
} from '../upstream.errors.js';
import type { Wire } from '../wire/wire.js';

export interface Negotiated {
  readonly era: ProtocolEra;
  readonly protocolVersion: string;
  readonly serverInfo: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  readonly provenance: Provenance;
}

const MAX_SAID_CHARS = 300;

/** The process exited on the probe, as some legacy servers do: start another one with `initialize` first. */
export class ProbeKilledServer extends Error {}

/**
 * Detects the era of a server and opens a session in it. The SDK client runs the handshake over our wire
 * and is discarded afterwards: later calls do not go through it.
 */
export class Negotiation {
  private readonly transport: NegotiationTransport;

  constructor(
    private readonly wire: Wire,
    private readonly options: ConnectOptions,
  ) {
    this.transport =
      wire.kind === 'stdio'
        ? new ProcessNegotiationTransport(wire)
        : new NegotiationTransport(wire);
  }

  async run(era: ProtocolEra | undefined, timeoutMs: number): Promise<Negotiated> {
    // A legacy server may ignore an unknown first message; on a pipe the probe must leave time for the handshake.
    const probeMs = this.wire.kind === 'stdio' ? Math.ceil(timeoutMs / 3) : timeoutMs;
    const client = new Client(this.options.clientInfo, {
      capabilities: this.options.clientCapabilities,
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: probeMs } },
    });
    const legacy = era === 'legacy' || this.wire.kind === 'sse';
    try {
      await client.connect(this.transport, {
        timeout: timeoutMs,
        ...(legacy && { prior: { kind: 'legacy' as const } }),
      });
    } catch (error) {
      throw this.explain(error, legacy);
    }
    return this.outcome(client);
  }

  awaits(id: RpcId): boolean {
    return this.transport.open.has(id);
  }

  deliver(message: JsonObject): void {
    this.transport.deliver(message);
  }

  /** The wire ended before the negotiation did. */
  end(error: AppError): void {
    this.transport.failure ??= error;
    this.transport.died = true;
    this.transport.onclose?.();
  }

  private outcome(client: Client): Negotiated {
    const { opening } = this.transport;
    const protocolVersion = client.getNegotiatedProtocolVersion();
    if (protocolVersion === undefined) throw new ConnectFailed('no protocol version was agreed');
    const modern = client.getProtocolEra() === 'modern';
    const provenance = new Provenance(viaIn(opening['_meta']), this.options.deploymentId);
    if (provenance.refusal !== undefined) throw new LoopRefused(provenance.refusal);
    return {
      era: modern ? 'modern' : 'legacy',
      protocolVersion,
      // As sent: the SDK's parsed copies could lack fields that it does not know.
      capabilities: objectIn(opening, 'capabilities'),
      serverInfo: modern
        ? objectIn(objectIn(opening, '_meta'), 'io.modelcontextprotocol/serverInfo')
        : objectIn(opening, 'serverInfo'),
      instructions:
        typeof opening['instructions'] === 'string' ? opening['instructions'] : undefined,
      provenance,
    };
  }

  private explain(error: unknown, legacy: boolean): Error {
    const { failure, died } = this.transport;
    if (died && this.wire.kind === 'stdio' && !legacy) return new ProbeKilledServer();
    if (failure instanceof UpstreamHttpError) {
      return new ConnectFailed(failure.message, failure, failure.httpStatus < 500);
    }
    if (failure instanceof ConnectionLost) return new ConnectFailed(failure.reason, failure);
    if (failure instanceof AppError) return failure;
    if (error instanceof ProtocolError) {
      const said = cutText(error.message, MAX_SAID_CHARS);
      // Without the cause: it holds the whole response of the server.
      return new ConnectFailed(`the server answered "${said}"`, undefined, true);
    }
    if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
      return new ConnectFailed('the server did not answer the handshake in time', error);
    }
    return new ConnectFailed(error instanceof Error ? error.message : String(error), error);
  }
}

/** Our wire as a transport of the SDK client during negotiation. */
class NegotiationTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onerror?: (error: Error) => void;
  onclose?: () => void;
  readonly open = new Set<RpcId>();
  failure: Error | undefined;
  died = false;
  /** The result that opened the session, as the server sent it. */
  opening: JsonObject = {};

  constructor(private readonly wire: Wire) {}

  start(): Promise<void> {
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if ('method' in message && 'id' in message) this.open.add(message.id);
    try {
      await this.wire.send(message as RpcMessage);
    } catch (error) {
      this.failure = error instanceof Error ? error : new Error(String(error));
      throw asClientError(this.failure);
    }
  }

  deliver(message: JsonObject): void {
    const id = message['id'];
    if (typeof id === 'string' || typeof id === 'number') this.open.delete(id);
    if (isJsonObject(message['result']) && 'capabilities' in message['result']) {
      this.opening = message['result'];
    }
    this.onmessage?.(message as JSONRPCMessage);
  }

  setProtocolVersion(version: string): void {
    this.wire.setProtocolVersion(version);
  }

  /** Does nothing: the session owns the wire and closes it when negotiation fails. */
  close(): Promise<void> {
    this.onclose?.();
    return Promise.resolve();
  }
}

/** These two fields mark a pipe for the SDK client, where silence means a legacy server and not an outage. */
class ProcessNegotiationTransport extends NegotiationTransport {
  readonly stderr = null;
  readonly pid = null;
}

/** The SDK client decides about the era by the HTTP status and body of a refusal. */
function asClientError(failure: Error): Error {
  if (failure instanceof UpstreamHttpError) {
    return new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, failure.message, {
      status: failure.httpStatus,
      statusText: '',
      text: failure.body,
    });
  }
  return failure;
}

function objectIn(parent: JsonObject, key: string): JsonObject {
  const value = parent[key];
  return isJsonObject(value) ? value : {};
}
