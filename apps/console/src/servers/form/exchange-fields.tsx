import { texts } from '../../texts/index.js';
import { Field, Input } from '../../ui/field.js';
import { SecretInput } from '../../ui/secret-input.js';
import { configPath, type FieldErrors } from './field-errors.js';
import type { ExchangeDraft } from './server-draft.js';

const t = texts.servers.form.exchange;

interface ExchangeFieldsProps {
  readonly exchange: ExchangeDraft;
  readonly errors: FieldErrors;
  readonly onChange: (exchange: ExchangeDraft) => void;
}

/** Where a token of the server is got for the JWT of a caller (RFC 8693). */
export function ExchangeFields({ exchange, errors, onChange }: ExchangeFieldsProps) {
  const text = (field: keyof ExchangeDraft) => ({
    value: exchange[field],
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange({ ...exchange, [field]: event.target.value }),
  });
  const at = (field: keyof ExchangeDraft): string | undefined =>
    errors.at(configPath('exchange', field));
  const whole = errors.at(configPath('exchange'));
  return (
    <fieldset className="border-line grid gap-3 rounded-3 border p-4">
      <legend className="text-text-2 px-1 text-small font-medium">{t.title}</legend>
      <Field label={t.tokenUrl} hint={t.tokenUrlHint} error={at('token_url') ?? whole}>
        <Input
          mono
          required
          inputMode="url"
          placeholder="https://id.example.com/token"
          {...text('token_url')}
        />
      </Field>
      <Field label={t.clientId} error={at('client_id')}>
        <Input mono {...text('client_id')} />
      </Field>
      <Field label={t.clientSecret} hint={t.clientSecretHint} error={at('client_secret')}>
        <SecretInput {...text('client_secret')} />
      </Field>
      <Field label={t.audience} hint={t.audienceHint} error={at('audience')}>
        <Input mono {...text('audience')} />
      </Field>
      <Field label={t.scope} error={at('scope')}>
        <Input mono {...text('scope')} />
      </Field>
    </fieldset>
  );
}
