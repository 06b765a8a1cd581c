import { type ArgumentMetadata, Injectable, ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { type ValueBounds, valueBeyondBounds } from '../json/json-bounds.js';
import { isCleanText, UNCLEAN } from '../text/text.js';
import { AppError, type FieldIssue, InvalidInput, UNKNOWN_FIELD } from './app-error.js';

/** More than any DTO needs; validating a key or an item costs a hundred times as much as parsing it. */
const BOUNDS = {
  body: { keys: 1_000, items: 2_000, values: 20_000 },
  query: { keys: 50, items: 50, values: 100 },
} as const;

const KEYS = Symbol('keys of a body');

/** On a DTO of a body with more keys than usual, its subclasses included: all levels together. */
export const MaxKeys =
  (keys: number): ClassDecorator =>
  (dto) =>
    Reflect.defineMetadata(KEYS, keys, dto);

/** Validates HTTP DTOs; every refusal names its field, in body and query (contract R3). */
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
    refuseBeyondBounds(given, boundsOf(metadata), metadata.type === 'query' ? 'query' : 'body');
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

function boundsOf({ type, metatype }: ArgumentMetadata): ValueBounds {
  if (type === 'query') return BOUNDS.query;
  const keys: unknown = metatype && Reflect.getMetadata(KEYS, metatype);
  return typeof keys === 'number' ? { ...BOUNDS.body, keys } : BOUNDS.body;
}

function refuseBeyondBounds(given: object, bounds: ValueBounds, place: 'body' | 'query'): void {
  const beyond = valueBeyondBounds(given, bounds);
  if (!beyond) return;
  const what = beyond === 'items' ? 'items in a list' : `${beyond}, all levels together`;
  const msg = `Must have at most ${bounds[beyond]} ${what}`;
  throw new InvalidInput([{ loc: [place], msg, type: 'value_error' }]);
}

/** PostgreSQL rejects such text, so no query can use it. */
function refuseUncleanValues(query: object): void {
  const issues = Object.entries(query)
    .filter(([, value]) => typeof value === 'string' && !isCleanText(value))
    .map(([name]) => ({ loc: ['query', name], msg: UNCLEAN, type: 'value_error' }));
  if (issues.length > 0) throw new InvalidInput(issues);
}

/** A path whose last segment cannot be a name or id. */
class NothingThere extends AppError {
  constructor() {
    super('Nothing has such a name', { kind: 'not-found', code: 'NOT_FOUND' });
  }
}

function issuesOf(error: ValidationError, above: readonly (string | number)[]): FieldIssue[] {
  const loc = [...above, /^\d+$/.test(error.property) ? Number(error.property) : error.property];
  const own = Object.entries(error.constraints ?? {}).map(([rule, msg]) => ({
    loc,
    ...(rule === 'whitelistValidation' ? UNKNOWN_FIELD : { msg, type: typeOf(rule, error.value) }),
  }));
  return [...own, ...(error.children ?? []).flatMap((child) => issuesOf(child, loc))];
}

function typeOf(rule: string, value: unknown): string {
  if (value === undefined) return 'missing';
  return /^is(String|Int|Number|Boolean|Object|Array)$/.test(rule) ? 'type_error' : 'value_error';
}
