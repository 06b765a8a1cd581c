import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

function installed(): string | undefined {
  const chosen = process.env['CHROMIUM_PATH'];
  if (chosen) return chosen;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((path) => existsSync(path));
}

const path = installed();

/** Tests in a real browser; without one they are skipped, and say so. */
export const describeInBrowser: typeof describe.skip = path ? describe : describe.skip;

if (!path) {
  process.stderr.write(
    'skipped: tests in a browser, because there is no Chromium in the PATH (apt-get install chromium, or set CHROMIUM_PATH)\n',
  );
}

export async function launchBrowser(): Promise<Browser> {
  if (!path) throw new Error('There is no Chromium in the PATH');
  // Tests run as root in containers, where Chromium's sandbox cannot be set up.
  return chromium.launch({
    executablePath: path,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
}

/** A page, and every complaint of the browser about it: errors, warnings, violations of the security policy. */
export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly complaints: readonly string[];
}

interface PageOptions {
  readonly colorScheme?: 'light' | 'dark';
  readonly width?: number;
}

export async function openPage(browser: Browser, options: PageOptions = {}): Promise<WatchedPage> {
  const { colorScheme = 'light', width = 1440 } = options;
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') {
      complaints.push(`${message.type()}: ${message.text()}`);
    }
  });
  return { page, context, complaints };
}
