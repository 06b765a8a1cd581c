import type { TokenScope } from '@app/platform';
import { IsString, MaxLength } from 'class-validator';

export class LogInDto {
  @IsString({ message: 'Input should be a string' })
  @MaxLength(8_192, { message: 'Must have at most 8192 characters' })
  readonly token!: string;
}

export interface BrowserSessionView {
  readonly name: string;
  /** With those that a higher one implies. */
  readonly scopes: readonly TokenScope[];
  /** The only view of its token; null for a token that can use those that are granted to it. */
  readonly view: string | null;
  readonly expires_at: string;
}
