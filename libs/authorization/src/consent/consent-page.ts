type Outcome = 'done' | 'connected' | 'failed' | 'over' | 'unreadable';

const texts: Readonly<Record<Outcome, readonly [status: number, title: string, text: string]>> = {
  done: [200, 'Authorized', 'Switchboard is connecting to it. You can close this page.'],
  connected: [
    200,
    'Connected',
    'Go back to your client and call the tool again. You can close this page.',
  ],
  failed: [
    400,
    'Not authorized',
    'The answer was refused; the log of Switchboard has the reason. Request a new consent with “switchboard authorize”, or call the tool again.',
  ],
  over: [
    400,
    'This question is over',
    'It was answered before, or it has expired. Request a new consent with “switchboard authorize”, or call the tool again.',
  ],
  unreadable: [400, 'Nothing to do here', 'This address is for answers of authorization servers.'],
};

/** The page after the consent; `server` is a name that was validated when the server was registered. */
export function consentPage(outcome: Outcome, server = ''): { status: number; html: string } {
  const [status, title, text] = texts[outcome];
  const heading = server === '' ? title : `${title}: ${server}`;
  return {
    status,
    html: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${heading}</title>
<style>body{font:1rem/1.5 system-ui;max-width:36rem;margin:20vh auto;padding:0 1rem}</style>
<h1>${heading}</h1>
<p>${text}</p>
</html>
`,
  };
}
