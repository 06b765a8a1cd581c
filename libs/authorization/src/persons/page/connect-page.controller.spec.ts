import { type FastifyRequest } from 'fastify';
import { ConnectPageController } from './connect-page.controller.js';

const subject = 'jwt:https://id.example.com 4711';
const link = 'x'.repeat(32);

function pageFor(session: object | undefined): ConnectPageController {
  const server = { id: 'id', name: 'github', credentials: 'per_user' };
  return new ConnectPageController(
    {} as never,
    { execute: async () => ({ server, template: { fields: ['key'] } }) } as never,
    { linked: async () => ({ serverId: 'id', subject, person: 'jwt:4711' }) } as never,
    { session: async () => session } as never,
  );
}

describe(ConnectPageController.name, () => {
  it.each([
    ['the label of a session of that person', 'ada@example.com', subject, 'ada@example.com'],
    ['the name of a person without a label', undefined, subject, 'jwt:4711'],
    ['the name of a person whose browser is of another', 'bo@example.com', 'token:bo', 'jwt:4711'],
  ])('shows %s', async (_, label, of, person) => {
    const page = pageFor({ label, principal: { subject: of } });
    const actor = { name: 'jwt:4711', subject, ip: null };
    const state = await page.state('github', link, actor, {} as FastifyRequest);
    expect(state).toEqual({ server: 'github', person, fields: ['key'] });
  });
});
