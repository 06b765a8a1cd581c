import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import {
  AuthorizationNeeded,
  CredentialsRefused,
  type ListKind,
  type UpstreamSession,
} from '@app/mcp-client';
import {
  abortSignalOf,
  AppError,
  type CancelSignal,
  Env,
  inSlices,
  isJsonObject,
  type JsonObject,
} from '@app/platform';
import {
  ForbiddenUrl,
  type ResolvedTrial,
  ResolveTrial,
  type TrialConfig,
  UnsetVariable,
} from '@app/registry';
import { TrialConnector } from '@app/sessions';
import { readTools } from '../tool.js';

/** From the start to the answer, lists included. */
const TRIAL_MS = 20_000;
const MAX_AT_ONCE = 2;
const MAX_PAGES = 1_000;
const MAX_WARNINGS = 100;
const MAX_LOG_LINES = 20;

export interface TrialList {
  readonly count: number;
  /** The first ones, by the order of the server. */
  readonly items: readonly JsonObject[];
}

export interface TrialSuccess {
  readonly serverInfo: JsonObject;
  readonly era: string;
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly instructionsLength: number;
  readonly lists: Readonly<Record<ListKind, TrialList>>;
  readonly connectMs: number;
}

export interface TrialProblem {
  readonly code: string;
  readonly message: string;
  readonly nextStep: string;
}

export interface TrialOutcome {
  readonly success: TrialSuccess | undefined;
  readonly problem: TrialProblem | undefined;
  readonly needsLogin: boolean;
  readonly loginIssuer: string | undefined;
  readonly warnings: readonly string[];
  /** The last lines of a program that did not start. */
  readonly log: readonly string[];
  readonly totalMs: number;
}

export class TooManyTrials extends AppError {
  constructor() {
    super(`${MAX_AT_ONCE} configurations are being tested already. Try again in a moment`, {
      kind: 'overloaded',
      code: 'OVERLOADED',
      retryAfterSeconds: 5,
    });
  }
}

/**
 * Connects to a configuration that is not saved, reads its lists and disconnects. Nothing is stored or announced. A
 * configuration that does not work is an outcome; one that registering would refuse throws InvalidInput.
 */
export class TryServer extends Command<TrialOutcome> {
  constructor(
    readonly given: TrialConfig,
    /** Ends the trial. */
    readonly signal: CancelSignal,
  ) {
    super();
  }
}

@CommandHandler(TryServer)
export class TryServerHandler implements ICommandHandler<TryServer> {
  private running = 0;

  constructor(
    private readonly queries: QueryBus,
    private readonly connector: TrialConnector,
    @Inject(Env) private readonly env: Env,
  ) {}

  async execute({ given, signal }: TryServer): Promise<TrialOutcome> {
    const trial = await this.queries.execute(new ResolveTrial(given));
    if (this.running >= MAX_AT_ONCE) throw new TooManyTrials();
    this.running += 1;
    try {
      return await this.run(trial, abortSignalOf(signal));
    } finally {
      this.running -= 1;
    }
  }

  private async run(trial: ResolvedTrial, caller: AbortSignal): Promise<TrialOutcome> {
    const startedAt = performance.now();
    const warnings: string[] = [];
    const log: string[] = [];
    let loginIssuer: string | undefined;
    const deadline = AbortSignal.timeout(TRIAL_MS);
    const done = { warnings, log, needsLogin: false };
    try {
      const { transport } = trial;
      if (transport instanceof AppError) throw transport;
      const success = await this.connector.use(
        { ...trial, transport },
        {
          timeoutMs: TRIAL_MS,
          signal: AbortSignal.any([caller, deadline]),
          onLogLine: (line) => {
            log.push(line);
            if (log.length > MAX_LOG_LINES) log.shift();
          },
          onLogin: (issuer) => (loginIssuer = issuer),
        },
        (session) => this.read(session, performance.now() - startedAt, warnings),
      );
      const totalMs = performance.now() - startedAt;
      const shown = warnings.slice(0, MAX_WARNINGS);
      return {
        ...done,
        warnings: shown,
        log: [],
        success,
        problem: undefined,
        loginIssuer,
        totalMs,
      };
    } catch (error) {
      if (!(error instanceof AppError) && !deadline.aborted && !caller.aborted) throw error;
      const problem = deadline.aborted ? TOO_SLOW : problemOf(error, trial);
      const totalMs = performance.now() - startedAt;
      const needsLogin = error instanceof AuthorizationNeeded;
      return { ...done, needsLogin, success: undefined, problem, loginIssuer, totalMs };
    }
  }

  private async read(
    session: UpstreamSession,
    connectMs: number,
    warnings: string[],
  ): Promise<TrialSuccess> {
    const [listed, prompts, resources, resourceTemplates] = await Promise.all([
      this.list(session, 'tools', warnings),
      this.list(session, 'prompts', warnings),
      this.list(session, 'resources', warnings),
      this.list(session, 'resourceTemplates', warnings),
    ]);
    const { tools, remarks } = await inSlices(readTools(listed, session.provenance));
    warnings.push(...remarks.map(({ name, text }) => `The tool ${name} ${text}`));
    const most = this.env.MCP_AGGREGATOR_MAX_TOOLS_PER_SERVER;
    if (tools.length > most) {
      warnings.push(
        `It lists ${tools.length} tools, of which ${most} are published (MCP_AGGREGATOR_MAX_TOOLS_PER_SERVER)`,
      );
    }
    const { era, protocolVersion, capabilities, serverInfo, instructions = '' } = session;
    return {
      serverInfo,
      era,
      protocolVersion,
      capabilities,
      instructionsLength: instructions.length,
      lists: {
        tools: listOf(tools.map(({ definition }) => definition)),
        prompts: listOf(prompts),
        resources: listOf(resources),
        resourceTemplates: listOf(resourceTemplates),
      },
      connectMs,
    };
  }

  /** A list that cannot be read is a warning, as for a registered server. */
  private async list(
    session: UpstreamSession,
    kind: ListKind,
    warnings: string[],
  ): Promise<readonly JsonObject[]> {
    const capability = kind === 'resourceTemplates' ? 'resources' : kind;
    if (kind !== 'tools' && session.capabilities[capability] === undefined) return [];
    try {
      return await session.listAll(kind, {
        maxItems: this.env.MCP_AGGREGATOR_MAX_TOOLS_PER_SERVER + 1,
        maxPages: MAX_PAGES,
        timeoutMs: TRIAL_MS,
        onWithheld: (name, why) => warnings.push(`${name} is not published: ${why}`),
      });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // Few servers with resources have templates, and a server that declares no tools may have none.
      const isExpected =
        kind === 'resourceTemplates' || session.capabilities[capability] === undefined;
      if (!isExpected) warnings.push(`Its ${kind} cannot be listed: ${error.message}`);
      return [];
    }
  }
}

function listOf(items: readonly JsonObject[]): TrialList {
  return { count: items.length, items: items.filter(isJsonObject) };
}

const TOO_SLOW: TrialProblem = {
  code: 'EXECUTION_TIMEOUT',
  message: `It did not answer within ${TRIAL_MS / 1_000} s`,
  nextStep:
    'Test it again: a program that downloads its packages at the first start is faster at the second. Otherwise see whether the address is right and reachable from this service.',
};

function problemOf(error: unknown, { redact, name }: ResolvedTrial): TrialProblem {
  if (!(error instanceof AppError)) {
    return { code: 'REQUEST_CANCELLED', message: 'The test was cancelled', nextStep: '' };
  }
  return { code: error.code, message: redact(error.message), nextStep: nextStepOf(error, name) };
}

function nextStepOf(error: AppError, name: string): string {
  if (error instanceof UnsetVariable) {
    return 'Set the variable in the environment of this service and restart it, or give the value itself.';
  }
  if (error instanceof ForbiddenUrl) {
    return 'Use another address, or let the settings named in the message allow it.';
  }
  if (error instanceof AuthorizationNeeded) {
    return `Register it, and then log in: "switchboard authorize ${name}", or POST …/servers/{id}/authorize.`;
  }
  if (error instanceof CredentialsRefused) {
    return 'Check the token or key in its headers or environment; the server does not accept it.';
  }
  return 'See whether the command or address is right and the server runs; the message and the log say what happened.';
}
