import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { addressOf, ChoosePassword, LoginRefused, PageLogin } from '@app/access';
import { isCleanText } from '@app/platform';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fieldOf } from './consent.routes.js';
import {
  chosenPage,
  html,
  PASSWORD_LENGTH,
  PASSWORD_PATH,
  PASSWORD_SCRIPT,
  passwordPage,
} from './pages.js';

/** The page where a person who was invited chooses a password, and is then logged in. */
@Injectable()
export class PasswordRoutes {
  constructor(
    private readonly commands: CommandBus,
    private readonly login: PageLogin,
  ) {}

  add(fastify: FastifyInstance): void {
    const config = { access: 'public' } as const;
    fastify.get(PASSWORD_PATH, { config }, (_request, reply) =>
      html(reply, 200, passwordPage(undefined)),
    );
    fastify.get(`${PASSWORD_PATH}.js`, { config }, (_request, reply) =>
      reply.type('text/javascript; charset=utf-8').send(PASSWORD_SCRIPT),
    );
    fastify.post(PASSWORD_PATH, { config }, (request, reply) => this.choose(request, reply));
  }

  private async choose(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    this.login.refuseForeignForm(request);
    const password = fieldOf(request, 'password');
    const { min, max } = PASSWORD_LENGTH;
    if (password.length < min || password.length > max || !isCleanText(password)) {
      const problem = `A password has ${min} to ${max} characters`;
      return html(reply, 400, passwordPage(problem));
    }
    // Counted before it is looked up, as codes of login links are.
    await request.countFailure?.();
    try {
      const ip = addressOf(request);
      const code = fieldOf(request, 'code');
      const name = await this.commands.execute(new ChoosePassword(code, password, ip));
      await this.login.logIn({ name, password }, request, reply);
      return html(reply, 200, chosenPage(name));
    } catch (error) {
      if (!(error instanceof LoginRefused)) throw error;
      return html(reply, 400, passwordPage(error.message));
    }
  }
}
