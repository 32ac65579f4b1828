/** Filters whose values are arguments of the address. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { changeQuery, place } from '../location.ts';

type Changes = Readonly<Record<string, undefined>>;

interface FieldProps {
  readonly label: string;
  /** Of the argument. */
  readonly name: string;
  /** Arguments that a change takes out: the place in a list that is another one now. */
  readonly resets?: Changes;
}

/** After the last key press: each change may be a request. */
const TYPING_MS = 250;

export function QueryText({ label, name, resets = {} }: FieldProps) {
  const current = place.value.query.get(name) ?? '';
  const text = useSignal(current);
  const timer = useRef<number>(undefined);
  useEffect(() => {
    text.value = current;
  }, [current]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = (value: string): void => {
    text.value = value;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => changeQuery({ ...resets, [name]: value }), TYPING_MS);
  };
  return (
    <label>
      {label}
      <input
        type="search"
        value={text.value}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    </label>
  );
}

interface ChoiceProps extends FieldProps {
  /** Text of no choice. */
  readonly all: string;
  readonly choices: readonly (string | readonly [value: string, text: string])[];
}

export function QueryChoice({ label, name, all, choices, resets = {} }: ChoiceProps) {
  const current = place.value.query.get(name) ?? '';
  const options = choices.map((one) => (typeof one === 'string' ? ([one, one] as const) : one));
  const isUnknown = current !== '' && !options.some(([value]) => value === current);
  return (
    <label>
      {label}
      <select
        value={current}
        onChange={({ currentTarget }) => changeQuery({ ...resets, [name]: currentTarget.value })}
      >
        <option value="">{all}</option>
        {isUnknown && <option value={current}>{current}</option>}
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

export function QuerySwitch({ label, name, resets = {} }: FieldProps) {
  const isOn = place.value.query.get(name) === 'true';
  return (
    <label class="switch">
      <input
        type="checkbox"
        checked={isOn}
        onChange={({ currentTarget }) =>
          changeQuery({ ...resets, [name]: currentTarget.checked ? 'true' : undefined })
        }
      />{' '}
      {label}
    </label>
  );
}
