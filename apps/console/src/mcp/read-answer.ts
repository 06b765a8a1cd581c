import { isJsonObject, type JsonObject, parseObject } from './json.js';

/** Messages of an answer to a POST: one of JSON, or those of an event stream as they arrive. */
export async function* readAnswer(response: Response): AsyncGenerator<JsonObject> {
  const type = response.headers.get('content-type') ?? '';
  if (!type.startsWith('text/event-stream') || !response.body) {
    const body: unknown = await response.json().catch(() => undefined);
    if (isJsonObject(body)) yield body;
    return;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (rest + value).split(/\r?\n\r?\n/);
    rest = events.pop() ?? '';
    for (const event of events) {
      const message = parseObject(dataOf(event));
      if (message) yield message;
    }
  }
}

function dataOf(event: string): string {
  return event
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).trimStart())
    .join('\n');
}
