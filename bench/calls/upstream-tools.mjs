/** echo_0 … echo_<n-1>; the same for every upstream, so that lists can be compared. */
export function echoTools(count) {
  return Array.from({ length: count }, (_, i) => ({
    name: `echo_${i}`,
    description: `Echo tool number ${i}: returns the message it was given, unchanged, for benchmarks.`,
    inputSchema: {
      type: 'object',
      properties: {
        message: { type: 'string', description: 'Text to echo' },
        count: { type: 'integer', minimum: 0 },
      },
      required: ['message'],
    },
  }));
}

export const initializeResult = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: 'echo', version: '1.0.0' },
};

/** The bytes of a response to a call; echo_1 returns a text of 1 MB. */
const large = 'x'.repeat(1_000_000);
export function callResult({ name, arguments: input }) {
  const text = JSON.stringify(String(input?.message ?? ''));
  const more = name === 'echo_1' ? `,{"type":"text","text":"${large}"}` : '';
  return `{"content":[{"type":"text","text":${text}}${more}]}`;
}
