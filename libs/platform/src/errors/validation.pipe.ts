import { type ArgumentMetadata, Injectable, ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { type FieldIssue, InvalidInput } from './app-error.js';

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
    if (!this.toValidate(metadata)) return value;
    const given = metadata.type === 'body' ? (value ?? {}) : value;
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      throw new InvalidInput([
        { loc: [metadata.type], msg: 'Input should be a JSON object', type: 'type_error' },
      ]);
    }
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
