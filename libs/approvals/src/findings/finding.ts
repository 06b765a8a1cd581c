export const findingCodes = [
  'hidden_instructions',
  'hidden_characters',
  'look_alike',
  'other_tool',
  'sensitive_data',
  'data_flow',
  'more_destructive',
  'new_required_argument',
  'encoded_text',
] as const;
export type FindingCode = (typeof findingCodes)[number];

/** Something in a change that a person should look at. */
export interface Finding {
  readonly code: FindingCode;
  /** The member it was found in, such as `inputSchema/properties/path/description`. */
  readonly where: string;
  /** What was found, in words; may quote the server. */
  readonly text: string;
}

/**
 * Whether the finding alone withholds a change of a server that is trusted by default. A new required argument does not:
 * it is what versions of honest servers do most.
 */
export function isAlarming({ code }: Finding): boolean {
  return code !== 'new_required_argument';
}
