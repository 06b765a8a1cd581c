import { isUUID } from 'class-validator';

const PREFIX = 'switchboard://results/';

/** Of every URI of a kept result, also of an invalid one. */
export function isResultUri(uri: string): boolean {
  return uri.startsWith(PREFIX);
}

export function resultUri(id: string, page?: number): string {
  return `${PREFIX}${id}${page === undefined ? '' : `?page=${page}`}`;
}

/** Undefined for a URI that no kept result has. Without a page, it is the first. */
export function readResultUri(
  uri: string,
): { readonly id: string; readonly page: number } | undefined {
  const match = /^([\da-f-]{36})(?:\?page=([1-9]\d{0,8}))?$/.exec(uri.slice(PREFIX.length));
  const [, id, page = '1'] = match ?? [];
  return isResultUri(uri) && isUUID(id) && id !== undefined
    ? { id, page: Number(page) }
    : undefined;
}
