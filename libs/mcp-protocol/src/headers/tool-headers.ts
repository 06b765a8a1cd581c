import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import {
  declaredHeaders,
  type ParamHeader,
  paramHeaders,
  paramHeadersOf,
} from './param-headers.js';

/** More tools than servers list; bounds the memory for a server that keeps changing its list. */
const MAX_TOOLS = 10_000;
const MAX_HEADERS_PER_TOOL = 100;

/** The arguments that the tools of one server declare as headers, as last listed. Evicts the oldest tools. */
export class ToolHeaders {
  private readonly declared = new Map<string, readonly ParamHeader[]>();

  get size(): number {
    return this.declared.size;
  }

  /** `listed` is the `tools` of a `tools/list` result. */
  note(listed: JsonValue | undefined): void {
    for (const tool of Array.isArray(listed) ? listed : []) {
      if (isJsonObject(tool) && typeof tool['name'] === 'string') {
        this.noteTool(tool['name'], paramHeadersOf(tool['inputSchema']));
      }
    }
  }

  /** The headers of a call of this tool; `inputSchema` is known from elsewhere, and used if the tool was not listed. */
  of(
    tool: JsonValue | undefined,
    args: JsonValue | undefined,
    inputSchema?: JsonObject,
  ): Record<string, string> {
    const listed = typeof tool === 'string' ? this.declared.get(tool) : undefined;
    const headers = listed ?? (inputSchema && declaredHeaders(inputSchema));
    return headers ? paramHeaders(headers, args) : {};
  }

  private noteTool(name: string, headers: readonly ParamHeader[]): void {
    this.declared.delete(name);
    // Most tools declare no headers.
    if (headers.length === 0) return;
    this.declared.set(name, headers.slice(0, MAX_HEADERS_PER_TOOL));
    if (this.declared.size <= MAX_TOOLS) return;
    const [oldest = name] = this.declared.keys();
    this.declared.delete(oldest);
  }
}
