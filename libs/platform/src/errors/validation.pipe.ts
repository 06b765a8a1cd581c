import { type ArgumentMetadata, Injectable, ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { isCleanText, UNCLEAN } from '../text.js';
import { AppError, type FieldIssue, InvalidInput } from './app-error.js';

/** Validates HTTP DTOs; every refusal names its place, body and query alike (RULINGS R3). */
@Injectable()
export class RequestValidationPipe extends ValidationPipe {
  constructor() {
    super({
      whitelist: true,
      forbidNonWhitelisted: true,
      transform: true,
      stopAtFirstError: true,
      exceptionFactory: (errors) => new InvalidInput(errors.flatMap((e) => issuesOf(e, []))),
    });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.type === 'param' && typeof value === 'string' && !isCleanText(value)) {
      throw new NothingThere();
    }
    if (!this.toValidate(metadata)) return value;
    const given = metadata.type === 'body' ? (value ?? {}) : value;
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      throw new InvalidInput([
        { loc: [metadata.type], msg: 'Input should be a JSON object', type: 'type_error' },
      ]);
    }
    if (metadata.type === 'query') refuseUncleanValues(given);
    try {
      return (await super.transform(given, metadata)) as unknown;
    } catch (error) {
      if (!(error instanceof InvalidInput) || !error.issues) throw error;
      throw new InvalidInput(
        error.issues.map((issue) => ({ ...issue, loc: [metadata.type, ...issue.loc] })),
      );
    }
  }
}

/** Whatever a query asks for, PostgreSQL could not even compare with such text. */
function refuseUncleanValues(query: object): void {
  const issues = Object.entries(query)
    .filter(([, value]) => typeof value === 'string' && !isCleanText(value))
    .map(([name]) => ({ loc: ['query', name], msg: UNCLEAN, type: 'value_error' }));
  if (issues.length > 0) throw new InvalidInput(issues);
}

/** A path whose last part can be the name or id of nothing. */
class NothingThere extends AppError {
  constructor() {
    super('Nothing has such a name', { kind: 'not-found', code: 'NOT_FOUND' });
  }
}

function issuesOf(error: ValidationError, above: readonly (string | number)[]): FieldIssue[] {
  const loc = [...above, /^\d+$/.test(error.property) ? Number(error.property) : error.property];
  const own = Object.entries(error.constraints ?? {}).map(([rule, msg]) => ({
    loc,
    msg: rule === 'whitelistValidation' ? 'Unknown field' : msg,
    type: rule === 'whitelistValidation' ? 'extra_forbidden' : typeOf(rule, error.value),
  }));
  return [...own, ...(error.children ?? []).flatMap((child) => issuesOf(child, loc))];
}

function typeOf(rule: string, value: unknown): string {
  if (value === undefined) return 'missing';
  return /^is(String|Int|Number|Boolean|Object|Array)$/.test(rule) ? 'type_error' : 'value_error';
}
