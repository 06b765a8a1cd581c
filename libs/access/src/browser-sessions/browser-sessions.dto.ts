import { InvalidInput, type TokenScope } from '@app/platform';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import type { LoginCredential } from './log-in.command.js';

const text = { message: 'Input should be a string' };
const nameLength = { message: 'Must have at most 200 characters' };
const length = { message: 'Must have at most 8192 characters' };

export class LogInDto {
  @IsOptional()
  @IsString(text)
  @MaxLength(8_192, length)
  readonly token?: string;

  /** Of a login link. */
  @IsOptional()
  @IsString(text)
  @MaxLength(8_192, length)
  readonly code?: string;

  @IsOptional()
  @IsString(text)
  @MaxLength(200, nameLength)
  readonly name?: string;

  @IsOptional()
  @IsString(text)
  @MaxLength(200, nameLength)
  readonly password?: string;
}

export function credentialIn({ token, code, name, password }: LogInDto): LoginCredential {
  const given: readonly LoginCredential[] = [
    ...(token === undefined ? [] : [{ token }]),
    ...(code === undefined ? [] : [{ code }]),
    ...(name === undefined || password === undefined ? [] : [{ name, password }]),
  ];
  const [only] = given;
  const kinds = [token, code, name ?? password].filter((one) => one !== undefined);
  if (only && kinds.length === 1) return only;
  const msg = 'Give either a token, or the code of a login link, or a name and its password';
  throw new InvalidInput([{ loc: ['body'], msg, type: 'value_error' }]);
}

export interface LoginWaysView {
  /** Whether there are people with a password. */
  readonly password: boolean;
  /** The host of the identity provider; null without one. */
  readonly provider: string | null;
}

export interface BrowserSessionView {
  readonly name: string;
  /** With those that a higher one implies. */
  readonly scopes: readonly TokenScope[];
  /** The only view of its token; null for a token that can use those that are granted to it. */
  readonly view: string | null;
  readonly expires_at: string;
}
