// Shared by the floors: the minimum that a gateway must do for a call, without any product feature.
import { randomUUID } from 'node:crypto';
import { initializeResult } from './upstream-tools.mjs';

const PREFIX = 'up0__';
const json = { 'content-type': 'application/json' };

export const callBody = (id, name, input) =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":${input}}}`;

/** The bytes of `result` in an upstream response, by their position. */
function resultOf(answer, id) {
  const before = `{"jsonrpc":"2.0","id":${id},"result":`;
  if (answer.latin1Slice(0, before.length) === before) {
    return answer.subarray(before.length, answer.lastIndexOf(0x7d));
  }
  return Buffer.from(JSON.stringify(JSON.parse(answer).result));
}

/**
 * `call(name, input, done(error, answer, id))` calls the upstream; `reply(status, headers, body)` responds to the
 * client.
 */
export function passThrough(tools, call) {
  const routes = new Map(tools.map(({ name }) => [PREFIX + name, name]));
  const list = JSON.stringify({
    tools: tools.map((tool) => ({ ...tool, name: PREFIX + tool.name })),
  });
  const forward = ({ name, arguments: input = {} }, reply, before, after) => {
    call(routes.get(name), JSON.stringify(input), (error, answer, id) => {
      if (error) return reply(502, json, JSON.stringify({ error: String(error) }));
      const result = resultOf(answer, id);
      const body = Buffer.allocUnsafe(before.length + result.length + after.length);
      body.latin1Write(before, 0);
      result.copy(body, before.length);
      body.latin1Write(after, before.length + result.length);
      reply(200, json, body);
    });
  };
  return {
    mcp(message, reply) {
      if (message.id === undefined) return reply(202);
      const before = `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":`;
      switch (message.method) {
        case 'tools/call':
          return forward(message.params, reply, before, '}');
        case 'tools/list':
          return reply(200, json, `${before}${list}}`);
        case 'initialize': {
          const headers = { ...json, 'mcp-session-id': randomUUID() };
          return reply(200, headers, `${before}${JSON.stringify(initializeResult)}}`);
        }
        default:
          return reply(200, json, `${before}{}}`);
      }
    },
    rest: (body, reply) => forward(body, reply, '{"result":', '}'),
  };
}
