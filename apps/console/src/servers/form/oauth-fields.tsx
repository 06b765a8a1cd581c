import { texts } from '../../texts/index.js';
import { Field, Input, Select, TextArea } from '../../ui/field.js';
import { SecretInput } from '../../ui/secret-input.js';
import { configPath, type FieldErrors } from './field-errors.js';
import type { OAuthDraft } from './server-draft.js';

const t = texts.servers.form.oauth;

const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
];

interface OAuthFieldsProps {
  readonly oauth: OAuthDraft;
  readonly errors: FieldErrors;
  readonly onChange: (oauth: OAuthDraft) => void;
}

/** What was agreed with the authorization server beforehand; most servers need nothing of it. */
export function OAuthFields({ oauth, errors, onChange }: OAuthFieldsProps) {
  const at = (field: keyof OAuthDraft): string | undefined => errors.at(configPath('oauth', field));
  const text = (field: Exclude<keyof OAuthDraft, 'grant'>) => ({
    value: oauth[field],
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange({ ...oauth, [field]: event.target.value }),
  });
  const isMachine = oauth.grant === 'client_credentials';
  return (
    <div className="grid gap-3">
      <Field label={t.grant} hint={t.grantHints[oauth.grant]} error={at('grant')}>
        <Select
          value={oauth.grant}
          onChange={({ target: { value } }) =>
            onChange({
              ...oauth,
              grant: value === 'authorization_code' || value === 'client_credentials' ? value : '',
            })
          }
        >
          <option value="">{t.none}</option>
          <option value="authorization_code">{t.person}</option>
          <option value="client_credentials">{t.machine}</option>
        </Select>
      </Field>
      {oauth.grant !== '' && (
        <>
          <Field label={t.clientId} error={at('client_id')}>
            <Input mono {...text('client_id')} />
          </Field>
          <Field label={t.clientSecret} error={at('client_secret')}>
            <SecretInput {...text('client_secret')} />
          </Field>
          {isMachine && (
            <>
              <Field label={t.privateKey} hint={t.privateKeyHint} error={at('private_key')}>
                <TextArea mono rows={3} {...text('private_key')} />
              </Field>
              <Field label={t.algorithm} error={at('algorithm')}>
                <Select {...text('algorithm')}>
                  <option value="" />
                  {ALGORITHMS.map((name) => (
                    <option key={name}>{name}</option>
                  ))}
                </Select>
              </Field>
            </>
          )}
          <Field label={t.scope} hint={t.scopeHint} error={at('scope')}>
            <Input mono {...text('scope')} />
          </Field>
          <Field label={t.issuer} hint={t.issuerHint} error={at('issuer')}>
            <Input mono {...text('issuer')} />
          </Field>
        </>
      )}
    </div>
  );
}
