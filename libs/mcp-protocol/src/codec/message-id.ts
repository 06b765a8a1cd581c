import { type JsonObject, memberAsWritten, RawJson } from '@app/platform';

/** The id of a JSON-RPC request. Integers beyond 2^53 are a `bigint`, to keep all digits. */
export type RpcId = string | number | bigint;

/** The id under this key of a message, if it is valid. */
export function idIn(object: JsonObject, key: string): RpcId | undefined {
  const id = object[key];
  if (typeof id === 'string') return id;
  if (typeof id !== 'number') return undefined;
  if (Number.isSafeInteger(id)) return id;
  const written = memberAsWritten(object, key);
  const large = written instanceof RawJson ? largeInteger(written.text) : undefined;
  return large ?? (Number.isFinite(id) ? id : undefined);
}

/** Undefined for other numbers, and for one of so many digits that converting it blocks for seconds. */
export function largeInteger(written: string): bigint | undefined {
  return LARGE_INTEGER.test(written) ? BigInt(written) : undefined;
}
const LARGE_INTEGER = /^-?\d{1,1000}$/;

/** The id as JSON text. */
export function idText(id: RpcId | null): string {
  return typeof id === 'bigint' ? String(id) : JSON.stringify(id);
}

/** The id as a JSON value. */
export function idJson(id: RpcId): string | number | RawJson {
  return typeof id === 'bigint' ? new RawJson(String(id)) : id;
}
