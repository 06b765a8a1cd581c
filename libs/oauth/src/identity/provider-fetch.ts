import { boundedText, type Egress, TooLong } from '@app/platform';
import { LoginFailed } from './identity.errors.js';

const REQUEST_MS = 10_000;
const MAX_BYTES = 262_144;

export interface ProviderAnswer {
  readonly status: number;
  /** Undefined for what is not JSON. */
  readonly json: unknown;
}

/** A request to the identity provider under the egress rules, bounded in time and size. Rejects with LoginFailed. */
export async function askProvider(
  egress: Egress,
  url: URL,
  form?: { readonly fields: URLSearchParams; readonly authorization?: string },
): Promise<ProviderAnswer> {
  const [undici, agent] = await Promise.all([
    import('undici'),
    egress.agent({ minVersion: 'TLSv1.2', timeout: REQUEST_MS }),
  ]);
  try {
    const { status, body } = await undici.fetch(url, {
      method: form ? 'POST' : 'GET',
      headers: {
        accept: 'application/json',
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...(form?.authorization !== undefined && { authorization: form.authorization }),
      },
      ...(form && { body: form.fields.toString() }),
      redirect: 'manual',
      dispatcher: agent,
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    return { status, json: parsed(await boundedText(body, url.host, MAX_BYTES)) };
  } catch (error) {
    const why = error instanceof TooLong ? 'answers with too much' : 'does not answer';
    const message = `The identity provider at ${url.host} ${why}. Try again in a minute; an administrator finds the reason in the log.`;
    throw new LoginFailed(message, 502, { cause: error });
  } finally {
    await agent.destroy();
  }
}

function parsed(text: string): unknown {
  try {
    const json: unknown = JSON.parse(text);
    return json;
  } catch {
    return undefined;
  }
}
