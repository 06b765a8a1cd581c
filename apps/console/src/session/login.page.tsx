import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { KeyRound, Terminal } from 'lucide-react';
import { type FormEvent, useEffect, useState } from 'react';
import { reasonOf } from '../api/refused.js';
import { texts } from '../texts/index.js';
import { Banner } from '../ui/banner.js';
import { Button } from '../ui/button.js';
import { CodeBlock } from '../ui/code-block.js';
import { Field, Input } from '../ui/field.js';
import { Logo } from '../ui/logo.js';
import { LoginWaysFields } from './login-ways.js';
import { logIn, loginWaysQuery, sessionQuery } from './session.js';

/** The code of a login link, which is taken out of the address at once. */
function takeCode(): string | undefined {
  const code = window.location.hash.slice(1);
  if (code === '') return undefined;
  window.history.replaceState(null, '', window.location.pathname + window.location.search);
  return decodeURIComponent(code);
}

/** Only addresses of this console: a link must not lead elsewhere after the login. */
function pageToOpen(next: unknown): string {
  return typeof next === 'string' && /^\/(?![/\\])/.test(next) ? next : '/';
}

export function LoginPage() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { next } = useSearch({ strict: false }) as { next?: unknown };
  const [token, setToken] = useState('');
  /** Of a link that waits: a stranger who sent it could log a person in as the stranger. */
  const [code, setCode] = useState<string>();
  const { data: session, isPending } = useQuery(sessionQuery);
  const { data: ways } = useQuery(loginWaysQuery);
  const login = useMutation({
    mutationFn: logIn,
    meta: { showsError: true },
    onSuccess: () => client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
  });
  const { mutate } = login;
  useEffect(() => {
    const takeLink = (): void => {
      const taken = takeCode();
      if (taken !== undefined) setCode(taken);
    };
    takeLink();
    // A link that is opened in a tab that shows this page changes only the fragment.
    window.addEventListener('hashchange', takeLink);
    return () => window.removeEventListener('hashchange', takeLink);
  }, []);
  useEffect(() => {
    if (code === undefined || isPending || session) return;
    setCode(undefined);
    mutate({ code });
  }, [code, isPending, session, mutate]);
  useEffect(() => {
    if (session && code === undefined) void navigate({ to: pageToOpen(next), replace: true });
  }, [session, code, next, navigate]);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (token.trim() !== '') login.mutate({ token: token.trim() });
  };
  const isByLink = login.isPending && login.variables !== undefined && 'code' in login.variables;
  return (
    <main className="bg-shell grid min-h-full place-items-center p-5">
      <div className="border-line bg-page w-full max-w-100 rounded-3 border p-6">
        <h1 className="flex items-center gap-2 text-title font-semibold">
          <Logo /> {texts.common.product}
        </h1>
        <p className="text-text-2 mt-1">{isByLink ? texts.login.byLink : texts.login.lead}</p>
        {login.isError && (
          <Banner kind="bad" className="mt-4">
            {'code' in (login.variables ?? {}) && <strong>{texts.login.linkRefused}. </strong>}
            {reasonOf(login.error)}
          </Banner>
        )}
        {session && code !== undefined && (
          <Banner kind="warn" className="mt-4">
            <p>{texts.login.linkInstead(session.name)}</p>
            <div className="mt-3 flex gap-2">
              <Button
                busy={login.isPending}
                onClick={() => mutate({ code }, { onSuccess: () => setCode(undefined) })}
              >
                {texts.login.useLink}
              </Button>
              <Button kind="primary" onClick={() => setCode(undefined)}>
                {texts.login.stay(session.name)}
              </Button>
            </div>
          </Banner>
        )}
        {next !== undefined && !login.isError && (
          <Banner kind="info" className="mt-4">
            {texts.login.ended}
          </Banner>
        )}
        {ways && (
          <LoginWaysFields
            ways={ways}
            next={pageToOpen(next)}
            busy={login.isPending && !isByLink}
            onPassword={login.mutate}
          />
        )}
        <LoginByLink />
        <form className="mt-5" onSubmit={submit}>
          <h2 className="mb-2 flex items-center gap-2 font-medium">
            <KeyRound size={14} aria-hidden /> {texts.login.tokenTitle}
          </h2>
          <Field label={texts.login.tokenLabel} hint={texts.login.tokenHint}>
            <Input
              type="password"
              autoComplete="current-password"
              value={token}
              onChange={(event) => setToken(event.target.value)}
              mono
            />
          </Field>
          <Button type="submit" kind="primary" busy={login.isPending && !isByLink} className="mt-3">
            {texts.login.submit}
          </Button>
        </form>
      </div>
    </main>
  );
}

/** How to get a link, on the machine of the service. */
function LoginByLink() {
  return (
    <section className="mt-5">
      <h2 className="flex items-center gap-2 font-medium">
        <Terminal size={14} aria-hidden /> {texts.login.linkTitle}
      </h2>
      <p className="text-text-2 mt-1 mb-2 text-small">{texts.login.linkHint}</p>
      <CodeBlock code={texts.login.command} />
    </section>
  );
}
