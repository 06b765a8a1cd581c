/** What JSON can say; upstream schemas, arguments and results are passed around as this. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}
