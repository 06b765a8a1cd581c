import { InvalidInput, type TokenScope } from '@app/platform';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import type { LoginCredential } from './log-in.command.js';

const text = { message: 'Input should be a string' };
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
}

export function credentialIn({ token, code }: LogInDto): LoginCredential {
  if (token !== undefined && code === undefined) return { token };
  if (code !== undefined && token === undefined) return { code };
  const msg = 'Give either a token, or the code of a login link';
  throw new InvalidInput([{ loc: ['body'], msg, type: 'value_error' }]);
}

export interface BrowserSessionView {
  readonly name: string;
  /** With those that a higher one implies. */
  readonly scopes: readonly TokenScope[];
  /** The only view of its token; null for a token that can use those that are granted to it. */
  readonly view: string | null;
  readonly expires_at: string;
}
