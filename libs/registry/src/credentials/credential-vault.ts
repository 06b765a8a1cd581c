import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { createSecretFile, Env, type Tx, SettingsStore } from '@app/platform';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UnreadableCredentials, WrongCredentialKey } from '../registry.errors.js';
import { type SealedCredential, sealedCredentialSchema, type Place, VaultKey } from './vault.js';

const CHECK: Place = { table: 'settings', row: 'credential_check', field: 'value' };
const CHECK_TEXT = 'switchboard';

/** Encrypts and decrypts connection configurations. Startup fails when the key does not match the stored data. */
@Injectable()
export class CredentialVault implements OnModuleInit {
  private readonly logger = new Logger(CredentialVault.name);
  private readonly current: VaultKey;
  private readonly keys: readonly VaultKey[];
  private readonly resealing: ((tx: Tx) => Promise<void>)[] = [];

  constructor(
    @Inject(Env) env: Env,
    private readonly settings: SettingsStore,
  ) {
    this.current = VaultKey.from(env.MCP_CREDENTIAL_KEY ?? this.keyFromDataDir(env));
    const previous = env.MCP_CREDENTIAL_KEY_PREVIOUS;
    this.keys = previous ? [this.current, VaultKey.from(previous)] : [this.current];
  }

  async onModuleInit(): Promise<void> {
    // Only the first start writes the check value; replicas that start at the same time all verify the stored one.
    await this.settings.insertIfAbsent(CHECK.row, this.seal(CHECK_TEXT, CHECK));
    const sealed = await this.check();
    if (!sealed) throw new WrongCredentialKey();
    if (sealed.kid !== this.current.id) {
      this.logger.warn(
        {
          hint: 'credentials are still encrypted with MCP_CREDENTIAL_KEY_PREVIOUS; run `switchboard credentials rotate`',
        },
        'credentials.rotation_pending',
      );
    }
  }

  /** Whether a key opens what is stored; also before anything was. */
  async fits(): Promise<boolean> {
    return (await this.settings.get(CHECK.row)) === undefined || (await this.check()) !== undefined;
  }

  /** The check value, if one of the keys opens it. */
  private async check(): Promise<SealedCredential | undefined> {
    const { data } = sealedCredentialSchema.safeParse(await this.settings.get(CHECK.row));
    return data && this.keys.some((key) => opens(key, data)) ? data : undefined;
  }

  seal(text: string, place: Place): SealedCredential {
    return this.current.seal(text, place);
  }

  open(stored: unknown, place: Place): string {
    const sealed = sealedCredentialSchema.safeParse(stored);
    const key = sealed.success && this.keys.find(({ id }) => id === sealed.data.kid);
    if (!sealed.success || !key) throw new UnreadableCredentials(`${place.table} ${place.row}`);
    try {
      return key.open(sealed.data, place);
    } catch {
      throw new UnreadableCredentials(`${place.table} ${place.row}`);
    }
  }

  /** For key rotation: secrets in rows of other libs are re-encrypted in its transaction too. */
  onReseal(reseal: (tx: Tx) => Promise<void>): void {
    this.resealing.push(reseal);
  }

  /** Re-encrypts what other libs have sealed. */
  async resealOthers(tx: Tx): Promise<void> {
    for (const reseal of this.resealing) await reseal(tx);
  }

  /** For key rotation: re-encrypts the check value, so that only the current key is needed afterwards. */
  async sealCheck(tx: Tx): Promise<void> {
    await this.settings.put(CHECK.row, this.seal(CHECK_TEXT, CHECK), tx);
  }

  private keyFromDataDir(env: Env): string {
    const file = join(env.MCP_AGGREGATOR_DATA_DIR, 'credential-key');
    const made = createSecretFile(file, `${randomBytes(32).toString('base64')}\n`);
    if (made) {
      this.logger.warn(
        {
          file,
          hint: 'MCP_CREDENTIAL_KEY is not set: a key was made in the data folder. Access to that folder gives access to the credentials; set the variable to store the key elsewhere.',
        },
        'credentials.key_made',
      );
    }
    return readFileSync(file, 'utf8').trim();
  }
}

function opens(key: VaultKey, sealed: SealedCredential): boolean {
  try {
    return key.open(sealed, CHECK) === CHECK_TEXT;
  } catch {
    return false;
  }
}
