import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LoginRefused, NotFromOwnForm } from '../access.errors.js';
import { addressOf } from '../authenticate/principal.js';
import { Env, oauthIssuer } from '@app/platform';
import { secureHostOf, sessionCookie } from './browser-session.js';
import { BrowserSessions, type LiveSession } from './browser-sessions.js';
import { LogIn, type LoginCredential } from './log-in.command.js';

/**
 * Browser sessions for pages of this service that work without scripts. Their forms cannot send the mark of the
 * console, so the Origin of a form has to be that of this service, and not merely absent.
 */
@Injectable()
export class PageLogin {
  private readonly origin: string | undefined;

  constructor(
    private readonly env: Env,
    private readonly commands: CommandBus,
    private readonly sessions: BrowserSessions,
  ) {
    const issuer = oauthIssuer(env);
    this.origin = issuer === undefined ? undefined : new URL(issuer).origin;
  }

  /** For a page that is asked for, or for a form that `refuseForeignForm` has let pass. */
  async session({ host, headers }: FastifyRequest): Promise<LiveSession | undefined> {
    return this.sessions.of({ method: 'GET', host, headers });
  }

  /** By the whole origin: the page of the same host without TLS may be that of a stranger on the way. */
  refuseForeignForm({ headers }: FastifyRequest): void {
    const { origin, 'sec-fetch-site': site } = headers;
    const isOwn = origin !== undefined && origin === this.origin;
    if (!isOwn || (site !== undefined && site !== 'same-origin')) throw new NotFromOwnForm();
  }

  /** Rejects with LoginRefused, or PersonNotAllowed. */
  async logIn(
    credential: LoginCredential,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    // Others are looked up in the rows: strangers who invent them shall cause few statements.
    const isLookedUp = 'code' in credential || 'password' in credential;
    if (isLookedUp) await request.countFailure?.();
    try {
      const { id } = await this.commands.execute(new LogIn(credential, addressOf(request)));
      const secureHost = secureHostOf(this.env);
      const place = { host: request.host, isTls: this.isTls(request), secureHost };
      void reply.header('set-cookie', sessionCookie(id, place));
    } catch (error) {
      if (error instanceof LoginRefused && 'token' in credential) await request.countFailure?.();
      throw error;
    }
  }

  /** A proxy that ends TLS may say so only to the browser, whose Origin or Host says it to us. */
  private isTls({ protocol, host, headers }: FastifyRequest): boolean {
    if (protocol === 'https' || /^https:/i.test(headers.origin ?? '')) return true;
    const { MCP_AGGREGATOR_PUBLIC_URL: publicUrl } = this.env;
    return publicUrl !== undefined && new URL(publicUrl).origin === `https://${host}`;
  }
}

/** A token or a login link, as a person pastes it. */
export function pastedCredential(text: string): LoginCredential {
  const given = text.trim();
  const code = /\/console\/login#([\w-]{43})$/.exec(given)?.[1];
  return code === undefined ? { token: given } : { code };
}
