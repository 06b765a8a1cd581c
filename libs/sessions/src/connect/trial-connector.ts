import { Inject, Injectable } from '@nestjs/common';
import { ServerAuthorizations } from '@app/authorization';
import { connectUpstream, type UpstreamSession } from '@app/mcp-client';
import { Egress, Env, product } from '@app/platform';
import { credentialsOf, Deployment, type ResolvedTransport } from '@app/registry';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLIENT_CAPABILITIES, UpstreamBudgets } from './upstream-budgets.js';

export interface TrialTarget {
  /** Of the registered server whose change is tried out. */
  readonly serverId: string | undefined;
  readonly name: string;
  readonly transport: ResolvedTransport;
  readonly secrets: readonly string[];
}

export interface TrialOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onLogLine: (line: string) => void;
  /** Called with the authorization server at which a person has to log in. */
  readonly onLogin: (issuer: string) => void;
}

/**
 * Opens a session to a configuration that is not saved, within the same limits as any other: the pool does not know
 * it, no row is written, and a program runs in a folder that is removed with it.
 */
@Injectable()
export class TrialConnector {
  constructor(
    private readonly authorizations: ServerAuthorizations,
    private readonly deployment: Deployment,
    @Inject(Env) private readonly env: Env,
    private readonly egress: Egress,
    private readonly budgets: UpstreamBudgets,
  ) {}

  /** Closes the session when the work ends or the signal is aborted, and waits until a program is gone. */
  async use<T>(
    target: TrialTarget,
    options: TrialOptions,
    work: (session: UpstreamSession) => Promise<T>,
  ): Promise<T> {
    const folder = needsFolder(target.transport)
      ? await mkdtemp(join(tmpdir(), 'switchboard-test-'))
      : undefined;
    try {
      const session = await this.open(target, options, folder);
      const close = (): Promise<void> => session.close({ force: true });
      const onAbort = (): void => void close().catch(() => undefined);
      options.signal.addEventListener('abort', onAbort, { once: true });
      try {
        options.signal.throwIfAborted();
        return await work(session);
      } finally {
        options.signal.removeEventListener('abort', onAbort);
        await close();
      }
    } finally {
      if (folder) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  private async open(
    { serverId: id, name, transport, secrets }: TrialTarget,
    { timeoutMs, signal, onLogLine, onLogin }: TrialOptions,
    folder: string | undefined,
  ): Promise<UpstreamSession> {
    const authorizer = await this.authorizations.trialAuthorizerFor({ id, name }, transport);
    const target = folder === undefined ? transport : { ...transport, cwd: folder };
    try {
      return await connectUpstream(target, {
        receiving: this.budgets.receiving,
        listing: this.budgets.listing,
        clientInfo: product,
        clientCapabilities: CLIENT_CAPABILITIES,
        deploymentId: this.deployment.id,
        connectTimeoutMs: Math.min(timeoutMs, this.env.MCP_AGGREGATOR_CONNECTION_TIMEOUT * 1_000),
        maxAnswerBytes: this.env.MCP_AGGREGATOR_MAX_ANSWER_BYTES,
        maxListBytes: this.env.MCP_AGGREGATOR_MAX_LIST_BYTES,
        allowInsecureHttp: this.env.MCP_AGGREGATOR_ALLOW_INSECURE_HTTP,
        egress: this.egress,
        secrets,
        credentials: credentialsOf(transport),
        ...(authorizer && { authorizer }),
        signal,
        onLogLine,
      });
    } finally {
      if (authorizer?.issuer !== undefined) onLogin(authorizer.issuer);
    }
  }
}

function needsFolder(transport: ResolvedTransport): boolean {
  return transport.kind === 'STDIO' && transport.cwd === undefined;
}
