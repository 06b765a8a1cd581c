import { registerDecorator, type ValidationOptions } from 'class-validator';

export const UNCLEAN = 'Must not contain NUL or unpaired surrogate characters';

/** No NUL, which PostgreSQL cannot store, and no unpaired surrogate. */
export function isCleanText(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed();
}

/**
 * Code points, as JSON Schema and PostgreSQL count: an emoji is one character although its JavaScript `length` is two.
 */
export function charCount(text: string): number {
  let chars = 0;
  for (const _ of text) chars++;
  return chars;
}

/** Whether it has more than `maxChars` characters by `charCount`. Reads no more of the text than needed. */
export function hasMoreChars(text: string, maxChars: number): boolean {
  if (text.length <= maxChars) return false;
  if (text.length > 2 * maxChars) return true;
  return charCount(text) > maxChars;
}

/** `MaxLength` of class-validator ignores variation selectors, so that ❤️ and a thousand selectors count as one. */
export function MaxChars(maxChars: number, options?: ValidationOptions): PropertyDecorator {
  return (target, property) => {
    registerDecorator({
      name: 'maxLength',
      target: target.constructor,
      propertyName: String(property),
      constraints: [maxChars],
      ...(options && { options }),
      validator: {
        validate: (value: unknown) => typeof value === 'string' && !hasMoreChars(value, maxChars),
        defaultMessage: () => `Must have at most ${maxChars} characters`,
      },
    });
  };
}

/**
 * The beginning of a text, copied. `slice` returns a view in V8: a short kept reason would retain the ten million
 * characters it was cut from.
 */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return Buffer.from(text.slice(0, maxChars).toWellFormed()).toString();
}

/** Its beginning, with an ellipsis if it was cut. */
export function shortened(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${cutText(text, maxChars - 2)} …`;
}

/** For DTO fields that are stored or looked up. */
export function IsCleanText(options?: ValidationOptions): PropertyDecorator {
  return (target, property) => {
    registerDecorator({
      name: 'isCleanText',
      target: target.constructor,
      propertyName: String(property),
      ...(options && { options }),
      validator: {
        validate: (value: unknown) => typeof value !== 'string' || isCleanText(value),
        defaultMessage: () => UNCLEAN,
      },
    });
  };
}
