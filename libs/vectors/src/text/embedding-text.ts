/** Splits `getHTTPUser` into get, HTTP, User. */
const CAMEL_CASE = /(\p{Ll})(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu;

/** Splits `createIssue`, `create-issue` and `create_issue` into words. */
export function splitIdentifiers(text: string): string {
  return text.replace(CAMEL_CASE, '$1$2 ').replace(/[_./:-]+/g, ' ');
}

export interface ToolWords {
  readonly server: string;
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly string[];
  readonly parameterDescriptions?: readonly string[];
}

/** Limits descriptions of parameters to half the rest, because they would dominate the vector. */
const PARAMETERS_SHARE = 0.5;

/** Longer texts are cut: a definition may be thirty times as long. */
export const MAX_TEXT_CHARS = 8_000;

/** The text of a tool for an embedding model. */
export function toolText(tool: ToolWords): string {
  const { server, name, parameters, parameterDescriptions = [] } = tool;
  const description = tool.description.slice(0, MAX_TEXT_CHARS);
  let text = `${server}: ${splitIdentifiers(name)}. ${description}`;
  if (parameters.length > 0) {
    text += `. Parameters: ${parameters.map(splitIdentifiers).join(', ')}`;
  }
  const said = parameterDescriptions
    .join('. ')
    .slice(0, Math.round(text.length * PARAMETERS_SHARE));
  return (said ? `${text}. ${said}` : text).slice(0, MAX_TEXT_CHARS).toWellFormed();
}
