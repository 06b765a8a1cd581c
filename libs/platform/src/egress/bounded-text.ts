/** A response exceeded the size limit of its reader. */
export class TooLong extends Error {
  constructor(host: string, maxBytes: number) {
    super(`${host} answers with more than ${maxBytes} bytes`);
    this.name = new.target.name;
  }
}

/** Reads the body of a response up to a limit, and stops there. */
export async function boundedText(
  body: AsyncIterable<Uint8Array> | null,
  host: string,
  maxBytes: number,
): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.length;
    if (size > maxBytes) throw new TooLong(host, maxBytes);
    // Copied: many small slices would each retain the large buffer they were cut from.
    parts.push(Uint8Array.prototype.slice.call(part));
  }
  return Buffer.concat(parts).toString('utf8');
}
