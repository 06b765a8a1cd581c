import { spawn } from 'node:child_process';

/** Opens an address in the default browser; returns why that is not possible. */
export async function openPage(
  url: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const opener = openerFor(process.platform, env);
  if (!opener) return 'There is no browser here: this machine has no display.';
  const [program, ...args] = opener;
  const child = spawn(program, [...args, url], { env, stdio: 'ignore', detached: true });
  const problem = await new Promise<string | undefined>((resolve) => {
    child.once('error', () => resolve(`The browser was not opened: ${program} cannot be run.`));
    child.once('spawn', () => resolve(undefined));
  });
  child.unref();
  return problem;
}

type Opener = readonly [program: string, ...args: string[]];

/** Undefined where there is no display. */
export function openerFor(
  platform: string,
  env: Readonly<Record<string, string | undefined>>,
): Opener | undefined {
  if (platform === 'darwin') return ['open'];
  // Unlike `start` of cmd, it takes the address as it is.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? ['xdg-open'] : undefined;
}
