import type { WidgetProps } from '@rjsf/utils';
import { texts } from '../../texts/index.js';
import { Checkbox, Input, Select, TextArea } from '../field.js';
import { useMediaQuery } from '../media-query.js';
import { Segmented } from '../segmented.js';

/** Values that exclude each other are shown side by side while they are short. */
const MAX_SEGMENTS = 5;
const MAX_SEGMENT_CHARS = { wide: 40, narrow: 20 };
const UNSET = '';

interface Choice {
  readonly value: string;
  readonly label: string;
}

function choicesOf({ options }: WidgetProps): { choices: Choice[]; values: unknown[] } {
  const given = options.enumOptions ?? [];
  return {
    choices: given.map(({ label }, at) => ({ value: String(at), label })),
    values: given.map(({ value }): unknown => value),
  };
}

function sameValue(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

export function SelectWidget(props: WidgetProps) {
  const { label, multiple, schema, disabled, readonly, onChange } = props;
  const isNarrow = useMediaQuery('(max-width: 639px)');
  const isSet = props.required === true || schema.default !== undefined;
  const value: unknown = props.value;
  const { choices, values } = choicesOf(props);
  if (multiple) return <CheckboxesWidget {...props} />;
  const at = values.findIndex((one) => sameValue(one, value));
  const chosen = at < 0 ? UNSET : String(at);
  const choose = (to: string): void => onChange(to === UNSET ? undefined : values[Number(to)]);
  const options = isSet ? choices : [{ value: UNSET, label: texts.form.unset }, ...choices];
  const chars = choices.reduce((sum, choice) => sum + choice.label.length, 0);
  if (
    choices.length <= MAX_SEGMENTS &&
    chars <= (isNarrow ? MAX_SEGMENT_CHARS.narrow : MAX_SEGMENT_CHARS.wide) &&
    !disabled &&
    !readonly
  ) {
    return <Segmented label={label} value={chosen} options={options} onChange={choose} />;
  }
  return (
    <Select
      value={chosen}
      disabled={disabled === true || readonly === true}
      onChange={(event) => choose(event.target.value)}
    >
      {(isSet && chosen === UNSET
        ? [{ value: UNSET, label: texts.form.unset }, ...choices]
        : options
      ).map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </Select>
  );
}

export function CheckboxesWidget(props: WidgetProps) {
  const { label, disabled, readonly, onChange } = props;
  const value: unknown = props.value;
  const { choices, values } = choicesOf(props);
  const chosen: readonly unknown[] = Array.isArray(value) ? (value as unknown[]) : [];
  const has = (one: unknown): boolean => chosen.some((other) => sameValue(one, other));
  return (
    <div role="group" aria-label={label} className="flex flex-wrap gap-x-4 gap-y-1">
      {choices.map((choice, at) => (
        <label key={choice.value} className="flex items-center gap-2">
          <Checkbox
            checked={has(values[at])}
            disabled={disabled === true || readonly === true}
            onChange={(event) =>
              onChange(
                values.filter((one, index) => (index === at ? event.target.checked : has(one))),
              )
            }
          />
          {choice.label}
        </label>
      ))}
    </div>
  );
}

export function CheckboxWidget({
  label,
  value,
  required,
  schema,
  disabled,
  readonly,
  onChange,
}: WidgetProps) {
  if (disabled === true || readonly === true) {
    return <Checkbox aria-label={label} checked={value === true} disabled />;
  }
  const options = [
    ...(required || schema.default !== undefined
      ? []
      : [{ value: UNSET, label: texts.form.unset }]),
    { value: 'true', label: texts.form.yes },
    { value: 'false', label: texts.form.no },
  ];
  return (
    <Segmented
      label={label}
      value={typeof value === 'boolean' ? String(value) : UNSET}
      options={options}
      onChange={(to) => onChange(to === UNSET ? undefined : to === 'true')}
    />
  );
}

/** A text or a number; what is empty is not sent. */
export function TextWidget(props: WidgetProps) {
  const { value, schema, placeholder, disabled, readonly, onChange, onBlur, id, options } = props;
  const isNumber = schema.type === 'number' || schema.type === 'integer';
  const shown: unknown = value ?? '';
  return (
    <Input
      mono
      type={options.inputType ?? 'text'}
      inputMode={isNumber ? 'decimal' : undefined}
      value={typeof shown === 'string' ? shown : JSON.stringify(shown)}
      placeholder={placeholder}
      disabled={disabled === true || readonly === true}
      onChange={(event) => {
        const text = event.target.value;
        onChange(text === '' ? undefined : text);
      }}
      onBlur={(event) => onBlur(id, event.target.value)}
    />
  );
}

export function TextareaWidget({ value, disabled, readonly, onChange }: WidgetProps) {
  return (
    <TextArea
      mono
      rows={4}
      value={typeof value === 'string' ? value : ''}
      disabled={disabled === true || readonly === true}
      onChange={(event) => onChange(event.target.value === '' ? undefined : event.target.value)}
    />
  );
}
