import { Building2, UserRound } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { texts } from '../texts/index.js';
import { Button, buttonLook } from '../ui/button.js';
import { Field, Input } from '../ui/field.js';
import { type LoginWays, providerLogin } from './session.js';

interface LoginWaysFieldsProps {
  readonly ways: LoginWays;
  /** The page to open after the login. */
  readonly next: string;
  readonly busy: boolean;
  readonly onPassword: (person: { name: string; password: string }) => void;
}

/** Logins of people: at the identity provider, and by name and password where anyone has one. */
export function LoginWaysFields({ ways, next, busy, onPassword }: LoginWaysFieldsProps) {
  const [person, setPerson] = useState({ name: '', password: '' });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onPassword(person);
  };
  return (
    <>
      {ways.provider !== null && (
        <section className="mt-5">
          <h2 className="mb-2 flex items-center gap-2 font-medium">
            <Building2 size={14} aria-hidden /> {texts.login.providerTitle}
          </h2>
          {/* Not a page of the console. */}
          <a href={providerLogin(next)} className={buttonLook('primary', false, true)}>
            {texts.login.provider(ways.provider)}
          </a>
        </section>
      )}
      {ways.password && (
        <form className="mt-5 grid gap-3" onSubmit={submit}>
          <h2 className="flex items-center gap-2 font-medium">
            <UserRound size={14} aria-hidden /> {texts.login.passwordTitle}
          </h2>
          <Field label={texts.login.nameLabel}>
            <Input
              autoComplete="username"
              required
              value={person.name}
              onChange={(event) => setPerson({ ...person, name: event.target.value })}
            />
          </Field>
          <Field label={texts.login.passwordLabel}>
            <Input
              type="password"
              autoComplete="current-password"
              required
              value={person.password}
              onChange={(event) => setPerson({ ...person, password: event.target.value })}
            />
          </Field>
          <Button type="submit" kind="primary" busy={busy} className="justify-self-start">
            {texts.login.submit}
          </Button>
        </form>
      )}
    </>
  );
}
