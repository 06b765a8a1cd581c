import { isLoopbackHost } from '../config/env.js';
import { type EgressPolicy, hostProblem } from './egress-policy.js';

export interface UrlRules {
  readonly allowInsecureHttp: boolean;
  /** Undefined for URLs that were accepted before: they are checked at connect. */
  readonly egress: EgressPolicy | undefined;
}

/** The reason to refuse a URL, judged by its text alone; undefined when it is allowed. */
export function urlProblem(value: string, rules: UrlRules): string | undefined {
  if (!URL.canParse(value)) return 'Is not a valid URL';
  const { protocol, hostname } = new URL(value);
  if (protocol !== 'https:' && protocol !== 'http:') return 'Must start with https:// or http://';
  if (protocol === 'http:' && !rules.allowInsecureHttp && !isLoopbackHost(hostname)) {
    return 'Must use https: unless the host is this machine; MCP_AGGREGATOR_ALLOW_INSECURE_HTTP=true allows http:';
  }
  return rules.egress && hostProblem(hostname, rules.egress);
}
