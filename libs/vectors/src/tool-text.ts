/** `getHTTPUser` is get, HTTP, user. */
const CAMEL_CASE = /(\p{Ll})(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu;

/** `createIssue`, `create-issue`, `create_issue` as words of a sentence. */
export function splitIdentifiers(text: string): string {
  return text.replace(CAMEL_CASE, '$1$2 ').replace(/[_./:-]+/g, ' ');
}

export interface ToolWords {
  readonly server: string;
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly string[];
}

/** What an embedding model reads of a tool. */
export function toolText({ server, name, description, parameters }: ToolWords): string {
  const text = `${server}: ${splitIdentifiers(name)}. ${description}`;
  return parameters.length > 0
    ? `${text}. Parameters: ${parameters.map(splitIdentifiers).join(', ')}`
    : text;
}
