import { CommandBus } from '@nestjs/cqrs';
import type { INestApplicationContext } from '@nestjs/common';
import { MakeLoginLink, SYSTEM, tokenHash } from '@app/access';
import { Env } from '@app/platform';

/** A link that logs a browser in with this token; undefined when the console is off. For the terminal, never the log. */
export async function firstLogin(
  app: INestApplicationContext,
  url: string,
  token: string,
): Promise<string | undefined> {
  const env = app.get(Env);
  if (!env.MCP_AGGREGATOR_CONSOLE) return undefined;
  const holder = { tokenHash: tokenHash(token), sessionEndsBy: null };
  const address = env.MCP_AGGREGATOR_PUBLIC_URL ?? url;
  const link = await app.get(CommandBus).execute(new MakeLoginLink(holder, address, SYSTEM));
  return link.url;
}
