import { Command, CommandHandler, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import { type Actor, AuditStore, personOf } from '@app/access';
import { PersonConnectionChanged } from '@app/events';
import {
  Database,
  type FieldIssue,
  InvalidInput,
  isForeignKeyViolation,
  Signals,
} from '@app/platform';
import { GetPersonalTemplate, type PersonalTemplate, ServerNotFound } from '@app/registry';
import { PersonCredentialStore } from './person-credential.store.js';
import { CredentialsShared, LinkUnknown } from './persons.errors.js';

const MAX_VALUE_CHARS = 8_192;

/**
 * Stores what the actor gave for a server; later calls of the actor use it. Throws ServerNotFound, CredentialsShared,
 * InvalidInput, and LinkUnknown when it came by a link that was used.
 */
export class ConnectPerson extends Command<void> {
  constructor(
    readonly serverId: string,
    /** By the names in the configuration of the server. */
    readonly values: Readonly<Record<string, unknown>>,
    readonly actor: Actor,
    readonly linkId?: string,
  ) {
    super();
  }
}

@CommandHandler(ConnectPerson)
export class ConnectPersonHandler implements ICommandHandler<ConnectPerson> {
  constructor(
    private readonly database: Database,
    private readonly queries: QueryBus,
    private readonly store: PersonCredentialStore,
    private readonly audit: AuditStore,
    private readonly signals: Signals,
  ) {}

  async execute({ serverId, values: given, actor, linkId }: ConnectPerson): Promise<void> {
    const { server, template } = await this.queries.execute(new GetPersonalTemplate(serverId));
    if (server.credentials !== 'per_user') throw new CredentialsShared(server.name);
    const values = readValues(given, template);
    const person = personOf(actor);
    try {
      await this.database.transaction(async (tx) => {
        const isOwn =
          linkId === undefined || (await this.store.useLink(linkId, person.subject, tx));
        if (!isOwn) throw new LinkUnknown();
        const state = { values, destination: template.destination };
        await this.store.putValues(serverId, person, state, tx);
        const details = { subject: person.subject, fields: template.fields.length };
        await this.audit.record({ event: 'connection.made', actor, server, details }, tx);
      });
    } catch (error) {
      throw isForeignKeyViolation(error) ? new ServerNotFound(serverId) : error;
    }
    await this.signals.tell(new PersonConnectionChanged(serverId, person.subject));
  }
}

/** Values end up in headers and variables, so they are single lines of what both can hold. */
function readValues(
  given: Readonly<Record<string, unknown>>,
  { fields }: PersonalTemplate,
): Record<string, string> {
  const unknown = Object.keys(given).filter((name) => !fields.includes(name));
  const issues: FieldIssue[] = unknown.map((name) =>
    issueAt(name.slice(0, 100), 'The server takes no value of this name', 'extra_forbidden'),
  );
  const values = fields.map((name) => {
    const value = given[name];
    if (typeof value === 'string' && isUsable(value)) return [name, value.trim()] as const;
    const msg = `Must be one line of 1 to ${MAX_VALUE_CHARS} visible characters`;
    issues.push(
      value === undefined ? issueAt(name, 'Field required', 'missing') : issueAt(name, msg),
    );
    return [name, ''] as const;
  });
  if (fields.length === 0) issues.push(issueAt('', 'It is connected by logging in, with a link'));
  if (issues.length > 0) throw new InvalidInput(issues);
  return Object.fromEntries(values);
}

function isUsable(value: string): boolean {
  return (
    value.length <= MAX_VALUE_CHARS &&
    /^[\x20-\x7e\u00a0-\u00ff]+$/.test(value) &&
    value.trim() !== ''
  );
}

function issueAt(name: string, msg: string, type = 'value_error'): FieldIssue {
  return { loc: ['body', 'values', ...(name === '' ? [] : [name])], msg, type };
}
