import { Command, CommandHandler, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import { type Actor, personOf } from '@app/access';
import { GetPersonalTemplate, ResolveTransport } from '@app/registry';
import { AuthorizationNotUsed } from '../../authorization.errors.js';
import { hashOf, PersonCredentials } from '../person-credentials.js';
import { PersonCredentialStore } from '../person-credential.store.js';
import { LinkUnknown } from '../persons.errors.js';

/** Begins to log a person in at the authorization server of a server; returns the address for the browser. */
export class StartPersonalConsent extends Command<string> {
  constructor(
    readonly serverId: string,
    readonly linkId: string,
    /** Kept by the browser: the answer has to come from the same one. */
    readonly browserSecret: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(StartPersonalConsent)
export class StartPersonalConsentHandler implements ICommandHandler<StartPersonalConsent> {
  constructor(
    private readonly queries: QueryBus,
    private readonly store: PersonCredentialStore,
    private readonly credentials: PersonCredentials,
  ) {}

  async execute({ serverId, linkId, browserSecret, actor }: StartPersonalConsent): Promise<string> {
    const person = personOf(actor);
    const { server, template } = await this.queries.execute(new GetPersonalTemplate(serverId));
    if (!template.usesOAuth) throw new AuthorizationNotUsed(server.name);
    const { transport, destination } = await this.queries.execute(
      new ResolveTransport(serverId, {}),
    );
    const authorizer = await this.credentials.authorizer(server, person, destination, transport);
    if (!authorizer) throw new AuthorizationNotUsed(server.name);
    const { url } = await authorizer.question();
    if (!(await this.store.useLink(linkId, person.subject))) throw new LinkUnknown();
    const holder = { serverId, subject: person.subject };
    await this.store.bindBrowser(holder, hashOf(browserSecret));
    return url;
  }
}
