import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { Clock, Env, InvalidInput, Variables } from '@app/platform';
import { isDeepStrictEqual } from 'node:util';
import { configRules, type ConnectionConfig, strings } from '../connection/connection-config.js';
import { personalField, placeholdersIn } from '../connection/placeholders.js';
import { newServer, type Registration } from '../register/new-server.js';
import type { Server } from '../server.js';
import { ServerStore } from '../server.store.js';
import { readPaste } from './pasted-servers.js';

/**
 * `new`: can be registered. `known`: is registered so. `changed`: a server of that name is registered otherwise.
 * `unusable`: cannot be registered.
 */
export const importVerdicts = ['new', 'known', 'changed', 'unusable'] as const;
export type ImportVerdict = (typeof importVerdicts)[number];

export interface PlannedServer {
  /** As it was pasted. */
  readonly key: string;
  readonly verdict: ImportVerdict;
  readonly reason: string | undefined;
  /** Undefined for an entry that cannot be read. */
  readonly registration: Registration | undefined;
  readonly config: ConnectionConfig | undefined;
  /** The registered server that is known or changed. */
  readonly server: Pick<Server, 'id' | 'name'> | undefined;
  /** Members of the configuration that differ. */
  readonly changes: readonly string[];
  /** Variables that it names, and that this service does not have. */
  readonly missingVariables: readonly string[];
}

/** What registering each of the pasted servers would do; nothing is stored. Throws UnreadablePaste. */
export class PlanImport extends Query<readonly PlannedServer[]> {
  constructor(
    readonly text: string,
    /** Put in the place of `${NAME}`. */
    readonly values: Readonly<Record<string, string>>,
  ) {
    super();
  }
}

type Stored = Awaited<ReturnType<ServerStore['allWithConfig']>>[number];

@QueryHandler(PlanImport)
export class PlanImportHandler implements IQueryHandler<PlanImport> {
  constructor(
    private readonly servers: ServerStore,
    private readonly clock: Clock,
    private readonly variables: Variables,
    @Inject(Env) private readonly env: Env,
  ) {}

  async execute({ text, values }: PlanImport): Promise<readonly PlannedServer[]> {
    const { entries, skipped } = readPaste(text, values);
    const stored = await this.servers.allWithConfig();
    return [
      ...entries.map(({ key, registration }) => ({
        key,
        registration,
        ...this.plan(registration, stored),
      })),
      ...skipped.map(({ key, reason }) => ({
        ...{ ...NOTHING, key, reason, verdict: 'unusable' as const },
        registration: undefined,
      })),
    ];
  }

  private plan(
    registration: Registration,
    stored: readonly Stored[],
  ): Omit<PlannedServer, 'key' | 'registration'> {
    const read = this.read(registration);
    if ('reason' in read) return { ...NOTHING, ...read, verdict: 'unusable' };
    const { config } = read;
    const missingVariables = this.missingIn(config);
    const found = { ...NOTHING, config, missingVariables };
    const same = stored.find((one) => one.server.name === registration.name);
    if (same) {
      const changes = changesBetween(config, same.config);
      const verdict = changes.length === 0 ? 'known' : 'changed';
      return { ...found, verdict, server: same.server, changes };
    }
    const twin = stored.find((one) => isDeepStrictEqual(one.config, config));
    if (!twin) return { ...found, verdict: 'new' };
    const reason = `It is registered as ${twin.server.name}`;
    return { ...found, verdict: 'known', server: twin.server, reason };
  }

  private read(registration: Registration): { config: ConnectionConfig } | { reason: string } {
    try {
      const rules = configRules(this.env, this.variables);
      return newServer('', registration, this.clock.now(), rules);
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      const issues = error.issues ?? [];
      const told = issues.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`);
      return { reason: told.join('; ') };
    }
  }

  private missingIn(config: ConnectionConfig): string[] {
    const named = [...strings(config)].flatMap(([, value]) =>
      // A placeholder with a default needs no variable.
      placeholdersIn(value.replaceAll(/\$\{[^{}]*:-[^{}]*\}/g, '')),
    );
    return [...new Set(named)].filter(
      (name) => personalField(name) === undefined && this.variables.get(name) === undefined,
    );
  }
}

const NOTHING = {
  reason: undefined,
  config: undefined,
  server: undefined,
  changes: [],
  missingVariables: [],
} as const;

function changesBetween(next: ConnectionConfig, stored: ConnectionConfig | undefined): string[] {
  if (stored?.transport !== next.transport) return ['transport_type'];
  const [given, before] = [new Map(Object.entries(next)), new Map(Object.entries(stored))];
  return [...new Set([...given.keys(), ...before.keys()])].filter(
    (member) => !isDeepStrictEqual(given.get(member), before.get(member)),
  );
}
