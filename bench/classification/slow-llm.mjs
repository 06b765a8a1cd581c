import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** A hosted model that answers slowly and assigns every tool to one skill. */
export async function startSlowLlm(requestMs) {
  let requests = 0;
  const server = createServer((request, response) => void answer(request, response));
  async function answer(request, response) {
    requests++;
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { messages } = JSON.parse(Buffer.concat(chunks).toString());
    const { tools } = JSON.parse(messages.find(({ role }) => role === 'user').content);
    await sleep(requestMs);
    const content = JSON.stringify({
      tools: tools.map(({ id }) => ({
        id,
        skills: [{ id: 'media', confidence: 0.9 }],
        suggested_skill: null,
      })),
    });
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }));
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    settings: {
      LLM_PROVIDER: 'openai',
      LLM_URL: `http://127.0.0.1:${server.address().port}/v1`,
      LLM_MODEL: 'stand-in',
    },
    get requests() {
      return requests;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
