import type { HttpRequest, HttpRequestOptions } from '@app/http1';
import type { RpcId } from '@app/mcp-protocol';

export interface UpstreamRequestOptions extends HttpRequestOptions {
  /** JSON-RPC id in the body; lets a cancelled call abort its HTTP request. */
  readonly carries?: RpcId | undefined;
  /** Whether it asks for a new session. */
  readonly begins?: boolean | undefined;
}
export type UpstreamRequest = HttpRequest<UpstreamRequestOptions>;
