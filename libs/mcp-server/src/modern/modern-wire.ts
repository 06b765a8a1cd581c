import {
  changed,
  type Clock,
  UnhashedSet,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  keepTextOfMembers,
} from '@app/platform';
import { MODERN_VERSIONS, rpcCode, RpcError, type RpcRequest, subjectOf } from '@app/mcp-protocol';
import type { IncomingHttpHeaders } from 'node:http';
import { type Activity, clientKey } from '../clients/stateless-clients.js';
import { rpcErrorOf } from '../endpoint/answer.js';
import { beginRequest, failedIn } from '../endpoint/request-span.js';
import type { ClientResponse } from '../endpoint/client-response.js';
import { type EndReason, refuseToBegin } from '../endpoint/interruption.js';
import { ListenStreams } from './listen-streams.js';
import { envelopeOf, withoutEnvelope } from './envelope.js';
import { requireHeaders, requireParamHeaders } from './header-rules.js';
import { ownedState, sealedIn } from '../owners.js';
import { isModernMethod, modernResult } from './modern-result.js';
import { Seal } from './seal.js';
import type { EndpointDependencies } from '../endpoint-dependencies.js';
import { StatelessCall } from './stateless-call.js';
import { ANSWER_WITHIN_MS, SuspendedCalls } from './suspended-calls.js';
import type { Caller, McpClient, McpSurface } from '../surface.js';

const NO_INPUT = { requestState: undefined, inputResponses: undefined };

/** Protocol revision 2026-07-28: requests are stateless. */
export class ModernWire {
  private readonly suspended: SuspendedCalls;
  private readonly answering = new UnhashedSet<StatelessCall>();
  private readonly seal: Seal;
  private readonly streams: ListenStreams;

  constructor(
    clock: Pick<Clock, 'now'>,
    private readonly deps: EndpointDependencies,
  ) {
    this.suspended = new SuspendedCalls(deps.limits);
    this.streams = new ListenStreams(deps);
    this.seal = new Seal(
      ANSWER_WITHIN_MS,
      // Other replicas open it too.
      () => clock.now().getTime(),
      deps.cluster?.stateKeys,
    );
  }

  get runningCalls(): number {
    return this.answering.size;
  }

  get listeners(): number {
    return this.streams.size;
  }

  async handle(
    view: McpSurface,
    request: RpcRequest,
    version: string | undefined,
    headers: IncomingHttpHeaders,
    response: ClientResponse,
    caller: Caller,
  ): Promise<void> {
    const refusal = refusalOf(view, request, version, headers);
    if (refusal) return response.refuse(refusal.status, refusal.error.body, request.id);
    const params = request.params ?? {};
    const client: McpClient = { era: 'modern', caller, version, ...envelopeOf(params) };
    this.deps.clients.note(client, request.method === 'tools/call');
    try {
      switch (request.method) {
        case 'server/discover':
          return await this.traced(view, request, client, response, () =>
            this.discover(view, request, response),
          );
        case 'subscriptions/listen':
          if (this.deps.drain.isDraining) return refuseToBegin(response, request.id);
          // Until the stream is open: it lasts as long as its client.
          return await this.traced(view, request, client, response, () =>
            this.streams.open(request, view, response, client),
          );
        default:
          return this.call(view, request, client, response);
      }
    } catch (error) {
      response.refuse(200, rpcErrorOf(error).body, request.id);
    }
  }

  interruptCalls(reason: EndReason): void {
    for (const call of this.answering) call.interrupt(reason);
  }

  /** Ends calls and streams of a person. */
  endOf(subject: string, reason: EndReason): void {
    const isOwn = (caller: Caller): boolean => caller.subject === subject;
    for (const call of this.answering) if (isOwn(call.client.caller)) call.interrupt(reason);
    this.suspended.closeWhere(isOwn, reason);
    this.streams.endWhere(isOwn);
  }

  /** Open streams and requests in flight, by client: in one pass, because there may be thousands of both. */
  activities(): ReadonlyMap<string, Activity> {
    const activities = new Map<string, { running: number; streams: number }>();
    const count = (client: McpClient, what: 'running' | 'streams'): void => {
      const key = clientKey(client);
      const activity = activities.get(key) ?? { running: 0, streams: 0 };
      activity[what] += 1;
      activities.set(key, activity);
    };
    for (const { client } of this.answering) count(client, 'running');
    for (const client of this.streams.clients) count(client, 'streams');
    return activities;
  }

  /** Ends calls and streams of one client. */
  endClient(key: string, reason: EndReason): void {
    for (const call of this.answering) if (clientKey(call.client) === key) call.interrupt(reason);
    this.streams.endClient(key);
  }

  endUnadmitted(reason: EndReason): void {
    const isUnadmitted = ({ isAdmitted }: Caller): boolean => isAdmitted?.() === false;
    for (const call of this.answering) {
      if (isUnadmitted(call.client.caller)) call.interrupt(reason);
    }
    this.suspended.closeWhere(isUnadmitted, reason);
    this.streams.endWhere((caller) => isUnadmitted(caller) || caller.isExpired?.() === true);
  }

  close(): void {
    this.streams.endAll();
    this.suspended.closeAll();
  }

  /** For requests that no server is asked for. */
  private async traced(
    view: McpSurface,
    request: RpcRequest,
    client: McpClient,
    response: ClientResponse,
    answer: () => Promise<void>,
  ): Promise<void> {
    const { tracing } = this.deps;
    const span = tracing && beginRequest(tracing, request, client, response.requestHeaders);
    try {
      await answer();
      span?.end();
    } catch (error) {
      response.refuse(200, failedIn(span, error, view).body, request.id);
    }
  }

  private call(
    view: McpSurface,
    request: RpcRequest,
    client: McpClient,
    response: ClientResponse,
  ): void {
    const { requestState, inputResponses } = request.params ?? {};
    const params = changed(request.params ?? {}, NO_INPUT);
    const answers = isJsonObject(inputResponses) ? inputResponses : undefined;
    const purpose = JSON.stringify([
      client.caller.subject,
      view.key,
      request.method,
      subjectOf(request) ?? null,
    ]);
    const state = requestState === undefined ? undefined : this.stateIn(requestState, purpose);
    if (state?.kind === 'suspended') {
      const call = this.suspended.resume(state.text);
      if (!call) throw new InvalidState();
      if (answers) keepTextOfMembers(answers);
      return call.goOn(response, request.id, answers ?? {});
    }
    if (this.deps.drain.isDraining) return refuseToBegin(response, request.id);
    const input: JsonObject = {
      ...(answers && { inputResponses: answers }),
      ...(state && { requestState: state.text }),
    };
    new StatelessCall(request, client, input, view, {
      suspend: (call) => {
        const sealed = this.seal.close(`suspended:${this.suspended.suspend(call)}`, purpose);
        return ownedState(sealed, this.deps.cluster);
      },
      hide: (text) => this.seal.close(`server:${text}`, purpose),
      answering: this.answering,
      tracing: this.deps.tracing,
    }).start(response, withoutEnvelope(params));
  }

  /** Accepts only a state that was issued to this caller for this request, and has not expired. */
  private stateIn(
    requestState: JsonValue,
    purpose: string,
  ): { readonly kind: 'suspended' | 'server'; readonly text: string } {
    const opened =
      typeof requestState === 'string'
        ? this.seal.open(sealedIn(requestState).sealed, purpose)
        : undefined;
    if (opened?.startsWith('suspended:')) {
      return { kind: 'suspended', text: opened.slice('suspended:'.length) };
    }
    if (opened?.startsWith('server:')) {
      return { kind: 'server', text: opened.slice('server:'.length) };
    }
    throw new InvalidState();
  }

  private async discover(
    view: McpSurface,
    request: RpcRequest,
    response: ClientResponse,
  ): Promise<void> {
    await view.ready();
    const { capabilities, instructions, meta } = view.describe();
    const { tasks: _tasks, ...known } = capabilities;
    response.finish({
      jsonrpc: '2.0',
      id: request.id,
      result: modernResult(
        request.method,
        {
          supportedVersions: MODERN_VERSIONS,
          capabilities: known,
          ...(instructions !== undefined && { instructions }),
          ...(meta && { _meta: meta }),
        },
        view.serverInfo,
      ),
    });
  }
}

class InvalidState extends RpcError {
  constructor() {
    super(rpcCode.invalidParams, 'Invalid or expired requestState', {
      reason: 'invalid_request_state',
    });
  }
}

function refusalOf(
  view: McpSurface,
  request: RpcRequest,
  version: string | undefined,
  headers: IncomingHttpHeaders,
): { status: number; error: RpcError } | undefined {
  if (version === undefined || !MODERN_VERSIONS.includes(version)) {
    const requested = version ?? 'unknown';
    const message = `Unsupported protocol version: ${requested}`;
    const data = { supported: MODERN_VERSIONS, requested };
    return { status: 400, error: new RpcError(rpcCode.unsupportedVersion, message, data) };
  }
  try {
    requireHeaders(headers, request);
    const schema = request.method === 'tools/call' && view.inputSchemaOf(subjectOf(request) ?? '');
    if (schema) requireParamHeaders(headers, schema, request.params?.['arguments']);
  } catch (error) {
    return { status: 400, error: rpcErrorOf(error) };
  }
  if (!isModernMethod(request.method)) {
    return { status: 404, error: new RpcError(rpcCode.methodNotFound, 'Method not found') };
  }
  return undefined;
}
