import { Logger } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { PersonConnectionChanged } from '@app/events';
import { AppError, Signals } from '@app/platform';
import { GetPersonalTemplate, ResolveTransport } from '@app/registry';
import { AuthorizationNotUsed, AuthorizationUnknown } from '../../authorization.errors.js';
import type { ConsentAnswer } from '../../consent/finish-authorization.command.js';
import { hashOf, PersonCredentials } from '../person-credentials.js';
import { PersonCredentialStore } from '../person-credential.store.js';

/**
 * Completes the login of a person at the authorization server of a server; returns the name of the server. Throws
 * AuthorizationUnknown, also for another browser than the one that began: the account of a person who was led to the
 * page would be given to the one who leads.
 */
export class FinishPersonalConsent extends Command<string> {
  constructor(
    readonly answer: ConsentAnswer,
    readonly browserSecret: string | undefined,
    readonly ip: Actor['ip'],
  ) {
    super();
  }
}

@CommandHandler(FinishPersonalConsent)
export class FinishPersonalConsentHandler implements ICommandHandler<FinishPersonalConsent> {
  private readonly logger = new Logger('authorization');

  constructor(
    private readonly queries: QueryBus,
    private readonly store: PersonCredentialStore,
    private readonly credentials: PersonCredentials,
    private readonly audit: AuditStore,
    private readonly signals: Signals,
  ) {}

  async execute({ answer, browserSecret, ip }: FinishPersonalConsent): Promise<string> {
    const { secret, code, iss } = answer;
    const asked = await this.store.askedWith(hashOf(secret));
    const isSameBrowser =
      browserSecret !== undefined && asked?.browserHash === hashOf(browserSecret);
    if (!asked || !isSameBrowser) throw new AuthorizationUnknown();
    const { serverId, subject, person: name } = asked;
    const person = { subject, name };
    const actor = { name, ip, subject };
    const { server } = await this.queries.execute(new GetPersonalTemplate(serverId));
    try {
      const { transport, destination } = await this.queries.execute(
        new ResolveTransport(serverId, {}),
      );
      const authorizer = await this.credentials.authorizer(server, person, destination, transport);
      if (!authorizer) throw new AuthorizationNotUsed(server.name);
      await authorizer.finish({ code, iss }, secret);
    } catch (error) {
      const reason = error instanceof AppError ? error.message : 'unexpected';
      const shown = { server: server.name, server_id: serverId, person: name, reason };
      this.logger.warn(shown, 'connection.failed');
      await this.audit.record({
        event: 'connection.made',
        actor,
        server,
        outcome: 'failure',
        details: { subject },
      });
      throw error;
    }
    await this.audit.record({
      event: 'connection.made',
      actor,
      server,
      details: { subject, by: 'oauth' },
    });
    await this.signals.tell(new PersonConnectionChanged(serverId, subject));
    return server.name;
  }
}
