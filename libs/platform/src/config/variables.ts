import { envSchema } from './env.js';

/** The environment that `${VAR}` placeholders can read: without the settings of the service. */
export class Variables {
  constructor(private readonly source: Readonly<Record<string, string | undefined>>) {}

  mayReference(name: string): boolean {
    return !(name in envSchema.shape) && !name.startsWith('MCP_AGGREGATOR_');
  }

  /** Undefined when the variable is unset or hidden. */
  get(name: string): string | undefined {
    return this.mayReference(name) ? this.source[name] : undefined;
  }
}
