import { RawJsonObject } from '@app/platform';
import { messageBytes, messagePieces } from './write-message.js';

const answer = (result: RawJsonObject) => ({ jsonrpc: '2.0', id: 'é', result }) as const;
const together = (pieces: readonly (string | Buffer)[]): string =>
  Buffer.concat(pieces.map((piece) => Buffer.from(piece))).toString();

describe(messagePieces, () => {
  it.each([0, 10, 100_000])('writes what messageBytes writes, with %d characters', (chars) => {
    for (const change of [{}, { a: 1 }, { text: 'other' }]) {
      const result = RawJsonObject.of({ text: '…'.repeat(chars), b: [2] });
      const message = answer(result.with(change));
      expect(together(messagePieces(message))).toBe(messageBytes(message).toString());
    }
    const error = {
      jsonrpc: '2.0',
      id: 1,
      error: { code: 1, message: '…'.repeat(chars) },
    } as const;
    expect(together(messagePieces(error))).toBe(messageBytes(error));
  });

  it('does not copy a large result', () => {
    const result = RawJsonObject.of({ text: 'x'.repeat(1_000_000) });
    expect(messagePieces(answer(result))).toContain(result.bytes);
  });
});

describe(messageBytes, () => {
  it('writes a result on one line for streams', () => {
    const result = RawJsonObject.read(Buffer.from(`{\n"text":\r\n"${'x'.repeat(100_000)}"}`));
    if (!result) throw new Error('it is not JSON');
    const line = messageBytes(answer(result.with({ a: 1 })), true).toString();
    expect(line).not.toMatch(/[\r\n]/);
    expect(JSON.parse(line)).toMatchObject({ id: 'é', result: { a: 1 } });
  });
});
