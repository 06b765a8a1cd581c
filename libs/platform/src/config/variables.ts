import { envSchema } from './env.js';

/** The environment as far as `${VAR}` placeholders may see it: our own settings are not there. */
export class Variables {
  constructor(private readonly source: Readonly<Record<string, string | undefined>>) {}

  mayReference(name: string): boolean {
    return !(name in envSchema.shape) && !name.startsWith('MCP_AGGREGATOR_');
  }

  /** undefined when it is not set, or not to be seen. */
  get(name: string): string | undefined {
    return this.mayReference(name) ? this.source[name] : undefined;
  }
}
