/** Shorter runs are words, ids and examples. */
const BASE64 = /(?<![A-Za-z0-9+/=_.-])[A-Za-z0-9+/_-]{40,}={0,2}(?![A-Za-z0-9+/=_.-])/g;
const HEX = /(?:[0-9a-f]{2}[\s:]?){32,}/gi;
const ESCAPES = /(?:\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|%[0-9a-f]{2}|&#x?[0-9a-f]{2,5};){8,}/gi;
const MAX_SCANNED = 65_536;

/** A run of encoded text, which people do not read and models can decode. */
export function encodedText(text: string): string | undefined {
  const scanned = text.slice(0, MAX_SCANNED);
  const escaped = scanned.match(ESCAPES)?.[0];
  if (escaped !== undefined) return escaped;
  const base64 = scanned.match(BASE64)?.find((run) => isText(Buffer.from(run, 'base64')));
  if (base64 !== undefined) return base64;
  return scanned.match(HEX)?.find((run) => isText(Buffer.from(run.replace(/[\s:]/g, ''), 'hex')));
}

/** Hashes and keys decode to noise. */
function isText(bytes: Buffer): boolean {
  const printable = bytes.filter((byte) => byte === 10 || (byte >= 32 && byte < 127)).length;
  return bytes.length >= 24 && printable / bytes.length > 0.95;
}
